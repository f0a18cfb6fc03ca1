# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Configuration values: from YAML to Kafka's text, and whether two texts mean the same."""

from __future__ import annotations

from collections.abc import Mapping
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


def config_text(value: Any) -> str | None:
    """The text of a value for Kafka: true and not True, a list with commas; None stays None (back to the default).

    Raises ValueError for a value that has no such text, for example a dictionary.
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (list, tuple, dict)) for item in value):
        return ",".join(str(config_text(item)) for item in value)
    if isinstance(value, (int, float, str)):
        return str(value)
    raise ValueError(f"{value!r} is neither text, number, boolean, list nor null")


def same_value(kind: str, one: str | None, other: str | None) -> bool:
    """Whether two texts mean the same value of a type (of TYPES): "1000" and " 1000", "True" and "true".

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
        return _items(one) == _items(other)
    if kind in _NUMBERS:
        try:
            return float(one) == float(other) if kind == "DOUBLE" else int(one) == int(other)
        except ValueError:
            return False
    return False


def _items(text: str) -> set[str]:
    return {item.strip() for item in text.split(",") if item.strip()}
