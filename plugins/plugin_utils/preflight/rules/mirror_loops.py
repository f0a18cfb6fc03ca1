# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on records that would come back or meet others: loops of flows, two origins, one cluster twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from ....module_utils._mirror.flows import IDENTITY, MIRROR_MAKER_2, Flow, matches, remote_topic
from ....module_utils._mirror.reading import is_enabled
from ...inventory.model import Inventory
from ...mirrors.heartbeats import heartbeat_workers, mirror_maker_flows, reverse_herders
from ...mirrors.opposed import same_id
from ..mirror_flows import VARIABLE, entries, flows, kafka_clusters, said, where
from ..mirror_names import Overlap, Step, journey, only_internal, overlap
from ..rule import BY_PROFILE, Problem, rule

NARROW = (
    "list topics by name, or by prefixes that have none in common, or use policy default, or set enabled: false for one"
    " of the flows"
)
# Topics that Kafka, MirrorMaker and this collection keep about one cluster, as a pattern would name them.
INTERNAL = re.compile(
    r"__(consumer_offsets|transaction_state|share_group_state|cluster_metadata|remote_log_metadata)"
    r"|(?<![A-Za-z0-9])mm2-|(^|\|)_streamops_"
)


@rule(fix="name another source or target")
def mirror_into_itself(inventory: Inventory) -> Iterator[Problem]:
    """A flow mirrors a cluster into itself."""
    for number, item in entries(said(inventory)):
        source, target = str(item.get("source") or ""), str(item.get("target") or "")
        if source and source == target:
            yield Problem(
                where(inventory, target),
                f"the flow mirrors {source} into itself",
                found=f"{source}->{target}",
                variable=f"{VARIABLE}[{number}]",
            )


@rule(variable=VARIABLE, fix="put their topics into one flow")
def duplicate_flow(inventory: Inventory) -> Iterator[Problem]:
    """Two flows have the same source, target and engine; MirrorMaker has one flow for each pair of clusters."""
    listed = [item for _number, item in entries(said(inventory)) if item.get("source") and item.get("target")]
    pairs = Counter(
        (str(one["source"]), str(one["target"]), str(one.get("engine") or MIRROR_MAKER_2)) for one in listed
    )
    for (source, target, engine), times in pairs.items():
        if times > 1:
            what = f"there are several flows of engine {engine} for one pair"
            yield Problem(where(inventory, source, target), what, f"{source}->{target} {times} times")


@rule(variable=VARIABLE, fix="give `X-heartbeats` another alias, or set heartbeats: false for the flow into `X`")
def heartbeats_share_group(inventory: Inventory) -> Iterator[Problem]:
    """A flow from `X-heartbeats` ends where the mirrors next to `X` write heartbeats: both have the same group."""
    listed = flows(inventory)
    for target in dict.fromkeys(flow.target for flow in listed):
        alias = heartbeat_workers(target)
        for cluster in reverse_herders(listed, target):
            for flow in (flow for flow in mirror_maker_flows(listed, cluster) if flow.source == alias):
                yield Problem(
                    where(inventory, cluster, target),
                    f"the mirrors that run {flow.pair} and those next to {target}, which write heartbeats into "
                    f"{cluster}, would share a group and their topics there, and run each other's tasks",
                    f"{flow.pair}, and heartbeats for {cluster}->{target}",
                    fix=f"give {alias} another alias, or set heartbeats: false for {cluster}->{target}",
                )


@rule(variable="kafka_cluster_id", fix="correct kafka_cluster_id of one of them, or remove the flow")
def source_is_target(inventory: Inventory) -> Iterator[Problem]:
    """Source and target of a flow have the same `kafka_cluster_id`; the role asks the running brokers too."""
    known = kafka_clusters(inventory)
    for flow in flows(inventory):
        ends = [name for name in (flow.source, flow.target) if name in known]
        ids = {name: known[name].nodes[0].text("kafka_cluster_id") for name in ends}
        for cluster_id in same_id(ids):
            what = f"{flow.source} and {flow.target} are one cluster, by its id"
            yield Problem(where(inventory, *ends), what, cluster_id)


@rule(variable=VARIABLE, fix=NARROW)
def mirror_loop(inventory: Inventory) -> Iterator[Problem]:
    """A topic of `kafka_topics` goes round by several flows and is mirrored again, without end."""
    yield from _loops(inventory, known=True)


@rule(variable=VARIABLE, fix=NARROW, acceptable=True)
def possible_mirror_loop(inventory: Inventory) -> Iterator[Problem]:
    """The patterns of several flows allow a loop, though no topic of `kafka_topics` is in one."""
    yield from _loops(inventory, known=False)


