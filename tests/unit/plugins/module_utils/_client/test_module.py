# SPDX-License-Identifier: GPL-3.0-or-later
"""A module whose request lost its answer looks again before it ends, where that does no harm."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.streamops.kafka.plugins.module_utils._client import module as client_module
from ansible_collections.streamops.kafka.plugins.module_utils._core import applied
from ansible_collections.streamops.kafka.plugins.module_utils._groups.plan import is_idempotent
from ansible_collections.streamops.kafka.plugins.module_utils._quotas import apply
from tests.support.cluster import ROOT

MODULES = sorted(
    path.stem for path in (ROOT / "plugins" / "modules").glob("[a-z]*.py") if "run_on_cluster(" in path.read_text()
)
IDEMPOTENT = {"acls", "broker_configs", "broker_registration", "features", "quotas", "topics", "users"}


class Called(Exception):
    """Instead of a module: what it was made with."""


class Controller:
    """Stands for the one session that a module has at a time, and for the quotas behind it."""

    def __init__(self, carries_out: bool) -> None:
        self.quotas: dict[Any, Any] = {}
        self.sessions = self.requests = self.looks_at_brokers = 0
        self._carries_out = carries_out

    def __call__(self, _connection: Any) -> Controller:
        self.sessions += 1
        return self

    def __enter__(self) -> Controller:
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def describe(self, _session: Any, broker: int | None = None) -> dict[Any, Any]:
        """Return the quotas, as the controller has them, or as a broker that knows them only at the third look."""
        self.looks_at_brokers += broker is not None
        return dict(self.quotas) if broker is None or self.looks_at_brokers > 2 else {}

    def alter(self, _session: Any, changes: Mapping[Any, Any], validate_only: bool = False) -> Mapping[Any, Any]:
        """Lose the answer to the first change."""
        if validate_only:
            return dict.fromkeys(changes)
        self.requests += 1
        if self.requests > 1 or self._carries_out:
            self.quotas.update(changes)
        return dict.fromkeys(changes) if self.requests > 1 else dict.fromkeys(changes, ("REQUEST_TIMED_OUT", "none"))


@pytest.mark.parametrize("carries_out", [True, False])
def test_a_lost_answer_is_looked_for_and_told(
    carries_out: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    controller = Controller(carries_out)
    monkeypatch.setattr(client_module, "Session", controller)
    monkeypatch.setattr(applied, "PAUSE", 0.0)
    warnings: list[str] = []
    monkeypatch.setattr(applied, "warn", warnings.append)
    monkeypatch.setattr(apply, "alter_quotas", controller.alter)
    monkeypatch.setattr(apply, "describe_quotas", controller.describe)
    monkeypatch.setattr(apply, "live_brokers", lambda _session: [1])
    quotas = importlib.import_module("ansible_collections.streamops.kafka.plugins.modules.quotas")
    wanted = [{"user": "shop", "producer_byte_rate": 1000}]
    given = {"bootstrap_servers": ["h:1"], "quotas": wanted, "_ansible_diff": True}
    with patch_module_args(given), pytest.raises(SystemExit) as ended:
        quotas.main()
    result = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0, result
    assert (controller.sessions, controller.requests) == (2, 1 if carries_out else 2)
    assert controller.looks_at_brokers >= 3, "the broker that was late is waited for, also where nothing was left to do"
    assert result["changed"] is True
    assert result["altered"] == ["user shop"], "what was done the first time is told, whoever finds it done"
    assert list(result["diff"]["after"].values()) == [{"producer_byte_rate": 1000.0}]
    (warning,) = warnings
    assert "No clear answer came for user shop" in warning
    assert "asked again, and all is as wanted now" in warning


@pytest.mark.parametrize("name", MODULES)
def test_only_what_may_be_done_twice_is_asked_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"ansible_collections.streamops.kafka.plugins.modules.{name}")

    def caught(*_given: Any, **rules: Any) -> None:
        raise Called(rules.get("again"), rules.get("idempotent"))

    monkeypatch.setattr(module, "run_on_cluster", caught)
    with pytest.raises(Called) as made:
        module.main()
    again, unless = made.value.args
    assert again is (applied.asked_again if name in {*IDEMPOTENT, "group_offsets"} else None)
    assert unless is (is_idempotent if name == "group_offsets" else None)


def test_a_shift_of_offsets_is_never_asked_for_again() -> None:
    assert not is_idempotent({"state": "present", "to": "shift"})
    assert is_idempotent({"state": "present", "to": "earliest"})
    assert is_idempotent({"state": "absent", "to": None})
