"""Configurations of brokers: what is kept of them, what never is, and which brokers are forgotten."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue
from page.known.brokers import BrokerConfigs, Setting, Shared, Told
from page.known.details import Details


def test_of_a_sensitive_setting_no_value_is_kept_whatever_the_broker_told() -> None:
    told = ConfigValue("of-a-test", "PASSWORD", "STATIC_BROKER", True, {"STATIC_BROKER": "of-a-test", "DEFAULT": "x"})
    assert Shared().settings({"ssl.key.password": told}) == {
        "ssl.key.password": Setting(None, "STATIC_BROKER", True, None)
    }


def test_what_holds_without_a_value_is_the_next_source_that_has_one() -> None:
    values = {
        "log.retention.ms": ConfigValue(
            "1", "LONG", "DYNAMIC_BROKER", False,
            {"DYNAMIC_BROKER": "1", "DYNAMIC_DEFAULT_BROKER": "2", "STATIC_BROKER": "3", "DEFAULT": None},
        ),
        "broker.rack": ConfigValue("a", "STRING", "STATIC_BROKER", False, {"STATIC_BROKER": "a"}),
        "num.io.threads": ConfigValue("8", "INT", "DEFAULT", False, {"DEFAULT": "8"}),
    }  # fmt: skip
    found = Shared().settings(values)
    assert list(found) == ["broker.rack", "log.retention.ms", "num.io.threads"]
    assert found["log.retention.ms"] == Setting("1", "DYNAMIC_BROKER", False, ("DYNAMIC_DEFAULT_BROKER", "2"))
    assert found["broker.rack"].behind is None
    assert found["num.io.threads"].behind is None


def test_equal_values_of_two_brokers_are_one_in_memory() -> None:
    shared = Shared()
    first, second = (shared.settings({"num.io.threads": ConfigValue("8", "INT")}) for _broker in (1, 2))
    assert first["num.io.threads"] is second["num.io.threads"]


def test_a_broker_that_is_gone_is_forgotten_and_the_others_stay() -> None:
    told = BrokerConfigs({1: Told(5.0, {}), 4: Told(6.0, {})}, {4: "no answer"})
    details = Details(brokers=told)
    assert details.of_brokers({1, 4, 5}) is details
    assert details.of_brokers({1}).brokers == BrokerConfigs({1: Told(5.0, {})}, {})
    assert Details().of_brokers({1}) == Details()
