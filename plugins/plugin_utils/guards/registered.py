# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The nodes that a running cluster knows and its inventory lacks.

They are part of the cluster all the same: such a broker holds replicas, such a voter counts for each majority. A run
that does not know them would write less into the others than the cluster needs, so it is refused before it changes
anything, unless their ids are accepted by name.

Pure: what cluster_info returned comes in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._core.names import capped
from ...module_utils._core.values import to_integer
from ..inventory.variables import entries

Node = Mapping[str, Any]

ACCEPT = "kafka_accept_missing_nodes"
BROKER, CONTROLLER = "broker", "controller"


def missing(nodes: Sequence[Node], cluster: Mapping[str, Any], accepted: Collection[int] = ()) -> list[str]:
    """Name each broker and voter that is no node of the inventory, with what the cluster has of it and what to do.

    nodes -- of the inventory; cluster -- what cluster_info returned, empty where the cluster did not answer; accepted
    -- ids that may be missing. Of a quorum that did not answer nothing is known.
    """
    brokers = {one["id"]: one for one in cluster.get("nodes") or ()}
    # A voter whose disk was replaced may be listed twice.
    voters = sorted({one["id"] for one in (cluster.get("quorum") or {}).get("voters") or ()})
    found: dict[int, list[str]] = {}
    for node_id in sorted(set(voters) - ids(nodes, CONTROLLER) - set(accepted)):
        found.setdefault(node_id, []).append(_voter(node_id, voters))
    for node_id in sorted(brokers.keys() - ids(nodes, BROKER) - set(accepted)):
        found.setdefault(node_id, []).append(_broker(brokers[node_id]))
    return [line for node_id in sorted(found) for line in found[node_id]]


def voters_alone(cluster: Mapping[str, Any]) -> set[int]:
    """The ids of voters that are no brokers: a run that changes the voters takes out those that the inventory lacks."""
    voters = {int(one["id"]) for one in (cluster.get("quorum") or {}).get("voters") or ()}
    return voters - {int(one["id"]) for one in cluster.get("nodes") or ()}


def accepted_ids(given: Any) -> set[int]:
    """The ids of kafka_accept_missing_nodes: a list, or text of -e: numbers with commas between them, in [] or not."""
    return {to_integer(one, ACCEPT) for one in entries(given)}


def ids(nodes: Iterable[Node], role: str) -> set[int]:
    """The ids of the nodes of an inventory that have a role."""
    return {int(node["node_id"]) for node in nodes if role in node["roles"] and node["node_id"] is not None}


def more_brokers(nodes: Iterable[Node], cluster: Mapping[str, Any]) -> int:
    """Return how many brokers the cluster knows beside those of the inventory."""
    return len({one["id"] for one in cluster.get("nodes") or ()} - ids(nodes, BROKER))


def _voter(node_id: int, voters: Sequence[int]) -> str:
    listed = capped([str(one) for one in voters])
    return (
        f"controller {node_id} is one of the {len(voters)} voters of the quorum ({listed}). fix: add its host to the "
        "inventory again; to remove it for good, run playbooks/voters.yml with this inventory"
    )


def _broker(broker: Mapping[str, Any]) -> str:
    standing = "down (fenced)" if broker["fenced"] else "alive"
    replicas = f"with {broker['replicas'] or 'no'} replica{'s' * (broker['replicas'] != 1)}"
    who = f"broker {broker['id']} is registered and {standing}, {replicas}"
    return f"{who}. fix: add its host to the inventory again; {_way_out(broker)}"


def _way_out(broker: Mapping[str, Any]) -> str:
    """Say how to remove a broker rightly."""
    number = broker["id"]
    if not broker["fenced"]:
        return "to remove it, run drain_and_remove_broker with an inventory that has it"
    if broker["replicas"]:
        return (
            f"if it is gone for good, run replace_node with kafka_replaced_id={number}, which gives its place to a new "
            "broker and unregisters it"
        )
    return (
        "if it is gone for good, unregister it by the module streamops.kafka.broker_registration "
        f"(broker: {number}, state: unregistered)"
    )
