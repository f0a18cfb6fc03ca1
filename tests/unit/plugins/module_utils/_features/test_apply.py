# SPDX-License-Identifier: GPL-3.0-or-later
"""Features that are raised: what is told of them when an answer is lost on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import asked_again
from ansible_collections.streamops.kafka.plugins.module_utils._features import apply
from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import Plan, Step


def test_a_level_that_was_raised_by_a_request_without_an_answer_is_told_as_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    levels = {"metadata.version": 27}

    def plan(_state: Any, _params: Any) -> Plan:
        return Plan([Step("metadata.version", 27, 30)] if levels["metadata.version"] == 27 else [])

    def update(
        _session: Any, wanted: Mapping[str, int], _lowers: bool, validate_only: bool = False
    ) -> dict[str, tuple[str, str] | None]:
        if validate_only:
            return dict.fromkeys(wanted)
        levels.update(wanted)
        return dict.fromkeys(wanted, ("REQUEST_TIMED_OUT", "no answer"))

    monkeypatch.setattr(apply, "look", lambda _session, _protocol: None)
    monkeypatch.setattr(apply, "_plan", plan)
    monkeypatch.setattr(apply, "update_features", update)
    monkeypatch.setattr(apply, "refused_steps", lambda _plan, _state, _judged: [])
    params = {"controller_protocol": None, "upgrade_type": "upgrade", "timeout": 1}
    session: Any = None
    result = asked_again(lambda: apply.ensure_features(session, params, check=False, diff=False), lambda _seconds: None)
    assert result["changed"] is True
    assert [(change["feature"], change["from"], change["to"]) for change in result["changes"]] == [
        ("metadata.version", 27, 30)
    ]
