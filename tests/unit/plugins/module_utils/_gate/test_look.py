"""Which rights an observation of the ISR needs, and how the gate looks at a cluster with ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import Look
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    InFlight,
    Partition,
    Snapshot,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._gate import look, pace_look
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import Goal
from ansible_collections.streamops.kafka.plugins.module_utils._gate.stop import GATE_OPTIONS

SEEN = Snapshot("", None, (), (Partition("seen", 0, 1, (1,), (1,), 1, False),), None)


class Opened(Session):
    """A session that needs no cluster."""

    def __enter__(self) -> Opened:
        return self


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks may describe the topic that is seen, and not the cluster."""

    def refuse(_session: Session, what: str) -> None:
        raise RequestFailedError(what, "of all topics", "CLUSTER_AUTHORIZATION_FAILED", "no right")

    def hidden(_session: Session, names: Iterable[str]) -> list[str]:
        return [name for name in names if name != "seen"]

    monkeypatch.setattr(look, "Session", Opened)
    monkeypatch.setattr(look, "require_describe", refuse)
    monkeypatch.setattr(look, "hidden_topics", hidden)
    monkeypatch.setattr(look, "glance", lambda _session: SEEN)


def test_who_may_describe_the_topics_that_are_named_need_not_describe_the_cluster() -> None:
    observer = look.IsrObserver(Connection(("a:1",)), Goal("topics", topics=("seen",)))
    assert observer.take().good


def test_a_topic_that_is_hidden_is_refused_with_the_right_that_is_missing() -> None:
    observer = look.IsrObserver(Connection(("a:1",)), Goal("topics", topics=("seen", "hidden")))
    with pytest.raises(RequestFailedError, match="the operation describe on the topic hidden") as failed:
        observer.take()
    assert not failed.value.passing


@pytest.mark.parametrize("goal", [Goal("cluster"), Goal("own", broker=1)])
def test_who_asks_about_all_topics_must_see_them_all(goal: Goal) -> None:
    with pytest.raises(RequestFailedError, match="of all topics"):
        look.IsrObserver(Connection(("a:1",)), goal).take()


OLD = Partition("t", 0, 1, (1, 2, 3), (1, 2, 3), 2, False)
NEW = Partition("t", 0, 1, (1, 2, 3), (1, 3), 0, False)
NAMES = {1: "a", 2: "b", 3: "c"}


