# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who writes MirrorMaker's heartbeats, so that every flow has its sign of life once and no cluster gets unwanted ones.

A heartbeat proves a flow when it was written into the flow's source. In dedicated mode the herder of the pair X->Y
writes into Y (MirrorHeartbeatConnector), so those for A->B come from a herder B->A: that of a flow B->A next to A, or,
where there is none, one that the mirrors next to B run for this alone. MirrorMakerConfig.clusterPairs starts a herder
for every two clusters of its file unless the file says no for that pair.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...module_utils._mirror.flows import HEARTBEATS, MIRROR_MAKER_2, SEPARATOR, Flow, flows_into


def mirror_maker_flows(flows: Sequence[Flow], target: str) -> list[Flow]:
    """The flows into this cluster that MirrorMaker 2 carries; the legacy engine knows no heartbeats and no herders."""
    return [flow for flow in flows_into(flows, target) if flow.engine == MIRROR_MAKER_2]


def wants_heartbeats(flow: Flow) -> bool:
    """Return whether heartbeats are to be written into the source of a flow that MirrorMaker 2 carries."""
    return flow.enabled and flow.engine == MIRROR_MAKER_2 and flow.heartbeats and not flow.untouched_source


def emits(flows: Sequence[Flow], source: str, target: str) -> bool:
    """Return whether the herder of a flow source->target writes heartbeats: when the flow the other way wants them."""
    return any(wants_heartbeats(flow) for flow in mirror_maker_flows(flows, source) if flow.source == target)


def heartbeat_topics(flows: Sequence[Flow], cluster: str, beyond: Sequence[str] = ()) -> list[str]:
    """The topics of heartbeats in a cluster that go on from it: its own, and those that flows brought from others.

    Every flow takes all of them along, whatever its topics are (MirrorSourceConnector.shouldReplicateTopic), and may
    not see one alone: a refused one stops it from making any new topic. C(beyond) -- clusters that they go on to;
    what came from there does not go back.
    """
    passed = (*beyond, cluster)
    found = [HEARTBEATS]
    for flow in mirror_maker_flows(flows, cluster):
        if flow.heartbeats and flow.source not in passed:
            found += [f"{flow.source}{SEPARATOR}{name}" for name in heartbeat_topics(flows, flow.source, passed)]
    return found


def reverse_herders(flows: Sequence[Flow], target: str) -> list[str]:
    """The clusters into which the mirrors next to `target` write heartbeats by a herder target->cluster of their own.

    None where a flow that way exists: its own mirrors do it, and two files for one herder would each undo the other's
    configuration, which is kept in the cluster (Kafka's documentation, "Preventing configuration conflicts").
    """
    return sorted(
        flow.source
        for flow in mirror_maker_flows(flows, target)
        if wants_heartbeats(flow) and not any(back.source == target for back in mirror_maker_flows(flows, flow.source))
    )


def heartbeat_workers(target: str) -> str:
    """Return the alias in the group and the topics of the workers of a herder next to `target` for heartbeats alone.

    Not that of a flow from there, which may have run: under its name the herder would find the tasks of that flow, and
    run them until it has written that the flow is disabled (KafkaConfigBackingStore). With names that are kept these
    copy back what has come. So who is in the group of a flow runs that flow.
    """
    return f"{target}-heartbeats"
