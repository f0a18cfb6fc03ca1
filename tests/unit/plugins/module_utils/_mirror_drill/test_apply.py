# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drill makes, keeps and deletes, in which order, also when it is killed or fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import NothingToMirrorError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill import api
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill import apply as act
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import Counts, own_of
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.run import PartFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.record import Record
from tests.support.acts import Killed

FLOW = Flow("a", "b", ("orders",))
SOURCE: Any = "the source"
TARGET: Any = "the target"
COUNTS = Counts(200, 0, 12, 20, 0, 0)
#: A topic that is no drill's, at each end.
PRODUCTION = {SOURCE: {"orders"}, TARGET: {"a.orders"}}


class Clusters:
    """The topics and groups of both ends, and what the target keeps; a course makes the copies as a mirror does."""

    def __init__(self) -> None:
        self.kept: Any = None
        self.topics = {end: set(names) for end, names in PRODUCTION.items()}
        self.groups: set[tuple[Any, str]] = {(SOURCE, "billing")}
        self.failover: Record | None = None
        self.fails: Callable[[], None] = lambda: None
        self.counts = COUNTS
        self.undeletable = False
        self.clock = 0.0

    def write_state(self, _session: Any, _key: str, value: Any) -> int:
        """Keep a value."""
        self.kept = value
        return 1

    def make_topic(self, session: Any, spec: Any, _seconds: float) -> None:
        """Make a topic, whose name must have been kept before."""
        assert spec.name in self.kept["left"]["topics"]
        assert spec.config["cleanup.policy"] == "delete"
        self.topics[session].add(spec.name)

    def drop_topics(self, session: Any, names: Any, _seconds: float) -> None:
        """Delete topics."""
        if self.undeletable:
            raise RequestFailedError("delete topic", names[0], "TOPIC_AUTHORIZATION_FAILED", "no right")
        self.topics[session] -= set(names)

    def ensure_offsets(self, session: Any, params: Any, check: bool, diff: bool) -> dict[str, Any]:
        """Delete a group."""
        assert (params["state"], check, diff) == ("absent", False, False)
        self.groups.discard((session, params["group"]))
        return {}

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.clock += seconds


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    """Two clusters without Kafka."""
    made = Clusters()

    class Course:
        """A drill that copies at once."""

        seconds = {"copied": 1.0}  # noqa: RUF012
        loss, rto_read, rto_written = None, 2.0, 1.0

        def __init__(self, _flow: Any, own: Any, _origin: Any, _copy: Any, contents: Any, _params: Any) -> None:
            assert len(contents) == len(own.topics)
            self.own, self.counts = own, None

        def go(self) -> None:
            """Copy, or fail."""
            made.topics[TARGET] |= {f"a.{topic}" for topic in self.own.topics}
            made.groups |= {(SOURCE, self.own.group), (TARGET, self.own.group)}
            made.fails()
            self.counts = made.counts  # type: ignore[assignment]

    for name in ("write_state", "make_topic", "drop_topics", "ensure_offsets"):
        monkeypatch.setattr(act, name, getattr(made, name))
    monkeypatch.setattr(act, "Course", Course)
    monkeypatch.setattr(api, "read_states", lambda _session, keys: dict.fromkeys(keys, made.kept))
    monkeypatch.setattr(act, "kept_record", lambda *_arguments: (made.failover, 1))
    monkeypatch.setattr(act, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(act, "planned", lambda *_arguments: SimpleNamespace(against=["1 task failed"]))
    monkeypatch.setattr(
        act,
        "topics_at",
        lambda session, _node, names: {
            name: [None] * 3 for name in made.topics[session] if names is None or name in names
        },
    )
    monkeypatch.setattr(act, "edges", lambda *_arguments: {})
    monkeypatch.setattr(act, "last_contents", lambda *_arguments: [])
    monkeypatch.setattr(act.time, "sleep", made.sleep)
    monkeypatch.setattr(act.time, "monotonic", lambda: made.clock)
    return made


def drill(**given: Any) -> act.Drill:
    """Return a drill as a run of its own begins it."""
    params = {"drill_topics": [], "operator": " alice ", "timeout": 10, **given}
    return act.Drill(FLOW, SOURCE, TARGET, params)


def last() -> dict[str, Any]:
    """Return how the last drill ended, for which the source is not asked."""
    return act.told(FLOW, act.kept_in(FLOW, TARGET).last)


def assert_only_production_is_left(clusters: Clusters) -> None:
    """Nothing of a drill is there any more, and nothing else is gone."""
    assert clusters.topics == PRODUCTION
    assert clusters.groups == {(SOURCE, "billing")}
    assert clusters.kept["left"] is None


def test_a_drill_that_passes_leaves_nothing_but_its_result(clusters: Clusters) -> None:
    result = drill(drill_topics=[" orders", ""]).run(False)
    assert (result["changed"], result["drill"]["passed"], result["drill"]["by"]) == (True, True, "alice")
    assert result["lines"][0] == "Drill        a->b, passed"
    assert_only_production_is_left(clusters)
    assert (last()["changed"], last()["days"]) == (False, 0)
    assert last()["lines"] == ["Drill        passed today: RPO 0, RTO 2 s, 12 records read again"]


def test_without_a_drill_there_is_nothing_to_tell(clusters: Clusters) -> None:
    assert (last()["drill"], last()["days"]) == (None, None)
    assert clusters.kept is None


def test_check_mode_makes_nothing(clusters: Clusters) -> None:
    result = drill().run(True)
    assert result["lines"][:2] == ["Drill        a->b, not begun", "Against      1 task failed"]
    assert (clusters.kept, clusters.topics, clusters.groups) == (None, PRODUCTION, {(SOURCE, "billing")})


def test_check_mode_says_when_it_is_not_known_what_hinders_a_failover(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_given: Any) -> None:
        raise NothingToMirrorError("a has no topic of the flow.")

    monkeypatch.setattr(act, "planned", refuses)
    against = "Against      not known what hinders a failover: a has no topic of the flow."
    assert drill().run(True)["lines"][1] == against
    # It looks at its own topics only.
    assert drill().run(False)["drill"]["passed"]


def test_a_part_that_fails_fails_the_drill_and_cleans_up(clusters: Clusters) -> None:
    def fails() -> None:
        raise PartFailedError("drained", ["b lacks records."])

    clusters.fails = fails
    with pytest.raises(act.DrillFailedError, match="not drained: b lacks records") as failed:
        drill().run(False)
    assert failed.value.failure["drill"]["why"] == ["not drained: b lacks records."]
    assert failed.value.failure["drill"]["seconds"] == {"copied": 1.0}
    assert_only_production_is_left(clusters)
    assert last()["lines"] == ["Drill        failed today: not drained: b lacks records."]


def test_a_lost_record_fails_the_drill(clusters: Clusters) -> None:
    clusters.counts = replace(COUNTS, missing=1)
    with pytest.raises(act.DrillFailedError, match="b lacks 1 of 200 acknowledged records"):
        drill().run(False)
    assert_only_production_is_left(clusters)


def test_what_a_killed_drill_left_goes_with_the_next_one(clusters: Clusters) -> None:
    def killed() -> None:
        raise Killed

    clusters.fails = killed
    with pytest.raises(Killed):
        drill().run(False)
    left = clusters.kept["left"]
    assert set(left["topics"]) <= clusters.topics[SOURCE]
    removes = f"Removes      what a drill before it left: {left['topics'][0]}, their copies and group"
    assert removes in drill().run(True)["lines"]
    clusters.fails = lambda: None
    assert drill().run(False)["drill"]["passed"]
    assert_only_production_is_left(clusters)


def test_what_cannot_be_deleted_fails_the_drill_and_is_named_for_the_next_one(clusters: Clusters) -> None:
    clusters.undeletable = True
    with pytest.raises(act.DrillFailedError, match="what it made is not deleted, and the next drill will do so"):
        drill().run(False)
    assert clusters.kept["left"]["topics"]
    clusters.undeletable = False
    assert drill().run(False)["drill"]["passed"]
    assert_only_production_is_left(clusters)


@pytest.mark.parametrize("is_check", [True, False])
def test_a_name_that_no_drill_gives_is_never_deleted(clusters: Clusters, is_check: bool) -> None:
    own = own_of(FLOW, "0badcafe", 1)
    clusters.kept = {"left": {"topics": ["orders"], "group": own.group}, "last": None}
    with pytest.raises(RefusedError, match="names that no drill gives"):
        drill().run(is_check)
    assert clusters.topics == PRODUCTION


def test_a_failover_under_way_and_topics_that_are_not_there_are_refused(clusters: Clusters) -> None:
    clusters.failover = Record("fenced", "bob", "2026-01-31T02:10:00Z")
    with pytest.raises(RefusedError, match="a failover a->b is under way") as refused:
        drill(drill_topics=["order"]).run(False)
    assert len(refused.value.violations) == 2
    assert (clusters.kept, clusters.topics) == (None, PRODUCTION)


def test_a_failed_drill_keeps_the_word_of_the_last_one_until_it_ends(clusters: Clusters) -> None:
    drill().run(False)
    before = clusters.kept["last"]

    def killed() -> None:
        raise Killed

    clusters.fails = killed
    with pytest.raises(Killed):
        drill().run(False)
    assert clusters.kept["last"] == before
