"""Tell Prometheus of each flow of mirrors whether it lives, and how far its topics are behind. Pure.

Each flow has one series of a metric, or one for each state, whatever the number of its topics. The label C(cluster) is
the target, next to which its mirrors run.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.core.exposition import Family, family
from page.known.behind import ALIVE, SILENT, STATES, UNKNOWN, beat_of, rows_of
from page.known.picture import Picture


class FlowMetrics:
    """The metrics of flows; they are made anew only where the picture of an end is another one."""

    def __init__(self, flows: Sequence[Flow]) -> None:
        self._flows = flows
        self._made: dict[Flow, tuple[Picture | None, Picture | None, list[Family]]] = {}

    def families(self, current: Callable[[str], Picture | None]) -> Iterator[list[Family]]:
        """Yield the metrics of each flow; C(current) gives the picture of a cluster, None where none holds now."""
        for flow in self._flows:
            ends = current(flow.source), current(flow.target)
            made = self._made.get(flow)
            if made is None or made[0] is not ends[0] or made[1] is not ends[1]:
                made = self._made[flow] = (*ends, [*families_of_flow(flow, *ends)])
            yield made[2]


def families_of_flow(flow: Flow, source: Picture | None, target: Picture | None) -> Iterator[Family]:
    """Yield the metrics of a flow; a picture is None where that end is not seen now, or is not on the page."""
    labels = {"source": flow.source, "target": flow.target}
    family_of = partial(family, flow.target)
    beat = beat_of(flow, target)
    yield from family_of(
        "streamops_page_mirror_state",
        "1 for the state of a flow of mirrors by its heartbeats, 0 for others.",
        (({**labels, "state": one}, int(one == beat.state)) for one in (ALIVE, SILENT, UNKNOWN)),
    )
    if beat.age is not None:
        yield from family_of(
            "streamops_page_mirror_heartbeat_age_seconds",
            "Age of the newest heartbeat of the source at the target when the target was asked.",
            [(labels, beat.age)],
        )
    rows = rows_of(flow, source, target)
    behind = [one["behind_seconds"] for one in rows if one["behind_seconds"] is not None]
    if behind:
        yield from family_of(
            "streamops_page_mirror_behind_seconds",
            "How far the topic of a flow that is most behind is, by the times of the newest records at both ends.",
            [(labels, max(behind))],
        )
    states: Mapping[str, int] = Counter(one["state"] for one in rows)
    yield from family_of(
        "streamops_page_mirror_topics",
        "Topics of a flow by their state.",
        (({**labels, "state": one}, states.get(one, 0)) for one in STATES),
    )
