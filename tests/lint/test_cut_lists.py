# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of names that a message cuts says how many it left out: by capped (module_utils/_core/names.py) alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.imports import UTILS, files, name


def cuts(source: str) -> list[int]:
    """The lines that join the first of some names by commas: ", ".join(names[:5]), also of each of names[:5]."""
    joins = [
        node.args[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "', '.join" and node.args
    ]
    joined = [one.generators[0].iter if isinstance(one, (ast.GeneratorExp, ast.ListComp)) else one for one in joins]
    return [one.lineno for one in joined if isinstance(one, ast.Subscript) and ast.unparse(one.slice).startswith(":")]


PLACES = [*files("plugins"), *files("page"), *files("canary")]


@pytest.mark.parametrize("path", [path for path in PLACES if path != UTILS / "_core/names.py"], ids=name)
def test_names_are_cut_by_capped(path: Path) -> None:
    assert cuts(path.read_text()) == [], "use capped, which tells how many more there are"


def test_what_a_cut_is() -> None:
    assert cuts('", ".join(names[:5])\n", ".join(str(one) for one in sorted(names)[:MOST])') == [1, 2]
    assert cuts('", ".join(names)\n", ".join(one[:8] for one in names)\n", ".join(names[1:])') == []
