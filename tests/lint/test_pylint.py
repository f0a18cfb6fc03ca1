# SPDX-License-Identifier: GPL-3.0-or-later
"""What pylint of ansible-test refuses, which is the last of all that is proven: here it is named first.

A generator in which next() finds nothing would raise RuntimeError (PEP 479), far from its cause
(stop-iteration-return).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lint.test_import_rules import files
from tests.support.imports import name, parsed

#: bad-names of ansible-test (disallowed-name).
NO_NAMES = {"_", "bar", "baz", "foo", "tata", "toto", "tutu"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions within it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, FUNCTIONS):
            yield child
            yield from own_nodes(child)


def bare_nexts(tree: ast.AST) -> list[int]:
    """Return the lines of generators that call next() without a default."""
    lines = []
    for function in ast.walk(tree):
        nodes = list(own_nodes(function)) if isinstance(function, FUNCTIONS) else []
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in nodes):
            calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
            lines += [call.lineno for call in calls if call.func.id == "next" and len(call.args) == 1]
    return lines


def test_a_bare_next_is_seen_in_generators_alone() -> None:
    text = "def a():\n    yield next(b)\ndef c():\n    return next(b)\ndef d():\n    yield next(b, 1)\n"
    assert bare_nexts(ast.parse(text)) == [2]


@pytest.mark.parametrize("path", files("plugins"), ids=name)
def test_no_generator_calls_next_without_a_default(path: Path) -> None:
    assert bare_nexts(parsed(path)) == []


@pytest.mark.parametrize("path", files("plugins"), ids=name)
def test_no_name_is_one_that_says_nothing(path: Path) -> None:
    nodes = ast.walk(parsed(path))
    assert [node.lineno for node in nodes if isinstance(node, ast.Name) and node.id in NO_NAMES] == []
