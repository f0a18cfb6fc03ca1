# SPDX-License-Identifier: GPL-3.0-or-later
"""The sessions of a failover: an error names the end that it came up at."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import ClusterUnreachableError, RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.apply import target_of

FLOW = Flow("dc_a", "dc_b", ("orders",))
PARAMS = {"bootstrap_servers": ["b1:9092"]}


def test_a_target_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_session: Session) -> None:
        raise ClusterUnreachableError({"b1:9092": "refused"})

    monkeypatch.setattr(Session, "_reach", refused)
    with pytest.raises(ClusterUnreachableError) as raised, target_of(FLOW, PARAMS):
        pass
    assert raised.value.message.startswith("target dc_b: Kafka cluster b1:9092: no bootstrap server answered")


def test_what_fails_in_the_session_of_a_target_keeps_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "_reach", lambda _session: None)
    with pytest.raises(RefusedError) as raised, target_of(FLOW, PARAMS):
        raise RefusedError("failback dc_a->dc_b", ["it was not lost"])
    assert "target dc_b" not in raised.value.message
