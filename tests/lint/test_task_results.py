# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of registered results and facts stand in one file of the plugins, and tasks leave each of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.run import results
from tests.lint.test_roles import load
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


def kept_once(tasks: object, asked: tuple[str, ...] = ()) -> Iterator[str]:
    """Tasks that register a name only where it is not defined, by a condition of their own or of a block around them.

    Asked again they are skipped, and leave their skip under the name: what it held is gone.
    """
    for task in tasks if isinstance(tasks, list) else []:
        when = task.get("when", [])
        all_asked = (*asked, *(str(one) for one in (when if isinstance(when, list) else [when])))
        name = str(task.get("register", ""))
        if name and any(re.search(rf"\b{name} is (not defined|undefined)", one) for one in all_asked):
            yield f"{task.get('name')}: {name}"
        for part in ("block", "rescue", "always", "tasks"):
            yield from kept_once(task.get(part), all_asked)


def test_a_result_that_a_skip_would_replace_is_seen() -> None:
    once = {"when": "found is not defined", "block": [{"name": "Look", "register": "found"}]}
    assert list(kept_once([once])) == ["Look: found"]
    assert list(kept_once([{"name": "Look", "register": "found", "when": "found_before is not defined"}])) == []


def test_no_task_that_is_skipped_takes_the_place_of_what_it_left_before() -> None:
    plays = [path for folder in ("roles", "playbooks") for path in (ROOT / folder).rglob("*.yml")]
    named = {str(path.relative_to(ROOT)): list(kept_once(load(path))) for path in plays}
    assert not {path: names for path, names in named.items() if names}, "put the task into a file that is included"
