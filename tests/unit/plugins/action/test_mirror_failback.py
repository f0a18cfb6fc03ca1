# SPDX-License-Identifier: GPL-3.0-or-later
"""A call that copies a long partition is no silence."""

from __future__ import annotations

import time
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
