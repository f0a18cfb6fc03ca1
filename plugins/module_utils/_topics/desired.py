# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics as they are and as they are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._configs.values import ConfigValue
from .._core.properties import PropertiesError, config_text
from .placement import Replicas

#: The key that says whether a topic keeps the last record of each key for ever.
CLEANUP_POLICY = "cleanup.policy"


@dataclass(frozen=True)
class DesiredTopic:
    """A topic as wanted. C(partitions) and C(replication_factor) None: the cluster's default at creation, then as is.

    C(config) holds the keys to set at the topic; None takes a key back to the cluster's default. Others are let be.
    C(every_broker_leads): new partitions are placed so that each live broker is the preferred leader of at least one,
    and C(partitions) is the least number of them.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    config: Mapping[str, str | None] = field(default_factory=dict)
    absent: bool = False
    every_broker_leads: bool = False


@dataclass(frozen=True)
class TopicState:
    """A topic as it is. C(replication_factor) is the largest of its partitions; C(config) has the keys asked for.

    C(replicas) are those of each partition, the preferred leader first.
    """

    partitions: int
    replication_factor: int
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    replicas: tuple[Replicas, ...] = ()

    @property
    def factors(self) -> set[int]:
        """The numbers of replicas of its partitions: kafka-reassign-partitions can give each a number of its own."""
        return set(map(len, self.replicas)) or {self.replication_factor}

    @property
    def least_replicas(self) -> int:
        """The fewest replicas of a partition."""
        return min(self.factors)

    def not_with(self, replicas: int) -> tuple[int, ...]:
        """Return the partitions that have another number of replicas; none where all of them have another one."""
        if len(self.factors) == 1:
            return ()
        return tuple(number for number, held in enumerate(self.replicas) if len(held) != replicas)


def parse_specs(items: Sequence[Mapping[str, Any]]) -> tuple[list[DesiredTopic], list[str]]:
    """The specs of a list of {name, partitions, replication_factor, config, state}, and what cannot be understood."""
    specs, violations = [], []
    for item in items:
        config: dict[str, str | None] = {}
        for key, value in (item.get("config") or {}).items():
            try:
                config[str(key)] = config_text(str(key), value)
            except PropertiesError as error:
                violations.append(f"topic {item['name']}: config {error}.")
        specs.append(
            DesiredTopic(
                name=str(item["name"]),
                partitions=item.get("partitions"),
                replication_factor=item.get("replication_factor"),
                config=config,
                absent=item.get("state") == "absent",
                every_broker_leads=bool(item.get("every_broker_leads")),
            )
        )
    return specs, violations


def grows(spec: DesiredTopic, partitions: int) -> bool:
    """Return whether a spec asks for more partitions than there are."""
    return not spec.absent and spec.partitions is not None and spec.partitions > partitions
