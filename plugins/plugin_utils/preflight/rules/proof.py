# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the proof of a roll (docs/prove.md), which begins only once an approval of the run is spent."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._prove.topic import LEAST_RATE, PREFIX, refused
from ...inventory.model import Inventory, Node
from ...inventory.provers import provers
from ...inventory.variables import as_int
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
