# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on single values: booleans, numbers, words of a choice, placeholders of the example."""

from __future__ import annotations

from collections.abc import Iterator

from ...guards.run_values import ANSWERS, is_blank
from ...inventory.model import Inventory, Node
from ...inventory.variables import UNDEFINED
from ...specs import role_options
from ..rule import Problem, rule

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
