# SPDX-License-Identifier: GPL-3.0-or-later
"""The upgrade of a cluster, from what tasks left on its hosts."""

from __future__ import annotations

from typing import Any

from tests.support.inventory_data import view

OLD, NEW = "3.9.2", "4.3.1"


def looked(version: str | None = OLD, **values: Any) -> dict[str, Any]:
    """What node_info returned of a node that runs."""
    disk = {"path": "/opt/kafka", "free_bytes": 9 << 30}
    java = {"path": "java", "version": 17, "full": "17.0.1", "error": None}
    return {
        "version": version,
        "process": {"running": True},
        "java": java,
        "disks": [disk],
        "installed": False,
        **values,
    }


def upgrade_of(*infos: dict[str, Any], host: str = "k1", **common: Any) -> Any:
    """The upgrade as k1 sees it, where k1, k2, ... are combined nodes of which node_info said this."""
    hosts: dict[str, dict[str, Any]] = {
        f"k{number}": {"kafka_node_id": number, "__common_upgrade_node": one}
        for number, one in enumerate(infos, start=1)
    }
    ids = list(range(1, len(hosts) + 1))
    hosts["k1"]["__common_upgrade_cluster"] = {
        "controller_id": 1,
        "features": {"metadata.version": 21},
        "nodes": [{"id": one, "fenced": False, "replicas": 1} for one in ids],
        "quorum": {"error": None, "leader_id": 1, "voters": [{"id": one} for one in ids], "observers": []},
    }
    hosts["k1"]["__common_upgrade_before"] = OLD
    shared = {"kafka_version": NEW, "kafka_mode": "kraft_combined", **common}
    return view(hosts, brokers=list(hosts), controllers=list(hosts), host=host, **shared)["upgrade"]


def test_what_tasks_saw_becomes_the_facts() -> None:
    node = upgrade_of(looked(), looked(), looked())["facts"].nodes[0]
    assert (node.host, node.runs, node.target, node.java, node.running) == ("k1", OLD, NEW, 17, True)
    assert (node.kind, node.free_mib, node.silence) == ("broker and controller", 9216, "")


def test_a_plan_without_reasons_against_it_is_not_refused() -> None:
    upgrade = upgrade_of(looked(), looked(), looked())
    assert upgrade["refusal"] == ""
    assert upgrade["plan"][0].endswith(f"{OLD} -> {NEW} (0 of 3 nodes have {NEW})")
    assert upgrade["before"] == OLD


def test_a_run_that_was_cut_goes_on_with_the_nodes_that_are_left() -> None:
    upgrade = upgrade_of(looked(NEW), looked(NEW), looked())
    assert [row.split()[2] for row in upgrade["plan"] if row.startswith("Node")] == ["k1", "k2", "k3"]
    assert upgrade["plan"][0].endswith(f"(2 of 3 nodes have {NEW})")


def test_the_word_of_the_run_is_read() -> None:
    back = {"kafka_version": OLD, "kafka_upgrade": "back"}
    assert upgrade_of(looked(NEW), looked(NEW), looked(), **back)["refusal"] == ""
    without = upgrade_of(looked(NEW), looked(NEW), looked(), kafka_version=OLD)
    assert "add -e kafka_upgrade=back" in without["refusal"]


def test_a_machine_that_does_not_answer_is_named_with_the_first_sentence_of_why() -> None:
    silent = {"unreachable": True, "msg": "Failed to connect\nby ssh. Check that it runs."}
    upgrade = upgrade_of(looked(), silent, looked())
    assert "k2 does not answer (Failed to connect by ssh). fix:" in upgrade["refusal"]


def test_a_release_that_the_collection_lacks_has_no_directory_and_is_refused() -> None:
    upgrade = upgrade_of(looked(), looked(), looked(), kafka_version="4.9.9")
    assert upgrade["release_dir"] == ""
    assert "does not have Kafka 4.9.9" in upgrade["refusal"]
    assert "4.3.1" in upgrade_of(looked(), looked(), looked())["release_dir"]


def test_what_is_left_is_told_of_the_release_before() -> None:
    upgrade = upgrade_of(looked(NEW), looked(NEW), looked(NEW))
    assert f"kafka_version: {OLD}" in " ".join(upgrade["left"])
    assert upgrade["before"] == ""


def test_properties_of_the_inventory_are_judged_for_the_release() -> None:
    removed = {"log.message.timestamp.difference.max.ms": 1000}
    refusal = upgrade_of(looked(), looked(), looked(), kafka_config=removed)["refusal"]
    assert "Kafka 4.3.1 does not read log.message.timestamp.difference.max.ms (kafka_config[" in refusal
