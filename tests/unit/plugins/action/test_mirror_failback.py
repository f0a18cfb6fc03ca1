# SPDX-License-Identifier: GPL-3.0-or-later
"""A call that copies a long partition is no silence."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.action.mirror_failback import ActionModule
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.action import ClusterAction


def test_a_line_comes_while_one_partition_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def called(_self: Any, _task_vars: Any, **_overrides: Any) -> dict[str, Any]:
        until = time.monotonic() + 10
        while not lines and time.monotonic() < until:
            time.sleep(0.01)
        return {"partitions_kept": 1}

    monkeypatch.setattr(ClusterAction, "call", called)
    monkeypatch.setattr(ActionModule, "show", lambda _self, line, _task_vars: lines.append(line))
    monkeypatch.setattr(ActionModule, "LINE_SECONDS", 0.01)
    action = ActionModule.__new__(ActionModule)
    assert action.call({}) == {"partitions_kept": 1}
    assert lines[0].startswith("mirror_failback: compares or copies records")


@pytest.mark.parametrize(
    ("step", "is_check", "is_changed", "expected"),
    [
        ("next", False, True, True),
        ("next", True, True, True),
        ("back", False, True, True),
        ("back", False, False, False),
        ("", False, False, False),
    ],
)
def test_a_way_back_is_one_call_and_changed_where_something_was_taken_back(
    monkeypatch: pytest.MonkeyPatch, step: str, is_check: bool, is_changed: bool, expected: bool
) -> None:
    calls: list[str] = []

    def called(_self: Any, _task_vars: Any, **_overrides: Any) -> dict[str, Any]:
        calls.append(step)
        return {"partitions_kept": 0, "partitions_to_keep": 0, "is_over": True, "changed": is_changed}

    options = {"source": "a", "target": "b", "step": step, "timeout": 5, "interval": 0.01}
    monkeypatch.setattr(ClusterAction, "run", lambda *_arguments: {})
    monkeypatch.setattr(ClusterAction, "call", called)
    monkeypatch.setattr(ActionModule, "own_options", lambda *_arguments: options)
    monkeypatch.setattr(ActionModule, "show", lambda *_arguments: None)
    action = ActionModule.__new__(ActionModule)
    action._task = SimpleNamespace(check_mode=is_check)
    result = action.run(None, {})
    assert (result["changed"], calls) == (expected, [step])
