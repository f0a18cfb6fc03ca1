# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Flows as roles need them: plain data of what concerns one cluster, and what is mirrored under which name. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    KEYS,
    LEGACY,
    LEGACY_ONLY,
    Flow,
    flows_into,
    legacy_group,
    offsets_topic,
    read_flows,
)


def mirror_flows_into(raw: Sequence[Mapping[str, Any]], cluster: str) -> list[dict[str, Any]]:
    """The enabled flows into a cluster as mappings with every key that their engine has, defaults filled in.

    Such a mapping is a flow again for everything that takes one. ValueError for flows that are not in order.
    """
    return [_plain(flow) for flow in flows_into(read_flows(raw), cluster)]


def mirror_clusters_needed(raw: Sequence[Mapping[str, Any]], cluster: str) -> list[str]:
    """The clusters that a mirror next to this one has to reach: itself and the sources of its flows, sorted.

    Empty where no flow goes into it.
    """
    carried = flows_into(read_flows(raw), cluster)
    return sorted({alias for flow in carried for alias in (flow.source, flow.target)})


def mirror_position(flow: Mapping[str, Any]) -> dict[str, str]:
    """Where one reads how far a flow has come: {offsets_topic} in the target, or {group} of the source for legacy."""
    read = read_flows([flow])[0]
    return {"group": legacy_group(read)} if read.engine == LEGACY else {"offsets_topic": offsets_topic(read)}


def _plain(flow: Flow) -> dict[str, Any]:
    # Not by dataclasses.asdict: it makes a second mapping of the kind it finds, and Ansible's own kind refuses that.
    values = {key: getattr(flow, key) for key in KEYS}
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    for key in ("config", "consumer_config", "producer_config"):
        found[key] = found[key] or {}
    return {key: value for key, value in found.items() if flow.engine == LEGACY or key not in LEGACY_ONLY}
