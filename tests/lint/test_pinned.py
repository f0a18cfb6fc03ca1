# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests on real brokers look for in messages is what the product says: found here, and not an hour later."""

from __future__ import annotations

import ast
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest

from tests.support.imports import ROOT

TOOL = ROOT / "tools" / "pinned"


@pytest.fixture(scope="module")
def tool() -> Any:
    """The tool as a module."""
    spec = spec_from_loader("pinned", SourceFileLoader("pinned", str(TOOL)))
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_product_says_what_tests_on_brokers_look_for(tool: Any) -> None:
    known = tool.PINNED.read_text().splitlines()
    assert tool.gone(known) == [], "correct these tests, then run tools/pinned --write"
    assert known == tool.pinned(), "run tools/pinned --write"
    assert len(known) > 300


def made(root: Path, says: str, looks_for: str) -> Path:
    """A product that says something, and a test that looks for something."""
    for path, text in (("plugins/a.py", f"MSG = f'{says}'"), ("tests/integration/b.py", f"assert f'{looks_for}' in x")):
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
    return root


def test_a_piece_is_what_stands_between_values_in_the_test_and_in_the_product(tool: Any, tmp_path: Path) -> None:
    root = made(tmp_path, "node {name}: not back within {seconds} s, {count} run", "{host}: not back within 15 s, 2")
    assert tool.pinned(root) == [": not back within"]
    assert tool.gone([": not back within"], root) == []


def test_a_sentence_that_was_made_better_is_gone(tool: Any, tmp_path: Path) -> None:
    root = made(tmp_path, "node {name} did not come back", "{host}: not back within 15 s")
    # Of those alone that a test still looks for.
    assert tool.gone([": not back within", "others run on"], root) == [": not back within"]
    assert tool.pinned(root) == []


@pytest.mark.parametrize(
    ("says", "is_gone"),
    [
        ("{who} cannot log in at {place}", False),
        ("mirrors cannot log in {place}", False),
        ("mirrors cannot {do}", False),
        ("{who} {do}", True),
        ("mirrors have no login", True),
    ],
)
def test_a_value_may_stand_in_place_of_words(tool: Any, tmp_path: Path, says: str, is_gone: bool) -> None:
    root = made(tmp_path, says, "mirrors cannot log in")
    assert (tool.gone(["mirrors cannot log in"], root) == ["mirrors cannot log in"]) is is_gone


def test_texts_of_python_have_marks_for_values(tool: Any) -> None:
    tree = ast.parse("a = 'one  two'\nb = f'x {a} y' 'z'\n")
    assert list(tool.texts(tree)) == ["one two", "x \x00 yz"]