@pytest.fixture
def zookeeper(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A cluster with ZooKeeper whose controller 3 knows that 2 has left an ISR; who is asked whether it is there."""
    asked: list[int] = []

    def silent(_session: Session, brokers: Iterable[Broker]) -> dict[int, str]:
        asked.extend(broker.id for broker in brokers)
        return {}

    seen = Snapshot("id", 3, tuple(Broker(n, name, 1, None, False) for n, name in NAMES.items()), (OLD,), None)
    monkeypatch.setattr(look, "describe_quorum", lambda _session: None)
    monkeypatch.setattr(look, "list_reassignments", lambda _session: {})
    monkeypatch.setattr(look, "take_snapshot", lambda _session, _quorum: seen)
    monkeypatch.setattr(look, "silent_brokers", silent)
    monkeypatch.setattr(look, "strangers_at", lambda _connection, _servers, _cluster_id: {})
    monkeypatch.setattr(look, "attributed", lambda _session, _snapshot, _moving: ())
    monkeypatch.setattr(look, "topics_at", lambda _session, broker, _names: {"t": (NEW,)} if broker == 3 else {})
    return asked


def test_with_zookeeper_each_broker_that_stays_is_asked_and_the_controller_tells_the_partitions(
    zookeeper: list[int],
) -> None:
    params = {name: option.get("default") for name, option in GATE_OPTIONS.items()}
    found = look.judge_now(Opened(Connection(("a:1",))), {**params, "node_ids": [1]}, False, False)
    assert zookeeper == [2, 3]
    assert [(one["kind"], one["found"]) for one in found["refusals"]] == [
        ("would_fall_under_min_isr", "t-0 (ISR 1, 3, min 2)")
    ]


@pytest.mark.parametrize(
    ("node", "times", "check", "seconds"),
    [(1, True, False, None), (9, True, False, 0.03), (9, True, True, None), (9, False, False, None)],
)
def test_an_open_gate_times_a_change_of_metadata_where_it_is_asked_to(
    zookeeper: list[int], monkeypatch: pytest.MonkeyPatch, node: int, times: bool, check: bool, seconds: float | None
) -> None:
    monkeypatch.setattr(pace_look, "change_seconds", lambda _session: (0.03, ""))
    params = {name: option.get("default") for name, option in GATE_OPTIONS.items()}
    asked = {**params, "node_ids": [node], "times_metadata": times}
    answer = pace_look.judge_and_time(Opened(Connection(("a:1",))), asked, check, False)
    assert (answer["metadata_seconds"], answer["not_timed"]) == (seconds, "")
    assert answer["allowed"] is (node == 9)


LED = Partition("t", 0, 1, (1, 2, 3), (1, 2, 3), 2, False)
SERVING = Snapshot("id", 3, tuple(Broker(n, name, 1, None, False) for n, name in NAMES.items()), (LED,), None)


def unmet_looks(
    monkeypatch: pytest.MonkeyPatch,
    denied: Iterable[set[tuple[str, int]]],
    where: str = "",
    seen: Snapshot = SERVING,
    late: tuple[int, ...] = (),
) -> list[str]:
    """What looks in turn find missing of broker 1, which denies leading these partitions in each of them."""
    answers = iter(denied)

    def ends_at(_session: Session, _broker: int, keys: Iterable[object]) -> tuple[object, object, set[tuple[str, int]]]:
        return dict.fromkeys(keys, 7), dict.fromkeys(keys, 5), next(answers)

    monkeypatch.setattr(look, "require_describe", lambda _session, _what: None)
    monkeypatch.setattr(look, "glance", lambda _session: seen)
    monkeypatch.setattr(look, "look_at_copying", lambda _session, at, _before: Look(at.partitions, frozenset(NAMES)))
    monkeypatch.setattr(look.time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(look, "list_reassignments", lambda _session: {})
    monkeypatch.setattr(look, "ends_at", ends_at)
    elsewhere = {1: where} if where else {}
    monkeypatch.setattr(look, "strangers_at", lambda _connection, _servers, _cluster_id: elsewhere)
    observer = look.IsrObserver(Connection(("a:1",)), Goal("own", broker=1, serves=True, behind=late))
    return ["; ".join(observer.take().unmet) for _look in denied]


@pytest.mark.parametrize("serves", [True, False])
def test_what_a_move_is_about_to_add_is_nobodys_fault_in_the_second_look_either(
    monkeypatch: pytest.MonkeyPatch, serves: bool
) -> None:
    late = Partition("u", 0, 2, (2, 3), (2,), 1, False)
    moved = Partition("t", 0, 1, (1, 2, 3), (1, 2), 2, False)
    move = InFlight("t", 0, (1, 2, 3), frozenset({3}), frozenset())
    looks = iter([replace(SERVING, partitions=(moved, late)), replace(SERVING, partitions=(moved,))])
    monkeypatch.setattr(look, "require_describe", lambda _session, _what: None)
    monkeypatch.setattr(look, "glance", lambda _session: next(looks))
    monkeypatch.setattr(look, "list_reassignments", lambda _session: {move.key: move})
    monkeypatch.setattr(look, "ends_at", lambda _session, _broker, _keys: ({}, {}, set()))
    monkeypatch.setattr(
        look, "look_at_copying", lambda _session, seen, _before: Look(seen.partitions, frozenset(NAMES))
    )
    monkeypatch.setattr(look.time, "sleep", lambda _seconds: None)
    observation = look.IsrObserver(Connection(("a:1",)), Goal("own", broker=1, serves=serves)).take()
    assert [fault["kind"] for fault in observation.attributions] == ([] if serves else ["pair"])
    assert observation.unmet == []


def test_what_a_broker_denies_leading_in_two_looks_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "at a:1 broker 2 answers there, not broker 1"
    first, second = unmet_looks(monkeypatch, [{("t", 0)}, {("t", 0)}], where)
    assert first == "", "leaders change between two requests of one look"
    said = "1 partition(s) that broker 1 leads are not served (t-0), since who answers for it denies leading them"
    assert second == f"{said}: {where}"
    assert unmet_looks(monkeypatch, [{("t", 0)}, {("t", 0)}])[1] == f"{said}: see who answers at its address"
    assert unmet_looks(monkeypatch, [{("t", 0)}, set()]) == ["", ""]


def test_who_leads_is_asked_also_where_no_partition_has_its_whole_isr(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a follower that was behind before, each partition of a small cluster may lack it."""
    seen = replace(SERVING, partitions=(replace(LED, isr=(1, 3)),))
    _first, second = unmet_looks(monkeypatch, [{("t", 0)}, {("t", 0)}], seen=seen, late=(2,))
    assert second.startswith("1 partition(s) that broker 1 leads are not served (t-0)")
    # Below min.insync.replicas nothing is committed; of others it is.
    assert unmet_looks(monkeypatch, [set(), set(), set()], seen=seen, late=(2,)) == ["", "", ""]
    assert "are not committed" in unmet_looks(monkeypatch, [set(), set(), set()])[2]
