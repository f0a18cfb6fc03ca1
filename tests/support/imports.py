"""The import graph of this collection: which file, and which room, imports which others."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
OURS = "ansible_collections.streamops.kafka.plugins."
UTILS = PLUGINS / "module_utils"
Import = ast.Import | ast.ImportFrom


def files(folder: str) -> list[Path]:
    """All Python files under a folder of the repository."""
    return sorted((ROOT / folder).rglob("*.py"))


def name(path: Path) -> str:
    """A file's place in module_utils, plugin_utils or the repository, for messages and tables."""
    for room in (UTILS, PLUGINS / "plugin_utils"):
        if room in path.parents:
            return str(path.relative_to(room))
    return str(path.relative_to(ROOT))


def parsed(path: Path) -> ast.Module:
    """The syntax of a file, read while nothing is collected.

    Python 3.11 parses the source line of a traceback, and one parser within another one miscounts ("AST constructor
    recursion depth mismatch"): so no object may end with an error within this one.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text())
    finally:
        if was_on:
            gc.enable()


def module_of(node: ast.ImportFrom, path: Path) -> str:
    """Return the full name of the module or package that a file imports names from."""
    if not node.level:
        return str(node.module)
    package = path.resolve().relative_to(PLUGINS).parts[: -node.level]
    return OURS + ".".join([*package, *filter(None, [node.module])])


def walk_imports(node: ast.AST, typed: bool = False) -> Iterator[tuple[Import, bool]]:
    """Yield each import under a node, and whether a type checker alone sees it; an expression holds none."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, (ast.Import, ast.ImportFrom)):
            yield inner, typed
        elif not isinstance(inner, ast.expr):
            yield from walk_imports(inner, typed or is_for_types(inner))


def is_for_types(node: ast.AST) -> bool:
    """Tell whether a statement is an `if TYPE_CHECKING`."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def import_statements(path: Path) -> tuple[tuple[Import, bool], ...]:
    """Return each import of a file, and whether a type checker alone sees it; of one file they are read once."""
    return tuple(walk_imports(parsed(path)))


def imports_from(path: Path) -> list[ast.ImportFrom]:
    """Return each `from module import name` of a file, those for a type checker too."""
    return [node for node, _ in import_statements(path) if isinstance(node, ast.ImportFrom)]


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the full names of what a file imports at run time, without what a type checker alone imports."""
    names: list[str] = []
    for node, typed in import_statements(path):
        if typed:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif (module := module_of(node, path)).startswith(OURS):
            names += [f"{module}.{alias.name}" for alias in node.names]
        else:
            names.append(module)
    return tuple(names)


@cache
def own_file(imported: str) -> Path | None:
    """The file of this collection that an imported name stands for: a module, or a name inside one."""
    if not imported.startswith(OURS):
        return None
    parts = imported.removeprefix(OURS).split(".")
    found = [PLUGINS.joinpath(*parts[:end]).with_suffix(".py") for end in (len(parts), len(parts) - 1)]
    return next((path for path in found if path.exists()), None)


def rooms() -> dict[str, set[str]]:
    """By room, which is a folder of module_utils or plugin_utils, the other rooms that its files import from."""
    graph: dict[str, set[str]] = {}
    for path in (*files("plugins/module_utils"), *files("plugins/plugin_utils")):
        used = {name(own.parent) for one in imports(path) if (own := own_file(one)) and own.parent != path.parent}
        graph.setdefault(name(path.parent), set()).update(used)
    return graph


@cache
def importers() -> dict[Path, set[Path]]:
    """By file of the plugins, the files of them that import it."""
    graph: dict[Path, set[Path]] = {}
    for path in files("plugins"):
        for one in imports(path):
            if own := own_file(one):
                graph.setdefault(own, set()).add(path)
    return graph
