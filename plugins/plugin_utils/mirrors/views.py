# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Flows as roles need them: plain data of what concerns one cluster, and what is mirrored under which name. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...module_utils._mirror.flows import KEYS, LEGACY, LEGACY_ONLY, Flow, flows_into, legacy_group, offsets_topic


def clusters_needed(flows: Sequence[Flow], cluster: str) -> list[str]:
    """The clusters that a mirror next to this one has to reach: itself and the sources of its flows, sorted.

    Empty where no flow goes into it.
    """
    carried = flows_into(flows, cluster)
    return sorted({alias for flow in carried for alias in (flow.source, flow.target)})


def position(flow: Flow) -> dict[str, str]:
    """Say where to read how far a flow has come: {offsets_topic} in the target, or {group} of the source (legacy)."""
    return {"group": legacy_group(flow)} if flow.engine == LEGACY else {"offsets_topic": offsets_topic(flow)}


def plain(flow: Flow) -> dict[str, Any]:
    """A flow as a mapping with every key that its engine has, defaults filled in; read_flows takes it again."""
    # Not by dataclasses.asdict: it makes a second mapping of the kind it finds, and Ansible's own kind refuses that.
    values = {key: getattr(flow, key) for key in KEYS}
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    for key in ("config", "consumer_config", "producer_config"):
        found[key] = found[key] or {}
    return {key: value for key, value in found.items() if flow.engine == LEGACY or key not in LEGACY_ONLY}
