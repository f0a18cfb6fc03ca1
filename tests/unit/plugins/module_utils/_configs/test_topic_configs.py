# SPDX-License-Identifier: GPL-3.0-or-later
"""What topics set of their own is kept by topic, and what they inherit once for all of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import (
    Behind,
    TopicConfigs,
    topic_configs_of,
)

#: Kafka's numbers of sources (ConfigEntry.ConfigSource).
TOPIC, BROKER, ALL_BROKERS, FILE, DEFAULT = 1, 2, 3, 4, 5


def entry(name: str, value: str | None, source: int, *behind: tuple[str, str, int], **more: Any) -> SimpleNamespace:
    """An entry as kafka-python reads it, with what lies behind it: name, value, source."""
    synonyms = [SimpleNamespace(name=one, value=what, source=where) for one, what, where in behind]
    given = {"config_type": 5, "is_sensitive": False, "synonyms": synonyms or None, **more}
    return SimpleNamespace(name=name, value=value, config_source=source, **given)


def test_what_a_topic_sets_is_its_own_and_the_rest_is_kept_once() -> None:
    inherited = entry("retention.ms", "604800000", DEFAULT, ("log.retention.hours", "168", DEFAULT))
    own = entry(
        "retention.ms", "60", TOPIC, ("retention.ms", "60", TOPIC), ("log.retention.hours", "24", FILE)
    )  # fmt: skip
    found = topic_configs_of([("orders", [own]), ("plain", [inherited]), ("audit", [inherited])])
    assert {topic: list(some) for topic, some in found.own.items()} == {
        "orders": ["retention.ms"],
        "plain": [],
        "audit": [],
    }
    assert found.own["orders"]["retention.ms"].behind == Behind("log.retention.hours", "24", "STATIC_BROKER")
    assert list(found.inherited) == ["retention.ms"]
    values = [found.value(topic, "retention.ms") for topic in ("orders", "plain", "none")]
    assert values == ["60", "604800000", "604800000"]
    assert found.value("orders", "none") is None


def test_behind_a_broker_is_the_default_of_kafka_and_not_another_place_of_the_broker() -> None:
    one = entry("min.insync.replicas", "2", BROKER, ("min.insync.replicas", "2", BROKER),
                ("min.insync.replicas", "3", ALL_BROKERS), ("min.insync.replicas", "4", FILE),
                ("min.insync.replicas", "1", DEFAULT))  # fmt: skip
    found = topic_configs_of([("orders", [one])]).inherited["min.insync.replicas"]
    assert (found.source, found.behind) == ("DYNAMIC_BROKER", Behind("min.insync.replicas", "1", "DEFAULT"))


def test_a_sensitive_value_is_never_kept_even_where_a_broker_tells_it() -> None:
    told = entry("k", "secret", TOPIC, ("k", "secret", TOPIC), ("b.k", "secret", FILE), is_sensitive=True)
    found = topic_configs_of([("orders", [told])])
    assert "secret'" not in repr(found)
    assert found.own["orders"]["k"].sensitive
    assert found.own["orders"]["k"].behind == Behind("b.k", None, "STATIC_BROKER")


def test_what_a_newer_broker_adds_is_not_guessed_and_nothing_is_an_answer_too() -> None:
    odd = entry("k", "v", 99, config_type=99)
    found = topic_configs_of([("orders", [odd])]).inherited["k"]
    assert (found.value, found.kind, found.source, found.behind) == ("v", "STRING", "UNKNOWN", None)
    assert topic_configs_of([]) == TopicConfigs()
