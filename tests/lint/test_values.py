"""Booleans and numbers of roles and playbooks may be text, so nothing reads one without saying what it is.

Which variables these are comes from the argument specs, and what reads them from the parsed files themselves: a
variable that is new, or a use of it, needs no entry here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from jinja2 import nodes

from tests.lint.test_module_documentation import NAMESPACE
from tests.lint.test_roles import ROLES, ROOT, load, options_of

PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))
YAML = sorted([*PLAYBOOKS, *(ROOT / "playbooks" / "tasks").rglob("*.yml"), *(ROOT / "playbooks" / "vars").glob("*.yml"),
               *(ROOT / "roles").glob("*/tasks/**/*.yml"), *(ROOT / "roles").glob("*/vars/**/*.yml"),
               *(ROOT / "roles").glob("*/defaults/*.yml")])  # fmt: skip
TEMPLATES = sorted((ROOT / "roles").glob("*/templates/*.j2"))
JINJA = jinja2.Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
#: The filter that reads a variable of a type; where there is none, the model alone does.
FILTERS = {"bool": "streamops.kafka.boolean", "int": "streamops.kafka.integer", "float": None}
#: What is an expression without braces, and what is text for people, where a value is shown as it was given.
EXPRESSIONS = ("when", "that", "until", "changed_when", "failed_when")
FOR_PEOPLE = ("msg", "fail_msg", "name")
#: The settings of the model, where each value has its type; the role preflight may not read variables of _common.
TYPED = ("_settings", "_preflight_settings")
#: What Ansible itself, or what is being run, gives, and the text that playbooks/awx.yml leaves alone in AWX when it is
#: not given (awx/data/settings.yml).
GIVEN = re.compile(
    r"awx_credentials|awx_notification_templates|awx_project_local_path"
    r"|_.*|ansible_\w+|hostvars|groups|inventory_hostname|omit|role_path|item|lookup|query|now|dict|undef"
)


@functools.cache
def options() -> dict[str, Any]:
    """What the argument specs say of every variable of all roles and playbooks."""
    return {name: option for role in ROLES for name, option in options_of(role).items()}


def typed() -> dict[str, str]:
    """The variables that are booleans or numbers, with their types."""
    return {name: option["type"] for name, option in options().items() if option.get("type") in FILTERS}


@functools.cache
def parsed(text: str, is_expression: bool) -> nodes.Template:
    """The syntax tree of a template, or of an expression without braces; tests look at each one several times."""
    return JINJA.parse("{{ " + text + " }}" if is_expression else text)


def raw_uses(tree: nodes.Node, named: dict[str, str]) -> Iterator[str]:
    """The booleans and numbers that a template reads without the filter of their type and their own name in it."""
    parents = {id(child): node for node in [tree, *tree.find_all(nodes.Node)] for child in node.iter_child_nodes()}
    for node in tree.find_all((nodes.Name, nodes.Getattr, nodes.Getitem)):
        name = _name(node)
        if name not in named:
            continue
        user = parents[id(node)]
        while isinstance(user, nodes.Filter) and user.name in ("default", "d"):
            user = parents[id(user)]
        if isinstance(user, nodes.Test) and user.name in ("defined", "undefined"):
            continue
        if isinstance(user, nodes.Compare) and [one.expr for one in user.ops] == [nodes.Const("")]:
            continue  # whether a survey was answered
        if not (
            isinstance(user, nodes.Filter) and user.name == FILTERS[named[name]] and user.args == [nodes.Const(name)]
        ):
            yield name


def _name(node: nodes.Node) -> str:
    """The variable that a node may read: by itself, or of a host (hostvars[host].name, hostvars[host]['name']).

    What the model has typed is none (_settings.name, which is _preflight_settings in the role preflight).
    """
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name in TYPED:
        return ""
    if isinstance(node, nodes.Name):
        return node.name if node.ctx == "load" else ""
    if isinstance(node, nodes.Getattr):
        return node.attr
    key = node.arg if isinstance(node, nodes.Getitem) else None
    return key.value if isinstance(key, nodes.Const) and isinstance(key.value, str) else ""


def texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a YAML value with the key that it stands at."""
    if isinstance(value, dict):
        for inner, part in value.items():
            yield from texts(part, str(inner))
    elif isinstance(value, list):
        for part in value:
            yield from texts(part, key)
    elif isinstance(value, str):
        yield key, value


