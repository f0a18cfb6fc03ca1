# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the hosts say of one variable: each value once, with the hosts that have it, or what type it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..inventory.model import Node


def by_value(nodes: Iterable[Node], variable: str) -> list[tuple[Any, list[Node]]]:
    """The different values of a variable with the nodes that have each; null and what is undefined are no values."""
    found: list[tuple[Any, list[Node]]] = []
    for node in nodes:
        value = node.get(variable)
        if value is None:
            continue
        alike = next((members for known, members in found if known == value), None)
        if alike is None:
            found.append((value, [node]))
        else:
            alike.append(node)
    return found


def disagreement(nodes: Iterable[Node], variable: str) -> str | None:
    """Return which nodes have which value, when they differ; None when they agree.

    Of lists and dicts only the length is shown: they may hold secrets.
    """
    found = by_value(nodes, variable)
    if len(found) < 2:
        return None
    return "; ".join(
        f"{f'{len(value)} entries' if isinstance(value, (list, dict)) else value} on"
        f" {', '.join(node.name for node in members)}"
        for value, members in found
    )


def dicts(node: Node, variable: str) -> list[Mapping[str, Any]]:
    """The entries of a variable that is a list of dicts; what is no list, or no dict, another rule names."""
    listed = node.get(variable, [])
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, (list, tuple)) else []


def kind_of(value: Any) -> str:
    """Describe a value of the wrong type, in words; never the value, which may be a secret."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    return {dict: "a dict", list: "a list", bool: "true or false", int: "a number"}.get(type(value), "another type")
