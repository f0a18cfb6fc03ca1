"""Deciding about live broker configurations."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.configs import (
    DEFAULT,
    LISTED_WHEN_SET,
    parse_desired,
    plan_broker_configs,
)
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue

KEY = "log.cleaner.threads"


def value(**by_source: str) -> ConfigValue:
    """An INT whose sources are given in order of precedence."""
    return ConfigValue(next(iter(by_source.values())), "INT", next(iter(by_source)), by_source=by_source)


def shown(*values: ConfigValue) -> dict[str, dict[str, ConfigValue]]:
    """What brokers 1, 2 ... show for the key."""
    return {str(number): {KEY: now} for number, now in enumerate(values, 1)}


def test_an_effective_value_is_enough_for_a_broker() -> None:
    assert plan_broker_configs(shown(value(STATIC_BROKER="2")), {"1": {KEY: "2"}}).settings == {}


def test_a_different_value_is_set_and_told_from_and_to() -> None:
    plan = plan_broker_configs(shown(value(DEFAULT="1")), {"1": {KEY: "2"}})
    assert plan.settings == {"1": {KEY: "2"}}
    assert (plan.changes[0].name, plan.changes[0].before, plan.changes[0].after) == ("broker 1", {KEY: "1"}, {KEY: "2"})


def test_the_default_is_set_when_one_broker_shows_another() -> None:
    now = shown(value(STATIC_BROKER="2"), value(DEFAULT="1"))
    plan = plan_broker_configs(now, {DEFAULT: {KEY: "2"}})
    assert plan.settings == {DEFAULT: {KEY: "2"}}
    assert plan.changes[0].before == {KEY: "1, 2"}


def test_a_broker_with_a_value_of_its_own_does_not_count_for_the_default_but_is_told() -> None:
    now = shown(value(DYNAMIC_BROKER="3", DYNAMIC_DEFAULT_BROKER="2", DEFAULT="1"))
    plan = plan_broker_configs(now, {DEFAULT: {KEY: "2"}})
    assert plan.settings == {}
    assert "has the dynamic value 3 of its own" in plan.hidden[0]


def test_a_broker_keeps_its_value_when_the_default_below_it_moves() -> None:
    plan = plan_broker_configs(shown(value(DEFAULT="1")), {"1": {KEY: "1"}, DEFAULT: {KEY: "2"}})
    assert plan.settings == {"1": {KEY: "1"}, DEFAULT: {KEY: "2"}}


def test_null_takes_only_the_level_it_is_asked_for_away() -> None:
    now = shown(value(DYNAMIC_DEFAULT_BROKER="2", DEFAULT="1"))
    assert plan_broker_configs(now, {"1": {KEY: None}}).settings == {}
    assert plan_broker_configs(now, {DEFAULT: {KEY: None}}).settings == {DEFAULT: {KEY: None}}


def test_unknown_brokers_keys_and_secrets_are_refused_together() -> None:
    now = {"1": {KEY: value(DEFAULT="1"), "ssl.key.password": ConfigValue(None, "PASSWORD", sensitive=True)}}
    plan = plan_broker_configs(
        now, {"1": {"ssl.key.password": "x", "foo": "1"}, "9": {KEY: "1"}, "3": {KEY: "1"}}, (3,)
    )
    assert len(plan.violations) == 4
    assert any("It is registered but down" in violation for violation in plan.violations)


def test_settings_that_make_no_sense_are_refused() -> None:
    desired, violations = parse_desired({"a": {}, 1: {KEY: 2, "x": {}}, 2: [1]}, {KEY: None})
    assert desired == {"1": {KEY: "2"}, DEFAULT: {KEY: None}}
    assert len(violations) == 3


@pytest.mark.parametrize("key", LISTED_WHEN_SET)
def test_a_throttle_that_no_broker_lists_is_not_set_and_can_be(key: str) -> None:
    plan = plan_broker_configs({"1": {}, "2": {}}, {"1": {key: "1000"}, DEFAULT: {key: "2000"}})
    assert plan.violations == ()
    assert plan.settings == {"1": {key: "1000"}, DEFAULT: {key: "2000"}}
    assert [change.before for change in plan.changes] == [{key: "(not set)"}, {key: "(not set)"}]


@pytest.mark.parametrize("key", LISTED_WHEN_SET)
def test_a_throttle_that_no_broker_lists_is_taken_away(key: str) -> None:
    assert plan_broker_configs({"1": {}, "2": {}}, {"1": {key: None}, DEFAULT: {key: None}}).settings == {}
    own = ConfigValue("1000", "LONG", "DYNAMIC_BROKER", by_source={"DYNAMIC_BROKER": "1000"})
    plan = plan_broker_configs({"1": {key: own}, "2": {}}, {"1": {key: None}, "2": {key: None}, DEFAULT: {key: None}})
    assert plan.settings == {"1": {key: None}}


def beyond(key: str, entity: str, now: str, wanted: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is refused, and what is warned of, where one broker with a value of a key is to get another one."""
    view = {"1": {key: ConfigValue(now, "INT", "DEFAULT", by_source={"DYNAMIC_BROKER": now, "DEFAULT": now})}}
    plan = plan_broker_configs(view, {entity: {key: wanted}})
    return plan.violations, plan.slow


def test_a_value_that_a_cluster_cannot_live_with_is_refused_with_its_reason_and_where_that_is_known_from() -> None:
    refused, warned = beyond("num.replica.fetchers", "1", "1", "0")
    assert warned == ()
    assert refused == (
        "broker 1: num.replica.fetchers is 0, allowed: at least 1; beyond it no follower copies anything "
        "(AbstractFetcherManager). Correct the value, or set it to null to take it away.",
    )


def test_a_value_that_makes_a_cluster_slower_is_warned_of() -> None:
    refused, warned = beyond("log.segment.bytes", "1", "1073741824", "1048575")
    assert refused == ()
    assert "log.segment.bytes is 1048575, allowed: at least 1048576" in warned[0]
    refused, warned = beyond("log.segment.bytes", "1", "1073741824", "65535")
    assert (len(refused), warned) == (1, ()), "the worse of two rows says all"


@pytest.mark.parametrize(("now", "wanted"), [("0", "0"), ("0", None), ("2", "1"), ("2", "x"), ("2", "0.5")])
def test_what_is_set_already_or_taken_away_or_within_its_bound_is_not_judged(now: str, wanted: str | None) -> None:
    assert beyond("num.replica.fetchers", "1", now, wanted) == ((), ())


def test_the_key_of_a_listener_and_the_cluster_default_have_the_bound_of_the_key() -> None:
    refused, _warned = beyond("listener.name.client.max.connection.creation.rate", "1", "100", "0")
    assert "the node takes no connection" in refused[0]
    view = {"1": {"num.replica.fetchers": ConfigValue("1", "INT", "DEFAULT", by_source={"DEFAULT": "1"})}}
    assert (
        "cluster default: num.replica.fetchers is 0"
        in plan_broker_configs(view, {DEFAULT: {"num.replica.fetchers": "0"}}).violations[0]
    )
