# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of registered results and facts stand in one file of the plugins, and tasks leave each of them."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.run import results
from tests.support.imports import PLUGINS, ROOT, files, name, parsed

NAMES = PLUGINS / "plugin_utils" / "run" / "results.py"
#: A task that leaves a name: it registers a result, loops with it, or sets a fact.
LEAVES = re.compile(r"^\s*-?\s*(?:register:\s+|loop_var:\s+)?(__[a-z]\w*)(?::|\s*$)", re.MULTILINE)


@cache
def left() -> frozenset[str]:
    """Names that tasks of roles and playbooks leave on a host."""
    plays = [path for folder in ("roles", "playbooks") for path in (ROOT / folder).rglob("*.yml")]
    return frozenset(found for path in plays for found in LEAVES.findall(path.read_text()))


def strings(path: Path) -> set[str]:
    """The strings of a file."""
    nodes = ast.walk(parsed(path))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_no_other_file_names_what_a_task_leaves() -> None:
    named = {name(path): strings(path) & left() for path in files("plugins") if path != NAMES}
    assert not {path: names for path, names in named.items() if names}, (
        "give each a line in plugin_utils/run/results.py, and read it there"
    )


def test_tasks_leave_what_the_file_names() -> None:
    named = {value.name for value in vars(results.HostRun).values() if isinstance(value, results.Left)}
    assert named | {results.ANSWERS_ASK, results.FIREWALL_SHARE} <= left()
    assert len(named) > 50
