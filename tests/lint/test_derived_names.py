"""Every derived name that roles and playbooks read is defined by one of them.

Names with an underscore are nobody's input, so no argument spec knows them, and a template that reads one that is gone
fails only when a task renders it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import nodes

from tests.lint.test_roles import ROOT, load
from tests.lint.test_values import EXPRESSIONS, TEMPLATES, YAML, parsed, texts
from tests.support.inventory_data import view

DERIVED = re.compile(r"_[a-z]\w*")
#: What a task leaves behind begins with two underscores.
LEFT_BEHIND = re.compile(r"__[a-z]\w*")


def given(value: Any) -> Iterator[str]:
    """Every name that a YAML value defines: variables of plays, includes and loops, results, facts."""
    if isinstance(value, dict):
        for key, part in value.items():
            # Beside its own options add_host takes variables of the host.
            if key in ("vars", "ansible.builtin.set_fact", "ansible.builtin.add_host") and isinstance(part, dict):
                yield from part
            elif key in ("loop_var", "index_var", "register") and isinstance(part, str):
                yield part
            elif key == "ansible.builtin.include_vars" and isinstance(part, dict) and "name" in part:
                yield part["name"]
            yield from given(part)
    elif isinstance(value, list):
        for part in value:
            yield from given(part)


@functools.cache
def defined() -> set[str]:
    """All names that roles and playbooks define."""
    files = [path for path in YAML if "vars" in path.parts]
    return {name for path in files for name in load(path) or {}} | {name for path in YAML for name in given(load(path))}


@pytest.mark.parametrize("path", [*YAML, *TEMPLATES], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_read_is_defined(path: Path) -> None:
    trees = trees_of(path)
    names = [name for tree in trees for name in tree.find_all(nodes.Name)]
    own = {name.name for name in names if name.ctx != "load"}
    optional = {
        part.node.name
        for tree in trees
        for part in tree.find_all((nodes.Filter, nodes.Test))
        if part.name in ("default", "defined") and isinstance(part.node, nodes.Name)
    }
    read = {one.name for one in names if DERIVED.fullmatch(one.name) or LEFT_BEHIND.fullmatch(one.name)}
    assert sorted(read - own - optional - defined()) == []


def trees_of(path: Path) -> list[nodes.Template]:
    """The syntax trees of all templates and expressions of a file."""
    pieces = [("", path.read_text())] if path in TEMPLATES else texts(load(path))
    return [parsed(text, key in EXPRESSIONS) for key, text in pieces]


def of_model(trees: list[nodes.Template]) -> Iterator[tuple[str, str]]:
    """Each key of the model that is read, with the key of that part which is read, or none."""
    reads = [one for tree in trees for one in tree.find_all(nodes.Getattr)]
    keys = {id(one): one.attr for one in reads if isinstance(one.node, nodes.Name) and one.node.name == "_model"}
    yield from ((key, "") for key in keys.values())
    yield from ((keys[id(one.node)], one.attr) for one in reads if id(one.node) in keys)


@functools.cache
def parts() -> dict[str, set[str]]:
    """The keys of the model, each with the keys of what it holds where that is a dictionary with keys of its own."""
    seen = view({"a": {"kafka_node_id": 1, "kafka_log_dirs": ["/d"]}}, brokers=["a"])
    own = ("first", "lock", "manifest", "owners", "paths", "process", "release")
    own += ("seen", "ensemble", "mirroring", "monitoring", "reports", "client_bundle", "canary")
    own += ("page", "prometheus")
    certificate = {"key", "certificate", "truststore"}
    return {**{key: set() for key in seen}, **{key: set(seen[key]) for key in own}, "certificate": certificate}


def test_a_key_that_the_model_does_not_have_is_seen() -> None:
    found = set(of_model([parsed("{{ _model.paths.confg ~ _model.nothing }}", False)]))
    assert found == {("nothing", ""), ("paths", ""), ("paths", "confg")}


@pytest.mark.parametrize("path", [*YAML, *TEMPLATES], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_read_of_the_model_is_in_it(path: Path) -> None:
    read = set(of_model(trees_of(path)))
    assert sorted(key for key, _part in read if key not in parts()) == []
    assert sorted((key, part) for key, part in read if part and parts().get(key) and part not in parts()[key]) == []


def own_part(value: Any) -> Any:
    """What a role renders itself: a task without the variables that it hands to another role."""
    if isinstance(value, list):
        return [own_part(part) for part in value]
    if not isinstance(value, dict):
        return value
    goes_on = any(key in value for key in ("ansible.builtin.include_role", "ansible.builtin.import_role"))
    return {key: own_part(part) for key, part in value.items() if not (goes_on and key == "vars")}


def is_alone(role: Path) -> bool:
    """Whether a role neither depends on _common nor imports it (import_role), so that it has none of its variables."""
    if role.name == "_common" or "streamops.kafka._common" in str(load(role / "meta" / "main.yml")["dependencies"]):
        return False
    return not any("import_role" in path.read_text() for path in role.glob("tasks/**/*.yml"))


ALONE = sorted(path.name for path in ROOT.glob("roles/*") if is_alone(path))


def test_a_role_that_has_nothing_of_another_is_seen() -> None:
    assert "preflight" in ALONE


@pytest.mark.parametrize("role", ALONE)
def test_a_role_that_does_not_depend_on_another_reads_none_of_its_variables(role: str) -> None:
    theirs = {name for path in ROOT.glob("roles/_common/vars/main/*.yml") for name in load(path) or {}}
    read = {
        name.name
        for path in ROOT.glob(f"roles/{role}/tasks/**/*.yml")
        for key, text in texts(own_part(load(path)))
        for name in parsed(text, key in EXPRESSIONS).find_all(nodes.Name)
    }
    assert sorted(read & theirs) == []
