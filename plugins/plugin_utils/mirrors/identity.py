# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the two ends of a mirror are two clusters. Pure."""

from __future__ import annotations

from collections.abc import Mapping


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
