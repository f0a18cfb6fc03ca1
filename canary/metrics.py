"""Write what is known of all ways as metrics. Pure.

The label C(cluster) is the target of the last flow, next to which the canary stands; C(path) is the whole way.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import certain
from canary.figures import Figures, GapFigures, RouteFigures
from page.core.exposition import Family, family

#: What is counted of events, each a value of the label C(state).
STATES = ("written", "arrived", "waiting", "late", "missing", "repeated", "out_of_order")

#: Topics with gaps that have a series of their own, those with the most records; others of a kind have one together.
MOST_TOPICS, OTHERS = 100, "(others)"


def families_of(figures: Figures) -> Iterator[Family]:
    """Yield all metrics of the service."""
    here = figures.cluster
    yield from family(
        here,
        "streamops_canary_interval_seconds",
        "Seconds between two events of a partition.",
        [({}, figures.interval)],
    )
    yield from family(
        here,
        "streamops_canary_readable",
        "1 where the canary reads this cluster to the end of its topics now, 0 where it does not.",
        [({"end": end}, int(is_readable)) for end, is_readable in sorted(figures.readable.items())],
    )
    yield from family(
        here,
        "streamops_canary_foreign_records",
        "Records in topics of events since the start that no canary of this inventory wrote.",
        [({"end": end}, count) for end, count in sorted(figures.foreign.items())],
    )
    for one in figures.sources:
        labels = {"source": one.source}
        yield from family(
            here,
            "streamops_canary_last_written_seconds",
            "Seconds since an event was written into each partition, of the partition with the oldest one.",
            [(labels, one.last_written)],
        )
        yield from family(
            here,
            "streamops_canary_write_failures_total",
            "Events since the start that the source did not take.",
            [(labels, one.failures)],
            "counter",
        )
        yield from family(
            here,
            "streamops_canary_unwatched_brokers",
            "Brokers of the source that lead no partition of the topic of events now.",
            [(labels, one.unwatched)],
        )
    for flow in figures.flows:
        yield from _gaps(here, flow)
    for route in figures.routes:
        yield from _route(here, route)


def _gaps(here: str, flow: GapFigures) -> Iterator[Family]:
    labels = {"source": flow.source, "target": here}
    yield from family(
        here,
        "streamops_canary_gap_look_age_seconds",
        "Seconds since a look for records that a flow can no longer copy came to its end.",
        [(labels, flow.age)],
    )
    if flow.gaps is None:
        return
    lost: Counter[tuple[str, str]] = Counter()
    for gap in certain(one.as_dict() for one in flow.gaps or ()):
        lost[gap["kind"], gap["topic"]] += gap["records"]
    named = dict(lost.most_common(MOST_TOPICS))
    for (kind, topic), records in lost.items():
        if (kind, topic) not in named:
            named[kind, OTHERS] = named.get((kind, OTHERS), 0) + records
    yield from family(
        here,
        "streamops_canary_gap_records",
        "Records that a flow can no longer copy (truncated: has copied), by kind and topic; 0 without these for none.",
        [({**labels, "kind": kind, "topic": topic}, records) for (kind, topic), records in named.items()]
        or [(labels, 0)],
    )


def _route(here: str, route: RouteFigures) -> Iterator[Family]:
    labels = {"path": route.path, "source": route.origin, "target": here}
    yield from family(
        here,
        "streamops_canary_ready",
        "1 where both ends of the last flow were read since the start, 0 before that: then no figures are known.",
        [(labels, int(route.is_ready))],
    )
    if not route.is_ready:
        return
    total = route.total
    yield from family(
        here,
        "streamops_canary_events",
        "Events of the last 24 hours by what became of them.",
        [({**labels, "state": state}, getattr(total, state)) for state in STATES],
    )
    yield from family(
        here,
        "streamops_canary_latency_seconds",
        "How long events of the last hour were on their way; quantile 1 is the longest.",
        [({**labels, "quantile": f"{one:g}"}, seconds) for one, seconds in route.latencies.items()],
        "summary",  # Only a summary may have this label (promtool).
    )
    accounts: Sequence[tuple[int, float | None, float | None]] = [
        (number, one.oldest_waiting, one.last_arrived) for number, one in sorted(route.partitions.items())
    ]
    yield from family(
        here,
        "streamops_canary_oldest_waiting_seconds",
        "Age of the oldest event of a partition that did not come yet and is not missing; 0 where all came.",
        [({**labels, "partition": number}, waiting or 0.0) for number, waiting, _arrived in accounts],
    )
    yield from family(
        here,
        "streamops_canary_last_arrived_seconds",
        "Seconds since an event of a partition came.",
        [({**labels, "partition": number}, arrived) for number, _waiting, arrived in accounts if arrived is not None],
    )
