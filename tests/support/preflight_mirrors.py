# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventories with mirrors for the tests of preflight: good ones, to be broken in one place at a time."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import all_typed
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory, Node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.preflight_inventories import CLUSTER, LISTENERS, node, topic

#: Clusters whose listener for clients asks for a login.
SECURED: dict[str, Any] = {
    "kafka_listeners": [
        {**LISTENERS[0], "protocol": "SASL_SSL"},
        *({**one, "protocol": "SSL"} for one in LISTENERS[1:]),
    ],
    "kafka_tls_source": "files",
    "kafka_authorizer": True,
    "kafka_admin_user": "admin",
    "kafka_admin_password": "f3-long-and-random",
    "kafka_sasl_mechanisms": ["SCRAM-SHA-512"],
    "mirror_user": "mirror",
    "mirror_password": "m1-long-and-random",
}


def flow(source: str = "dc_a", target: str = "dc_b", **more: Any) -> dict[str, Any]:
    """One entry of mirror_flows."""
    return {"source": source, "target": target, "topics": ["orders"], **more}


def mirrored(
    *flows: Any,
    clusters: str = "dc_a dc_b",
    mirrors: dict[str, dict[str, Any]] | None = None,
    hosts: dict[str, dict[str, Any]] | None = None,
    **common: Any,
) -> Inventory:
    """Clusters of three combined nodes (dc_a1 to dc_a3 ...) with these flows, and mirrors.

    mirrors -- by name their variables, at least kafka_cluster_name; without it one beside each target (mirror_dc_b).
    hosts -- variables of clusters or of single nodes, by name.
    """
    own, shared, names = hosts or {}, {"mirror_flows": list(flows), **common}, clusters.split()
    nodes = [
        node(f"{name}{n}", n, **{
            "ansible_host": f"10.{place}.0.{n}", **shared, **own.get(name, {}), **own.get(f"{name}{n}", {}),
            "kafka_cluster_name": name,
        })
        for place, name in enumerate(names, 1)
        for n in (1, 2, 3)
    ]  # fmt: skip
    if mirrors is None:
        targets = dict.fromkeys(str(one["target"]) for one in flows if isinstance(one, dict) and "target" in one)
        mirrors = {f"mirror_{name}": {"kafka_cluster_name": name} for name in targets if name in names}
    return Inventory(
        tuple(nodes), mirrors=tuple(mirror(name, **{**shared, **variables}) for name, variables in mirrors.items())
    )


def mirror(name: str, **variables: Any) -> Node:
    """A mirror on a machine of its own."""
    merged = {**CLUSTER, "ansible_host": f"{name}.example", "mirror_maker_rest_port": 8443, **variables}
    known, unclear = all_typed(merged, role_options(), UNDEFINED)
    return build_node(name, controller=False, broker=False, mirror=True, variables=known, undefined={}, unclear=unclear)


def topics(*names: str) -> dict[str, Any]:
    """The variables of a cluster with these topics."""
    return {"kafka_topics": [topic(name) for name in names]}
