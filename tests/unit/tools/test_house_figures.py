# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/house_figures counts each figure of the house, and raises no bound without a reason."""

from __future__ import annotations

import runpy
import subprocess
import sys
from typing import Any

import pytest
import yaml

from tests.support.cluster import ROOT

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "house_figures"))
code, Bound, Raise, MEANINGS = (TOOL[name] for name in ("code", "Bound", "Raise", "MEANINGS"))
WHY = "the new module needs it"

NAMES = '''
"""One module; what one has found."""
from found import where as found  # for one in found


def one(found: int, *, other: str) -> str:
    """Give one of those found."""
    return f"{found} of one"


kept = [one(found=1, other=text) for one in range(3)]
for one in kept:
    one.found = "found"
for one, other in ():
    pass
try:
    pass
except OSError as found:
    pass
'''
TYPES = '''
"""Mapping[str, Any] in prose."""


def read(given: Mapping[str, Any], other: Mapping[str, int]) -> MutableMapping[str, Any]:
    values: dict[str, Any] = {}
    both: tuple[Mapping[str, Any], Mapping[str, Any]]
    return collections.abc.Mapping[
        str, Any
    ]
'''
ROLES = """
is_broker = "broker" in node["roles"]
is_other = "broker" not in self._model["node"]["roles"]
in_order = "a" < "b" in own["roles"]
no_key = "broker" in roles or "broker" in node[0] or node["roles"] == [] or "roles" in node
"""
DOCSTRINGS = '''
"""What this file is for."""


class Node:
    """What a node is."""

    def host(self):
        """What it is called."""

    async def wait(self):
        """How: slowly."""

    def none(self):
        pass

    def empty(self):
        """ """


def whole():
    """Wholly whole."""

    def inner():
        """
        Of two, the first.
        """


def start():
    """Start what stands still."""
'''
TASKS = """
- name: Import what is a playbook
  ansible.builtin.import_playbook: other.yml
- name: Restart the nodes
  hosts: all
  pre_tasks:
    - ansible.builtin.debug:
  tasks:
    - name: Restart in turn
      block:
        - name: Restart
          ansible.builtin.command: restart
          register: __common_restart
          when: _model.node.roles and not __common_look.failed  # __in_a_comment
      rescue:
        - ansible.builtin.import_tasks: tasks/release_after_failure.yml
      always:
  handlers:
    - ansible.builtin.set_fact:
        __common_told: "{{ hostvars[item].__common_restart, _model.node.roles, _model.paths['log'] }}"
  vars:
    secret: !vault |
      $ANSIBLE_VAULT;1.1;AES256
"""
PRODUCT = {
    "plugins/lookup/model.py": "from ansible_collections.streamops.kafka.plugins.plugin_utils.a import b\n",
    "plugins/plugin_utils/a.py": 'b = "__common_told"\nc = "__common_told and more", "__common_unknown"  # fmt: skip\n',
    "plugins/plugin_utils/unused.py": "\n" * 60,
    "page/shown.py": 'd = "__common_restart"\n',
}
PLAYS = {
    "playbooks/site.yml": TASKS,
    "roles/_common/vars/main/cluster.yml": "_model: \"{{ lookup('model') }}\"\n_node: '{{ _model.node }}'\n",
    "roles/preflight/vars/main.yml": "_a: 1\n",
    "roles/_common/templates/a.j2": "{{ _model.paths.log }}{{ _model.node.roles }}",
}


def at(**figures: int) -> dict[str, int]:
    """All figures, 10 where nothing else is given."""
    return {name: figures.get(name, 10) for name in MEANINGS}


