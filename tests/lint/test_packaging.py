# SPDX-License-Identifier: GPL-3.0-or-later
"""What galaxy.yml and meta say of the collection is what its content needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GALAXY = yaml.safe_load((ROOT / "galaxy.yml").read_text())
OWN = {"ansible.builtin", f"{GALAXY['namespace']}.{GALAXY['name']}"}
#: A plugin named in an expression, as a filter, a test, or the first word of a lookup.
IN_EXPRESSIONS = re.compile(
    r"""(?:\|\s*|\bis\s+(?:not\s+)?|\b(?:lookup|query|q)\(\s*['"])([a-z_]\w*\.[a-z_]\w*)\.[a-z_]\w*"""
)
#: The key of a task, which is an item of a list, or a value that names a plugin (a connection, a strategy).
FULL_NAME = re.compile(r"([a-z_]\w*\.[a-z_]\w*)\.[a-z_]\w*")
NAMING = {"connection", "ansible_connection", "strategy", "become_method", "ansible_become_method", "action"}
IMPORTED = re.compile(r"ansible_collections\.(\w+\.\w+)\.")


def used_in(content: Any, is_task: bool = False) -> Iterator[str]:
    """The collections whose plugins some YAML names."""
    if isinstance(content, dict):
        for key, value in content.items():
            if is_task and (found := FULL_NAME.fullmatch(str(key))):
                yield found[1]
            if key in NAMING and isinstance(value, str) and (found := FULL_NAME.match(value)):
                yield found[1]
            yield from used_in(value)
    elif isinstance(content, list):
        for item in content:
            yield from used_in(item, is_task=True)
    elif isinstance(content, str):
        yield from IN_EXPRESSIONS.findall(content)


def used() -> dict[str, set[str]]:
    """Every collection that roles, playbooks and plugins use, and where."""
    found: dict[str, set[str]] = {}
    for folder in ("roles", "playbooks", "inventories"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".yml", ".j2"):
                text = path.read_text()
                is_tasks = folder == "playbooks" or "tasks" in path.parts or "handlers" in path.parts
                names = used_in(yaml.safe_load(text)) if is_tasks else IN_EXPRESSIONS.findall(text)
                for name in names:
                    found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    for path in (ROOT / "plugins").rglob("*.py"):
        for name in IMPORTED.findall(path.read_text()):
            found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    return {name: where for name, where in found.items() if name not in OWN}


def test_every_collection_that_is_used_is_a_dependency_and_no_other() -> None:
    found = used()
    assert set(found) == set(GALAXY["dependencies"]), found


def test_the_reading_finds_each_way_to_name_a_plugin() -> None:
    tasks = [
        {"name": "x", "a.one.module": {"key": "{{ x | b.two.filter }}"}, "when": "x is c.three.test"},
        {
            "block": [{"d.four.module": None, "connection": "e.five.local"}],
            "vars": {"v": "{{ lookup('f.six.lookup') }}", "kafkas.own.key": 1},
        },
    ]
    assert set(used_in(tasks)) == {"a.one", "b.two", "c.three", "d.four", "e.five", "f.six"}


# Galaxy's importer refuses a collection without a repository; the others are where its page sends people.
@pytest.mark.parametrize("link", ["repository", "documentation", "homepage", "issues"])
def test_links_are_given(link: str) -> None:
    assert GALAXY[link].startswith("https://")


def test_what_git_ignores_is_not_packed() -> None:
    lines = (ROOT / ".gitignore").read_text().split()
    assert {line.strip("/") for line in lines} <= set(GALAXY["build_ignore"])


def test_roles_promise_the_ansible_that_the_collection_promises() -> None:
    promised = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    roles = {path: yaml.safe_load(path.read_text()) for path in (ROOT / "roles").glob("*/meta/main.yml")}
    assert {f">={meta['galaxy_info']['min_ansible_version']}" for meta in roles.values()} == {promised}
