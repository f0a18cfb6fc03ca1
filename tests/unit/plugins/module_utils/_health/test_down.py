# SPDX-License-Identifier: GPL-3.0-or-later
"""What is down by silence: who answers, what metadata says of it, whether the quorum is led, in all three modes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    Quorum,
    Snapshot,
    brokers_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health import look
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import UNLED_SECONDS, told_twice
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits, State, status_of
from ansible_collections.streamops.kafka.plugins.module_utils._health.rules import findings

COMBINED, ISOLATED, ZOOKEEPER = "combined", "isolated", "zookeeper"
BROKERS = (1, 2, 3)
#: What the quorum is: led, without an answer of a leader in two looks, or in the last look alone. With ZooKeeper there
#: is none to be asked.
LED, LEADERLESS, UNSURE, NONE = "led", "leaderless", "unsure", "none"
MUTE = "connected to kafka:9092, but no answer to ApiVersions within 8 s"


@dataclass(frozen=True)
class Case:
    """One row: the mode, who is silent, whom metadata calls fenced, the quorum; the status and kinds that follow."""

    mode: str
    silent: tuple[int, ...]
    fenced: tuple[int, ...]
    quorum: str
    status: str
    kinds: tuple[str, ...]
    elected: int = 1


DOWN_1, DOWN_2, DOWN_3 = (("broker_down",) * count for count in (1, 2, 3))
CASES = [
    # -- combined: a node that is mute is a broker and a voter
    Case(COMBINED, (), (), LED, "OK", ()),
    Case(COMBINED, (), (), UNSURE, "DEGRADED", ("quorum_unknown",)),
    Case(COMBINED, (2,), (), LED, "DEGRADED", DOWN_1),
    Case(COMBINED, (), (2,), LED, "DEGRADED", DOWN_1),
    Case(COMBINED, (1,), (), UNSURE, "DEGRADED", (*DOWN_1, "quorum_unknown")),
    # So many are silent that the one that is left can elect nobody: that needs no time.
    Case(COMBINED, (2, 3), (), UNSURE, "DOWN", (*DOWN_2, "no_controller")),
    Case(COMBINED, (2, 3), (), LEADERLESS, "DOWN", (*DOWN_2, "no_controller")),
    Case(ISOLATED, (2, 3), (), UNSURE, "DEGRADED", (*DOWN_2, "quorum_unknown")),
    # One was fenced before the majority was lost.
    Case(COMBINED, (3,), (2,), LEADERLESS, "DOWN", (*DOWN_2, "no_controller")),
    Case(COMBINED, (1, 2, 3), (), LEADERLESS, "DOWN", (*DOWN_3, "no_controller")),
    Case(COMBINED, (), (), LEADERLESS, "DOWN", ("no_controller",)),
    # -- isolated: no broker tells which controllers are mute
    Case(ISOLATED, (), (), LED, "OK", ()),
    Case(ISOLATED, (2,), (), LED, "DEGRADED", DOWN_1),
    Case(ISOLATED, (2, 3), (), LED, "DEGRADED", DOWN_2),
    Case(ISOLATED, (), (), UNSURE, "DEGRADED", ("quorum_unknown",)),
    Case(ISOLATED, (), (), LEADERLESS, "DOWN", ("no_controller",)),
    Case(ISOLATED, (2,), (3,), LEADERLESS, "DOWN", (*DOWN_2, "no_controller")),
    # -- ZooKeeper: the controller is a broker, which an ensemble that works replaces
    Case(ZOOKEEPER, (), (), NONE, "OK", ()),
    Case(ZOOKEEPER, (2,), (), NONE, "DEGRADED", DOWN_1),
    Case(ZOOKEEPER, (2, 3), (), NONE, "DEGRADED", DOWN_2),
    Case(ZOOKEEPER, (), (1,), NONE, "DEGRADED", DOWN_1, elected=2),
    Case(ZOOKEEPER, (1,), (), NONE, "DOWN", (*DOWN_1, "no_controller")),
]  # fmt: skip


def nodes(mode: str) -> list[dict[str, Any]]:
    """Return the nodes of the inventory."""
    roles = ["broker", "controller"] if mode == COMBINED else ["broker"]
    brokers = [{"host": f"kafka{node_id}", "node_id": node_id, "roles": roles} for node_id in BROKERS]
    others = [{"host": f"controller{node_id}", "node_id": node_id, "roles": ["controller"]} for node_id in (4, 5, 6)]
    return [*brokers, *(others if mode == ISOLATED else ())]


def voter(node_id: int, age: int | None = 100) -> dict[str, Any]:
    """Return a voter that had caught up so many milliseconds ago."""
    return {"id": node_id, "directory_id": None, "log_end_offset": 7, "lag": 0, "last_caught_up_ms_ago": age}


def quorum(mode: str, how: str) -> dict[str, Any] | None:
    """Return the quorum as cluster_info has it."""
    if how == NONE:
        return None
    is_led = how == LED
    ids = (4, 5, 6) if mode == ISOLATED else BROKERS
    return {
        "leader_id": ids[0] if is_led else None,
        "leader_epoch": 2,
        "high_watermark": 7,
        "voters": [voter(node_id) for node_id in ids] if is_led else [],
        "observers": [],
        "error": None if is_led else "no broker got an answer from the active controller",
    }


def state(case: Case, **more: Any) -> State:
    """Return what two looks find."""
    asked = quorum(case.mode, case.quorum)
    counts = {"nodes": 3, "partitions": 12, "offline": 0, "under_min_isr": 0, "under_replicated": 0}
    brokers = [
        # Skewed leaders are advice, which waits.
        {"id": node_id, "fenced": node_id in case.fenced, "imbalance_percent": 90.0 * bool(case.silent), "leaders": 4}
        for node_id in BROKERS
    ]
    elected = asked["leader_id"] if asked else case.elected
    info = {"nodes": brokers, "controller_id": elected, "quorum": asked, "counts": counts, **more}
    silent = dict.fromkeys(case.silent, MUTE)
    return State(info, nodes=nodes(case.mode), silent=silent, leaderless=case.quorum == LEADERLESS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_mute_is_down_whatever_metadata_says_and_causes_come_first(case: Case) -> None:
    listed = findings(state(case), Limits())
    assert (status_of(listed), tuple(finding.kind for finding in listed)) == (case.status, case.kinds)
    named = [finding.what for finding in listed if finding.kind == "broker_down"]
    # The silent ones first, then those that metadata calls fenced.
    wanted = [*case.silent, *(broker for broker in case.fenced if broker not in case.silent)]
    assert [what.split(":")[0] for what in named] == [f"broker kafka{one} (id {one}) is down" for one in wanted]
    assert all("4 partitions that it leads" in what for what in named)
    assert all(MUTE in finding.found for finding in listed[: len(case.silent)])


def test_a_leaderless_quorum_names_the_controllers_of_the_inventory() -> None:
    (down,) = findings(state(Case(ISOLATED, (), (), LEADERLESS, "DOWN", ())), Limits())
    assert "no broker got an answer from the active controller" in down.what
    assert "a majority of controller4, controller5, controller6 runs" in down.next_step


@pytest.mark.parametrize(
    ("ages", "silent", "is_down"),
    [
        # Before KAFKA-15489 the leader goes on alone, and answers.
        ((0, 60_000, 60_000), (), True),
        ((0, 60_000, 100), (), False),
        ((0, 9_000, 9_000), (2, 3), True),
        # They fetch: we do not reach them, and the active controller does.
        ((0, 300, 300), (2, 3), False),
        # A leader that was just elected.
        ((0, None, None), (), False),
    ],
)
def test_a_leader_whose_voters_do_not_follow_is_no_controller(
    ages: tuple[int | None, ...], silent: tuple[int, ...], is_down: bool
) -> None:
    case = Case(COMBINED, silent, (), LED, "", ())
    voters = [voter(node_id, age) for node_id, age in zip(BROKERS, ages, strict=True)]
    listed = findings(state(case, quorum={**(quorum(COMBINED, LED) or {}), "voters": voters}), Limits())
    assert [finding.what for finding in listed if finding.kind == "no_controller"] == (
        ["the active controller has no majority: kafka2, kafka3 do not follow"] if is_down else []
    )


def test_partitions_without_a_leader_come_behind_the_broker_or_disk_that_they_wait_for() -> None:
    case = Case(ISOLATED, (2,), (), LED, "", ())
    looked = state(case, counts={"nodes": 3, "partitions": 12, "offline": 2})
    assert [finding.kind for finding in findings(looked, Limits())] == ["broker_down", "partitions_offline"]
    info = dict(state(Case(ISOLATED, (), (), LED, "", ()), counts={"partitions": 12, "offline": 2}).seen)
    failed = State(info, nodes=nodes(ISOLATED), failed_log_dirs={2: ["/data"]}, untold=["moves (timed out)"])
    assert [finding.kind for finding in findings(failed, Limits())] == [
        "log_dir_offline", "partitions_offline", "untold"
    ]  # fmt: skip


def snapshot(silent: tuple[int, ...], quorum_of: Quorum | None) -> Snapshot:
    """Return a snapshot of three live brokers, of which these did not answer."""
    listed = [{"broker_id": one, "host": "kafka", "port": 9092, "rack": None} for one in BROKERS]
    brokers: tuple[Broker, ...] = brokers_of(listed, ())
    return Snapshot("id", None, brokers, (), quorum_of, silent=dict.fromkeys(silent, MUTE))


def test_only_what_two_looks_miss_is_down() -> None:
    led, lost = Quorum(1, 2, 7, (), ()), Quorum.unknown("no answer")
    assert told_twice((2,), 0, snapshot((2, 3), led)) == {"silent": {2: MUTE}, "leaderless": False}
    assert told_twice((2,), UNLED_SECONDS - 1, snapshot((), lost)) == {"silent": {}, "leaderless": False}
    assert told_twice((), UNLED_SECONDS, snapshot((3,), led)) == {"silent": {}, "leaderless": False}
    assert told_twice((), UNLED_SECONDS, snapshot((), lost)) == {"silent": {}, "leaderless": True}
    assert told_twice((1,), 0, snapshot((1,), None)) == {"silent": {1: MUTE}, "leaderless": False}


class _Session:
    """A session that nobody talks through."""

    connection = Connection(("kafka:9092",), request_timeout=30)

    def __init__(self, _connection: Connection | None = None) -> None:
        pass

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_error: object) -> None:
        pass


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a second look was waited for."""
    pauses: list[float] = []
    monkeypatch.setattr(look, "Session", _Session)
    monkeypatch.setattr(look.time, "sleep", pauses.append)
    return pauses


