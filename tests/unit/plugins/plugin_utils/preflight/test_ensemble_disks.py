"""Which disks of an ensemble are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.disks import disks as look
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.ensemble_disks import Server, zookeeper_refusals


def disk(myid: str | None, epoch: str | None = "4", **more: Any) -> list[dict[str, Any]]:
    """The two directories of a server as node_info sees them."""
    known = {"myid": myid, "epoch": epoch, "served": epoch not in (None, "0"), "error": None, "meta_properties": None}
    data = {"path": "/data/zk", **known, **more}
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
    assert "nothing was changed" in found[0].fix


def test_a_copied_disk_is_told_for_both_servers() -> None:
    found = zookeeper_refusals(ensemble(disk("1"), disk("2"), disk("2")))
    assert [one.where for one in found] == [("zk3",), ("zk2", "zk3")]


def test_an_empty_server_in_an_ensemble_that_has_run_is_refused_with_the_arithmetic() -> None:
    found = zookeeper_refusals(ensemble(disk("1"), disk("2"), EMPTY))
    assert [one.found for one in found] == ["2 of 3 with data, a majority is 2"]
    assert "replace_node.yml" in found[0].fix


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


NOTE = "/etc/kafka/zk1/has-data"


def traced(*disks: Any, emptied: tuple[int, ...] = ()) -> list[Server]:
    return [replace(server, traces=(NOTE,)) for server in ensemble(*disks, emptied=emptied)]


def test_without_any_mount_an_ensemble_that_has_run_is_not_founded_anew() -> None:
    found = zookeeper_refusals(traced(EMPTY, EMPTY, EMPTY))
    assert [one.where for one in found] == [("zk1", "zk2", "zk3")]
    assert f"{NOTE} on zk1" in found[0].found
    assert "mount them and run again" in found[0].fix
    assert "nothing was changed" in found[0].fix


def test_one_trace_is_enough() -> None:
    servers = [*ensemble(EMPTY, EMPTY), replace(ensemble(EMPTY, EMPTY, EMPTY)[2], traces=(NOTE,))]
    assert [one.where for one in zookeeper_refusals(servers)] == [("zk3",)]


def test_a_transaction_log_beside_an_empty_data_directory_is_a_trace() -> None:
    data, log = EMPTY
    found = zookeeper_refusals(ensemble(EMPTY, EMPTY, [data, {**log, "empty": False}]))
    assert [one.where for one in found] == [("zk3",)]
    assert "/data/zk-txlog (transaction log) on zk3" in found[0].found


@pytest.mark.parametrize("own", [EMPTY, disk("1", None), disk("1", "0")])
def test_brokers_with_data_have_had_an_ensemble(own: Any) -> None:
    found = zookeeper_refusals(ensemble(own, EMPTY, EMPTY), ["data of broker1 in /data"])
    assert "data of broker1 in /data" in found[0].found
    assert zookeeper_refusals(ensemble(disk("1"), disk("2"), disk("3")), ["data of broker1 in /data"]) == []


def test_a_first_start_that_fails_again_and_again_leaves_a_trace_beside_its_data() -> None:
    assert zookeeper_refusals(traced(disk("1", None), disk("2", "0"), disk("3", None))) == []


def test_a_server_whose_transaction_log_is_not_mounted_is_refused() -> None:
    data, log = disk("3")
    found = zookeeper_refusals(ensemble(disk("1"), disk("2"), [data, {**log, "empty": True}]))
    assert [(one.where, one.variable) for one in found] == [(("zk3",), "/data/zk-txlog")]
    assert "forgets what it has acknowledged" in found[0].fix
    first, second = disk("3", "0")
    assert zookeeper_refusals(ensemble(disk("1"), disk("2"), [first, {**second, "empty": True}])) == []


def test_a_transaction_log_that_cannot_be_read_is_refused() -> None:
    data, log = disk("3")
    found = zookeeper_refusals(ensemble(disk("1"), disk("2"), [data, {**log, "error": "Permission denied"}]))
    assert [(one.variable, one.found) for one in found] == [("/data/zk-txlog", "Permission denied")]


BROKERS = ["data of broker1 in /data"]


def on_disk(directory: Path, *names: str, epoch: str | None = None) -> list[dict[str, Any]]:
    """What node_info tells of a server with these files below its two directories."""
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("1\n" if name.endswith("myid") else "x")
    if epoch is not None:
        (directory / "data" / "version-2" / "currentEpoch").write_text(epoch)
    return look([str(directory / "data"), str(directory / "log")], str(directory / "data"))


#: What a server that serves alone has: no currentEpoch, ever.
ALONE = ("data/myid", "data/version-2/snapshot.0", "log/version-2/log.1")


def test_a_server_that_serves_alone_has_data(tmp_path: Path) -> None:
    alone = ensemble(on_disk(tmp_path, *ALONE))
    assert alone[0].ran
    assert zookeeper_refusals(alone, BROKERS) == []
    assert zookeeper_refusals([replace(alone[0], traces=(NOTE,))], BROKERS) == []


def test_a_server_that_served_alone_is_not_outvoted_by_two_empty_ones(tmp_path: Path) -> None:
    found = zookeeper_refusals(ensemble(on_disk(tmp_path, *ALONE), EMPTY, EMPTY), BROKERS)
    assert [one.found for one in found] == ["1 of 3 with data, a majority is 2"]


@pytest.mark.parametrize(
    ("names", "epoch", "ran"),
    [
        (("data/myid",), None, False),
        # Waiting for its first quorum; the first snapshot is empty.
        (("data/myid", "data/version-2/snapshot.0"), "0", False),
        # It served alone, and a growth to three was cut before they elected anybody.
        (ALONE, "0", True),
        (("data/myid", "data/version-2/snapshot.4f.gz"), "0", True),
        (("data/myid", "data/version-2/snapshot.0"), "1", True),
        (("data/myid", "data/version-2/log.1"), None, True),
        # Its data directory is not mounted: the log beside it is what is left.
        (("log/version-2/log.1",), None, False),
    ],
    ids=str,
)
def test_whose_data_counts(tmp_path: Path, names: tuple[str, ...], epoch: str | None, ran: bool) -> None:
    assert ensemble(on_disk(tmp_path, *names, epoch=epoch))[0].ran is ran


@pytest.mark.parametrize(
    ("content", "what", "found"),
    [
        ("9\n", "the disk is that of another server", "myid 9"),
        ("1 # first\n", "myid is not just a number", "1 # first"),
    ],
)
def test_a_myid_is_read_as_it_stands_on_the_disk(tmp_path: Path, content: str, what: str, found: str) -> None:
    on_disk(tmp_path, *ALONE)
    (tmp_path / "data" / "myid").write_text(content)
    (refused,) = zookeeper_refusals(ensemble(on_disk(tmp_path)), BROKERS)
    assert refused.what == what
    assert found in refused.found


def test_a_server_alone_whose_log_is_not_mounted_is_refused(tmp_path: Path) -> None:
    found = zookeeper_refusals(ensemble(on_disk(tmp_path, *ALONE[:2])), BROKERS)
    assert [one.what for one in found] == ["the transaction log of a server is missing"]


def test_the_only_server_without_its_disk_is_not_founded_anew(tmp_path: Path) -> None:
    found = zookeeper_refusals(ensemble(on_disk(tmp_path)), BROKERS)
    assert [one.what for one in found] == ["no server of the ensemble has data, although it is not a new one"]


def test_only_empty_servers_have_lost_what_brokers_say_there_was(tmp_path: Path) -> None:
    waiting = on_disk(tmp_path, "data/myid", "data/version-2/snapshot.0", epoch="0")
    assert zookeeper_refusals(ensemble(waiting), BROKERS) == []
    assert [one.where for one in zookeeper_refusals(ensemble(waiting, EMPTY), BROKERS)] == [("zk2",)]
