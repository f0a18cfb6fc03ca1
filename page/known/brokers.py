"""What brokers told of their configurations, kept small: most brokers of a cluster have equal values. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue


class Setting(NamedTuple):
    """The value of a setting in a broker.

    C(value) is None when it is unset or C(sensitive). C(source) is one of SOURCES. C(behind) is what holds if the value
    is taken away at its source, as (source, value); None where no other source has one of this name, and of a
    sensitive one.
    """

    value: str | None
    source: str
    sensitive: bool = False
    behind: tuple[str, str | None] | None = None


@dataclass(frozen=True)
class Told:
    """All settings of one broker by name, and when they were told, in seconds since 1970."""

    at: float
    settings: Mapping[str, Setting]


@dataclass(frozen=True)
class BrokerConfigs:
    """By id of a broker what it C(told) last, and C(why) it did not tell it the last time, in sentences."""

    told: Mapping[int, Told] = field(default_factory=dict)
    why: Mapping[int, str] = field(default_factory=dict)

    def of(self, brokers: Collection[int]) -> BrokerConfigs:
        """Return the same without brokers that are gone."""
        if not (self.told.keys() | self.why.keys()) - set(brokers):
            return self
        return replace(
            self,
            told={number: one for number, one in self.told.items() if number in brokers},
            why={number: one for number, one in self.why.items() if number in brokers},
        )


class Shared:
    """Makes settings of values, one for all that are equal."""

    def __init__(self) -> None:
        self._seen: dict[Setting, Setting] = {}
        self._names: dict[str, str] = {}

    def settings(self, values: Mapping[str, ConfigValue]) -> dict[str, Setting]:
        """Return the settings of a broker; of a sensitive one no value gets in, whatever the broker told."""
        found = {}
        for name, value in sorted(values.items()):
            made = _setting(value)
            found[self._names.setdefault(name, name)] = self._seen.setdefault(made, made)
        return found


def _setting(value: ConfigValue) -> Setting:
    if value.sensitive:
        return Setting(None, value.source, True)
    others = [(source, one) for source, one in value.by_source.items() if source != value.source]
    return Setting(value.value, value.source, False, others[0] if others else None)
