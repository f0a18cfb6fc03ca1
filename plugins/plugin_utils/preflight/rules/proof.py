# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on proofs: of a roll, which begins once an approval is spent, and by Spark at the end of site.yml."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._prove.topic import LEAST_RATE, PREFIX, refused
from ...guards.run_validation import ROLE, Fault, faults
from ...inventory.model import Inventory, Node
from ...inventory.provers import provers
from ...inventory.variables import UNDEFINED, as_int
from ...specs import role_options
from ..rule import Problem, rule


def _topic(node: Node) -> str:
    return node.text("kafka_prove_topic") or PREFIX


@rule(fix="see docs/prove.md")
def refused_proof(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_prove` is set with a topic whose name is not for it, or with more records (`kafka_prove_seconds` times
    `kafka_prove_rate`) than a proof may have: it would be refused once the roll begins."""
    for cluster in inventory.clusters():
        for node in provers(cluster.nodes):
            seconds, rate = (
                as_int(node.get(f"kafka_prove_{one}", of)) for one, of in (("seconds", 3600), ("rate", 100))
            )
            if seconds is not None and rate is not None:
                # What is out of its own range another rule names.
                for one in refused(_topic(node), max(seconds, 1), max(rate, LEAST_RATE)):
                    fix = one.fix[0].lower() + one.fix[1:]
                    yield Problem(node, one.what, fix=fix, variable=one.variable)


@rule(
    variable="kafka_prove",
    fix="name the topic in kafka_gate_allow_unavailable_topics, or leave kafka_prove out",
)
def proof_of_one_broker(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_prove` is set for a cluster of one broker, whose restart the gate refuses for the topic of the proof where
    `kafka_gate_allow_unavailable_topics` does not name it."""
    for cluster in inventory.clusters():
        for node in provers(cluster.nodes) if cluster.broker_count == 1 else ():
            if not {"*", _topic(node)} & set(node.names("kafka_gate_allow_unavailable_topics")):
                what = "the topic of the proof has one replica, so that the gate would refuse the restart"
                yield Problem(node, what, _topic(node))


@rule(fix="correct the value, or remove it to get the default")
def unfit_validation(inventory: Inventory) -> Iterator[Problem]:
    """A variable of `spark_validation` has a value with which no job can run: a topic or run id that cannot be a name,
    a topic of others without consent, fewer records than partitions, more replicas than brokers, bootstrap servers that
    are no `host:port`, an unknown kind of master, a deploy mode that this master does not have or that lacks a shared
    directory, an empty path, a user without password or keytab."""
    for cluster in inventory.clusters():
        found: dict[Fault, list[Node]] = {}
        for node in cluster.brokers:
            read = {name: node.get(name) for name in role_options(ROLE)}
            known = {name: value for name, value in read.items() if value is not UNDEFINED and value is not None}
            for fault in faults(known, cluster.broker_count):
                found.setdefault(fault, []).append(node)
        for fault, nodes in found.items():
            yield Problem(nodes, fault.what, fault.found, fault.allowed, fault.fix, fault.name)
