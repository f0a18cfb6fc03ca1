# SPDX-License-Identifier: GPL-3.0-or-later
"""What a registration is, and when it may be cordoned or taken away."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.registration import (
    Registration,
    cordon_violations,
    registrations,
    unregister_violations,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker, InFlight, Partition

BROKERS = (Broker(1, "h", 9092, "a", False), Broker(2, "h", 9093, None, True))
HELD = Partition("t", 0, 1, (1, 2), (1,), 1, False)


def test_all_registered_brokers_are_told_and_what_is_asked_for_even_if_it_is_not_registered() -> None:
    found = [one.as_dict() for one in registrations(BROKERS, {"1": "*"}, None)]
    assert [(one["id"], one["fenced"], one["cordoned"]) for one in found] == [(1, False, True), (2, True, None)]
    assert found[0]["cordoned_log_dirs"] == ["*"]
    assert registrations(BROKERS, {}, 9) == [Registration(9, False)]
    assert Registration(1, True, False, "").as_dict()["cordoned"] is False


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Registration(3, False), "is not registered"),
        (Registration(3, True, True), "is fenced"),
        (Registration(3, True, False, None), "needs Kafka 4.3"),
        (Registration(3, True, False, ""), None),
    ],
)
def test_only_a_broker_that_runs_and_knows_the_setting_is_cordoned(found: Registration, said: str | None) -> None:
    violations = cordon_violations(found, "cordoned")
    assert (violations == []) if said is None else (said in violations[0])


def test_a_registration_goes_only_when_the_broker_is_down_and_holds_nothing() -> None:
    assert unregister_violations(Registration(3, True, True), True, [HELD], {}) == []
    assert unregister_violations(Registration(3, False), True, [HELD], {}) == []
    coming = {("u", 1): InFlight("u", 1, (1, 3), frozenset([3]), frozenset())}
    found = unregister_violations(Registration(3, True, False), False, [HELD], coming)
    assert [part for part in ("ZooKeeper mode", "is alive", "replicas of 1 partitions (u-1)") if part in str(found)]
    assert len(found) == 3
    assert "t-0" in unregister_violations(Registration(2, True, True), True, [HELD], {})[0]
