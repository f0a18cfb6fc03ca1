# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the shape of our own variables, which the argument specs of roles and modules define."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ....module_utils._core.names import nearest
from ....module_utils._core.values import CONVERSIONS, typed
from ...guards.run_values import SLIP
from ...inventory.model import OWN_PREFIXES, Inventory
from ...inventory.variables import UNDEFINED
from ...specs import Spec, checked, module_options, role_options, unknown_keys
from ..by_value import by_value, kind_of
from ..rule import WARNING, Problem, rule

NODE_ROLES = ("_common", "kafka_broker", "kraft_controller", "mirror_maker", "preflight", "zookeeper_ensemble")
#: Lists that a module takes as they are.
MODULES = {"kafka_topics": "topics", "kafka_users": "users", "kafka_acls": "acls", "kafka_quotas": "quotas"}
#: What Ansible would convert, or take as it is, by its type: a dict as a password would be its own text.
SHAPES = {"list": "a list", "dict": "a dict", "str": "text", "path": "text"}
#: Lists of entries may be text: Ansible cuts it at its commas.
ENTRY_SHAPES = ("dict", "str", "path")


def _is_of(kind: str, value: Any) -> bool:
    """Say whether a value has the shape of its type; numbers and booleans are text too; types without shape fit all."""
    if kind in ("list", "dict"):
        return isinstance(value, (list, tuple) if kind == "list" else Mapping)
    return kind not in SHAPES or not isinstance(value, (list, tuple, Mapping))


@cache
def entry_options() -> dict[str, Spec]:
    """By variable that is a list of dicts the options of its entries; `bad_flow` judges those of mirror_flows."""
    options = {name: option for name, option in role_options(*NODE_ROLES).items() if name != "mirror_flows"}
    of_roles = {name: option["options"] for name, option in options.items() if "options" in option}
    return {**of_roles, **{name: module_options(module)[module]["options"] for name, module in MODULES.items()}}


@rule(fix="write it as allowed")
def wrong_type(inventory: Inventory) -> Iterator[Problem]:
    """A variable that is a list, a dict or text is something else, or a native property (`kafka_config`,
    `kafka_broker_config`, `zookeeper_ensemble_config` ...) is no single value."""
    for name, option in role_options(*NODE_ROLES).items():
        # Paths may be one text with commas, as Kafka has it.
        paths = option.get("elements") == "path"
        for value, nodes in by_value(inventory.processes, name):
            if isinstance(value, Mapping) if paths else not _is_of(option["type"], value):
                what = "the value has the wrong type"
                allowed = "a list of paths" if paths else SHAPES[option["type"]]
                yield Problem(nodes, what, found=kind_of(value), allowed=allowed, variable=name)
    for node in inventory.processes:
        for one in node.written():
            if one.value is None or isinstance(one.value, (list, tuple, Mapping)):
                yield Problem(
                    node,
                    "a property has one plain value",
                    found=kind_of(one.value),
                    allowed="text, a number, true or false (Kafka writes lists as text with commas)",
                    variable=one.variable,
                )


@rule(fix="correct the entry")
def bad_entry(inventory: Inventory) -> Iterator[Problem]:
    """An entry of `kafka_listeners`, `kafka_topics`, `kafka_users`, `kafka_plain_users`, `kafka_acls` or
    `kafka_quotas` lacks a field, has one that does not exist, or one with a value that it cannot have."""
    for name, options in entry_options().items():
        for listed, nodes in by_value(inventory.nodes, name):
            for index, entry in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
                place = f"{name}[{index}]"
                if isinstance(entry, Mapping):
                    # Those of the lists that roles define are already judged by `unclear_value`.
                    option = {"type": "dict", "options": options if name in MODULES else {}}
                    for one in typed(entry, option, place, UNDEFINED)[1]:
                        yield Problem(nodes, one.what, one.found, one.allowed, variable=one.name)
                    for what, found, allowed, fix in faults(entry, options):
                        yield Problem(nodes, what, found=found, allowed=allowed, fix=fix, variable=place)
                elif entry is not UNDEFINED:
                    yield Problem(nodes, "the entry has the wrong type", kind_of(entry), "a dict", variable=place)


def faults(entry: Mapping[str, Any], options: Spec) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield what is wrong with one entry, as (what, found, allowed, fix)."""
    unknown = dict(unknown_keys(entry, options))
    for field, advice in unknown.items():
        yield "the entry has a field that does not exist", field, ", ".join(options), advice
    known = {key: value for key, value in entry.items() if str(key) not in unknown}
    # Booleans and numbers are read as in all variables, which is stricter than Ansible.
    plain = {key: {**one, "type": "raw"} if one["type"] in CONVERSIONS else one for key, one in options.items()}
    for key, one in options.items():
        value = known.get(key)
        if one["type"] in ENTRY_SHAPES and value not in (None, UNDEFINED) and not _is_of(one["type"], value):
            yield f"{key} has the wrong type", kind_of(value), SHAPES[one["type"]], None
    for complaint in checked_known(known, plain)[1]:
        yield "the entry cannot be used", complaint, "", None


def checked_known(entry: Mapping[str, Any], options: Spec) -> tuple[dict[str, Any], list[str]]:
    """An entry as `checked` makes it, without the fields that could not be templated."""
    hidden = {key for key, value in entry.items() if value is UNDEFINED}
    known = {str(key): value for key, value in entry.items() if key not in hidden}
    return checked(known, {key: option for key, option in options.items() if key not in hidden})


@rule(level=WARNING, fix="correct the name; if it is your own, choose one without our prefixes")
def misspelt_variable(inventory: Inventory) -> Iterator[Problem]:
    """Nothing reads the variable, and its name is close to one that is read."""
    known = inventory.known_variables
    for node in inventory.processes:
        for name in node.variables:
            own = name.startswith(OWN_PREFIXES) and name not in known
            if own and (near := nearest(name, known, SLIP)):
                yield Problem(node, "nothing reads this variable", name, f"perhaps {near} is meant", variable=name)
