# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on records that would come back or meet others: loops of flows, two origins, one cluster twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    IDENTITY,
    MIRROR_MAKER_2,
    Flow,
    is_enabled,
    matches,
    remote_topic,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.identity import same_id
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import (
    VARIABLE,
    entries,
    flows,
    kafka_clusters,
    production,
    said,
    violation,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_overlap import (
    Overlap,
    Step,
    journey,
    only_internal,
    overlap,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

NARROW = "give them topics or topics_exclude that have no name in common, policy default, or one of them enabled: false"
CONSENT = "; if no such topic will ever be, consent by adding B37 to preflight_accept"
# Topics that Kafka, MirrorMaker and this collection keep about one cluster, as a pattern would name them.
INTERNAL = re.compile(
    r"__(consumer_offsets|transaction_state|share_group_state|cluster_metadata|remote_log_metadata)"
    r"|(?<![A-Za-z0-9])mm2-|(^|\|)_streamops_"
)


def into_itself(inventory: Inventory) -> Iterator[Violation]:
    """B37: a flow goes from one cluster into another."""
    for number, item in entries(said(inventory)):
        source, target = str(item.get("source") or ""), str(item.get("target") or "")
        if source and source == target:
            yield violation(
                inventory, "B37", [target], f"the flow mirrors {source} into itself", f"{source}->{target}",
                "two clusters", "name another source or target", variable=f"{VARIABLE}[{number}]",
            )  # fmt: skip


def pairs_once(inventory: Inventory) -> Iterator[Violation]:
    """B37: MirrorMaker has one flow for each pair of clusters."""
    listed = [item for _number, item in entries(said(inventory)) if item.get("source") and item.get("target")]
    pairs = Counter(
        (str(one["source"]), str(one["target"]), str(one.get("engine") or MIRROR_MAKER_2)) for one in listed
    )
    for (source, target, engine), times in pairs.items():
        if times > 1:
            yield violation(
                inventory, "B37", [source, target], f"there are several flows of engine {engine} for one pair",
                f"{source}->{target} {times} times", "once", "put their topics into one flow",
            )  # fmt: skip


def one_cluster(inventory: Inventory) -> Iterator[Violation]:
    """B37: source and target are two clusters, so their ids differ; the role asks the running brokers too."""
    known = kafka_clusters(inventory)
    for flow in flows(inventory):
        ends = [name for name in (flow.source, flow.target) if name in known]
        ids = {name: known[name].nodes[0].text("kafka_cluster_id") for name in ends}
        for cluster_id in same_id(ids):
            yield violation(
                inventory, "B37", ends, f"{flow.source} and {flow.target} are one cluster, by its id", cluster_id,
                "an id of its own for each cluster", "correct kafka_cluster_id of one of them, or take the flow out",
                variable="kafka_cluster_id",
            )  # fmt: skip


def loops(inventory: Inventory) -> Iterator[Violation]:
    """B37: no topic goes round: from cluster to cluster and, accepted again, on for ever."""
    for ring, found in _rings(inventory, flows(inventory)):
        names = [flow.source for flow in ring]
        grows = [flow for flow in ring if not flow.keeps_names]
        how = "under an ever longer name" if grows else "under the same name"
        yield violation(
            inventory, "B37", names,
            f"flows {', '.join(flow.pair for flow in ring)} form a loop: each record comes back {how}, without end",
            found.words, "flows that no topic goes round by", NARROW + ("" if found.known else CONSENT),
            policy=not found.known,
        )  # fmt: skip


def _rings(inventory: Inventory, listed: Sequence[Flow]) -> Iterator[tuple[list[Flow], Overlap]]:
    """The loops of flows that a topic may go round by, short ones first; none around clusters that are in one already.

    Ways are followed only as far as some name may pass.
    """
    told: list[set[str]] = []
    ways = [[flow] for flow in listed]
    while ways:
        longer = []
        for way in ways:
            clusters = {flow.source for flow in way}
            if any(ring <= clusters for ring in told):
                continue
            if way[-1].target == way[0].source:
                found = _round(inventory, way)
                if found is not None:
                    told.append(clusters)
                    yield way, found
                continue
            # A ring is found once, from its first name in the alphabet.
            onward = [flow for flow in listed if flow.source == way[-1].target and flow.source > way[0].source]
            longer += [[*way, flow] for flow in onward if flow.source not in clusters and _goes_on(way, flow)]
        ways = longer


def _goes_on(way: Sequence[Flow], flow: Flow) -> bool:
    """Whether a topic may go on by this flow, and a ring with it may be.

    Of two flows of the default policy in a row, the second writes the alias of the cluster between them into the name,
    and the first then mirrors that name no more (MirrorSourceConnector.isCycle).
    """
    if not way[-1].keeps_names and not flow.keeps_names:
        return False
    return overlap(journey([*way, flow]), ()) is not None


def _round(inventory: Inventory, ring: Sequence[Flow]) -> Overlap | None:
    """Whether a topic passes the ring twice, wherever on it the way begins; then it does so without end."""
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


def two_origins(inventory: Inventory) -> Iterator[Violation]:
    """B37: records of two clusters do not meet in one topic of a third unless that is meant."""
    keeping = [flow for flow in flows(inventory) if flow.keeps_names]
    for one, other in combinations(keeping, 2):
        if one.target != other.target or one.source == other.source:
            continue
        found = overlap([Step("", one), Step("", other)], _topics(inventory, one.source, other.source))
        if found is not None:
            yield violation(
                inventory, "B37", [one.target],
                f"{one.pair} and {other.pair} keep names, so records of two clusters would meet in one topic",
                found.words, "patterns that have no name in common, or policy default",
                "narrow topics, use policy default, or consent by adding B37 to preflight_accept when that is meant",
                level=ERROR if production(inventory, [one.target]) else WARNING, policy=True,
            )  # fmt: skip


def internal_topics(inventory: Inventory) -> Iterator[Violation]:
    """B37: no pattern asks for topics that are about one cluster only; MirrorMaker leaves them out without a word."""
    for number, item in entries(said(inventory)):
        patterns = item.get("topics")
        for pattern in patterns if isinstance(patterns, list) and is_enabled(item) else ():
            if INTERNAL.search(pattern.replace("\\", "")) or only_internal(pattern):
                yield violation(
                    inventory, "B37", [str(item.get("target"))], "the pattern names internal topics", pattern,
                    "topics of users; what Kafka, MirrorMaker and this collection keep about a cluster stays there",
                    "take the pattern out; offsets of groups are mirrored by groups and sync_group_offsets",
                    variable=f"{VARIABLE}[{number}].topics",
                )  # fmt: skip


def renamed_topics(inventory: Inventory) -> Iterator[Violation]:
    """B37: where names are kept, none ends as the topic of heartbeats does: MirrorMaker 2 renames it all the same."""
    for flow in flows(inventory):
        known = [name for name in _topics(inventory, flow.source) if matches(flow, name)]
        renamed = [name for name in dict.fromkeys([*known, *flow.topics]) if remote_topic(flow, name) != name]
        if flow.policy == IDENTITY and renamed:
            yield violation(
                inventory, "B37", [flow.target],
                f"{flow.pair} keeps names, but what ends in heartbeats becomes {remote_topic(flow, renamed[0])}",
                ", ".join(renamed), "topics that end otherwise, or policy default",
                "leave them out by topics_exclude, rename them, or use policy default",
            )  # fmt: skip


RULES = (into_itself, pairs_once, one_cluster, loops, two_origins, internal_topics, renamed_topics)
