"""Say in a line for each way, and in one for all, how events fare: for a status. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._health.model import DEGRADED, OK
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import in_words
from canary.figures import Figures, GapFigures, RouteFigures
from canary.ledger import Account

#: Intervals without a written event after which writing has stopped.
PATIENCE = 3
#: Seconds without a look for gaps that came to its end, beside those between two flushes of the mirror.
GAPS_PATIENCE = 300.0


def told(figures: Figures) -> dict[str, Any]:
    """Return the verdict: C(status), C(line) with the gravest things first, and C(lines), one for each way.

    C(cluster) is the target, by which a run knows that the canary it asked is the one that answers.
    """
    wrong = [
        *_ends(figures),
        *_sources(figures),
        *(f"{one.flow}: {what}" for one in figures.flows for what in _gaps(one)),
        *(f"{one.path}: {what}" for one in figures.routes for what in _route(one)),
    ]
    status = DEGRADED if wrong else OK
    said = "; ".join(wrong) or ", ".join(route_line(one) for one in figures.routes) or "there is no flow to follow"
    return {
        "cluster": figures.cluster,
        "status": status,
        "line": f"{status:<12} canary at {figures.cluster}: {said}",
        "lines": [route_line(one) for one in figures.routes],
    }


def _ends(figures: Figures) -> Iterator[str]:
    for end, is_readable in sorted(figures.readable.items()):
        if not is_readable:
            yield f"cluster {end} cannot be read{_because(figures.whys.get(end, ''))}"


def _sources(figures: Figures) -> Iterator[str]:
    for one in figures.sources:
        if one.last_written > PATIENCE * figures.interval:
            # A cluster that is down ends reading and writing by the same error, which is told once.
            is_told = not figures.readable.get(one.source, True) and figures.whys.get(one.source)
            why = "" if is_told else _because(one.why)
            yield f"no event was written into {one.source} for {_seconds(one.last_written)}{why}"


def _because(why: str) -> str:
    return f" ({why})" if why else ""


def _gaps(flow: GapFigures) -> Iterator[str]:
    yield from (words for _records, words in in_words(one.as_dict() for one in flow.gaps or ()))
    if flow.age > GAPS_PATIENCE + flow.flush:
        yield f"no look for lost records for {_seconds(flow.age)}{_because(flow.why)}"


def _route(route: RouteFigures) -> Iterator[str]:
    if not route.is_ready:
        yield "its events were not read yet"
        return
    total = route.total
    for state, words in (("missing", "missing"), ("late", "late"), ("out_of_order", "out of order")):
        if count := getattr(total, state):
            yield f"{count} event{'s' if count != 1 else ''} {words}{_oldest(total) if state == 'late' else ''}"


def _oldest(total: Account) -> str:
    return f", the oldest for {_seconds(total.oldest_waiting)}" if total.oldest_waiting is not None else ""


def route_line(route: RouteFigures) -> str:
    """Return the figures of one way."""
    if not route.is_ready:
        return f"{route.path} was not read yet"
    total = route.total
    if total.last_arrived is None:
        return f"{route.path} has brought no event yet"
    latencies = route.latencies
    took = f"p50 {_seconds(latencies[0.5])}, p99 {_seconds(latencies[0.99])}, " if latencies else ""
    repeated = f", {total.repeated} repeated" if total.repeated else ""
    return f"{route.path} {took}last {_seconds(total.last_arrived)} ago{repeated}"


def _seconds(seconds: float | None) -> str:
    """Return a duration for people."""
    if seconds is None:
        return "unknown"
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