def _loops(inventory: Inventory, known: bool) -> Iterator[Problem]:
    for ring, found in _rings(inventory, flows(inventory)):
        how = "under the same name" if all(flow.keeps_names for flow in ring) else "under an ever longer name"
        if found.known is known:
            yield Problem(
                where(inventory, *(flow.source for flow in ring)),
                f"flows {', '.join(flow.pair for flow in ring)} form a loop: each record comes back {how}, without end",
                found=found.words,
            )


def _rings(inventory: Inventory, listed: Sequence[Flow]) -> Iterator[tuple[list[Flow], Overlap]]:
    """The loops of flows that a topic may go round by, short ones first; none around clusters that are in one already.

    Ways are followed only as far as some name may pass.
    """
    known: list[set[str]] = []
    ways = [[flow] for flow in listed]
    while ways:
        longer = []
        for way in ways:
            clusters = {flow.source for flow in way}
            if any(ring <= clusters for ring in known):
                continue
            if way[-1].target == way[0].source:
                found = None if _stops(way[-1], way[0]) else _round(inventory, way)
                if found is not None:
                    known.append(clusters)
                    yield way, found
                continue
            # A ring is found once, from its first name in the alphabet.
            onward = [flow for flow in listed if flow.source == way[-1].target and flow.source > way[0].source]
            longer += [[*way, flow] for flow in onward if flow.source not in clusters and _goes_on(way, flow)]
        ways = longer


def _goes_on(way: Sequence[Flow], flow: Flow) -> bool:
    """Return whether a topic may go on by this flow, and a ring with it may be."""
    return not _stops(way[-1], flow) and overlap(journey([*way, flow]), ()) is not None


def _stops(one: Flow, other: Flow) -> bool:
    """Return whether no topic goes round by a ring with these flows in a row.

    The second one of two with the default policy writes the alias of the cluster between them into the name, and the
    first one then mirrors that name no more (MirrorSourceConnector.isCycle).
    """
    return not one.keeps_names and not other.keeps_names


def _round(inventory: Inventory, ring: Sequence[Flow]) -> Overlap | None:
    """Return how a topic passes the ring twice, wherever on it the way begins; then it does so without end."""
    possible = None
    for start in range(len(ring)):
        turned = [*ring[start:], *ring[:start]]
        found = overlap(journey([*turned, *turned]), _topics(inventory, turned[0].source))
        if found is not None and found.known:
            return found
        possible = possible or found
    return possible


def _topics(inventory: Inventory, *clusters: str) -> list[str]:
    """The topics that the inventory has in these clusters."""
    known = kafka_clusters(inventory)
    found = (topic.name for name in clusters if name in known for topic in known[name].topics())
    return list(dict.fromkeys(found))


@rule(
    variable=VARIABLE,
    allowed="patterns that have no name in common, or policy default",
    fix="narrow topics, or use policy default",
    level=BY_PROFILE,
    acceptable=True,
)
def mixed_origins(inventory: Inventory) -> Iterator[Problem]:
    """Two flows that keep names (policy identity, engine legacy) mirror the same topic of two clusters into a third."""
    keeping = [flow for flow in flows(inventory) if flow.keeps_names]
    for one, other in combinations(keeping, 2):
        if one.target != other.target or one.source == other.source:
            continue
        found = overlap([Step("", one), Step("", other)], _topics(inventory, one.source, other.source))
        if found is not None:
            what = f"{one.pair} and {other.pair} keep names, so records of two clusters would meet in one topic"
            yield Problem(where(inventory, one.target), what, found.words)


@rule(
    allowed="topics of users; internal topics are about one cluster and stay there",
    fix="remove the pattern; offsets of groups are mirrored by groups and sync_group_offsets",
)
def internal_topics(inventory: Inventory) -> Iterator[Problem]:
    """A pattern names internal topics of Kafka, MirrorMaker or this collection, which are silently left out."""
    for number, item in entries(said(inventory)):
        patterns = item.get("topics")
        for pattern in patterns if isinstance(patterns, list) and is_enabled(item) else ():
            if INTERNAL.search(pattern.replace("\\", "")) or only_internal(pattern):
                hosts = where(inventory, str(item.get("target")))
                yield Problem(
                    hosts, "the pattern names internal topics", pattern, variable=f"{VARIABLE}[{number}].topics"
                )


@rule(variable=VARIABLE, fix="exclude them by topics_exclude, rename them, or use policy default")
def renamed_heartbeats(inventory: Inventory) -> Iterator[Problem]:
    """Policy identity cannot keep the name of a topic that ends in `heartbeats`: MirrorMaker 2 renames it."""
    for flow in flows(inventory):
        known = [name for name in _topics(inventory, flow.source) if matches(flow, name)]
        renamed = [name for name in dict.fromkeys([*known, *flow.topics]) if remote_topic(flow, name) != name]
        if flow.policy == IDENTITY and renamed:
            new = remote_topic(flow, renamed[0])
            what = f"{flow.pair} keeps names, but what ends in heartbeats becomes {new}"
            yield Problem(where(inventory, flow.target), what, ", ".join(renamed))
