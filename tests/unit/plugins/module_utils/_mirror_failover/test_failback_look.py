# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a source that answers again, and in which bounds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import failback_look as act
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import look as looking
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.record import Loss
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.surplus import Part, Survey

SOURCE: Any = "the source"
TARGET: Any = "the target"


class Clusters:
    """Logs of both clusters: a letter is a record, a dot an offset without one."""

    def __init__(self) -> None:
        self.source = {("orders", 0): "abcdefgh"}
        self.target = {("orders", 0): "abcdefXY"}
        self.ids = {"orders": "1"}
        self.read: list[Any] = []
        self.tops: list[dict[Any, int]] = []

    def logs(self) -> dict[Any, Log]:
        """Return the logs of the source."""
        return {key: Log(0, len(log)) for key, log in self.source.items()}

    def visit(self, session: Any, starts: Any, ends: Any, take: Any) -> None:
        """Give the records of a range, the first of them twice."""
        ((key, start),) = starts.items()
        self.read.append((session, key, start, ends[key]))
        log = (self.source if session == SOURCE else self.target)[key]
        rows = [
            SimpleNamespace(offset=at, key=None, value=letter.encode(), headers=[], timestamp=1)
            for at, letter in enumerate(log)
            if letter != "." and start <= at < ends[key]
        ]
        for row in [*rows[:1], *rows]:
            take(row)


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    """Two clusters without Kafka."""
    made = Clusters()
    monkeypatch.setattr(act, "visit", made.visit)
    monkeypatch.setattr(act, "copies_of", lambda flow, _copy: copies(made, flow))
    monkeypatch.setattr(act, "kept", lambda *_arguments: SimpleNamespace(ids={"orders": "1"}))
    monkeypatch.setattr(act, "topic_ids", lambda _session: made.ids)
    monkeypatch.setattr(act, "topics_at", lambda *_arguments: {topic: [] for topic, _number in made.source})
    monkeypatch.setattr(
        act, "edges", lambda _session, topics: {key: log for key, log in made.logs().items() if key[0] in topics}
    )
    monkeypatch.setattr(looking, "list_groups", lambda _session: ([SimpleNamespace(name="a-mm2")], {}))
    groups = {"a-mm2": SimpleNamespace(members=[1, 2], error=None, vanished=False)}
    monkeypatch.setattr(looking, "described", lambda _session, listed, **_more: (groups if listed else {}, listed, {}))
    ends = {key: log.end for key, log in made.logs().items()}
    monkeypatch.setattr(act, "tops_of", lambda *_arguments, **_more: made.tops.pop(0) if made.tops else ends)
    return made


def copies(made: Clusters, flow: Flow) -> dict[Any, Log]:
    """Return the logs of the copies."""
    prefix = "" if flow.policy == "identity" else "a."
    return {(topic.removeprefix(prefix), number): Log(0, len(log)) for (topic, number), log in made.target.items()}


def survey(policy: str = "identity", ends: Any = None, copied: int = 4, ids: Any = None, **more: Any) -> Survey:
    """Look once."""
    flow = Flow("a", "b", ("orders",), policy=policy)
    loss = Loss("", {"orders": {"0": copied}}, ends if ends is not None else {"orders": {"0": 6}}, ids=ids or {})
    return act.survey_of(flow, loss, SOURCE, TARGET, 5.0, lambda _seconds: None, **more)


def only(looked: Survey) -> Part:
    """Return the only partition."""
    (part,) = looked.parts
    return part


def test_the_copy_is_compared_as_it_was_when_the_target_was_opened(clusters: Clusters) -> None:
    part = only(survey())
    assert part.compared is not None
    # X and Y are of clients that write into the open target.
    assert (part.compared.first, part.compared.records, part.compared.is_exact) == (6, 2, True)
    assert clusters.read == [(SOURCE, ("orders", 0), 0, 8), (TARGET, ("orders", 0), 0, 6)]
    assert survey().first() == {"orders": {"0": 6}}


def test_records_of_a_canary_and_of_a_drill_are_no_surplus(clusters: Clusters) -> None:
    clusters.source |= {("streamops-canary.a.b", 0): "abc", ("streamops-drill.a.b-0a1b2c3d-0", 0): "abc"}
    flow = Flow("a", "b", (".*",), policy="identity")
    looked = act.survey_of(flow, Loss(), SOURCE, TARGET, 0.0, lambda _seconds: None)
    assert [part.topic for part in looked.parts] == ["orders"]


def test_an_older_record_is_completed_by_a_copy_that_nobody_else_writes(clusters: Clusters) -> None:
    clusters.target = {("a.orders", 0): "abcdef"}
    part = only(survey("default", {}))
    assert part.compared is not None
    assert (part.end_there, part.compared.first) == (6, 6)
    clusters.target = {("orders", 0): "abcdefXY"}
    part = only(survey(ends={}))
    assert part.compared is not None
    assert (part.end_there, part.compared.first, part.compared.is_exact) == (None, 4, False)


