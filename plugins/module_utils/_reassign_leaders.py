# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who leads: within the replicas that partitions have, leaders spread by at most one, or a witness that they cannot.

Leading passes from one broker to another through a partition that both hold; no data moves. Direct changes first, then
paths through brokers in between, all shortest paths of one length in one sweep (as in Hopcroft and Karp's matching).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ansible_collections.streamops.kafka.plugins.module_utils._reassign_model import Witness


class Leading:
    """Who leads what. C(eligible) are the brokers that may lead; C(open_) the partitions whose leader may change."""

    def __init__(
        self,
        leaders: list[int],
        members: Callable[[int], Sequence[int]],
        brokers: int,
        eligible: Sequence[int],
        open_: Sequence[int],
    ) -> None:
        self.leaders = leaders
        self.members = members
        self.eligible = set(eligible)
        self.loads = [0] * brokers
        for leader in leaders:
            self.loads[leader] += 1
        #: Brokers from which no further way was found, of the present labels.
        self.dead: set[int] = set()
        self.led: list[list[int]] = [[] for _ in range(brokers)]
        for partition in open_:
            self.led[leaders[partition]].append(partition)

    def give(self, partition: int, broker: int) -> None:
        """Let a broker lead a partition that it holds."""
        self.loads[self.leaders[partition]] -= 1
        self.leaders[partition] = broker
        self.loads[broker] += 1
        self.led[broker].append(partition)

    def heirs(self, broker: int) -> Iterator[tuple[int, int]]:
        """Who may lead in place of a broker, and which partition."""
        leaders, eligible = self.leaders, self.eligible
        for partition in self.led[broker][:]:
            if leaders[partition] == broker:
                for other in self.members(partition):
                    if other != broker and other in eligible:
                        yield other, partition

    # -- evening out ---------------------------------------------------------------------------------------------

    def direct(self, low: int, high: int) -> None:
        """Let brokers above their share pass leading straight to brokers below theirs."""
        targets = self._targets(low, high)
        need = {broker: target - self.loads[broker] for broker, target in targets.items()}
        for broker in sorted(targets):
            if need[broker] >= 0:
                continue
            for other, partition in self.heirs(broker):
                if need[other] > 0 and self.leaders[partition] == broker:
                    self.give(partition, other)
                    need[other] -= 1
                    need[broker] += 1
                    if not need[broker]:
                        break

    def _targets(self, low: int, high: int) -> dict[int, int]:
        ordered = sorted(self.eligible, key=lambda b: (-self.loads[b], b))
        spare = sum(self.loads[broker] for broker in ordered) - low * len(ordered)
        return {broker: high if place < spare else low for place, broker in enumerate(ordered)}

    def push(self, above: int, below: int) -> None:
        """Pass leading from brokers that lead more than C(above) to brokers that lead less than C(below)."""
        while True:
            starts = [broker for broker in sorted(self.eligible) if self.loads[broker] > above]
            depth, nearest = self._depths(starts, below)
            if nearest is None:
                return
            arcs: dict[int, Iterator[tuple[int, int]]] = {}
            self.dead.clear()
            for start in starts:
                while self.loads[start] > above:
                    path = self._dive(start, below, depth, nearest, arcs)
                    if path is None:
                        break
                    for partition, other in path:
                        self.give(partition, other)

    def _depths(self, starts: Sequence[int], below: int) -> tuple[dict[int, int], int | None]:
        """How many steps every broker is away, as far as the nearest that leads less than C(below)."""
        depth = dict.fromkeys(starts, 0)
        layer, steps = list(starts), 0
        while layer:
            if any(self.loads[broker] < below for broker in layer):
                return depth, steps
            steps += 1
            found: list[int] = []
            for broker in layer:
                for other, _partition in self.heirs(broker):
                    if other not in depth:
                        depth[other] = steps
                        found.append(other)
                if len(depth) == len(self.eligible):
                    break
            layer = found
        return depth, None

    def _dive(
        self, start: int, below: int, depth: dict[int, int], nearest: int, arcs: dict[int, Iterator[tuple[int, int]]]
    ) -> list[tuple[int, int]] | None:
        """A shortest path to a broker that leads too little: (partition, who leads it next) for each step."""
        path: list[tuple[int, int]] = []
        trail = [start]
        while trail:
            broker = trail[-1]
            if path and self.loads[broker] < below:
                return path
            steps = arcs.setdefault(broker, self.heirs(broker))
            step = next(
                (
                    (partition, other)
                    for other, partition in steps
                    if depth.get(other, -1) == depth[broker] + 1 <= nearest
                    and other not in self.dead
                    and self.leaders[partition] == broker
                ),
                None,
            )
            if step is not None:
                path.append(step)
                trail.append(step[1])
            else:
                self.dead.add(trail.pop())
                if path:
                    path.pop()
        return None

    def reached(self, starts: Sequence[int]) -> set[int]:
        """The brokers that leading can pass to from these, themselves included."""
        return set(self._depths(starts, -1)[0])

    def spread(self) -> int:
        """The most led by one broker less the least."""
        loads = [self.loads[broker] for broker in self.eligible]
        return max(loads, default=0) - min(loads, default=0)


def even_leaders(leading: Leading) -> Witness | None:
    """Spread leaders by at most one; where that cannot be, as evenly as can be, and why it cannot."""
    if not leading.eligible or leading.spread() <= 1:
        return None
    total = sum(leading.loads[broker] for broker in leading.eligible)
    low = total // len(leading.eligible)
    high = -(-total // len(leading.eligible))
    leading.direct(low, high)
    leading.push(high, high)
    leading.push(low, low)
    if leading.spread() <= 1:
        return None
    _as_even_as_can_be(leading)
    return _witness(leading, low, high)


def _as_even_as_can_be(leading: Leading) -> None:
    """From the top: whoever leads most passes on to whoever leads at least two less, until nobody can."""
    everyone, left = leading.eligible, set(leading.eligible)
    while left:
        top = max(leading.loads[broker] for broker in left)
        leading.eligible = left
        leading.push(top - 1, top - 1)
        starts = sorted(broker for broker in left if leading.loads[broker] == top)
        if starts:
            left = left - leading.reached(starts)
    leading.eligible = everyone


def _witness(leading: Leading, low: int, high: int) -> Witness | None:
    loads = leading.loads
    starts = sorted(broker for broker in leading.eligible if loads[broker] > high)
    if starts:
        closed = sorted(leading.reached(starts))
        return Witness("too_many", tuple(closed), sum(loads[b] for b in closed), len(closed) * high)
    reached = leading.reached(sorted(broker for broker in leading.eligible if loads[broker] > low))
    short = sorted(leading.eligible - reached)
    if any(loads[broker] < low for broker in short):
        return Witness("too_few", tuple(short), sum(loads[b] for b in short), len(short) * low)
    return None
