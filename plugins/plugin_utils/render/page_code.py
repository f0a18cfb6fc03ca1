# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The code of the page as its host gets it: the package, and what it imports of module_utils, on whatever way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.document import STYLE_SHEET

ROOT = Path(__file__).resolve().parents[3]
#: What the names of this collection's own files begin with, and where they are below the directory of the code.
OURS = "ansible_collections.streamops.kafka."
#: What is no Python and yet belongs to the package: what pages are served with.
SUFFIXES = (".py", ".css", ".j2", ".svg")
#: What its pages are made of besides, of the report of a status and of the Spark job's report.
KIT = ("plugins/plugin_utils/reports/kit.html.j2", STYLE_SHEET)
_OURS_THERE = OURS.replace(".", "/")


@cache
def code_files() -> dict[str, str]:
    """Read the files of the code by their path below its directory, where `python -m page` finds all of them."""
    package = {
        path.relative_to(ROOT).as_posix(): path
        for path in sorted((ROOT / "page").rglob("*"))
        if path.suffix in SUFFIXES and "__pycache__" not in path.parts
    }
    known = {f"{_OURS_THERE}{place}": ROOT / place for place in KIT}
    left = [path for path in package.values() if path.suffix == ".py"]
    while left:
        for path in imported(left.pop().read_text(encoding="utf-8")):
            place = f"{_OURS_THERE}{path.relative_to(ROOT).as_posix()}"
            if place not in known:
                known[place] = path
                left.append(path)
    return {place: path.read_text(encoding="utf-8") for place, path in sorted({**package, **known}.items())}


def imported(source: str) -> Iterator[Path]:
    """Yield the files of this collection that a source imports, also where only a type checker or a call does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            path = ROOT.joinpath(*name.removeprefix(OURS).split(".")).with_suffix(".py")
            if name.startswith(OURS) and path.is_file():
                yield path
