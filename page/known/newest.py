"""What a poll keeps of the topics of flows: which there are, and when their newest records were made. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.canary import events_topic
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    Flow,
    matches,
    remote_topic,
    source_topic,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.records import heartbeats_topic


@dataclass(frozen=True)
class Newest:
    """The newest records of one cluster.

    C(asked): when, in seconds since 1970. C(covered): by flow its topics in this cluster, by their name in the source
    that in this cluster. C(times): by topic and partition the time of the newest record (ms since 1970), None where
    there is none, and a state of module_utils/_logs/model.py where it is unknown; the heartbeats that came from a
    source are in it too, and the events of canaries.
    """

    asked: float = 0.0
    covered: Mapping[Flow, Mapping[str, str]] = field(default_factory=dict)
    times: Mapping[str, Mapping[int, int | str | None]] = field(default_factory=dict)


def of_cluster(flows: Sequence[Flow], cluster: str) -> list[Flow]:
    """Return the flows that begin or end in a cluster."""
    return [one for one in flows if cluster in (one.source, one.target)]


def covered_by(flows: Sequence[Flow], cluster: str, topics: Collection[str]) -> dict[Flow, dict[str, str]]:
    """Return by flow of a cluster its topics there: by the name in the source the one in this cluster."""
    found: dict[Flow, dict[str, str]] = {}
    for flow in of_cluster(flows, cluster):
        if flow.source == cluster:
            found[flow] = {name: name for name in topics if matches(flow, name)}
        else:
            pairs = ((source_topic(flow, name), name) for name in topics)
            found[flow] = {origin: name for origin, name in pairs if origin is not None}
    return found


def asked_for(covered: Mapping[Flow, Mapping[str, str]], cluster: str, topics: Collection[str]) -> set[str]:
    """Return the topics of a cluster whose newest records are wanted: those of flows, and their signs of life there."""
    beats = {heartbeats_topic(flow.source) for flow in covered if flow.target == cluster}
    events = {events_at(flow, cluster) for flow in covered}
    return {name for some in covered.values() for name in some.values()} | ((beats | events) & set(topics))


def events_at(flow: Flow, cluster: str) -> str:
    """Return the name that the events of the canary of a flow have in its source or in its target."""
    topic = events_topic(flow)
    return topic if cluster == flow.source else remote_topic(flow, topic)
