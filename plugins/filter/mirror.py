# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about mirror_flows; what they answer is computed in plugin_utils/mirrors/."""

from __future__ import annotations

DOCUMENTATION = r"""
name: mirror
short_description: "PRIVATE: the files of mirrors"
description:
  - The roles of this collection call the filters of this file; their names and what they take may change with any
    release.
options:
  _input:
    description: See the functions of this file.
    type: raw
    required: true
author: The streamops engineers (@streamops)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


def mirror_properties(
    flows: Sequence[Mapping[str, Any]],
    target: str,
    clusters: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    version: str,
) -> dict[str, Any]:
    """The file mm2.properties of the mirrors next to `target`, of mirror_flows as the inventory has them."""
    from ansible_collections.streamops.kafka.plugins.module_utils._mirror import flows as mirror_flows
    from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import properties

    return properties.mirror_properties(mirror_flows.read_flows(flows), target, clusters, options, version)


def mirror_legacy_process(
    flow: Mapping[str, Any], clusters: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]
) -> dict[str, Any]:
    """What a process of the legacy engine is started with."""
    from ansible_collections.streamops.kafka.plugins.module_utils._mirror import flows as mirror_flows
    from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import legacy

    return legacy.legacy_process(mirror_flows.read_flows([flow])[0], clusters, options)


def mirror_legacy_problems(flows: Sequence[Mapping[str, Any]], target: str, version: str) -> list[str]:
    """Why the mirrors next to `target` cannot carry their flows."""
    from ansible_collections.streamops.kafka.plugins.module_utils._mirror import flows as mirror_flows
    from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import legacy

    return legacy.legacy_problems(mirror_flows.read_flows(flows), target, version)


def mirror_legacy_topics(
    flow: Mapping[str, Any],
    clusters: Mapping[str, Mapping[str, Any]],
    declared: Sequence[Mapping[str, Any]],
    brokers: int,
) -> list[dict[str, Any]]:
    """The topics that a flow needs in its target; `clusters` is what cluster_info said of each, by name."""
    from ansible_collections.streamops.kafka.plugins.module_utils._mirror import flows as mirror_flows
    from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import legacy_topics

    read = mirror_flows.read_flows([flow])[0]
    source, target = (clusters[name]["topics"] for name in (read.source, read.target))
    return legacy_topics.legacy_topics(read, source, target, declared, brokers)


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "mirror_acls": explained("mirrors.rights.mirror_acls"),
            "mirror_clusters_needed": explained("mirrors.views.mirror_clusters_needed"),
            "mirror_flows_into": explained("mirrors.views.mirror_flows_into"),
            "mirror_legacy_problems": explained(mirror_legacy_problems),
            "mirror_legacy_process": explained(mirror_legacy_process),
            "mirror_legacy_topics": explained(mirror_legacy_topics),
            "mirror_lines": explained("mirrors.lines.mirror_lines"),
            "mirror_pairs": explained("mirrors.lines.mirror_pairs"),
            "mirror_position": explained("mirrors.views.mirror_position"),
            "mirror_principals": explained("mirrors.rights.mirror_principals"),
            "mirror_properties": explained(mirror_properties),
            "mirror_same_cluster": explained("mirrors.identity.same_cluster"),
            "mirror_users": explained("mirrors.rights.mirror_users"),
        }
