# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who leads: leaders spread by at most one within the replicas that partitions have, by the fewest changes of leaders.

Leading is a placement of one replica for each partition, which may only be where the partition is; so what gives every
broker its share of replicas by the fewest moves gives it its share of leaders by the fewest changes. Where no leaders
within one of each other are possible they become as even as can be, and a witness says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.balance import balance, even_out
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.flow import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Witness
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.racks import bits, mask_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.shares import Share
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.state import Placement


class Leadership(Placement):
    """The leaders of a placement: at home where they were before, guests where they are new. Brokers are numbers.

    C(eligible) is the set of brokers that may lead what they did not lead. Partitions that lost their leader are given
    one at once: who took its place by name, else the eligible broker of the partition that leads least.
    """

    def __init__(self, replicas: Placement, eligible: int) -> None:
        alone = [(broker,) for broker in range(len(replicas.loads))]
        led = [alone[brokers[0]] for brokers in replicas.had]
        super().__init__(led, len(alone), replicas.racks, replicas.fixed)
        self.replicas = replicas
        self.eligible = eligible
        self._bit = [eligible & 1 << broker for broker in range(len(alone))]
        self._reach: dict[int, int] = {}
        for partition in sorted(replicas.now):
            self._inherit(partition)

    def _inherit(self, partition: int) -> None:
        leader = self.had[partition][0]
        if leader in self.replicas.now[partition]:
            return
        heirs = self.replicas.ordered(partition)
        if partition not in self.replicas.pinned:
            heirs.sort(key=lambda broker: (not self._bit[broker], self.loads[broker], broker))
        self.swap(partition, leader, heirs[0])

    def leader(self, partition: int) -> int:
        """Who leads a partition."""
        return self.at(partition)[0]

    def torn(self) -> dict[int, list[int]]:
        """None: a leader that is at home left no other home."""
        return {}

    def leaving_home(self, broker: int) -> Iterator[tuple[int, int]]:
        """The partitions that a broker led before and leads now, each with the brokers that may lead instead."""
        for partition in self.homes[broker]:
            if partition not in self.now:
                yield partition, self.room(partition, broker)

    def reach(self, broker: int) -> int:
        """The brokers that hold any of the partitions that a broker led: few of many, so looking can end early."""
        if broker not in self._reach:
            held = {member for partition in self.homes[broker] for member in self.replicas.at(partition)}
            self._reach[broker] = mask_of(held) & self.eligible
        return self._reach[broker]

    def room(self, partition: int, leaving: int) -> int:
        """The brokers that may lead instead of C(leaving)."""
        mask = 0
        for broker in self.replicas.at(partition):
            mask |= self._bit[broker]
        return mask & ~self._bit[leaving]


def even_leaders(leading: Leadership, topic_of: Sequence[int]) -> tuple[Leadership, Witness | None]:
    """Leaders spread by at most one; where that cannot be, as evenly as can be, and why it cannot."""
    eligible = list(bits(leading.eligible))
    total = sum(leading.loads[broker] for broker in eligible)
    low, high = total // len(eligible), -(-total // len(eligible))
    level = Share(eligible, [low] * len(eligible), [high] * len(eligible), total)
    spread = leading.copy()
    if balance(spread, [level], topic_of):
        return spread, None
    classes = even_out(Flow([spread], counted=False), leading.eligible)
    spread = leading.copy()
    balance(spread, classes, topic_of)
    return spread, _witness(classes, low, high)


def _witness(classes: Sequence[Share], low: int, high: int) -> Witness | None:
    """The classes that lead too much, or those that lead too little.

    Leading passes from no class to a lower one. So what the classes above the share lead has no replica below them, and
    what has a replica in the classes below the share is led there.
    """
    above = [share for share in classes if share.total > high * len(share.brokers)]
    below = [share for share in classes if share.total < low * len(share.brokers)]
    for kind, found, room in (("too_many", above, high), ("too_few", below, low)):
        if found:
            brokers = sorted(broker for share in found for broker in share.brokers)
            return Witness(kind, tuple(brokers), sum(share.total for share in found), len(brokers) * room)
    return None