@pytest.mark.parametrize("path", YAML, ids=lambda path: str(path.relative_to(ROOT)))
def test_roles_and_playbooks_read_no_boolean_and_no_number_as_it_was_given(path: Path) -> None:
    named = typed()
    found = [
        f"{key}: {name}"
        for key, text in texts(load(path))
        if key not in FOR_PEOPLE
        for name in raw_uses(parsed(text, key in EXPRESSIONS), named)
    ]
    assert found == [], "a text such as 'false' is true here: read it from the model (_settings.NAME)"


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_templates_read_no_boolean_and_no_number_as_it_was_given(path: Path) -> None:
    assert list(raw_uses(parsed(path.read_text(), False), typed())) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{ is_on }}", ["is_on"]),
        ("{{ is_on | bool }}", ["is_on"]),
        ("{{ 1 if is_on else 2 }}", ["is_on"]),
        ("{{ hostvars[host].is_on }}", ["is_on"]),
        ("{{ hostvars[host]['is_on'] }}", ["is_on"]),
        ("{{ is_on | streamops.kafka.boolean('another') }}", ["is_on"]),
        ("{{ is_on | streamops.kafka.integer('is_on') }}", ["is_on"]),
        ("{% if not is_on %}{% endif %}", ["is_on"]),
        ("{{ is_on | streamops.kafka.boolean('is_on') }}", []),
        ("{{ is_on | default(false) | streamops.kafka.boolean('is_on') }}", []),
        ("{{ is_on is defined }}", []),
        ("{{ is_on | default('') != '' }}", []),
        ("{{ is_on == 1 }}", ["is_on"]),
        ("{{ 1 if _settings.is_on else 2 }}", []),
        ("{{ other.is_on }}", ["is_on"]),
    ],
)
def test_a_raw_use_is_seen(text: str, found: list[str]) -> None:
    assert list(raw_uses(parsed(text, False), {"is_on": "bool"})) == found


@pytest.mark.parametrize("path", [*YAML, *TEMPLATES], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_roles_and_playbooks_read_is_in_an_argument_spec(path: Path) -> None:
    given = [("", path.read_text())] if path in TEMPLATES else texts(load(path))
    names = [name for key, text in given for name in parsed(text, key in EXPRESSIONS).find_all(nodes.Name)]
    own = {name.name for name in names if name.ctx != "load"}
    unknown = sorted({one.name for one in names if not GIVEN.fullmatch(one.name)} - {*options(), *own, *passed()})
    assert unknown == [], "only a variable that an argument spec types can be checked and converted"


@functools.cache
def passed() -> set[str]:
    """What playbooks give the playbooks that they import, and those their plays, also from files."""
    plays = [(path, play) for path in PLAYBOOKS for play in load(path)]
    files = {path.parent / name for path, play in plays for name in play.get("vars_files") or ()}
    return {name for _path, play in plays for name in play.get("vars") or {}} | {
        name for file in files for name in DataLoader().load_from_file(str(file))
    }


@functools.cache
def entered() -> list[tuple[str, str]]:
    """Each role and file that is entered by tasks_from."""
    found = []
    for path in YAML:
        for value in _dicts(yaml.safe_load(path.read_text())):
            role = value.get("ansible.builtin.include_role") or value.get("ansible.builtin.import_role") or {}
            if "tasks_from" in role:
                found.append((role["name"].removeprefix(NAMESPACE), role["tasks_from"]))
    return sorted(set(found))


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(part)


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_an_entry_point_with_an_argument_spec_is_entered_by_its_name(role: Path) -> None:
    # Ansible looks for the spec under exactly what tasks_from says: with .yml at its end it finds, and checks, none.
    entries = set(load(role / "meta" / "argument_specs.yml")["argument_specs"]) - {"main", "variables"}
    for entry in entries:
        assert (role / "tasks" / f"{entry}.yml").is_file()
        assert (role.name, entry) in entered()
        assert (role.name, f"{entry}.yml") not in entered()
