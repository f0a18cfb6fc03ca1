# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the proof by Spark that ends a run of site.yml."""

from __future__ import annotations

from collections.abc import Iterator

from ...guards.run_validation import ROLE, Fault, faults
from ...inventory.model import Inventory, Node
from ...inventory.variables import UNDEFINED
from ...specs import role_options
from ..rule import Problem, rule


@rule(fix="correct the value, or remove it to get the default")
def unfit_validation(inventory: Inventory) -> Iterator[Problem]:
    """A variable of `spark_validation` has a value with which no job can run: a topic or run id that cannot be a name,
    a topic of others without consent, fewer records than partitions, more replicas than brokers, bootstrap servers that
    are no `host:port`, an unknown kind of master, a deploy mode that this master does not have or that lacks a shared
    directory, an empty path, a user without password."""
    for cluster in inventory.clusters():
        found: dict[Fault, list[Node]] = {}
        for node in cluster.brokers:
            read = {name: node.get(name) for name in role_options(ROLE)}
            known = {name: value for name, value in read.items() if value is not UNDEFINED and value is not None}
            for fault in faults(known, cluster.broker_count):
                found.setdefault(fault, []).append(node)
        for fault, nodes in found.items():
            yield Problem(nodes, fault.what, fault.found, fault.allowed, fault.fix, fault.name)
