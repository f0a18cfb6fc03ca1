# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on single values: booleans, numbers, choices, placeholders, and what a cluster cannot live with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....module_utils._configs.value_bounds import BOUNDS, KRAFT_KEYS, MIB, NODE, ORDERS, Bound, Order
from ....module_utils._configs.values import without_listener
from ...guards.run_values import ANSWERS, is_blank
from ...inventory.heap import heap_bytes
from ...inventory.model import Inventory, Node
from ...inventory.variables import UNDEFINED
from ...specs import role_options
from ..in_force import culprit, pairs, uses_zookeeper, written
from ..rule import WARNING, Problem, rule

#: Numbers and words whose own rules say more.
IDS = ("kafka_node_id", "zookeeper_id")
WORDS = ("kafka_mode", "kafka_version", "zookeeper_version")


@rule(fix="correct the value, or remove it to get the default")
def unclear_value(inventory: Inventory) -> Iterator[Problem]:
    """A variable of the roles or playbooks that is true or false, or a number, has another value: `maybe`, an empty
    text, null, `3.5` or `0x10` for a whole number, or a number outside of its range (docs/reference), such as a port
    above 65535. Text such as `"no"` or `"3"` (surveys, INI, `-e`) is read; empty text is no answer to a playbook that
    asks for a number."""
    for node in _hosts(inventory):
        for one in node.unclear:
            is_no_answer = one.name in ANSWERS and is_blank(node.get(one.name))
            if one.name not in IDS and not is_no_answer:
                yield Problem(node, one.what, found=one.found, allowed=one.allowed, variable=one.name)


@rule(fix="set it to one of the allowed words")
def unknown_word(inventory: Inventory) -> Iterator[Problem]:
    """A variable that takes one of a few words, such as `kafka_profile`, has another one."""
    choices = {name: option for name, option in role_options().items() if option.get("choices") and name not in WORDS}
    for node in _hosts(inventory):
        for name, option in choices.items():
            value, words = node.get(name), option["choices"]
            # A list that is none is named by its type.
            listed = [value] if option["type"] != "list" else value if isinstance(value, (list, tuple)) else ()
            for word in listed:
                if word not in (None, UNDEFINED, *words):
                    allowed = f"one of {', '.join(filter(None, words))}"
                    yield Problem(node, "the word is not known", repr(str(word)), allowed, variable=name)


def _hosts(inventory: Inventory) -> list[Node]:
    """Return all hosts with variables of roles: those of the page and of Prometheus too, each once.

    Prometheus counts where the play has its host, as in its own rules.
    """
    monitors = [host for host in inventory.monitors if host.name in inventory.play_hosts]
    every = (*inventory.processes, *inventory.pages, *monitors)
    return list({host.name: host for host in reversed(every)}.values())[::-1]


#: Bytes of direct memory below which threads of a node cannot send or receive a batch of the default size: each keeps a
#: buffer as large as its largest answer (sun.nio.ch.Util), and the default node has eleven of them.
LEAST_DIRECT_MEMORY = 32 * MIB
_DIRECT_MEMORY = re.compile(r"-XX:MaxDirectMemorySize=(\S*)")


@rule(fix="correct the value, or remove it to get the default")
def number_that_stops(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a node, or two of them together, is one that Kafka takes and that a cluster cannot live
    with, such as `replica.fetch.wait.max.ms` that is not below `replica.socket.timeout.ms`; the message says what
    happens. The table is `plugins/module_utils/_configs/value_bounds.py`."""
    for node in inventory.kafka:
        for _key, problem in _beyond(node, stops=True):
            yield problem


@rule(fix="correct the value, or remove it to get the default", level=WARNING, acceptable=True)
def number_that_slows(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a node, or two of them together, slows the cluster or makes it less safe; the message says
    how. The table is `plugins/module_utils/_configs/value_bounds.py`."""
    for node in inventory.kafka:
        worse = {key for key, _problem in _beyond(node, stops=True)}
        for key, problem in _beyond(node, stops=False):
            if key not in worse:
                yield problem


@rule(
    variable="kafka_jvm_options",
    allowed=f"{LEAST_DIRECT_MEMORY >> 20}m or more",
    fix="raise it, or remove it: without it Java takes as much as the heap",
)
def small_direct_memory(inventory: Inventory) -> Iterator[Problem]:
    """`-XX:MaxDirectMemorySize` in `kafka_jvm_options` is too small for the buffers of the node's threads: it starts,
    and fails at requests of ordinary size (OutOfMemoryError: Cannot reserve bytes of direct buffer memory)."""
    for node in inventory.processes:
        words = " ".join(node.names("kafka_jvm_options")).split()
        sizes = [given[1] for word in words if (given := _DIRECT_MEMORY.fullmatch(word))]
        # Of several the last one holds. What Java cannot read, Java refuses in the trial of the node; 0 is its default.
        size = _bytes(sizes[-1]) if sizes else None
        if size is not None and size < LEAST_DIRECT_MEMORY:
            yield Problem(
                node, "the node has too little memory for its connections", f"-XX:MaxDirectMemorySize={sizes[-1]}"
            )


def _bytes(size: str) -> int | None:
    try:
        return heap_bytes(size, "")
    except ValueError:
        return None


def _beyond(node: Node, stops: bool) -> Iterator[tuple[str, Problem]]:
    """Yield what a node has beyond the rows of one severity, each key once; the key may be that of a listener."""
    named = set()
    for bound in BOUNDS:
        for key in _keys(node, bound.key) if bound.stops == stops and _reads(node, bound) else ():
            own = written(node, key)
            if own is not None and not bound.holds(own.value):
                named.add(key)
                yield key, Problem(node, bound.why, str(own), bound.allowed, variable=own.variable)
    for order in ORDERS:
        if order.stops == stops and _reads(node, order) and named.isdisjoint((order.key, order.other)):
            for low, high in pairs(node, order.key, order.other):
                if not order.holds(low.value, high.value):
                    allowed = f"{order.key} {'below' if order.spare else 'at most'} {high.value}"
                    yield order.key, Problem(node, order.why, f"{low}, {high}", allowed, variable=culprit(low, high))


def _keys(node: Node, key: str) -> list[str]:
    """Return a key and those of listeners that override it, of what the inventory sets on the node."""
    return [own for own in node.properties() if without_listener(own) == key]


def _reads(node: Node, row: Bound | Order) -> bool:
    if row.key.startswith(KRAFT_KEYS) and uses_zookeeper(node):
        return False
    return row.read_by == NODE or (node.broker if row.read_by == "broker" else node.controller)
