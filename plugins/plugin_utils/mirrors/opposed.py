# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which mirrors must stop before a flow that keeps names begins, and whether its two ends are one cluster. Pure.

The preflight rules on loops read what the inventory wants. A mirror that is not in the run goes on with what it was
started with, whatever the inventory says since: with names that are kept both ways, each record comes back without end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils._mirror.flows import MIRROR_MAKER_2, Flow


@dataclass(frozen=True)
class Asked:
    """What was heard from a mirror: whether it answered, whether its process runs, and what that was started with.

    cluster -- the one that it writes to. properties -- those of its start record; None when it has none.
    """

    host: str
    cluster: str
    answered: bool
    running: bool = False
    properties: Mapping[str, str] | None = None


def opposed_flows(flows: Sequence[Flow]) -> list[Flow]:
    """Return the disabled flows that would close a ring with enabled ones, in which one of them all keeps names.

    Topics are not compared: what runs may have other patterns than the list has now.
    """
    enabled = [flow for flow in flows if flow.enabled]
    pairs = {(flow.pair, flow.engine) for flow in enabled}
    return [
        flow
        for flow in flows
        if not flow.enabled and (flow.pair, flow.engine) not in pairs and _closes_ring(flow, enabled)
    ]


def _closes_ring(flow: Flow, enabled: Sequence[Flow]) -> bool:
    """Return whether some way of enabled flows leads back to the source of this one, and names are kept on it."""
    on_the_way = [
        one
        for one in enabled
        if one.source in _reached(flow.target, enabled) and flow.source in _reached(one.target, enabled)
    ]
    return any(one.keeps_names for one in on_the_way) or (bool(on_the_way) and flow.keeps_names)


def _reached(begin: str, flows: Sequence[Flow]) -> set[str]:
    """The clusters that records of one get to, itself too."""
    found, added = {begin}, {begin}
    while added:
        added = {flow.target for flow in flows if flow.source in added} - found
        found |= added
    return found


def asked(results: Iterable[Mapping[str, Any]]) -> list[Asked]:
    """Read the results of node_info that compared a mirror's process with no properties at all.

    Then each property of its start record is a reason to restart it.
    """
    found = []
    for result in results:
        mirror = result["item"]
        running = bool((result.get("process") or {}).get("running"))
        reasons = [one for one in result.get("restart_reasons") or () if one["kind"] == "property"]
        properties = {one["name"]: str(one["from"]) for one in reasons}
        answered = "process" in result
        found.append(Asked(mirror["host"], mirror["cluster"], answered, running, properties or None))
    return found


def still_running(flows: Sequence[Flow], seen: Iterable[Asked]) -> list[str]:
    """Return a sentence for each mirror that runs a disabled flow which would close a ring, or does not answer."""
    return [sentence for mirror in seen for sentence in _judged(mirror, opposed_flows(flows))]


def _judged(mirror: Asked, opposed: Sequence[Flow]) -> list[str]:
    own = [flow for flow in opposed if flow.target == mirror.cluster]
    pairs = ", ".join(dict.fromkeys(flow.pair for flow in own))
    if own and not mirror.answered:
        return [
            f"{mirror.host} cannot be asked whether it still runs {pairs}, which is disabled. fix: make it reachable; "
            "or when its machine is gone for good, take it out of the group mirror_makers."
        ]
    runs = ", ".join(dict.fromkeys(flow.pair for flow in own if _runs(mirror, flow)))
    if not runs:
        return []
    return [
        f"{mirror.host} still runs {runs}, which is disabled. fix: have it in the run that disables the flow, and "
        f"enable the flow back in the run after it; or stop it (stop.yml --limit {mirror.host})."
    ]


def _runs(mirror: Asked, flow: Flow) -> bool:
    """Say whether a mirror's process carries a flow, as far as one can know; without a record it may carry each one."""
    if not mirror.running or mirror.properties is None:
        return mirror.running
    if not any("->" in key for key in mirror.properties):
        return flow.engine != MIRROR_MAKER_2
    return flow.engine == MIRROR_MAKER_2 and mirror.properties.get(f"{flow.pair}.enabled", "").lower() == "true"


def same_id(ids: Mapping[str, str]) -> dict[str, list[str]]:
    """By cluster.id the aliases that share it, where there are several; an empty id is not known and passed over."""
    aliases: dict[str, list[str]] = {}
    for alias, cluster_id in sorted(ids.items()):
        if cluster_id:
            aliases.setdefault(cluster_id, []).append(alias)
    return {cluster_id: names for cluster_id, names in aliases.items() if len(names) > 1}


def same_cluster(ids: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the ids of running clusters: a sentence for each one that has several aliases.

    ids -- by alias (kafka_cluster_name) the cluster.id of its brokers; empty where it is not known.
    """
    return [
        f"{' and '.join(names)} are one cluster, with the id {cluster_id}: a mirror between them would copy its own "
        "copies without end. Each alias must lead to a cluster of its own. Correct the addresses of one of them "
        "(kafka_listeners, mirror_listener), or take the flow out of mirror_flows. Nothing was changed."
        for cluster_id, names in same_id(ids).items()
    ]