def entries(**others: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The content of a file of bounds, 10 where nothing else is given."""
    return {name: {"meaning": text, "bound": 10} | others.get(name, {}) for name, text in MEANINGS.items()}


def test_identifiers_are_counted_and_prose_is_not() -> None:
    file = code(NAMES)
    assert TOOL["uses_of_name"](file, "one") == 6
    assert TOOL["uses_of_name"](file, "found") == 6
    assert TOOL["loops_over"](file, "one") == 2


def test_types_are_counted_once_a_line() -> None:
    assert TOOL["untyped_mappings"](code(TYPES)) == 3


def test_comparisons_with_roles_are_counted_whatever_they_are_roles_of() -> None:
    assert TOOL["roles_by_key"](code(ROLES)) == 3


def test_docstrings_of_functions_alone_are_judged_by_their_first_word() -> None:
    assert TOOL["docstrings_without_verb"](code(DOCSTRINGS)) == 3


def test_the_longest_function_is_counted_without_its_decorators() -> None:
    assert TOOL["longest_function"](code("def a():\n    pass\n\n\n@cache\n@other\ndef b():\n    c\n\n    d\n")) == 4
    assert TOOL["longest_function"](code("a = 1\n")) == 0


def test_imports_of_the_collection_are_followed_but_those_for_the_type_checker() -> None:
    text = """
import os
import ansible_collections.streamops.kafka.plugins.module_utils.whole
from typing import TYPE_CHECKING
from ansible_collections.streamops.kafka.plugins.module_utils._core.values import number
from .beside import name
from ..above import other
from . import module
if TYPE_CHECKING:
    from .typed import Type
else:
    from .untyped import Type
"""
    utils = "ansible_collections.streamops.kafka.plugins.module_utils"
    names = set(TOOL["imports"](code(text, "plugins/module_utils/_topics/plan.py")))
    assert names == {
        f"{utils}.whole",
        f"{utils}._core.values.number",
        f"{utils}._topics.beside.name",
        f"{utils}.above.other",
        f"{utils}._topics.module",
        f"{utils}._topics.untyped.Type",
    }
    paths = {"plugins/module_utils/_core/values.py", "plugins/module_utils/_topics/module.py"}
    assert {TOOL["file_of"](name, paths) for name in names} == {None, *paths}


def test_the_files_behind_another_end_at_a_circle_and_are_none_without_it() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert TOOL["closure"]("a", graph) == {"a", "b", "c"}
    assert TOOL["closure"]("gone", graph) == set()


def test_tasks_blocks_and_handlers_are_counted_at_any_depth_and_plays_are_not() -> None:
    assert TOOL["tasks"](TASKS) == 5
    assert TOOL["tasks"]("a: 1\n") == 0
    assert TOOL["tasks"]("---\n") == 0


def test_names_of_results_and_paths_of_the_model_are_read_within_expressions() -> None:
    values = TOOL["scalars"](TASKS)
    assert TOOL["task_results"](values) == {"__common_restart", "__common_look", "__common_told"}
    assert TOOL["model_paths"](values) == {"_model.node.roles": 2, "_model.paths": 1}


def test_all_figures_of_a_small_house() -> None:
    figures = TOOL["measure"](PRODUCT, PLAYS)
    assert list(figures) == list(MEANINGS)
    assert {name: number for name, number in figures.items() if number} == {
        "task_results_in_plugins": 1,
        "task_results": 3,
        "model_paths": 4,
        "model_path_uses": 6,
        "model_files": 2,
        "model_lines": 3,
        "release_after_failure": 1,
        "tasks": 5,
        "derived_variables": 2,
        "python_lines": 64,
        "short_files": 3,
        "longest_file": 60,
        "unformatted_lines": 1,
    }


def test_a_file_of_bounds_is_read_as_it_is_written() -> None:
    long = "a reason: with # signs, 'quotes' and many words, " * 8
    budget = {name: Bound(10) for name in MEANINGS} | {"tasks": Bound(4, (Raise(7, WHY), Raise(9, long.strip())))}
    text = TOOL["file_text"](budget)
    content = yaml.safe_load(text)
    assert TOOL["bounds"](content) == budget
    assert TOOL["faults"](content) + TOOL["stale"](content) == []
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"bound": None}, "its bound is no whole number"),
        ({"bound": True}, "its bound is no whole number"),
        ({"most": 4}, "it takes meaning, bound and raised"),
        ({"raised": [{"to": 12}]}, "raised is a list of raises, each with to, a whole number, and why"),
        ({"raised": None}, "raised is a list of raises, each with to, a whole number, and why"),
        ({"raised": [{"to": 12, "why": "a b c d e"}]}, "the raise to 12 has no reason of 4 words or more"),
        ({"raised": [{"to": 12, "why": "needed"}]}, "the raise to 12 has no reason of 4 words or more"),
        ({"raised": [{"to": 12, "why": None}]}, "the raise to 12 has no reason of 4 words or more"),
        ({"raised": [{"to": 10, "why": WHY}]}, "the raise to 10 is not above 10"),
        ({"raised": [{"to": 14, "why": WHY}, {"to": 12, "why": WHY}]}, "the raise to 12 is not above 14"),
    ],
)
def test_a_bound_that_says_too_little_is_refused(entry: dict[str, Any], fault: str) -> None:
    assert TOOL["faults"](entries(tasks=entry)) == [f"tasks: {fault}"]


def test_figures_that_came_or_went_and_other_meanings_are_named() -> None:
    content = entries(tasks={"meaning": "Something else"}) | {"gone": {"bound": 1}}
    del content["short_files"]
    assert TOOL["stale"](content) == [
        "gone: no such figure",
        "short_files: it has no bound",
        "tasks: its meaning is another one in the tool",
    ]
    assert TOOL["faults"](content) == []


def test_the_last_raise_is_the_bound_that_holds() -> None:
    budget = TOOL["bounds"](entries(tasks={"raised": [{"to": 12, "why": WHY}]}))
    assert TOOL["exceeded"](at(tasks=12), budget) == []
    assert TOOL["exceeded"](at(tasks=13, names_one=11, names_found=9), budget) == ["names_one", "tasks"]


@pytest.mark.parametrize(
    ("figure", "bound"),
    [
        (20, Bound(10, (Raise(12, "first"), Raise(15, "second")))),
        (14, Bound(10, (Raise(12, "first"), Raise(14, "second")))),
        (12, Bound(10, (Raise(12, "first"),))),
        (11, Bound(10, (Raise(11, "first"),))),
        (10, Bound(10)),
        (3, Bound(3)),
    ],
)
def test_bounds_are_lowered_to_the_figure_and_never_raised(figure: int, bound: Any) -> None:
    before = {"tasks": Bound(10, (Raise(12, "first"), Raise(15, "second")))}
    after = TOOL["lowered"](at(tasks=figure), before)
    assert after["tasks"] == bound
    assert after["names_one"] == Bound(10), "a figure without a bound gets one"


def test_only_exceeded_bounds_are_raised_and_earlier_reasons_are_kept() -> None:
    before = {name: Bound(10) for name in MEANINGS} | {"tasks": Bound(10, (Raise(12, "first"),))}
    after = TOOL["raised"](at(tasks=13, names_one=11, names_found=9), before, WHY)
    changed = {name: bound for name, bound in after.items() if bound != before[name]}
    assert changed == {
        "tasks": Bound(10, (Raise(12, "first"), Raise(13, WHY))),
        "names_one": Bound(10, (Raise(11, WHY),)),
    }


def test_the_table_marks_what_rose_and_what_fell() -> None:
    budget = {"tasks": Bound(1000), "names_one": Bound(8, (Raise(10, WHY),)), "names_found": Bound(12)}
    now = {"tasks": 1200, "names_one": 10, "names_found": 9, "short_files": 1}
    assert [line.split() for line in TOOL["table"](now, budget).splitlines()] == [
        ["figure", "now", "bound"],
        ["tasks", "1,200", "1,000", "ROSE", "by", "200"],
        ["names_one", "10", "10"],
        ["names_found", "9", "12", "fell", "by", "3"],
        ["short_files", "1", "none"],
    ]


def test_the_tool_says_how_each_figure_is_counted_and_takes_no_empty_reason() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "house_figures")]
    shown = subprocess.run([*tool, "--help"], capture_output=True, text=True, check=True).stdout
    assert [name for name, text in MEANINGS.items() if f"  {name}\n      {text}." not in shown] == []
    refused = subprocess.run([*tool, "--why", "needed"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "a reason has 4 words or more" in refused.stderr
