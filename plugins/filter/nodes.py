# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about the nodes of a cluster and its mirrors.

What they answer is in plugin_utils/inventory/nodes.py, guards/replace.py and mirrors/.
"""

from __future__ import annotations

DOCUMENTATION = r"""
name: nodes
short_description: "PRIVATE: the nodes of a cluster and its mirrors"
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

from collections.abc import Callable
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "cluster_endpoints": explained("mirrors.clients.cluster_endpoints"),
            "initial_controllers": explained("inventory.nodes.initial_controllers"),
            "live_properties": explained("inventory.nodes.live_properties"),
            "mirror_clients": explained("mirrors.clients.mirror_clients"),
            "mirror_secrets": explained("mirrors.clients.mirror_secrets"),
            "mirror_trusts": explained("mirrors.clients.mirror_trusts"),
            "node_lines": explained("inventory.nodes.node_lines"),
            "place_refusal": explained("guards.replace.place_refusal"),
            "quorum_never_formed": explained("guards.quorum_formed.never_formed"),
            "replace_refusal": explained("guards.replace.replace_refusal"),
            "with_disks": explained("inventory.nodes.with_disks"),
        }
