# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Configuration values: whether two texts mean the same, and what topics set themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: Kafka's types of a configuration value (ConfigDef.Type) by their numbers in DescribeConfigs.
TYPES = {
    1: "BOOLEAN",
    2: "STRING",
    3: "INT",
    4: "SHORT",
    5: "LONG",
    6: "DOUBLE",
    7: "LIST",
    8: "CLASS",
    9: "PASSWORD",
}
#: Kafka's sources of a configuration value (ConfigEntry.ConfigSource) by their numbers in DescribeConfigs.
SOURCES = {
    0: "UNKNOWN",
    1: "DYNAMIC_TOPIC",
    2: "DYNAMIC_BROKER",
    3: "DYNAMIC_DEFAULT_BROKER",
    4: "STATIC_BROKER",
    5: "DEFAULT",
    6: "DYNAMIC_BROKER_LOGGER",
}
#: The source (of SOURCES) of what a topic sets itself.
OF_TOPIC = "DYNAMIC_TOPIC"
_NUMBERS = {"INT", "SHORT", "LONG", "DOUBLE"}


@dataclass(frozen=True)
class ConfigValue:
    """One configuration value as the cluster sees it.

    C(value) is the effective one, None when it is unset or C(sensitive). C(kind) is one of TYPES, C(source) one of
    SOURCES. C(by_source) holds what each source has for this key, the effective one first.
    """

    value: str | None
    kind: str = "STRING"
    source: str = "DEFAULT"
    sensitive: bool = False
    by_source: Mapping[str, str | None] = field(default_factory=dict)


def same_value(kind: str, one: str | None, other: str | None) -> bool:
    """Return whether two texts mean the same value of a type (of TYPES): "1000" and " 1000", "True" and "true".

    Lists are compared without order: every LIST of Kafka that a topic or a running broker takes is a set.
    """
    if one is None or other is None:
        return one is other
    one, other = one.strip(), other.strip()
    if one == other:
        return True
    if kind == "BOOLEAN":
        return one.lower() == other.lower()
    if kind == "LIST":
        return set(items_of(one)) == set(items_of(other))
    if kind in _NUMBERS:
        try:
            return float(one) == float(other) if kind == "DOUBLE" else int(one) == int(other)
        except ValueError:
            return False
    return False


def without_listener(key: str) -> str:
    """Return the key that a listener overrides: listener.name.client.max.connections is max.connections."""
    return key.split(".", 3)[-1] if key.startswith("listener.name.") else key


def items_of(text: str | None) -> list[str]:
    """Return the items of a LIST in their order: Kafka takes blanks around each (ConfigDef.parseType)."""
    return [item.strip() for item in (text or "").split(",") if item.strip()]


def is_set(now: ConfigValue | None, wanted: str | None) -> bool:
    """Return whether the topic itself has the wanted value: a default that happens to be equal could still move."""
    at_topic = now is not None and now.source == OF_TOPIC
    if wanted is None:
        return now is not None and not at_topic
    return now is not None and at_topic and same_value(now.kind, now.value, wanted)


@dataclass(frozen=True)
class Behind:
    """What a broker has for a setting under a name of its own, such as log.retention.hours behind retention.ms.

    C(value) is in the unit of this name, None where it is unset or sensitive. C(source) is one of SOURCES.
    """

    name: str
    value: str | None
    source: str


@dataclass(frozen=True)
class TopicValue:
    """The value of a setting in a topic.

    C(value) is None when it is unset or C(sensitive). C(kind) is one of TYPES, C(source) one of SOURCES. C(behind) is
    what would count next if the value were not set at its source; None where the broker told nothing of that.
    """

    value: str | None
    kind: str = "STRING"
    source: str = "DEFAULT"
    sensitive: bool = False
    behind: Behind | None = None


@dataclass(frozen=True)
class TopicConfigs:
    """The configurations of topics.

    C(own), by topic: what it sets itself; a topic that sets nothing is there too. C(inherited), by key: what holds in
    a topic that does not set it, as the broker that was asked has it. That is the same for all topics, so it is kept
    once; a key that all topics set is not in it.
    """

    own: Mapping[str, Mapping[str, TopicValue]] = field(default_factory=dict)
    inherited: Mapping[str, TopicValue] = field(default_factory=dict)

    def value(self, topic: str, key: str) -> str | None:
        """Return the value in force; None where it is unset, not known, or sensitive."""
        found = self.own.get(topic, {}).get(key) or self.inherited.get(key)
        return found.value if found else None


def topic_configs_of(answers: Iterable[tuple[str, Iterable[Any]]]) -> TopicConfigs:
    """Return the configurations in answers of DescribeConfigs with synonyms: topics, and the entries of each."""
    own: dict[str, dict[str, TopicValue]] = {}
    inherited: dict[str, TopicValue] = {}
    for topic, entries in answers:
        own[topic] = {}
        for entry in entries:
            if SOURCES.get(entry.config_source) == OF_TOPIC:
                own[topic][entry.name] = _value(entry)
            elif entry.name not in inherited:
                inherited[entry.name] = _value(entry)
    return TopicConfigs(own, inherited)


def _value(entry: Any) -> TopicValue:
    secret = bool(entry.is_sensitive)
    source = SOURCES.get(entry.config_source, "UNKNOWN")
    next_one = next((one for one in entry.synonyms or () if _level(SOURCES.get(one.source)) != _level(source)), None)
    return TopicValue(
        value=None if secret else entry.value,
        kind=TYPES.get(entry.config_type, "STRING"),
        source=source,
        sensitive=secret,
        behind=next_one
        and Behind(next_one.name, None if secret else next_one.value, SOURCES.get(next_one.source, "UNKNOWN")),
    )


def _level(source: str | None) -> str | None:
    """Return a source, that of a broker without where the broker has it from."""
    return "BROKER" if source in ("DYNAMIC_BROKER", "DYNAMIC_DEFAULT_BROKER", "STATIC_BROKER") else source
