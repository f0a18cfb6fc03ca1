# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors in real runs of preflight: the shipped inventory passes, and a broken one is refused without a touch."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import Cluster, Run, free_port_base
from tests.support.mirrored import SHIPPED
from tests.support.refused import assert_refused_untouched, message

ONLY_PREFLIGHT = """\
- hosts: kraft_controllers:kafka_brokers:mirror_makers
  gather_facts: false
  any_errors_fatal: true
  roles:
    - role: streamops.kafka.preflight
"""


def broken(folder: Path, hosts: dict[str, Any], brokers: dict[str, Any] | None = None, **variables: Any) -> Cluster:
    """A copy of inventories/local_mirror, with these mirrors and other variables of its brokers and of all."""
    inventory = folder / "inventory"
    shutil.copytree(SHIPPED, inventory)
    listed = yaml.safe_load((inventory / "hosts.yml").read_text())
    listed["mirror_makers"]["hosts"] = hosts
    (inventory / "hosts.yml").write_text(yaml.safe_dump(listed))
    for name, changes in (("all", variables), ("kafka_brokers", brokers or {})):
        path = inventory / "group_vars" / f"{name}.yml"
        path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **changes}))
    return Cluster(inventory, folder / "run", free_port_base())


def preflight(cluster: Cluster, folder: Path, *arguments: str) -> Run:
    """A run of the role alone."""
    playbook = folder / "preflight.yml"
    playbook.write_text(ONLY_PREFLIGHT)
    return cluster.playbook(str(playbook), *arguments)


@pytest.mark.full
def test_the_shipped_inventory_passes_and_changes_nothing(tmp_path: Path) -> None:
    cluster = Cluster(SHIPPED, tmp_path / "run", free_port_base())
    run = preflight(cluster, tmp_path).ok()
    assert run.changed == 0
    assert "[WARNING]" not in run.output
    assert [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]


def test_mistakes_of_mirrors_stand_in_one_message_and_nothing_is_touched(tmp_path: Path) -> None:
    same = {"policy": "identity", "exactly_once": "enabled"}
    flows = [
        {"source": "dc_a", "target": "dc_b", "topics": ["orders", "__consumer_offsets"], **same},
        {"source": "dc_b", "target": "dc_a", "topics": ["ord.*"], "policy": "identity"},
        {"source": "dc_c", "target": "dc_b", "topics": [".*"], "policies": "default", **same},
        {"source": "dc_a", "target": "dc_b", "topics": ["pay.*"], "engine": "legacy", "exactly_once": "enabled"},
    ]
    cluster = broken(
        tmp_path, {"mirror1": {}, "mirror2": {}},
        mirror_flows=flows, mirror_password="changeme",
        mirror_maker_config={"dc_a.consumer.isolation.level": "read_uncommitted", "tasks.max": 3},
    )  # fmt: skip
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    told = message(run)
    for part in (
        "nothing was touched",
        "ERROR mirror_loop:",
        "flows dc_a->dc_b, dc_b->dc_a form a loop: each record comes back under the same name",
        "topic orders of kafka_topics",
        "the pattern names internal topics (found: __consumer_offsets",
        "ERROR exactly_once_clients:",
        "its consumer reads records of aborted transactions",
        "the legacy engine of dc_a->dc_b delivers at least once only",
        "ERROR legacy_engine_shared:",
        "ERROR managed_mirror_property:",
        "use mirror_maker_tasks_max",
        "ERROR target_without_mirror:",
        "no mirror copies into dc_a",
        "mirror_flows[2].policies: the flow cannot be used (found: is not known",
        "mirror_flows[2].source: no broker of the inventory has kafka_cluster_name dc_c",
        "ERROR rest_port_taken:",
        "mirror1, mirror2: mirror_maker_rest_port",
        "ERROR weak_secret:",
        "mirror_password: the secret is not secret",
    ):
        assert part in told, (part, told)
    assert "changeme" not in run.output


@pytest.mark.full
def test_logins_of_mirrors_are_refused_before_any_host_is_asked(tmp_path: Path) -> None:
    listeners = yaml.safe_load((SHIPPED / "group_vars" / "kafka_brokers.yml").read_text())["kafka_listeners"]
    listeners = [{**one, "protocol": "SASL_SSL" if one["name"] == "CLIENT" else "SSL"} for one in listeners]
    cluster = broken(
        tmp_path, {"mirror1": {}}, {"kafka_listeners": listeners}, kafka_tls_source="development_ca",
        kafka_admin_password="long-and-random-1", kafka_tls_ca_dir=str(tmp_path / "ca"),
        mirror_user="admin", mirror_listener="BROKER",
    )  # fmt: skip
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    told = message(run)
    assert "ERROR no_mirror_login:" in told
    assert "mirror_password: mirrors cannot log in at listener CLIENT" in told
    assert "mirrors would have the rights of a super user (found: admin" in told
    assert "ERROR no_mirror_listener:" in told
    assert "the broker has no listener for clients of this name (found: BROKER" in told
    assert not (tmp_path / "ca").exists()


def test_a_limit_to_a_mirror_alone_says_who_is_missing(tmp_path: Path) -> None:
    cluster = Cluster(SHIPPED, tmp_path / "run", free_port_base())
    run = cluster.playbook("site.yml", "--limit", "mirror1")
    assert_refused_untouched(run, cluster)
    assert "ERROR limit_without_ends: - mirror1: --limit takes the mirror without" in message(run)
