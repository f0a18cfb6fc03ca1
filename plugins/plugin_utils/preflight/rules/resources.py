# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on users, ACLs and quotas: what their modules would refuse is refused before a host is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ....module_utils._acls.entries import parse_entries
from ....module_utils._quotas.plan import parse_specs as parse_quotas
from ....module_utils._users.plan import parse_specs as parse_users
from ...inventory.model import Cluster, Inventory
from ...inventory.variables import UNDEFINED, as_bool
from ..rule import Problem, rule
from .shape import checked_known, entry_options

#: What the module of each list complains about.
COMPLAINTS: dict[str, Callable[[Sequence[Mapping[str, Any]]], list[str]]] = {
    "kafka_users": lambda entries: parse_users(entries)[1],
    "kafka_acls": lambda entries: parse_entries(entries)[2],
    "kafka_quotas": lambda entries: parse_quotas(entries)[1],
}


@rule(fix="correct the entry; ansible-doc of the module shows what it takes")
def refused_entry(inventory: Inventory) -> Iterator[Problem]:
    """An entry of `kafka_users`, `kafka_acls` or `kafka_quotas` is one that its module refuses."""
    for cluster in inventory.clusters():
        for variable, complaints in COMPLAINTS.items():
            options = entry_options()[variable]
            entries = [checked_known(one, options) for one in _entries(cluster, variable)]
            for why in complaints([entry for entry, wrong in entries if not wrong]):
                yield Problem(cluster, "an entry cannot be used", found=why.rstrip("."), variable=variable)


@rule(variable="kafka_acls", fix="set kafka_authorizer: true, or remove kafka_acls")
def acls_without_authorizer(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_acls` are set, but the cluster has no authorizer."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        native = any(node.value("authorizer.class.name") for node in cluster.nodes)
        if _entries(cluster, "kafka_acls") and not as_bool(first.get("kafka_authorizer")) and not native:
            yield Problem(cluster, "the cluster has no authorizer, so ACLs have no effect", "kafka_authorizer is false")


def _entries(cluster: Cluster, variable: str) -> list[Mapping[str, Any]]:
    """The well-formed entries of a list, of the first node that has it; none while a value could not be templated."""
    lists = [node.get(variable) for node in cluster.nodes]
    listed = next((one for one in lists if isinstance(one, (list, tuple)) and one), ())
    return [one for one in listed if isinstance(one, Mapping) and not any(v is UNDEFINED for v in one.values())]
