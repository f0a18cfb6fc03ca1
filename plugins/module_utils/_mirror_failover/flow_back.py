# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Decide where the flow back begins once clients have moved, so that it copies only what they write from then on. Pure.

With names that are kept a flow back would copy everything back: nothing in a record says where it came from. But when
clients move, both clusters have the same records, and nothing is written. So the end of the copy at that time is where
the flow back begins. With policy default no position is needed: MirrorMaker 2 knows its copies by their prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .._cluster.snapshot import Key
from .._core.names import capped
from .._mirror.flows import IDENTITY, Flow, remote_topic
from .._mirror.records import position_record
from .model import PartitionPlan

#: Names in a sentence.
_NAMES = 5


@dataclass(frozen=True)
class FlowBack:
    """Where a flow back begins, by partition of its source.

    pair -- the flow back, source->target. source -- its source, to which clients move.
    begins -- the next offset that it copies, also where it stands there already.
    written -- those of C(begins) that are to be written: where it has no position, or an earlier one.
    foreign -- records that others write into the copy, as many as were seen. The position there is as it was.
    ahead -- where it stands behind the end of the log: its position, and that end. It is never set back.
    """

    pair: str
    source: str
    begins: Mapping[Key, int] = field(default_factory=dict)
    written: Mapping[Key, int] = field(default_factory=dict)
    foreign: Mapping[Key, int] = field(default_factory=dict)
    ahead: Mapping[Key, tuple[int, int]] = field(default_factory=dict)

    def records(self) -> dict[bytes, bytes]:
        """Return what is to be written, value by key."""
        return dict(position_record(self.source, where, at) for where, at in sorted(self.written.items()))

    def missing(self, positions: Mapping[Key, int]) -> list[str]:
        """Return which of these positions the flow back does not have, a sentence or none."""
        wrong = [
            f"{_place(where)} ({positions.get(where, 'none')}, not {at})"
            for where, at in sorted(self.written.items())
            if positions.get(where) != at
        ]
        return (
            [f"positions of {self.pair} are not as they were set: {capped(wrong, _NAMES)}. Run again."] if wrong else []
        )


def reverse(flow: Flow) -> Flow:
    """Return the flow the other way, with all else that the flow has."""
    return replace(flow, source=flow.target, target=flow.source)


def needs_positions(flow: Flow) -> bool:
    """Return whether the flow back must be told where it begins, and its target may be written to."""
    return flow.policy == IDENTITY and not flow.untouched_source


def flow_back(flow: Flow, partitions: Iterable[PartitionPlan], positions: Mapping[Key, int]) -> FlowBack:
    """Return where the flow back begins, once both clusters have the same records and no client writes.

    flow -- the flow by which clients move. partitions -- both ends of its partitions. positions -- the next offsets of
    the flow back, by partition; empty where it has never run.

    A copy that grows although the mirror has nothing to copy is left out: others write there, and from its end on the
    flow back would miss their records.
    """
    begins: dict[Key, int] = {}
    foreign: dict[Key, int] = {}
    ahead: dict[Key, tuple[int, int]] = {}
    for row in partitions:
        where = remote_topic(flow, row.topic), row.partition
        if row.target_end is None or where[0] != row.topic:  # A topic that is renamed goes by another name again.
            continue
        position = positions.get(where)
        if row.grown_there:
            foreign[where] = row.grown_there
        elif position is not None and position > row.target_end:
            ahead[where] = position, row.target_end
        else:
            begins[where] = row.target_end
    # MirrorMaker begins with the first record by itself, and a position of 0 cannot be written.
    written = {where: at for where, at in begins.items() if at > positions.get(where, 0)}
    return FlowBack(reverse(flow).pair, flow.target, begins, written, foreign, ahead)


def flow_back_runs(flow: Flow, mirrors: int, unknown: Sequence[str] = ()) -> list[str]:
    """Return why no position of the flow back of C(flow) can be set, a sentence each with its fix.

    mirrors -- how many run it. unknown -- why it is not known who does.
    """
    return [
        *(
            [
                f"{mirrors} mirrors run {reverse(flow).pair}, and would go on from positions of their own. Stop them: "
                "stop.yml --limit MIRROR, or on their machines where the inventory does not have them."
            ]
            if mirrors
            else []
        ),
        *unknown_mirrors(unknown),
    ]


def unknown_mirrors(unknown: Sequence[str]) -> list[str]:
    """Return that it is not known who runs a flow, with the fix; C(unknown) has why."""
    return (
        [f"mirrors are not known: {capped(unknown, _NAMES)}. Start these brokers, then run again."] if unknown else []
    )


def flow_back_lines(back: FlowBack) -> list[str]:
    """Return for people where the flow back begins, and which partitions are left out, why, and what that means."""
    lines = [f"Flow back    {back.pair} begins at the ends of now: {partitions_in_words(len(back.begins))}"]
    if back.foreign:
        places = capped([f"{_place(where)} {number:,}" for where, number in sorted(back.foreign.items())], _NAMES)
        lines.append(
            f"Note         clients write into {back.source} already ({places}). {back.pair} gets no new position "
            "there, so it copies these partitions from its old position, or whole"
        )
    if back.ahead:
        places = capped([f"{_place(where)} {at} of {end}" for where, (at, end) in sorted(back.ahead.items())], _NAMES)
        lines.append(
            f"Note         {back.pair} stands behind the end of {places}: the topic was made anew. The position is as "
            "it was, so MirrorMaker may begin with the oldest record"
        )
    return lines


def _place(where: Key) -> str:
    return f"{where[0]}-{where[1]}"


def partitions_in_words(number: int) -> str:
    """Return a number of partitions in words."""
    return f"{number} partition{'' if number == 1 else 's'}"
