"""No circles: neither roles nor folders of Python may need each other.

Of two that do, neither can be read, tested or changed without the other (docs/development/house.md, "Layers").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.lint.test_roles import load
from tests.support.imports import ROOT, files, imports, imports_from, module_of, rooms

ROLES = ROOT / "roles"
#: Folders that are a program of their own, outside of the plugins.
PROGRAMS = ("page", "spark_validation")
#: The variables that name a role whose tasks another role includes: whoever includes that other role sets them.
CALLBACKS = ("_common_gate_by", "_common_whole_by")
INCLUDES = ("include_role", "import_role")


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """The members of one circle in their order, the first again at the end; empty without a circle."""
    done: set[str] = set()

    def walk(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node not in done:
            for used in sorted(graph.get(node, ())):
                if found := walk(used, [*path, node]):
                    return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := walk(node, []))), [])


def tasks(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping of a file of YAML: its tasks, wherever they are nested."""
    if isinstance(value, Mapping):
        yield value
        for part in value.values():
            yield from tasks(part)
    elif isinstance(value, list):
        for part in value:
            yield from tasks(part)


def included(task: Mapping[str, Any]) -> Iterator[str]:
    """What a task includes: the name of a role, or the path of a file."""
    for action, asked in task.items():
        short = str(action).rpartition(".")[2]
        if short in INCLUDES and isinstance(asked, Mapping):
            yield str(asked["name"])
        elif short in ("include_tasks", "import_tasks", "include_vars"):
            yield str(asked.get("file", "") if isinstance(asked, Mapping) else asked)


def role_of(asked: str, own: str) -> str | None:
    """The other role that an included name or path stands for."""
    parts = asked.removeprefix("streamops.kafka.").split("/")
    return next((part for part in parts if part.isidentifier() and part != own and (ROLES / part).is_dir()), None)


def roles() -> dict[str, set[str]]:
    """By role, the other roles that it depends on or includes."""
    graph: dict[str, set[str]] = {}
    for folder in sorted(path.parent for path in ROLES.glob("*/meta")):
        asked = [str(one["role"]) for one in load(folder / "meta" / "main.yml")["dependencies"]]
        for path in sorted([*folder.rglob("tasks/**/*.yml"), *folder.rglob("handlers/**/*.yml")]):
            asked += [name for task in tasks(load(path)) for name in included(task)]
        graph[folder.name] = {role for one in asked if (role := role_of(one, folder.name))}
    return graph


def templated() -> Iterator[str]:
    """Each name of a role that a template gives, which no reading of files can follow."""
    for path in sorted(ROLES.glob("*/tasks/**/*.yml")):
        for task in tasks(load(path)):
            for action, asked in task.items():
                if str(action).rpartition(".")[2] in INCLUDES and "{{" in asked["name"]:
                    yield asked["name"]


def folders(program: str) -> dict[str, set[str]]:
    """By folder of a program, the other folders of it that its files import from."""
    graph: dict[str, set[str]] = {}
    for path in files(program):
        here = str(path.parent.relative_to(ROOT))
        used = {str(file.parent.relative_to(ROOT)) for one in names(path) if (file := file_of(one))}
        graph.setdefault(here, set()).update(used - {here})
    return graph


def names(path: Path) -> Iterator[str]:
    """The full names of what a file imports, those behind `from package import` too."""
    yield from imports(path)
    for node in imports_from(path):
        yield from (f"{module_of(node, path)}.{alias.name}" for alias in node.names)


def file_of(imported: str) -> Path | None:
    """The file of a program that an imported name stands for; none for a package, which holds no code."""
    path = ROOT.joinpath(*imported.split(".")).with_suffix(".py")
    return path if imported.split(".")[0] in PROGRAMS and path.is_file() else None


def test_a_circle_is_named_by_its_members() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_includes_are_read_in_blocks_and_by_path() -> None:
    nested = {"block": [{"ansible.builtin.include_role": {"name": "streamops.kafka.preflight"}}]}
    by_path = {"ansible.builtin.include_tasks": {"file": "../../preflight/tasks/main.yml"}}
    asked = [name for task in tasks([nested, by_path]) for name in included(task)]
    assert [role_of(one, "_common") for one in asked] == ["preflight", "preflight"]


def test_roles_include_each_other_in_one_direction_only() -> None:
    graph = roles()
    assert graph["kafka_broker"] >= {"_common"}, "the graph is that of the roles"
    assert " -> ".join(circle(graph)) == ""


def test_no_template_names_a_role_but_that_of_the_caller() -> None:
    given = [f"{{{{ {name}.name }}}}" for name in CALLBACKS]
    assert sorted(set(templated())) == given


def test_folders_import_each_other_in_one_direction_only() -> None:
    for program in PROGRAMS:
        graph = folders(program)
        assert len(graph) > 1, f"{program} has folders"
        assert " -> ".join(circle(graph)) == ""
    assert " -> ".join(circle(rooms())) == ""
