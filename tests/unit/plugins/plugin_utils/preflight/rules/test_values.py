# SPDX-License-Identifier: GPL-3.0-or-later
"""Every boolean and number of every role and playbook as text: read alike, or refused by name.

The variables come from the argument specs, those inside of lists and dicts too; that roles and playbooks read no other
ones is the business of tests/lint/test_values.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.values import IDS
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.lint.test_module_documentation import documentation
from tests.lint.test_roles import ROOT
from tests.support.preflight_inventories import CLUSTER, combined, node, topic

#: By type, text that is clear, with what it means, and values that are not.
CLEAR: dict[str, tuple[tuple[str, Any], ...]] = {
    "bool": (("false", False), ("no", False), ("off", False), ("0", False), ("true", True), ("Yes", True), ("1", True)),
    "int": (("3", 3), (" 3 ", 3), ("-1", -1)),
    "float": (("0.5", 0.5), ("3", 3.0)),
}
UNCLEAR: dict[str, tuple[Any, ...]] = {
    "bool": ("", "maybe", "falsch", "2", 2, None, []),
    "int": ("", "many", "0x10", "3.5", 3.5, True, None, []),
    "float": ("", "many", "nan", True, None, []),
}


def paths(known: dict[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each boolean and number of argument specs: the names that lead to it, and its type."""
    for name, option in known.items():
        if option.get("type") in CLEAR:
            yield (*before, name), option["type"]
        yield from paths(option.get("options") or {}, (*before, name))


ALL = sorted(paths(dict(role_options())))
TOP = [(path[0], kind) for path, kind in ALL if len(path) == 1]


def test_there_are_booleans_and_numbers_of_roles_of_playbooks_and_of_entries() -> None:
    # An empty table would pass every test below.
    assert {"kafka_authorizer", "plan_only", "kafka_grow_partitions", "kafka_replaced_id"} <= {name for name, _ in TOP}
    assert ("kafka_listeners", "port") in [path for path, _kind in ALL]


def rendered_defaults() -> dict[str, Any]:
    """The defaults of all roles with their templates done, but for what looks into the environment."""
    loader, files = DataLoader(), sorted((ROOT / "roles").glob("*/defaults/main.yml"))
    loaded = [loader.load_from_file(str(file), trusted_as_template=True) or {} for file in files]
    given = {name: value for one in loaded for name, value in one.items()}
    asks = {name: "/somewhere" for name, value in given.items() if "lookup(" in str(value)}
    derived = {"inventory_hostname": "kafka1", "ansible_playbook_python": "/python", "_kafka_bootstrap_servers": []}
    templar = Templar(loader, {**given, **asks, **derived})
    return {name: templar.template(value) for name, value in {**given, **asks}.items()}


@pytest.mark.parametrize(("name", "value"), rendered_defaults().items())
def test_a_default_that_is_a_boolean_or_a_number_has_a_type_that_is_walked_here(name: str, value: Any) -> None:
    # As raw or str, what -e gives would reach the roles as text.
    if isinstance(value, (bool, int, float)) or str(value).lower() in ("true", "false"):
        assert (name, role_options()[name]["type"]) in TOP


@pytest.mark.parametrize(("name", "kind"), TOP)
def test_clear_text_is_what_it_says(name: str, kind: str) -> None:
    for text, value in CLEAR[kind]:
        found = node("kafka1", 1, **{name: text})
        assert (found.variables[name], type(found.variables[name]), found.unclear) == (value, type(value), ())


@pytest.mark.parametrize(("name", "kind"), [one for one in TOP if one[0] not in IDS])
def test_unclear_values_are_refused_by_name_before_any_host_is_touched(name: str, kind: str) -> None:
    for value in UNCLEAR[kind]:
        (found,) = [one for one in check_inventory(combined(**{name: value})) if one.name == "unclear_value"]
        assert (found.level, found.hosts, found.variable) == ("error", ("kafka1", "kafka2", "kafka3"), name)
        assert "" not in (found.found, found.allowed, found.fix)


@pytest.mark.parametrize("value", UNCLEAR["int"])
def test_unclear_ids_are_refused_once_by_the_rules_on_ids(value: Any) -> None:
    found = [one for one in check_inventory(combined(kafka_node_id=value)) if one.variable in IDS]
    assert {one.name for one in found} == {"bad_node_id"}


@pytest.mark.parametrize(("path", "kind"), [one for one in ALL if len(one[0]) > 1])
def test_inside_of_lists_too(path: tuple[str, ...], kind: str) -> None:
    variable, field = path
    good = CLUSTER[variable]
    for text, value in CLEAR[kind]:
        assert node("kafka1", 1, **{variable: [{**good[0], field: text}]}).variables[variable][0][field] == value
    for value in (one for one in UNCLEAR[kind] if one not in (None, "")):
        found = check_inventory(combined(**{variable: [{**good[0], field: value}, *good[1:]]}))
        assert [one.variable for one in found if one.name == "unclear_value"] == [f"{variable}[0].{field}"]


#: Entries as a module takes them: its documentation says which of their fields are numbers.
ENTRIES: dict[str, dict[str, Any]] = {
    "topics": topic(),
    "users": {"name": "alice", "password": "a long one of alice"},
    "quotas": {"user": "alice", "producer_byte_rate": 1000},
}
FIELDS = [
    (module, name, field["type"])
    for module in ENTRIES
    for name, field in documentation(module)["options"][module]["suboptions"].items()
    if field.get("type") in CLEAR
]


@pytest.mark.parametrize(("module", "field", "kind"), FIELDS)
def test_numbers_of_entries_may_be_text_and_unclear_ones_are_refused(module: str, field: str, kind: str) -> None:
    variable, entry = f"kafka_{module}", {"ip": "10.0.0.9"} if field.startswith("connection") else ENTRIES[module]
    usable = {"replication_factor": "3", "iterations": "8192", "every_broker_leads": "yes"}.get(field, "6")
    good = check_inventory(combined(**{variable: [{**entry, field: usable}]}))
    assert [one.sentence() for one in good if one.level == "error"] == []
    for value in ("many", "0x10", True) if kind != "bool" else ("many", "0x10", 2):
        found = check_inventory(combined(**{variable: [{**entry, field: value}]}))
        assert [one for one in found if one.level == "error" and one.variable.startswith(variable)], (field, value)
