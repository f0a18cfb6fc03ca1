"""What changes seldom, and is not asked at each poll: settings of topics and brokers, ACLs, users, quotas and the last
drills of flows. Pure.

Each poll carries it over from the picture of the poll before, with the time when it was told.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import TopicConfigs
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import Outcome
from page.known.brokers import BrokerConfigs
from page.known.grants import never_tells, why_not

CONFIGS, USERS, ACLS, QUOTAS, BROKERS, DRILLS = "configs", "users", "acls", "quotas", "brokers", "drills"


@dataclass(frozen=True)
class Details:
    """The last of each part that a cluster told, None where it never did. Times are in seconds since 1970.

    C(configs): of the topics that were there then and are there now. A user has C(name) and C(mechanisms), the
    iterations by mechanism. An ACL has the fields of a Binding. A quota has C(entity), a list of {type, name}, where
    the name None means all that have no quota of their own, and C(limits) by Kafka's name of each.
    C(asked): when all parts were asked the last time, None before the first one. C(told), by part: when it was told.
    C(why), by part: why it was not told the last time, with the next step, in sentences. C(brokers): the configurations
    of brokers, each with its own time. C(drills): by source->target the last drill of a failover of each flow into this
    cluster that one can rehearse, None where there was none, and a sentence where its record cannot be read.
    """

    configs: TopicConfigs | None = None
    users: Sequence[Mapping[str, Any]] | None = None
    acls: Sequence[Mapping[str, Any]] | None = None
    quotas: Sequence[Mapping[str, Any]] | None = None
    asked: float | None = None
    told: Mapping[str, float] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    brokers: BrokerConfigs | None = None
    drills: Mapping[str, Outcome | str | None] | None = None

    def is_due(self, now: float, every: float) -> bool:
        """Return whether they are to be asked again, C(every) seconds after the last time; also where a clock went
        back."""
        return self.asked is None or not 0 <= now - self.asked < every

    def of_topics(self, topics: Collection[str]) -> Details:
        """Return the same without topics that are gone: one that is made anew under the same name is another one."""
        if self.configs is None or not self.configs.own.keys() - set(topics):
            return self
        own = {topic: some for topic, some in self.configs.own.items() if topic in topics}
        return replace(self, configs=replace(self.configs, own=own))

    def of_brokers(self, brokers: Collection[int]) -> Details:
        """Return the same without brokers that are gone."""
        kept = self.brokers and self.brokers.of(brokers)
        return self if kept is self.brokers else replace(self, brokers=kept)


def asked_again(before: Details, now: float, told: Mapping[str, Any], failed: Mapping[str, StreamopsError]) -> Details:
    """Return details after all parts were asked: those that were told, and of the others what was known before.

    What a cluster never tells, as one without an authorizer its ACLs, is not known any more.
    """
    gone = {what: None for what, error in failed.items() if never_tells(error)}
    return replace(
        before,
        **{**told, **gone},
        asked=now,
        told={**{what: at for what, at in before.told.items() if what not in gone}, **dict.fromkeys(told, now)},
        why={what: why_not(what, error) for what, error in failed.items()},
    )
