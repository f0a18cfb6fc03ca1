# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a drill in their order, with clusters that a mirror copies between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import WaitTimeoutError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill import run as act
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import (
    Counts,
    Numbered,
    filled,
    own_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import (
    GroupPlan,
    PartitionPlan,
    Plan,
    Reading,
    Span,
)

FLOW = Flow("a", "b", ("orders",))
OWN = own_of(FLOW, "0badcafe", 2)
SOURCE: Any = "the source"
TARGET: Any = "the target"


class Kafka:
    """Logs of both ends as lists of numbers; a mirror copies them where it is asked for, but for what it loses."""

    def __init__(self) -> None:
        self.clock = 100.0
        self.logs: dict[Any, dict[tuple[str, int], list[int]]] = {SOURCE: {}, TARGET: {}}
        self.committed: dict[tuple[Any, tuple[str, int]], int] = {}
        self.done: list[str] = []
        self.stands = False
        self.loses: set[int] = set()
        self.back = 2

    def now(self) -> float:
        """Return the time, which passes with each look at it."""
        self.clock += 0.5
        return self.clock

    @contextmanager
    def writer(self, session: Any) -> Any:
        """Write into the logs of an end."""
        kafka = self

        class Writer:
            """The writer."""

            def write(self, records: Sequence[Any], _seconds: float = 0.0) -> list[Numbered]:
                """Append records."""
                written = []
                for topic, number, content in records:
                    log = kafka.logs[session].setdefault((topic, content.partition), [])
                    log.append(number)
                    place = (topic, content.partition)
                    written.append(Numbered(number, place, len(log) - 1, kafka.now()))
                kafka.done.append(f"write {len(records)} into {session}")
                return written

        yield Writer()

    def mirror(self, what: str, missing: Any, _seconds: float) -> None:
        """Copy all."""
        assert what == "copies"
        if self.stands:
            raise WaitTimeoutError(what, 10, ["t-0 5"], "")
        self.done.append("mirror")
        for (topic, number), log in self.logs[SOURCE].items():
            self.logs[TARGET][f"a.{topic}", number] = [one for one in log if one not in self.loses]

    def edges(self, session: Any, topics: Iterable[str]) -> dict[tuple[str, int], Any]:
        """Return the logs of an end."""
        names = set(topics)
        return {key: _Log(0, len(log)) for key, log in self.logs[session].items() if key[0] in names}

    def read_copies(self, session: Any, logs: Mapping[Any, tuple[int, int]]) -> list[Numbered]:
        """Read logs."""
        return [
            Numbered(number, key, at, self.now())
            for key, (start, end) in logs.items()
            for at, number in enumerate(self.logs[session][key])
            if start <= at < end
        ]

    def read_as_group(
        self, session: Any, group: str, ends: Mapping[Any, int], starts: Mapping[Any, int] | None = None
    ) -> list[Numbered]:
        """Read logs from where the group stands, and commit."""
        assert group == OWN.group
        begins = starts or {key: self.committed[session, key] for key in ends}
        self.committed |= {(session, key): end for key, end in ends.items()}
        self.done.append(f"read in {session}")
        return self.read_copies(session, {key: (begins[key], end) for key, end in ends.items()})

    def planned(self, flow: Flow, *_given: Any) -> Plan:
        """Plan as the failover does: offsets that are some records too low, and other groups too."""
        assert all("drill" in pattern for pattern in flow.topics)
        rows = [PartitionPlan(*key, len(log), len(log), 0, 0, False) for key, log in self.logs[SOURCE].items()]
        readings = [
            Reading(*key, "known", end, end, None, end - self.back, end, Span(), Span())
            for (session, key), end in self.committed.items()
            if session == SOURCE
        ]
        groups = [
            GroupPlan(OWN.group, "classic", 0, 0, False, readings),
            GroupPlan("billing", "classic", 3, 0, True, [], error="no answer"),
        ]
        return Plan("a->b", "b", 5.0, rows, groups, [], [])

    def bring_offsets(self, session: Any, group: str, offsets: Mapping[Any, int]) -> None:
        """Set offsets."""
        assert (session, group) == (TARGET, OWN.group)
        self.committed |= {(TARGET, key): offset for key, offset in offsets.items()}
        self.done.append("offsets")


class _Log:
    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> Kafka:
    """Two clusters without Kafka."""
    made = Kafka()
    monkeypatch.setattr(act, "Writer", made.writer)
    monkeypatch.setattr(act, "wait_until_none", made.mirror)
    monkeypatch.setattr(act, "topics_at", lambda _session, _node, names: names)
    for name in ("edges", "read_copies", "read_as_group", "planned", "bring_offsets"):
        monkeypatch.setattr(act, name, getattr(made, name))
    monkeypatch.setattr(act.time, "monotonic", made.now)
    return made


def course() -> act.Course:
    """Return a drill with two topics of 200 records each."""
    return act.Course(FLOW, OWN, SOURCE, TARGET, [filled([], 3), filled([], 2)], {"timeout": 10})


def test_all_parts_in_their_order(kafka: Kafka) -> None:
    drill = course()
    drill.go()
    assert kafka.done == [
        "write 200 into the source",
        "mirror",
        "read in the source",
        "write 100 into the source",
        "write 100 into the source",
        "mirror",
        "offsets",
        "write 1 into the target",
        "read in the target",
    ]
    assert list(drill.seconds) == ["copied", "written", "fenced", "drained", "moved", "turned", "counted"]
    # Five partitions, each two records too low.
    assert drill.counts == Counts(acknowledged=400, missing=0, again=10, again_at_most=10, skipped=0, twice=0)
    assert drill.loss is not None
    assert (drill.loss.acknowledged, drill.loss.missing) == (300, 100)
    assert drill.rto_written is not None
    assert drill.rto_read is not None
    assert 0 < drill.rto_written < drill.rto_read


def test_records_that_the_mirror_lost_are_counted(kafka: Kafka) -> None:
    kafka.loses = {399}
    drill = course()
    drill.go()
    assert drill.counts is not None
    assert (drill.counts.missing, drill.counts.skipped) == (1, 1)


def test_a_mirror_that_stands_still_is_named_with_what_to_do(kafka: Kafka) -> None:
    kafka.stands = True
    drill = course()
    with pytest.raises(act.PartFailedError) as failed:
        drill.go()
    (why,) = failed.value.reasons
    assert why.startswith("not copied: b lacks records, and none came for 10 s (t-0 5). Check that the mirror runs")
    assert (drill.counts, drill.loss, drill.seconds) == (None, None, {})


def test_a_step_that_is_not_reached_ends_the_drill(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = kafka.planned
    monkeypatch.setattr(act, "planned", lambda *given: replace(plan(*given), against=["task 0 failed"]))
    drill = course()
    with pytest.raises(act.PartFailedError, match="drained: task 0 failed"):
        drill.go()
    assert list(drill.seconds) == ["copied", "written", "fenced"]
    assert drill.loss is not None
