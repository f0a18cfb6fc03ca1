"""Registrations that are changed: what is said when the cluster gives no answer."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers import registration_apply
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.registration import CORDONED
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError


@pytest.mark.parametrize(("code", "changed"), [("REQUEST_TIMED_OUT", True), ("UNSUPPORTED_VERSION", False)])
@pytest.mark.parametrize("state", ["unregistered", "cordoned"])
def test_a_request_that_was_not_answered_may_have_changed_it(
    monkeypatch: pytest.MonkeyPatch, state: str, code: str, changed: bool
) -> None:
    def unregister(_session: Any, _broker: int) -> bool:
        raise RequestFailedError("unregister broker 2", "of a:1", code, "why")

    fenced = state == "unregistered"
    calls = {
        "list_brokers": lambda _session: (Broker(2, "h", 9093, None, fenced),),
        "describe_configs": lambda _session, _kind, names: {
            name: {CORDONED: ConfigValue(value="", kind="LIST")} for name in names
        },
        "alter_configs": lambda _session, _kind, changes: dict.fromkeys(changes, (code, "why")),
        "list_topics": lambda _session: {},
        "describe_quorum": lambda _session: True,
        "list_reassignments": lambda _session: {},
        "unregister_broker": unregister,
    }
    for name, call in calls.items():
        monkeypatch.setattr(registration_apply, name, call)
    session: Any = None
    with pytest.raises(RequestFailedError) as failed:
        registration_apply.ensure_registration(session, {"broker": 2, "state": state, "timeout": 5}, False, False)
    assert failed.value.done["changed"] is changed
    assert ("No clear answer came for broker 2" in failed.value.message) is changed
