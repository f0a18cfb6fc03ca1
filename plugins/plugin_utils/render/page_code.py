# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The code of a service as its host gets it: its package, and what that imports of this collection, on whatever way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..reports.document import STYLE_SHEET

ROOT = Path(__file__).resolve().parents[3]
#: What the names of this collection's own files begin with, and where they are below the directory of the code.
OURS = "ansible_collections.streamops.kafka."
#: What is no Python and yet belongs to the package: what pages are served with.
SUFFIXES = (".py", ".css", ".j2", ".svg")
#: What its pages are made of besides, of the report of a status and of the Spark job's report.
KIT = ("plugins/plugin_utils/reports/kit.html.j2", STYLE_SHEET)
#: Packages of which a service may import files: those of another one too.
BESIDE = ("page/",)
_OURS_THERE = OURS.replace(".", "/")


def code_files() -> dict[str, str]:
    """Read the files of the page's code by their path below its directory, where `python -m page` finds all of them."""
    return package_files("page", KIT)


@cache
def package_files(name: str, kit: tuple[str, ...] = ()) -> dict[str, str]:
    """Read the files of a package and of what it imports; C(kit) are others that it needs."""
    package = {
        path.relative_to(ROOT).as_posix(): path
        for path in sorted((ROOT / name).rglob("*"))
        if path.suffix in SUFFIXES and "__pycache__" not in path.parts
    }
    known = {f"{_OURS_THERE}{place}": ROOT / place for place in kit}
    left = [path for path in package.values() if path.suffix == ".py"]
    while left:
        for path in imported(left.pop()):
            there = path.relative_to(ROOT).as_posix()
            # The packages of services stand beside the collection, where their names lead.
            place = there if there.startswith(BESIDE) else f"{_OURS_THERE}{there}"
            if place not in known:
                known[place] = path
                left.append(path)
    return {place: path.read_text(encoding="utf-8") for place, path in sorted({**package, **known}.items())}


def imported(source: Path) -> Iterator[Path]:
    """Yield the files of this collection that a file imports, also where only a type checker or a call does."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = _module_of(node, source)
            names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            path = ROOT.joinpath(*name.removeprefix(OURS).split(".")).with_suffix(".py")
            if name.startswith((OURS, *(place.replace("/", ".") for place in BESIDE))) and path.is_file():
                yield path


def _module_of(node: ast.ImportFrom, source: Path) -> str:
    """Return the full name of what a file imports names from; a relative one begins at the file's own package."""
    if not node.level:
        return str(node.module)
    package = source.relative_to(ROOT).parts[: -node.level]
    return OURS + ".".join([*package, *filter(None, [node.module])])
