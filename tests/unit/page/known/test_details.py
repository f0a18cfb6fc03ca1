"""What changes seldom: when it is asked again, and what is known after a part of it was not told."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import TopicConfigs, TopicValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    RequestFailedError,
)
from page.known.details import ACLS, CONFIGS, QUOTAS, USERS, Details, asked_again

CONFIGURED = TopicConfigs({"orders": {"retention.ms": TopicValue("1")}, "audit": {}}, {"k": TopicValue("2")})
LAST = Details(
    CONFIGURED, [], [{"principal": "User:a"}], [], 1000.0, dict.fromkeys((CONFIGS, USERS, ACLS, QUOTAS), 1000.0), {}
)


@pytest.mark.parametrize(
    ("now", "is_due"), [(1000.0, False), (1599.9, False), (1600.0, True), (999.0, True), (5000.0, True)]
)
def test_they_are_asked_at_the_first_poll_and_then_after_their_time(now: float, is_due: bool) -> None:
    assert Details().is_due(now, 600)
    assert LAST.is_due(now, 600) is is_due


def test_a_part_that_fails_leaves_what_was_known_with_its_age_and_the_cause() -> None:
    denied = RequestFailedError("describe", "ACLs", "CLUSTER_AUTHORIZATION_FAILED", "no right. Fix: grant it")
    told = {CONFIGS: TopicConfigs({"new": {}}), QUOTAS: [{"limits": {}}]}
    found = asked_again(
        LAST, 1600.0, told, {ACLS: denied, USERS: ClusterUnreachableError({"kafka1:9092": "no answer"})}
    )
    assert (found.asked, found.told) == (1600.0, {CONFIGS: 1600.0, USERS: 1000.0, ACLS: 1000.0, QUOTAS: 1600.0})
    assert (found.acls, found.users, found.quotas) == (LAST.acls, [], [{"limits": {}}])
    assert found.configs == TopicConfigs({"new": {}})
    assert list(found.why) == [ACLS, USERS]
    assert "Fix: grant it" in found.why[ACLS]
    mended = asked_again(found, 2200.0, {ACLS: [], USERS: [], QUOTAS: [], CONFIGS: CONFIGURED}, {})
    assert (mended.why, mended.acls, set(mended.told.values())) == ({}, [], {2200.0})


def test_a_part_that_never_was_told_is_unknown_and_says_why() -> None:
    late = RequestFailedError("describe", "all", "POLL_TIMEOUT", "Raise poll_timeout")
    found = asked_again(Details(), 1.0, {}, dict.fromkeys((CONFIGS, USERS, ACLS, QUOTAS), late))
    assert (found.configs, found.users, found.acls, found.quotas, found.told) == (None, None, None, None, {})
    assert all("Raise poll_timeout" in one for one in found.why.values())
    assert not found.is_due(2.0, 600)


@pytest.mark.parametrize("code", ["SECURITY_DISABLED", "UNSUPPORTED_VERSION"])
def test_what_a_cluster_has_not_any_more_is_not_kept(code: str) -> None:
    found = asked_again(LAST, 1600.0, {}, {ACLS: RequestFailedError("describe", "ACLs", code, "")})
    assert (found.acls, ACLS in found.told, "Next step" in found.why[ACLS]) == (None, False, True)
    assert found.users == []


def test_a_topic_that_is_gone_has_no_settings_even_where_it_is_made_anew() -> None:
    assert LAST.of_topics({"orders", "audit", "new"}) is LAST
    after = LAST.of_topics({"orders", "new"})
    assert after.configs
    assert (after.configs.own, after.configs.inherited) == ({"orders": CONFIGURED.own["orders"]}, CONFIGURED.inherited)
    assert (after.asked, after.told) == (LAST.asked, LAST.told)
    assert Details().of_topics({"orders"}) == Details()
