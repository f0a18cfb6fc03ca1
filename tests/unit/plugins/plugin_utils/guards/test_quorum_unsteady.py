"""A quorum is unsteady when a majority of all its controllers says so; only a change of late is taken back for it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.quorum import quorum
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.quorum_unsteady import (
    changed_last,
    cut_off,
    never_formed,
    taken_back,
    unsteady_quorum,
)

NOW = datetime(2026, 11, 26, 15, tzinfo=UTC).timestamp()


def info(first: int | None, last: int | None, unsteady: bool = True) -> dict[str, Any]:
    return {"quorum": {"unsteady": unsteady, "first_epoch": first, "last_epoch": last}}


def changed(since: str = "20261126T144501Z", same_release: bool = True, line: str = "property a: 1 -> 2") -> Any:
    change = {"since": since, "changes": [line], "same_release": same_release}
    return {**info(84, 87), "start_files": {"last_change": change}}


STEADY = info(90, 90, unsteady=False)


def test_a_majority_makes_an_unsteady_quorum() -> None:
    found = {"a": info(84, 86), "b": info(85, 87), "c": STEADY}
    seen = {"controllers": ["a", "b"], "epochs": "epochs 84 to 87 within seconds", "changed": []}
    assert unsteady_quorum(found) == seen
    assert cut_off(found) == []


@pytest.mark.parametrize("other", [STEADY, {"quorum": None}, {"quorum": {"leader": 1}}, {}, None])
def test_one_of_three_may_be_cut_off_or_alone(other: dict[str, Any] | None) -> None:
    found = {"a": info(84, 86), "b": other, "c": other}
    assert unsteady_quorum(found) == {}
    assert cut_off(found) == ["a"]


def test_half_is_no_majority_and_the_only_controller_is_one() -> None:
    assert unsteady_quorum({"a": info(1, 3), "b": STEADY}) == {}
    assert unsteady_quorum({"a": info(1, 3)})["controllers"] == ["a"]
    assert unsteady_quorum({}) == {}


def test_a_quorum_without_any_leader_is_told_as_that() -> None:
    assert unsteady_quorum({"a": info(4, 4)})["epochs"] == "no leader in epoch 4"
    assert unsteady_quorum({"a": info(None, None)})["epochs"] == "no leader"


def test_the_same_change_on_several_controllers_is_one_phrase() -> None:
    found = {"a": changed("20261126T144507Z"), "b": changed(), "c": changed(line="file jvm.options"), "d": STEADY}
    assert changed_last(found) == [
        "a, b since 20261126T144501Z: property a: 1 -> 2",
        "c since 20261126T144501Z: file jvm.options",
    ]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (changed(), ["a"]),
        (changed("20261126T144501Z-2"), ["a"]),
        (changed("20261125T143000Z"), []),
        (changed("adopted"), []),
        (changed(same_release=False), []),
        (STEADY, []),
        ({"start_files": {"last_change": None}}, []),
        (None, []),
    ],
    ids=["today", "the second of one second", "older", "unknown", "another release", "none", "the first", "no answer"],
)
def test_only_a_change_of_late_with_the_same_release_is_taken_back(one: Any, expected: list[str]) -> None:
    assert taken_back({"a": one}, NOW) == expected


BLANK = {"quorum": {"leader": None, "epoch": 7, "records": False}}
STATE = '{"leaderId":%s,"leaderEpoch":%s,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
FIRST_LOG, FIRST_SNAPSHOT = "00000000000000000000.log", "00000000000000000000-0000000000.checkpoint"


def test_three_voters_that_never_knew_a_leader_never_formed() -> None:
    assert never_formed([BLANK, BLANK, BLANK])


@pytest.mark.parametrize(
    "other",
    [
        {"quorum": {"leader": 2, "epoch": 1, "records": False}},
        {"quorum": {"leader": None, "epoch": 9, "records": True}},
        {"quorum": None},
        {},
        None,
    ],
    ids=["knew a leader", "holds records, lost its leader", "no metadata log", "not asked for it", "not asked"],
)
def test_one_voter_that_may_have_formed_is_enough(other: dict[str, Any] | None) -> None:
    assert not never_formed([BLANK, BLANK, other])


def test_a_broker_that_followed_a_leader_tells_of_a_quorum() -> None:
    known = {"quorum": {"leader": 2, "epoch": 7, "records": False}}
    written = {"quorum": {"leader": None, "epoch": 7, "records": True}}
    assert never_formed([BLANK, BLANK], [BLANK, {"quorum": None}, {}, None])
    assert not never_formed([BLANK, BLANK], [BLANK, known])
    assert not never_formed([BLANK, BLANK], [written])


def test_no_voter_at_all_is_no_answer() -> None:
    assert not never_formed([])


def log(tmp_path: Path, **files: str) -> str:
    """A data directory whose metadata log has these files; the names are those of Kafka."""
    partition = tmp_path / "__cluster_metadata-0"
    partition.mkdir()
    for name, text in files.items():
        (partition / name).write_text(text)
    return str(tmp_path)


def known(directory: str) -> dict[str, Any]:
    """What a disk says, but for the time at which it was written, and for which quorum."""
    found = quorum(directory) or {}
    found.pop("static", None)
    file = Path(directory, "__cluster_metadata-0", "quorum-state")
    assert found.pop("changed_at") == (file.stat().st_mtime if file.exists() else None)
    return found


def test_a_voter_that_started_and_never_had_a_leader(tmp_path: Path) -> None:
    files = {FIRST_LOG: "", FIRST_SNAPSHOT: "kraft.version, voters", "quorum-state": STATE % (-1, 0)}
    more = {"00000000000000000000.index": "x", "leader-epoch-checkpoint": "", "partition.metadata": "version: 0"}
    assert known(log(tmp_path, **files, **more)) == {"leader": None, "epoch": 0, "records": False}


def test_a_voter_that_was_formatted_and_never_started(tmp_path: Path) -> None:
    found = known(log(tmp_path, **{FIRST_SNAPSHOT: "voters"}))
    assert found == {"leader": None, "epoch": None, "records": False}


@pytest.mark.parametrize(
    "files",
    [
        {FIRST_LOG: "LeaderChange", "quorum-state": STATE % (-1, 3)},
        {FIRST_LOG: "", "00000000000000004711-0000000003.checkpoint": "all topics", "quorum-state": STATE % (-1, 3)},
        {"00000000000000004711.log": "", "quorum-state": STATE % (-1, 3)},
        {FIRST_LOG: "", "00000000000000004711-0000000003.checkpoint.deleted": "x", "quorum-state": STATE % (-1, 3)},
        {FIRST_LOG: "", "00000000000000004711-0000000003-815.checkpoint.part": "x", "quorum-state": STATE % (-1, 3)},
        {f"{FIRST_LOG}.deleted": "LeaderChange", "quorum-state": STATE % (-1, 3)},
    ],
    ids=[
        "a record",
        "a later snapshot",
        "a later segment",
        "a snapshot of before",
        "half a snapshot",
        "a log of before",
    ],
)
def test_a_voter_that_lost_its_leader_still_has_records(files: dict[str, str], tmp_path: Path) -> None:
    found = known(log(tmp_path, **files))
    assert found == {"leader": None, "epoch": 3, "records": True}


def test_a_leader_is_known_by_its_id_even_0(tmp_path: Path) -> None:
    found = known(log(tmp_path, **{FIRST_LOG: "x", "quorum-state": STATE % (0, 1)}))
    assert found == {"leader": 0, "epoch": 1, "records": True}


@pytest.mark.parametrize("state", ["{", "", "[]", '{"leaderId":2,"lead'])
def test_of_a_damaged_state_nothing_is_known(state: str, tmp_path: Path) -> None:
    found = quorum(log(tmp_path, **{FIRST_LOG: "", "quorum-state": state}))
    assert found is None
    assert not never_formed([{"quorum": found}])


def test_a_formatted_disk_without_a_metadata_log_is_blank(tmp_path: Path) -> None:
    """Kafka 3.9 makes the log at the first start."""
    (tmp_path / "meta.properties").write_text("cluster.id=x")
    assert known(str(tmp_path)) == {"leader": None, "epoch": None, "records": False}


def test_without_a_metadata_log_nothing_is_known(tmp_path: Path) -> None:
    assert quorum(str(tmp_path)) is None
    assert quorum(str(tmp_path / "missing")) is None