def test_no_more_is_read_than_the_bounds_say(clusters: Clusters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(act, "LOOK", 1)
    monkeypatch.setattr(act, "BEFORE", 2)
    part = only(survey())
    assert clusters.read == [(SOURCE, ("orders", 0), 2, 5), (TARGET, ("orders", 0), 3, 6)]
    # What is not found within them is kept whole.
    assert (part.surplus.at_least, part.surplus.at_most) == (0, 4)
    assert survey().first() == {"orders": {"0": 4}}


@pytest.mark.parametrize(
    ("log", "identity", "copied", "state", "surplus"),
    [
        ("abcdefgh", "2", 4, "anew", 8),
        ("", "1", 4, "anew", 0),
        ("abc", "1", 4, "short", 3),
        ("abcd....", "1", 4, "same", 0),
    ],
)
def test_what_became_of_a_topic(
    clusters: Clusters, log: str, identity: str, copied: int, state: str, surplus: int
) -> None:
    clusters.source, clusters.ids = {("orders", 0): log}, {"orders": identity}
    part = only(survey(copied=copied, ends={"orders": {"0": 4}}))
    assert (part.state, part.surplus.at_most) == (state, surplus)


def test_a_topic_made_anew_is_known_by_the_record_of_the_loss_also_after_later_looks(clusters: Clusters) -> None:
    clusters.ids = {"orders": "2"}
    assert only(survey(ids={"orders": "2"})).state == "same"
    clusters.ids = {"orders": "1"}
    # A look for gaps has kept the new id since.
    assert only(survey(ids={"orders": "0"})).state == "anew"
    assert only(survey(ids={"other": "0"})).state == "same"


def test_a_log_that_was_cut_and_written_again_is_kept_from_where_it_differs(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters.target = {("orders", 0): "abcdefXY"}
    for log, first, records in (("abcX", 3, 1), ("abcXefgh", 3, 5), ("SUVWefgh", 0, 8), ("SUV", 0, 3)):
        clusters.source = {("orders", 0): log}
        looked = survey(ends={"orders": {"0": 4}})
        assert looked.first() == {"orders": {"0": first}}
        assert (only(looked).surplus.at_least, only(looked).surplus.at_most) == (0, records)
    # Nothing within the bound is in the copy, so what stands below it may be new too.
    monkeypatch.setattr(act, "BEFORE", 2)
    clusters.source = {("orders", 0): "abSUefgh"}
    assert survey(ends={"orders": {"0": 4}}).first() == {"orders": {"0": 0}}
    # A partition that is wholly copied has no surplus, and no word is said of it.
    clusters.source = {("orders", 0): "abcd"}
    assert only(survey(ends={"orders": {"0": 4}})).compared is None


def test_an_empty_source_has_nothing_alone(clusters: Clusters) -> None:
    clusters.source = {}
    part = only(survey())
    assert (part.state, part.surplus.at_most, clusters.read) == ("gone", 0, [])


def test_a_partition_that_was_never_copied_is_alone(clusters: Clusters) -> None:
    clusters.source[("orders", 1)] = "ab"
    parts = survey().parts
    assert [part.surplus.at_most for part in parts] == [2, 2]


def test_writers_open_transactions_and_mirrors_are_known(clusters: Clusters) -> None:
    key = ("orders", 0)
    clusters.tops = [{key: 8}, {key: 7}, {key: 11}]
    looked = survey(is_compared=False)
    assert (looked.grown, list(looked.is_open), looked.workers, looked.workers_back) == ({key: 3}, [key], 2, 0)
    assert clusters.read == []


def test_mirrors_that_no_broker_tells_are_not_taken_for_none(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert survey(is_compared=False).hidden == []
    silent: Any = {SOURCE: {1: "no answer"}, TARGET: {}}
    monkeypatch.setattr(looking, "list_groups", lambda session: ([SimpleNamespace(name="a-mm2")], silent[session]))
    groups = {"a-mm2": SimpleNamespace(members=(), error="broker 3 is silent", vanished=False)}
    monkeypatch.setattr(looking, "described", lambda _session, listed, **_more: (groups if listed else {}, listed, {}))
    looked = survey(is_compared=False)
    assert looked.hidden == ["group a-mm2 of b (broker 3 is silent)", "broker 1 of a (no answer)"]
    assert looked.workers == 0
    # The mirrors have stopped a moment ago.
    groups["a-mm2"].vanished = True
    assert survey(is_compared=False).hidden == ["broker 1 of a (no answer)"]
