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

DERIVED = re.compile(r"_[a-z]\w*")
#: What a task leaves behind begins with two underscores.
LEFT_BEHIND = re.compile(r"__[a-z]\w*")


def given(value: Any) -> Iterator[str]:
    """Every name that a YAML value defines: variables of plays, includes and loops, results, facts."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key in ("vars", "ansible.builtin.set_fact") and isinstance(part, dict):
                yield from part
            elif key in ("loop_var", "index_var", "register") and isinstance(part, str):
                yield part
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
    pieces = list([("", path.read_text(), None)] if path in TEMPLATES else texts(load(path)))
    trees = [parsed(text, key in EXPRESSIONS) for key, text, _option in pieces]
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
