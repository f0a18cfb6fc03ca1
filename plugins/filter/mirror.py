# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about mirror_flows; what they answer is computed in module_utils/_mirror_*.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils import (
    _mirror_lines,
    _mirror_properties,
    _mirror_rights,
    _mirror_views,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_flows import read_flows
from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


def mirror_properties(
    flows: Sequence[Mapping[str, Any]],
    target: str,
    clusters: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    version: str,
) -> dict[str, Any]:
    """The file mm2.properties of the mirrors next to `target`, of mirror_flows as the inventory has them."""
    return _mirror_properties.mirror_properties(read_flows(flows), target, clusters, options, version)


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "mirror_acls": explained(_mirror_rights.mirror_acls),
            "mirror_clusters_needed": explained(_mirror_views.mirror_clusters_needed),
            "mirror_flows_into": explained(_mirror_views.mirror_flows_into),
            "mirror_lines": explained(_mirror_lines.mirror_lines),
            "mirror_pairs": explained(_mirror_lines.mirror_pairs),
            "mirror_position": explained(_mirror_views.mirror_position),
            "mirror_principals": explained(_mirror_rights.mirror_principals),
            "mirror_properties": explained(mirror_properties),
            "mirror_topics": explained(_mirror_views.mirror_topics),
            "mirror_users": explained(_mirror_rights.mirror_users),
        }
