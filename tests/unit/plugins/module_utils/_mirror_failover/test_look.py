# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order both clusters are read, and what is made of their answers."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import (
    Group,
    Listed,
    Member,
    Offset,
    Offsets,
)
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import Leaders
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import NO_ANSWER
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log as Ends
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import Marks
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log, NothingToMirrorError, Seen
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import look as looking
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import Checkpoint, Look, Reader

FLOW = Flow("a", "b", ("orders",), policy="identity")
PLACE = ("orders", 0)
SOURCE, TARGET = "the source", "the target"
#: Of each cluster the groups, and how far they have read.
GROUPS = {
    SOURCE: {"app": {PLACE: Offset(90)}, "other": {("invoices", 0): Offset(1)}, "silent": {}},
    TARGET: {"app": {PLACE: Offset(80)}, "other": {}, "new": {PLACE: Offset(1)}},
}


def record(group: str, topic: str, offsets: tuple[int, int]) -> Any:
    """A checkpoint as a consumer gets it."""
    names = [name.encode() for name in (group, topic)]
    key = b"".join(struct.pack(">h", len(name)) + name for name in names) + struct.pack(">i", 0)
    return SimpleNamespace(key=key, value=struct.pack(">hqq", 0, *offsets) + b"\x00\x00")


class Clusters:
    """Two clusters that answer, and what was asked of them."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.slept: list[float] = []
        self.topics = {SOURCE: ["orders", "invoices"], TARGET: ["orders", "older", "a.checkpoints.internal"]}
        self.ends = [Ends(0, 100), Ends(0, 100), Ends(0, 103)]

    def note(self, question: str, answer: Any) -> Any:
        """Note what was asked, and return the answer."""
        self.asked.append(question)
        return answer

    def edges(self, session: str, topics: Any) -> dict[Any, Log]:
        """Both ends of copies, which grow by one with each question."""
        self.asked.append(f"edges of {session}")
        return {(name, 0): Log(0, 95 + len(self.asked)) for name in topics}

    def log_ends(self, _session: str, _leaders: Any, keys: Any, committed: bool) -> dict[Any, Ends]:
        """The ends of the source; of one partition no broker tells."""
        self.asked.append(f"ends of the source, {committed=}")
        end = self.ends.pop(0)
        return {key: end if key[1] == 0 else Ends(missing=NO_ANSWER) for key in keys}

    def described(self, session: str, listed: list[Listed]) -> Any:
        """The groups that were asked for; one does not say how far it has read."""
        groups = {one.name: Group(one) for one in listed}
        offsets = {
            one.name: Offsets(GROUPS[session][one.name], "not allowed" if one.name == "silent" else None)
            for one in listed
        }
        return groups, listed, offsets

    def visit(self, _session: str, _starts: Any, _ends: Any, take: Any) -> None:
        """Checkpoints of a topic of the flow, the later one last, and of one that is none of it."""
        take(record("app", "orders", (50, 40)))
        take(record("app", "orders", (60, 50)))
        take(record("app", "invoices", (60, 50)))
        take(SimpleNamespace(key=b"other", value=None))


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    """Both clusters in place of those that a session has."""
    made = Clusters()
    answers: dict[str, Any] = {
        "refuse_one_cluster": lambda *_asked: None,
        "kept": lambda *_asked: Marks(),
        "looked": lambda *_asked: made.note("gaps", Marks()),
        "topics_at": lambda session, _broker, names: {
            name: () for name in made.topics[session] if names is None or name in names
        },
        "edges": made.edges,
        "leaders_of": lambda _session, topics: Leaders(
            {(name, number): 1 for name in topics for number in (0, 1)}, frozenset()
        ),
        "log_ends": made.log_ends,
        "look_within": lambda *_asked: made.note("look", Seen({PLACE: Log(0, 100)})),
        "syncs_of": lambda _flow, _origin, _copy, keys: {key: [(0, 0)] for key in keys},
        "list_groups": lambda session: (
            [Listed(name, "classic", "Empty", "consumer", 1) for name in GROUPS[session]],
            {2: "timed out"} if session == TARGET else {},
        ),
        "described": made.described,
        "visit": made.visit,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(looking, name, answer)
    return made


def look(clusters: Clusters, watch: float = 5) -> Look:
    """Look once."""
    return looking.look_at(FLOW, SOURCE, TARGET, watch, 0, clusters.slept.append)  # type: ignore[arg-type]


def test_copies_are_read_before_the_source_and_after_it(clusters: Clusters) -> None:
    found = look(clusters)
    assert clusters.asked == [
        f"edges of {TARGET}",
        "gaps",
        "ends of the source, committed=False",
        "look",
        f"edges of {TARGET}",  # Of the topic of checkpoints.
        "ends of the source, committed=True",
        "ends of the source, committed=False",
        f"edges of {TARGET}",
    ]
    assert found.copied_before[PLACE] < (found.copies[PLACE].end or 0)


def test_the_source_is_watched_for_as_long_as_is_asked(clusters: Clusters) -> None:
    found = look(clusters)
    assert clusters.slept[0] == pytest.approx(5, abs=1)
    assert (found.tops_before[PLACE], found.tops_after[PLACE]) == (100, 103)
    # Of a partition whose leader is silent nothing is known.
    assert ("orders", 1) not in found.tops_before


def test_a_look_that_took_longer_waits_no_more(clusters: Clusters) -> None:
    look(clusters, watch=0)
    assert clusters.slept == [0]


def test_groups_that_read_the_topics_are_looked_at_in_both_clusters(clusters: Clusters) -> None:
    readers = {reader.group.listed.name: reader for reader in look(clusters).readers}
    # Of the silent one it is not known that it reads none of them.
    assert readers.keys() == {"app", "silent"}
    assert readers["app"].offsets_there.of[PLACE].next == 80
    assert isinstance(readers["silent"], Reader)
    assert readers["silent"].there is None


def test_brokers_that_told_no_groups_are_named(clusters: Clusters) -> None:
    assert look(clusters).hidden == ["broker 2 of b (timed out)"]


def test_the_latest_checkpoint_of_a_topic_of_the_flow_counts(clusters: Clusters) -> None:
    assert look(clusters).checkpoints == {("app", PLACE): Checkpoint(60, 50)}


def test_without_a_topic_of_checkpoints_there_are_none(clusters: Clusters, monkeypatch: pytest.MonkeyPatch) -> None:
    clusters.topics[TARGET] = ["orders"]
    monkeypatch.setattr(looking, "visit", lambda _session, _starts, ends, _take: clusters.asked.extend(map(str, ends)))
    assert look(clusters).checkpoints == {}


def test_a_flow_of_no_topic_is_refused(clusters: Clusters) -> None:
    clusters.topics[SOURCE] = ["invoices"]
    with pytest.raises(NothingToMirrorError, match="topic orders does not exist in a"):
        look(clusters)


def test_who_is_in_the_group_of_a_flow_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [Listed(name, "classic", "Stable", "connect", 1) for name in ("b-mm2", "c-mm2", "b-heartbeats-mm2")]
    group = Group(listed[0], "Stable", (Member("m", "w", "m1"),))
    monkeypatch.setattr(looking, "list_groups", lambda _session: (listed, {3: "no answer"}))
    monkeypatch.setattr(looking, "described", lambda _session, some, **_more: ({some[0].name: group}, some, {}))
    session: Any = None
    assert looking.running(Flow("b", "a", ("orders",)), session) == (1, ["broker 3 of a (no answer)"])
