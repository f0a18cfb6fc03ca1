# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads of both clusters what a source has alone that was lost and answers again. Nothing is changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .._client.session import Session
from .._cluster.api import topic_ids, topics_at
from .._cluster.snapshot import Key
from .._mirror.api import visit
from .._mirror.canary import is_probe
from .._mirror.flows import Flow, matches, remote_topic
from .._mirror.gaps_look import kept
from .._mirror.look import at, edges
from .._mirror.status import Log
from .compare import Compared, compared, digest_of
from .flow_back import reverse
from .look import copies_of, running, tops_of
from .record import Loss
from .surplus import ANEW, SAME, SHORT, Part, Survey, state_of

#: Offsets of a partition in which the last copied record is looked for, above the offset below which all is copied. A
#: flush of MirrorMaker is a minute; what is not found there is kept whole.
LOOK = 200_000
#: Offsets below it that are compared too, so that equal records do not pass for each other, nor a log that was cut and
#: written again for the old one.
BEFORE = 1_000


def survey_of(
    flow: Flow,
    loss: Loss,
    origin: Session,
    copy: Session,
    watch: float,
    sleep: Callable[[float], Any],
    is_compared: bool = True,
) -> Survey:
    """Look at a source that answers again, and at its copies.

    watch -- seconds, at least, for which the ends of the source are watched for writers. is_compared -- whether records
    are read to find where the surplus begins; without that no part tells any.
    """
    here, there = f"source {flow.source}", f"target {flow.target}"
    with at(there):
        copies, before = copies_of(flow, copy), kept(flow, copy)
        workers, hidden = running(flow, copy)
    with at(here):
        workers_back, hidden_back = running(reverse(flow), origin)
        ids, existing = topic_ids(origin), topics_at(origin, None, None)
        topics = [topic for topic in existing if matches(flow, topic) and not is_probe(topic)]
        began = time.monotonic()
        tops_before = tops_of(origin, topics, committed=False)
        logs = edges(origin, {topic: existing[topic] for topic in topics})
    # Looks after the loss keep the id of a topic that was made anew; older records of a loss have no ids.
    ids_before = loss.ids or before.ids
    parts = [
        _part(flow, loss, key, logs.get(key), ids_before.get(key[0], ""), ids.get(key[0], ""), copies.get(key))
        for key in sorted({*logs, *_keys(loss.copied), *_keys(loss.ends)})
    ]
    if is_compared:
        parts = [_compared(flow, origin, copy, part, copies.get((part.topic, part.partition))) for part in parts]
    sleep(max(0.0, watch - (time.monotonic() - began)))
    with at(here):
        ends_after = tops_of(origin, topics, committed=True)
        tops_after = tops_of(origin, topics, committed=False)
    grown = {key: top - tops_before.get(key, 0) for key, top in tops_after.items() if top > tops_before.get(key, 0)}
    return Survey(
        parts,
        grown,
        sorted(key for key, end in ends_after.items() if end < tops_before.get(key, 0)),
        workers,
        workers_back,
        time.monotonic() - began,
        [*hidden, *hidden_back],
    )


def _keys(values: Mapping[str, Mapping[str, int]]) -> list[Key]:
    return [(topic, int(number)) for topic, parts in values.items() for number in parts]


def _part(flow: Flow, loss: Loss, key: Key, log: Log | None, was: str, now: str, there: Log | None) -> Part:
    number = str(key[1])
    copied, end = loss.copied.get(key[0], {}).get(number), loss.ends.get(key[0], {}).get(number)
    if end is None and there is not None and remote_topic(flow, key[0]) != key[0]:
        # Nobody else writes into a copy that has the name of its source.
        end = there.end
    return Part(key[0], key[1], state_of(log, copied, was, now), log, copied, end)


def _compared(flow: Flow, origin: Session, copy: Session, part: Part, there: Log | None) -> Part:
    """Return the part with where its surplus begins."""
    log = part.log
    if log is None or log.start is None or log.end is None or log.start == log.end:
        return part
    if part.state == ANEW or (part.state == SAME and part.copied is None and there is None):
        # What stands in another topic, or in a partition that has no copy, the source has alone.
        return _whole(flow, origin, part, log.start, log.end, True)
    if part.state == SHORT:
        # Nothing tells which of its records are old ones.
        return _whole(flow, origin, part, log.start, log.end, False)
    if part.state != SAME:
        return part
    copied = max(log.start, part.copied or 0)
    read_to = min(log.end, copied + LOOK)
    source = _read(
        origin, f"source {flow.source}", (part.topic, part.partition), max(log.start, copied - BEFORE), read_to
    )
    tail: list[bytes] = []
    if part.end_there is not None and there is not None and there.start is not None:
        begin = max(there.start, part.end_there - (read_to - copied) - BEFORE)
        name = remote_topic(flow, part.topic), part.partition
        if begin < part.end_there:
            read = _read(copy, f"target {flow.target}", name, begin, part.end_there)
            tail = [digest for _offset, digest in read]
        elif part.end_there == 0 and log.end > copied:
            # Nothing was ever copied, so all of it is surplus for certain.
            known = compared(source, copied, read_to, [])
            return replace(part, compared=replace(known, is_exact=True), read_to=read_to)
    at = compared(source, copied, read_to, tail)
    if at.first < copied and at.first == source[0][0]:
        return _whole(flow, origin, part, log.start, log.end, False)
    return part if log.end <= copied and not at.records else replace(part, compared=at, read_to=read_to)


def _whole(flow: Flow, origin: Session, part: Part, start: int, end: int, is_exact: bool) -> Part:
    """Return the part with all that its log has as surplus."""
    read_to = min(end, start + LOOK)
    records = len(_read(origin, f"source {flow.source}", (part.topic, part.partition), start, read_to))
    return replace(part, compared=Compared(start, records, is_exact), read_to=read_to)


def _read(session: Session, side: str, key: Key, start: int, end: int) -> list[tuple[int, bytes]]:
    """Return offset and digest of the committed records of a log in a range."""
    records: dict[int, bytes] = {}

    def take(record: Any) -> None:
        """Keep a record; a connection that breaks brings some twice."""
        records[record.offset] = digest_of(record)

    with at(side):
        visit(session, {key: start}, {key: end}, take)
    return sorted(records.items())
