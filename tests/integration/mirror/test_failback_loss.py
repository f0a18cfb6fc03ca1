# SPDX-License-Identifier: GPL-3.0-or-later
"""A lost site comes back with its disks: what it has alone is kept, and the rest comes back once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.both_ways import (
    PARTITIONS,
    RECORDS,
    THERE,
    TOPIC,
    arrives_once,
    both_ways,
    enable,
    logs,
    write,
)
from tests.support.cluster import Run, kill, read_until, said
from tests.support.mirrored import Mirrored
from tests.support.modules import run_module

pytestmark = pytest.mark.full

STEP = ("kafka_failover_step=next", "kafka_failover_operator=alice")
BACK = ("kafka_failover_step=back", "kafka_failover_operator=alice")


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """One node and a mirror in each cluster, and the flow from dc_a to dc_b."""
    with both_ways(tmp_path_factory.mktemp("failback_loss")) as cluster:
        yield cluster


def words(*given: str) -> list[str]:
    """The words of a run for this flow."""
    return [word for text in ("kafka_failover=dc_a->dc_b", *given) for word in ("-e", text)]


def lose(cluster: Mirrored, *given: str) -> Run:
    """Run the failover whose source is lost."""
    return cluster.playbook("playbooks/mirror_failover.yml", *words("kafka_failover_source=lost", *given))


def lead_back(cluster: Mirrored, *given: str) -> str:
    """Take a step of the failback; what it says."""
    run = cluster.playbook("playbooks/mirror_failback.yml", *words(*STEP, *given)).ok()
    return said(run)


def look(cluster: Mirrored) -> None:
    """Look for gaps, which tells the target how far the source is."""
    asked = {
        "bootstrap_servers": cluster.servers("dc_b"),
        "source_connection": {"bootstrap_servers": cluster.servers("dc_a")},
        **THERE,
        "confirm_seconds": 0,
    }
    looked = run_module("streamops.kafka.mirror_gaps", asked)
    assert not looked["failed"], looked["msg"]


def test_what_a_lost_site_has_alone_is_kept_and_the_rest_comes_back_once(mirrored: Mirrored) -> None:
    write(mirrored, "dc_a", 0)
    arrives_once(mirrored, "dc_b", RECORDS)
    look(mirrored)
    mirrored.stop("mirror1")
    # Nobody copies these 600, and no look sees them.
    write(mirrored, "dc_a", RECORDS)
    mirrored.stop("a1")

    enable(mirrored, False, False)
    assert "dc_a->dc_b, moved" in lose(mirrored, *STEP).ok().output
    assert "start consumers and writers at dc_b" in lose(mirrored, *STEP).ok().output
    write(mirrored, "dc_b", 2 * RECORDS)

    silent = mirrored.playbook("playbooks/mirror_failback.yml", *words(), "--check").ok()
    assert "dc_a does not answer here" in silent.output
    mirrored.start("a1")
    shown = mirrored.playbook("playbooks/mirror_failback.yml", *words(), "--check").ok()
    assert f"{RECORDS} records are in dc_a and not in dc_b ({TOPIC} {RECORDS})" in said(shown)
    refused = mirrored.playbook("playbooks/mirror_failback.yml", *words(*STEP))
    assert "how writers of dc_a are stopped" in refused.output

    assert "dc_a->dc_b, fenced" in lead_back(mirrored, "kafka_failover_writers_stopped=true")
    goes_back_from_the_fence(mirrored)
    assert "dc_a->dc_b, fenced" in lead_back(mirrored, "kafka_failover_writers_stopped=true")
    # Killed while it copies, or after: the next run goes on, and nothing is kept twice.
    run = mirrored.begin("playbooks/mirror_failback.yml", *words(*STEP))
    read_until(run, "Failback | Take the step")
    kill(run)
    left = said(mirrored.playbook("playbooks/mirror_failback.yml", *words(), "--check").ok())
    if "next step: kept" in left:
        assert "dc_a->dc_b, kept" in lead_back(mirrored)
    else:
        assert "next step: begun" in left
    (name,) = [topic for topic in topics(mirrored, "dc_b") if topic.startswith("_streamops_surplus.")]
    assert name.endswith(f".{TOPIC}")
    kept, alone = logs(mirrored, "dc_b", name), logs(mirrored, "dc_a", TOPIC)
    for number in range(PARTITIONS):
        wanted = [record for record in alone[number] if int(record.value()) >= RECORDS]
        assert [record.value() for record in kept[number]] == [record.value() for record in wanted]
        assert [record.timestamp() for record in kept[number]] == [record.timestamp() for record in wanted]

    late = mirrored.playbook("playbooks/mirror_failback.yml", *words(*BACK, "kafka_failover_writers_stopped=true"))
    assert f"the step kept was begun ({name} in dc_b)" in said(late)
    assert late.rc != 0
    begun = lead_back(mirrored)
    assert f"dc_b->dc_a begins at the ends that dc_b had when it was opened: {PARTITIONS} partitions" in begun
    enable(mirrored, False, True)
    mirrored.playbook().ok()
    # The old ones, the surplus, and what was written into dc_b: each once, in this order.
    arrives_once(mirrored, "dc_a", 3 * RECORDS)


def goes_back_from_the_fence(cluster: Mirrored) -> None:
    """Take the fence back, which leaves the record of the loss; only once somebody says that writers stay stopped."""
    playbook = "playbooks/mirror_failback.yml"
    unsaid = cluster.playbook(playbook, *words(*BACK))
    assert "dc_a can be written while dc_b is open" in said(unsaid)
    assert unsaid.rc != 0
    going = words(*BACK, "kafka_failover_writers_stopped=true")
    assert "the failback begins anew with the step fenced" in said(cluster.playbook(playbook, *going, "--check").ok())
    assert "next step: kept" in said(cluster.playbook(playbook, *words(), "--check").ok())
    assert "the failback begins anew with the step fenced" in said(cluster.playbook(playbook, *going).ok())
    assert "failback not begun; next step: fenced" in said(cluster.playbook(playbook, *words(), "--check").ok())
    assert "no failback is under way" in said(cluster.playbook(playbook, *going).ok())


def topics(cluster: Mirrored, place: str) -> list[str]:
    """The topics of a cluster."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": ",".join(cluster.servers(place))})
    return list(admin.list_topics(timeout=30).topics)
