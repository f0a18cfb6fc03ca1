# SPDX-License-Identifier: GPL-3.0-or-later
"""What galaxy.yml and meta say of the collection is what its content needs."""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    # Only those who have AWX need its modules, and awx.yml says so itself.
    for_awx = found.pop("awx.awx")
    assert all(name.startswith("playbooks/tasks/awx/") for name in for_awx)
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


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of the built collection."""
    folder = tmp_path_factory.mktemp("packed")
    program = str(Path(sys.executable).parent / "ansible-galaxy")
    build = [program, "collection", "build", "--output-path", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, text=True, timeout=120)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        return {member.name for member in tar if member.isfile()}


def test_only_what_users_need_is_packed(packed: set[str]) -> None:
    folders = {name.split("/")[0] for name in packed if "/" in name}
    content = {"canary", "extensions", "meta", "page", "playbooks", "plugins", "roles", "spark_validation"}
    assert folders == {"awx", "docs", "inventories", *content}
    assert {name for name in packed if "/" not in name} == {
        *("CHANGELOG.rst", "FILES.json", "LICENSE", "MANIFEST.json", "README.md"),
        *("requirements.txt", "requirements-spark.txt"),
    }
    assert not [name for name in packed if name.endswith((".pyc", ".retry")) or "/." in name]


def test_links_in_packed_pages_lead_to_packed_files(packed: set[str]) -> None:
    folders = {parent.as_posix() for name in packed for parent in Path(name).parents}
    broken = []
    for page in sorted(name for name in packed if name.endswith(".md")):
        for link in re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text()):
            if not link.startswith(("https://", "http://", "mailto:")):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
                if target not in packed | folders:
                    broken.append(f"{page}: {link}")
    assert broken == []


def pins(name: str) -> dict[str, Requirement]:
    """The requirements of a file of pip's, by the name of their package."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith(("#", "-r"))]
    return {canonicalize_name(one.name): one for one in map(Requirement, lines)}


def test_users_get_ranges_and_the_repository_runs_with_what_they_allow() -> None:
    ranges, locked = pins("requirements.txt"), pins("requirements.lock")
    assert pins("requirements-spark.txt")["pyspark"] == locked["pyspark"]
    for name, wanted in ranges.items():
        (version,) = locked[name].specifier
        assert version.operator == "=="
        assert version.version in wanted.specifier, name
        assert {one.operator for one in wanted.specifier} in ({">="}, {">=", "<"}), name
    # What carries other collections, what starts processes on one machine, and what only Spark needs: users choose.
    assert not {"ansible", "supervisor", "pyspark"} & set(ranges)


def test_the_oldest_ansible_of_pip_is_the_one_that_is_promised() -> None:
    promised = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    assert str(pins("requirements.txt")["ansible-core"].specifier) == promised


def test_roles_promise_the_ansible_that_the_collection_promises() -> None:
    promised = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    roles = {path: yaml.safe_load(path.read_text()) for path in (ROOT / "roles").glob("*/meta/main.yml")}
    assert {f">={meta['galaxy_info']['min_ansible_version']}" for meta in roles.values()} == {promised}
