# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which ways the events of canaries take through the flows of an inventory, and under which names. Pure.

A canary stands next to the target of flows. It writes events into a topic of each source, which has one writer: its
name says the flow. Each flow copies these topics beside its own, also those that an earlier flow brought, so that
chains are followed too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from .flows import MIRROR_MAKER_2, Flow, matches, remote_topic

#: What the topics of events begin with at their source.
PREFIX = "streamops-canary"
#: What the topics of drills of a failover begin with at their source (_mirror_drill).
DRILL_PREFIX = "streamops-drill"
#: Flows of the longest way that is followed: more clusters than that stand in no chain that we know of, and all flows
#: between many clusters make too many ways.
MOST_FLOWS = 3


def is_probe(topic: str) -> bool:
    """Return whether a topic holds what this collection measures with, and nobody would miss."""
    return topic.startswith((f"{PREFIX}.", f"{DRILL_PREFIX}."))


@dataclass(frozen=True)
class Route:
    """The way of events through C(flows), one behind the other; C(topic) is their topic before the last of them."""

    flows: tuple[Flow, ...]
    topic: str

    @property
    def name(self) -> str:
        """The way as people write it: a->b->c."""
        return "->".join([self.origin, *(flow.target for flow in self.flows)])

    @property
    def origin(self) -> str:
        """The cluster that the events are written into."""
        return self.flows[0].source

    @property
    def last(self) -> Flow:
        """The flow at the end of the way."""
        return self.flows[-1]

    @property
    def copy(self) -> str:
        """The name of the topic behind the last flow."""
        return remote_topic(self.last, self.topic)

    @property
    def writer(self) -> str:
        """The first flow, which the events name: source->target."""
        return self.flows[0].pair


def events_topic(flow: Flow) -> str:
    """The topic of a flow's source that the canary next to its target writes into. No alias has a dot."""
    return f"{PREFIX}.{flow.source}.{flow.target}"


def drill_prefix(flow: Flow) -> str:
    """Return what the topics of a drill of this flow begin with at its source. They go through no other flow.

    The target is no part of its own between dots: such a name passes for one that came from there (isCycle).
    """
    return f"{DRILL_PREFIX}.{flow.source}.{flow.target}-"


def drill_pattern(flow: Flow) -> str:
    """Return the regular expression of the topics of drills of this flow: a token and a number behind the prefix."""
    return f"{_exactly(drill_prefix(flow))}[0-9a-f]{{8}}-[0-9]+"


def routes(flows: Sequence[Flow], watched: Collection[str]) -> list[Route]:
    """The ways that end at a cluster with a canary, shortest first; C(watched) are these clusters.

    No way passes a cluster twice. Where two ways bring a topic into a cluster under one name, as with policy identity,
    the shorter one is followed. A legacy mirror is not followed: it copies no topic that is made while it runs.
    """
    followed = (flow for flow in flows if flow.enabled and flow.engine == MIRROR_MAKER_2)
    running = sorted(followed, key=lambda flow: (flow.pair, flow.engine))
    found: list[Route] = []
    taken: set[tuple[str, str]] = set()
    ends = [route for flow in running if flow.target in watched for route in _next((), flow, events_topic(flow))]
    while ends:
        kept = []
        for route in ends:
            place = (route.last.target, route.copy)
            if place not in taken:
                taken.add(place)
                kept.append(route)
        found += kept
        ends = [longer for route in kept for flow in running for longer in _next(route.flows, flow, route.copy)]
    return [route for route in found if route.last.target in watched]


def _next(before: tuple[Flow, ...], flow: Flow, topic: str) -> Iterator[Route]:
    """Yield the way that goes on through a flow, where that takes the topic and leads to a cluster not passed yet."""
    passed = {end for one in before for end in (one.source, one.target)}
    follows = not before or before[-1].target == flow.source
    if (
        follows
        and flow.target not in passed
        and len(before) < MOST_FLOWS
        and matches(_with(flow, [_exactly(topic)]), topic)
    ):
        yield Route((*before, flow), topic)


def with_events(flows: Sequence[Flow], watched: Collection[str]) -> list[Flow]:
    """The flows as mirrors run them: each also copies the topics of events that pass it, and those of its drills."""
    passing: dict[str, dict[str, None]] = {}
    for route in routes(flows, watched):
        topic = events_topic(route.flows[0])
        for flow in route.flows:
            passing.setdefault(f"{flow.pair} {flow.engine}", {})[_exactly(topic)] = None
            topic = remote_topic(flow, topic)
        if len(route.flows) == 1:
            passing[f"{route.last.pair} {route.last.engine}"][drill_pattern(route.last)] = None
    return [_with(flow, passing.get(f"{flow.pair} {flow.engine}", ())) for flow in flows]


def _with(flow: Flow, patterns: Collection[str]) -> Flow:
    return replace(flow, topics=(*flow.topics, *patterns))


def _exactly(topic: str) -> str:
    """Return a name as a regular expression."""
    return topic.replace(".", "[.]")
