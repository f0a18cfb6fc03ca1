"""What a wait cannot mean is refused before it looks."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, Step
from ansible_collections.streamops.kafka.plugins.module_utils._groups.wait import WAIT_OPTIONS
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.action import (
    ProgressAction,
    meaningless,
)

GOOD = {"groups": ["billing"], "max_lag": 0, "timeout": 0, "interval": 5.0, "start_timeout": 30, "topics": None}


def test_zero_is_a_limit() -> None:
    assert meaningless(GOOD, WAIT_OPTIONS) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_lag": -1}, "max_lag is -1. Set a number from 0 on."),
        ({"timeout": -5}, "timeout is -5."),
        ({"interval": -0.5}, "interval is -0.5."),
        ({"groups": []}, "groups is empty. Name at least one"),
        ({"groups": None}, "groups is empty."),
    ],
)
def test_what_means_nothing_is_refused(wrong: dict[str, Any], said: str) -> None:
    (found,) = meaningless({**GOOD, **wrong}, WAIT_OPTIONS)
    assert found.startswith(said)


def shown_in(lines: list[str]) -> Any:
    """Return an action whose lines are kept there."""
    action: Any = SimpleNamespace(_display=SimpleNamespace(display=lines.append))
    action.show = lambda line, names: ProgressAction.show(action, line, names)
    return action


def test_a_module_that_runs_long_is_shown_as_such_until_it_ends() -> None:
    said: list[str] = []
    with ProgressAction.heartbeat(shown_in(said), "elects", {"inventory_hostname": "kafka1"}, 0.01):
        time.sleep(0.2)
    count = len(said)
    assert count > 1
    assert set(said) == {"[kafka1] elects, elapsed 0s"}
    time.sleep(0.05)
    assert len(said) == count
    said.clear()
    with pytest.raises(ValueError, match="broken"), ProgressAction.heartbeat(shown_in(said), "elects", None, 60):
        raise ValueError("broken")
    assert said == []


@pytest.mark.parametrize(("quiet", "shown"), [(False, ["[kafka1] all agree"]), (True, [])])
def test_one_look_that_nobody_waits_for_may_be_quiet(quiet: bool, shown: list[str]) -> None:
    said: list[str] = []
    action = shown_in(said)
    names = {"inventory_hostname": "kafka1"}
    followed = ProgressAction.follow(action, lambda _at: Step(DONE, "all agree", {}), names, 0.0, 1.0, quiet)
    assert (followed.last.state, said) == (DONE, shown)
