"""Which disks of an ensemble are refused."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper_guard import Server, zookeeper_refusals


def disk(myid: str | None, epoch: str | None = "4", **more: Any) -> list[dict[str, Any]]:
    """The two directories of a server as node_info sees them."""
    data = {"path": "/data/zk", "myid": myid, "epoch": epoch, "error": None, "meta_properties": None, **more}
    return [data, {"path": "/data/zk-txlog", "myid": None, "epoch": None}]


EMPTY = disk(None, None)
UNASKED: Any = None


def ensemble(*disks: Any, emptied: tuple[int, ...] = ()) -> list[Server]:
    """Servers 1, 2, ... with these disks."""
    return [Server(f"zk{n}", n, one, n in emptied) for n, one in enumerate(disks, 1)]


def test_a_new_ensemble_and_one_that_runs_are_fine() -> None:
    assert zookeeper_refusals(ensemble(EMPTY, EMPTY, EMPTY)) == []
    assert zookeeper_refusals(ensemble(disk("1"), disk("2"), disk("3"))) == []


def test_a_first_installation_that_was_cut_goes_on() -> None:
    assert zookeeper_refusals(ensemble(disk("1", "0"), disk("2", None), EMPTY)) == []


@pytest.mark.parametrize(
    ("third", "said"),
    [
        (disk("4"), "the disk is that of another server"),
        (disk("3 # third"), "myid is not just a number"),
        (disk(""), "myid is not just a number"),
        (disk(None), "myid is missing beside the data of a server"),
        (disk("3", meta_properties={"broker.id": "3"}), "the directory holds the data of a Kafka node"),
        (disk(None, None, error="Permission denied"), "the data directory cannot be read"),
    ],
)
def test_a_disk_that_does_not_belong_to_its_server_is_refused(third: list[dict[str, Any]], said: str) -> None:
    found = zookeeper_refusals(ensemble(disk("1"), disk("2"), third))
    assert [one.what for one in found] == [said]
    assert "nothing was changed" in found[0].way_out


def test_a_copied_disk_is_told_for_both_servers() -> None:
    found = zookeeper_refusals(ensemble(disk("1"), disk("2"), disk("2")))
    assert [one.hosts for one in found] == [("zk3",), ("zk2", "zk3")]


def test_an_empty_server_in_an_ensemble_that_has_run_is_refused_with_the_arithmetic() -> None:
    found = zookeeper_refusals(ensemble(disk("1"), disk("2"), EMPTY))
    assert [one.found for one in found] == ["2 of 3 with data, a majority is 2"]
    assert "replace_node.yml" in found[0].way_out


def test_an_empty_server_that_a_playbook_names_is_fine() -> None:
    assert zookeeper_refusals(ensemble(disk("1"), disk("2"), EMPTY, emptied=(3,))) == []


@pytest.mark.parametrize("emptied", [(), (2,), (2, 3)])
def test_a_majority_of_empty_servers_is_refused_whoever_names_them(emptied: tuple[int, ...]) -> None:
    found = zookeeper_refusals(ensemble(disk("1"), EMPTY, EMPTY, emptied=emptied))
    assert len(found) == 1
    assert "empty ones would outvote them" in found[0].what
    assert found[0].found == "1 of 3 with data, a majority is 2"


def test_two_empty_servers_of_five_are_not_replaced_at_once() -> None:
    servers = ensemble(disk("1"), disk("2"), disk("3"), EMPTY, EMPTY, emptied=(4, 5))
    assert len(zookeeper_refusals(servers)) == 1


def test_with_a_host_that_did_not_answer_only_its_own_disk_speaks() -> None:
    assert zookeeper_refusals(ensemble(disk("1"), UNASKED, EMPTY)) == []
