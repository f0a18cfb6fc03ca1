# SPDX-License-Identifier: GPL-3.0-or-later
"""A failover whose source is gone with its disks: what is told to be lost, where groups go on, and its steps."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import Run, kill, read_until, said, until
from tests.support.groups import commit, produce
from tests.support.mirrored import Mirrored, small_mirror
from tests.support.modules import run_module

pytestmark = pytest.mark.full

PLAYBOOK = "playbooks/mirror_failover.yml"
FLOW = {"source": "dc_a", "target": "dc_b", "topics": ["orders", "payments"]}
#: Records that were mirrored, that a look saw and nobody copied, and that nobody saw.
COPIED, LOST, UNSEEN = 300, 120, 30
#: Where a group stands in the source.
PLACE = 250


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """One node in each cluster and a mirror, without a canary."""
    cluster = small_mirror(tmp_path_factory.mktemp("failover_loss"), spark_validation_enabled=False)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def ask(cluster: Mirrored, module: str, **options: Any) -> dict[str, Any]:
    """What a module returns that looks at the flow."""
    arguments = {
        "bootstrap_servers": cluster.servers("dc_b"),
        "source_connection": {"bootstrap_servers": cluster.servers("dc_a")},
        **FLOW,
        "confirm_seconds": 0,
        **options,
    }
    found = run_module(f"streamops.kafka.{module}", arguments)
    assert not found["failed"], found["msg"]
    return found


def take(cluster: Mirrored, *words: str, **variables: Any) -> Run:
    """Run the playbook for a source that is lost."""
    return cluster.playbook(PLAYBOOK, *asked(), *words, **variables)


def asked(*words: str) -> tuple[str, ...]:
    """The words of such a run."""
    given = ("kafka_failover=dc_a->dc_b", "kafka_failover_source=lost", *words)
    return tuple(word for text in given for word in ("-e", text))


STEP = ("-e", "kafka_failover_step=next", "-e", "kafka_failover_operator=alice")


def landing(found: dict[str, Any]) -> dict[str, Any]:
    """Where billing goes on in partition 0 of orders; empty before the target knows it."""
    landings = [part for group in found["groups"] if group["name"] == "billing" for part in group["landings"]]
    return next((part for part in landings if (part["topic"], part["partition"]) == ("orders", 0)), {})


def kill_for_good(cluster: Mirrored, node: str) -> None:
    """A node is gone with its disk, and its machine answers nobody."""
    cluster.kill(node)
    cluster.stop(node)
    shutil.rmtree(cluster.directory / "data" / node)
    file: Path = cluster.inventory / "hosts.yml"
    hosts = yaml.safe_load(file.read_text())
    hosts["dc_a_brokers"]["hosts"][node] |= {"ansible_connection": "ssh", "ansible_port": 1}
    file.write_text(yaml.safe_dump(hosts))


def test_what_is_lost_with_the_source_is_told_exactly_and_the_target_is_opened(mirrored: Mirrored) -> None:
    source, target = mirrored.servers("dc_a"), mirrored.servers("dc_b")
    alive = ask(mirrored, "mirror_failover_info", source_lost=True)
    assert any("is not lost" in reason for reason in alive["against"])

    produce(source, "orders", 1, COPIED)
    commit(source, "billing", {("orders", 0): PLACE})
    until(lambda: ask(mirrored, "mirror_failover_info", watch_seconds=0)["to_copy"] == 0, "all copied", timeout=180)
    until(
        lambda: landing(ask(mirrored, "mirror_failover_info", source_lost=True)).get("there") is not None,
        "the offset of billing in the target",
        timeout=180,
    )
    ask(mirrored, "mirror_gaps")
    refused = take(mirrored, *STEP)
    assert refused.rc != 0
    assert "dc_a is not lost: it answers at" in said(refused)

    mirrored.stop("mirror1")
    produce(source, "orders", 1, LOST)
    ask(mirrored, "mirror_gaps")
    produce(source, "orders", 1, UNSEEN)
    kill_for_good(mirrored, "a1")

    told = ask(mirrored, "mirror_failover_info", source_lost=True)
    missing = {(row["topic"], row["partition"]): row["missing"] for row in told["partitions"]}
    assert missing.pop(("orders", 0)) == {"at_least": LOST, "at_most": LOST}
    assert all(span == {"at_least": 0, "at_most": 0} for span in missing.values())
    assert told["age"] is not None
    shown = take(mirrored, "--check").ok()
    assert f"{LOST} records were in the source then and are not in dc_b (orders {LOST})" in said(shown)
    place = landing(told)
    assert (place["state"], place["repeats"]["at_most"]) == ("known", COPIED - place["there"])
    assert place["there"] <= PLACE

    # A group of which only its checkpoint is left.
    gone = run_module(
        "streamops.kafka.group_offsets", {"bootstrap_servers": target, "group": "billing", "state": "absent"}
    )
    assert not gone["failed"], gone["msg"]
    # Killed before it sets anything, or after: the next run goes on.
    run = mirrored.begin(PLAYBOOK, *asked(), *STEP)
    read_until(run, "Failover | Show the plan")
    kill(run)
    assert "dc_a->dc_b, moved" in said(take(mirrored, *STEP).ok())
    moved = ask(mirrored, "mirror_failover_info", source_lost=True)
    assert (moved["stage"], moved["next_step"]) == ("moved", "turned")
    assert landing(moved)["there"] == place["checkpoint"]["downstream"]

    assert "mirror_flows still enables dc_a->dc_b" in said(take(mirrored, *STEP))
    disabled = [{**FLOW, "enabled": False}]
    assert "start consumers and writers at dc_b" in said(take(mirrored, *STEP, mirror_flows=disabled).ok())
    assert "so no step is left" in said(take(mirrored, *STEP, mirror_flows=disabled))
    waiting = take(mirrored, "--check", mirror_flows=disabled).ok()
    assert "next step: none until the failover back" in said(waiting)
