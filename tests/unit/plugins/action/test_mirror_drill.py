# SPDX-License-Identifier: GPL-3.0-or-later
"""The line that a drill shows while it runs says what it does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.action.mirror_drill import ActionModule
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.action import ClusterAction


@pytest.mark.parametrize(
    ("args", "is_check", "line"),
    [
        ({}, False, "mirror_drill: writes, copies and counts records of its own"),
        ({"state": "run"}, False, "mirror_drill: writes, copies and counts records of its own"),
        ({}, True, "mirror_drill: looks for what hinders a failover"),
        ({"state": "last"}, False, "mirror_drill: reads how the last drill ended"),
        ({"state": "last"}, True, "mirror_drill: reads how the last drill ended"),
    ],
)
def test_only_a_drill_says_that_it_writes(
    monkeypatch: pytest.MonkeyPatch, args: dict[str, str], is_check: bool, line: str
) -> None:
    lines: list[str] = []

    @contextlib.contextmanager
    def heartbeat(_self: Any, what: str, _task_vars: Any) -> Iterator[None]:
        lines.append(what)
        yield

    monkeypatch.setattr(ClusterAction, "run", lambda *_given: {})
    monkeypatch.setattr(ClusterAction, "call", lambda *_given: {"changed": False})
    monkeypatch.setattr(ClusterAction, "heartbeat", heartbeat)
    action = ActionModule.__new__(ActionModule)
    action._task = SimpleNamespace(args=args, check_mode=is_check)
    assert action.run(None, {}) == {"changed": False}
    assert lines == [line]