def looks_again(
    monkeypatch: pytest.MonkeyPatch, first: Snapshot, second: Snapshot, unsteady: object = None
) -> tuple[Snapshot, dict[str, Any]]:
    """Return what a status makes of a first look and a second one."""
    monkeypatch.setattr(look, "describe_quorum", lambda _session: second.quorum)
    monkeypatch.setattr(look, "take_snapshot", lambda _session, asked, **_more: replace(second, quorum=asked))
    monkeypatch.setattr(look, "answering", lambda _session, taken: taken)
    given = {"unsteady": unsteady, "nodes": nodes(COMBINED)}
    return look._looked_again(_Session(), first, given)  # type: ignore[arg-type]


def test_a_cluster_that_answers_is_looked_at_once(monkeypatch: pytest.MonkeyPatch, slept: list[float]) -> None:
    well = snapshot((), Quorum(1, 2, 7, (), ()))
    assert looks_again(monkeypatch, well, well) == (well, {})
    unsteady = snapshot((), Quorum.unknown("it has no stable leader"))
    assert looks_again(monkeypatch, unsteady, well, unsteady={"epochs": "two"}) == (unsteady, {})
    assert slept == []


def test_silence_is_looked_at_twice_and_what_answers_then_is_not_down(
    monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    led, lost = Quorum(1, 2, 7, (), ()), Quorum.unknown("no answer")
    seen, twice = looks_again(monkeypatch, snapshot((3,), lost), snapshot((3,), led))
    assert (seen.silent, seen.quorum, twice) == ({3: MUTE}, led, {"silent": {3: MUTE}, "leaderless": False})
    _seen, twice = looks_again(monkeypatch, snapshot((3,), lost), snapshot((3,), lost))
    assert twice == {"silent": {3: MUTE}, "leaderless": True}
    assert slept == [UNLED_SECONDS] * 2


def test_a_quorum_that_can_elect_nobody_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, slept: list[float]) -> None:
    led, lost = Quorum(1, 2, 7, (), ()), Quorum.unknown("no answer")
    seen, twice = looks_again(monkeypatch, snapshot((2, 3), lost), snapshot((3,), led))
    assert (seen.silent, seen.quorum, twice) == ({3: MUTE}, led, {"silent": {3: MUTE}, "leaderless": False})
    # That it is down follows from those that are silent twice (CASES), not from the time.
    _seen, twice = looks_again(monkeypatch, snapshot((2, 3), lost), snapshot((2, 3), lost))
    assert twice == {"silent": {2: MUTE, 3: MUTE}, "leaderless": False}
    assert slept == [look._AGAIN] * 2


def test_the_controller_of_zookeeper_mode_has_until_its_session_ends(
    monkeypatch: pytest.MonkeyPatch, slept: list[float]
) -> None:
    first = replace(snapshot((2,), None), controller_id=2)
    looks_again(monkeypatch, first, first)
    looks_again(monkeypatch, replace(first, controller_id=1), first)
    assert slept == [look.AFTER_SESSION, look._AGAIN]
