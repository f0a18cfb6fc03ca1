# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Minimum-cost flow over a placement: brokers with too much give to brokers with too little by the fewest moves.

The network is source -> partition (its replicas) -> (partition, rack) (the rack rule) -> broker (at most one, cost 0
where the replica is at home, else 1) -> class of brokers. It is never built: a step from broker a to broker b is a
partition on a whose replica may go to b, and costs 1 (a move), 0 (a move goes elsewhere, or comes back to another
home) or -1 (a move is taken back). Starting from a placement in which each partition has only the moves that it needs
by itself, shortest augmenting paths keep the cost minimal for the loads reached so far (successive shortest paths), so
that the wanted loads are reached by M* moves. All paths of one length are taken in one sweep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from ansible_collections.streamops.kafka.plugins.module_utils._errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_racks import bits
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_shares import Share
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_state import Placement

#: A path is measured by moves first, by steps second: a label is moves * _MOVE + steps, and no path has _MOVE steps.
_MOVE = 1 << 20
#: The partition of a step between a broker and its class.
_NONE = -1


class Flow:
    """Paths in a placement. Nodes are the brokers and after them the classes of C(shares).

    C(counted): steps cost what they move; otherwise nothing, so that loads alone matter. C(free): only steps that move
    nothing are allowed, and who leads stays.
    """

    def __init__(
        self, placement: Placement, shares: Sequence[Share] = (), counted: bool = True, free: bool = False
    ) -> None:
        self.placement = placement
        self.shares = shares
        self.counted = counted
        self.free = free
        self.brokers = len(placement.loads)
        self.active = 0
        self.low = [0] * self.brokers
        self.high = [0] * self.brokers
        self.share_of = [_NONE] * self.brokers
        self.spare: list[int] = []
        for number, share in enumerate(shares):
            for broker, low, high in share.each():
                self.low[broker], self.high[broker], self.share_of[broker] = low, high, number
                self.active |= 1 << broker
        self.refresh()
        self.label: dict[int, int] = {}
        self.layers: dict[int, int] = {}
        self.parent: dict[int, tuple[int, int]] = {}
        self.torn: dict[int, list[int]] = {}
        #: Nodes from which a sweep found no further way.
        self.dead = 0

    def between(self, active: int, low: int, high: int) -> None:
        """Set the same bounds for a set of brokers; the others take no part."""
        self.active = active
        self.low = [low] * self.brokers
        self.high = [high] * self.brokers

    def refresh(self) -> None:
        """Count again what classes have too much, after loads were changed by others."""
        loads = self.placement.loads
        self.spare = [
            sum(min(max(loads[b], low), high) for b, low, high in share.each()) - share.total for share in self.shares
        ]

    def excess(self, node: int) -> int:
        """How much a node has too much (negative: too little)."""
        if node >= self.brokers:
            return self.spare[node - self.brokers]
        load = self.placement.loads[node]
        return max(load - self.high[node], 0) + min(load - self.low[node], 0)

    def nodes(self) -> Iterator[int]:
        """All nodes that a path may begin or end at."""
        yield from bits(self.active)
        yield from range(self.brokers, self.brokers + len(self.shares))

    def settled(self) -> bool:
        """Whether every node has what it shall have."""
        return all(self.excess(node) == 0 for node in self.nodes())

    def run(self, most: int | None = None) -> bool:
        """Push as long as there is a path, of at most C(most) moves; whether every node has what it shall have."""
        while True:
            starts = [node for node in self.nodes() if self.excess(node) > 0]
            self._search(starts, most)
            goals = [label for node, label in self.label.items() if self.excess(node) < 0]
            goal = min(goals, default=None)
            if goal is None or (most is not None and goal // _MOVE > most):
                return self.settled()
            if not self._sweep(starts, goal // _MOVE):
                self._push(self._shortest(goal))

    def reached(self, starts: Sequence[int]) -> int:
        """The brokers that can be reached from these, themselves included."""
        self._search(starts, None)
        return sum(1 << node for node in self.label if node < self.brokers)

    # -- labels: how far every node is -----------------------------------------------------------------------------

    def _search(self, starts: Sequence[int], most: int | None) -> None:
        self.label = dict.fromkeys(starts, 0)
        self.layers = {0: sum(1 << start for start in starts if start < self.brokers)}
        self.parent = {}
        self.torn = self.placement.torn()
        queue = [(0, start) for start in starts]
        heapify(queue)
        while queue:
            label, node = heappop(queue)
            if label > self.label[node]:
                continue
            if label < -_MOVE * (self.brokers + 2):
                raise StreamopsError("Reassignment: the planner began with a move too many. Nothing was changed.")
            for step, partition, new in self._relaxed(node, label, most):
                old = self.label.get(step)
                if step < self.brokers:
                    if old is not None:
                        self.layers[old] &= ~(1 << step)
                    self.layers[new] = self.layers.get(new, 0) | 1 << step
                self.label[step] = new
                self.parent[step] = (node, partition)
                heappush(queue, (new, step))

    def _worse(self, label: int) -> int:
        """The brokers that a path of this label would be nearer to than any found so far."""
        mask = self.active
        for found, brokers in self.layers.items():
            if found <= label:
                mask &= ~brokers
        return mask

    def _relaxed(self, node: int, label: int, most: int | None) -> Iterator[tuple[int, int, int]]:
        """The nodes that are nearer through this one: node, partition of the step, label."""
        if node >= self.brokers:
            yield from self._from_class(node, label)
            return
        number = self.share_of[node]
        if number >= 0 and self.placement.loads[node] < self.high[node]:
            step = self.brokers + number
            if self.label.get(step, label + 2) > label + 1:
                yield step, _NONE, label + 1
        worse = {cost: self._worse(label + cost * _MOVE + 1) for cost in (-1, 0, 1)}
        for partition, cost, room in self._exits(node, worse, most):
            hit = room & worse[cost]
            for dearer in range(cost, 2):
                worse[dearer] &= ~hit
            for step in bits(hit):
                yield step, partition, label + cost * _MOVE + 1

    def _from_class(self, node: int, label: int) -> Iterator[tuple[int, int, int]]:
        for broker in self.shares[node - self.brokers].brokers:
            if self.placement.loads[broker] > self.low[broker] and self.label.get(broker, label + 2) > label + 1:
                yield broker, _NONE, label + 1

    def _exits(self, node: int, wanted: dict[int, int], most: int | None) -> Iterator[tuple[int, int, int]]:
        """What may leave a broker: partition, cost, and where it may go at that cost.

        Partitions are looked at only as long as C(wanted), by cost, asks for any broker.
        """
        placement, price = self.placement, 1 if self.counted else 0
        for partition in list(placement.guests[node]):
            if not wanted[0] | wanted[-price]:
                break
            # A path taken since the list was made may have led it away.
            if partition in placement.guests[node] and partition not in placement.pinned:
                room, left = placement.room(partition, node), placement.left(partition)
                if room & left:
                    yield partition, -price, room & left
                yield partition, 0, room & ~left
        for partition in self.torn.get(node, ()):
            if not wanted[0]:
                break
            if node in placement.at(partition) and not (self.free and node == placement.had[partition][0]):
                yield partition, 0, placement.room(partition, node) & placement.left(partition)
        if self.free or (most is not None and most < 1) or not wanted[price]:
            return
        reach = placement.reach(node)
        if not wanted[price] & reach:
            return
        for partition, room in placement.leaving_home(node):
            yield partition, price, room
            if not wanted[price] & reach:
                return

    # -- pushing ---------------------------------------------------------------------------------------------------

    def _sweep(self, starts: Sequence[int], moves: int) -> int:
        """Take paths along the labels, each step one nearer, until no more is found; how many were taken."""
        arcs: dict[int, Iterator[tuple[int, int]]] = {}
        self.dead = 0
        taken = 0
        for start in starts:
            # One that is nearer through another is no beginning of a shortest path.
            while self.label[start] == 0 and self.excess(start) > 0:
                path = self._dive(start, moves, arcs)
                if path is None:
                    break
                self._push(path)
                taken += 1
        return taken

    def _dive(
        self, start: int, moves: int, arcs: dict[int, Iterator[tuple[int, int]]]
    ) -> list[tuple[int, int, int]] | None:
        """A path from a node to one that has too little: steps (from, to, partition)."""
        path: list[tuple[int, int, int]] = []
        used: set[int] = set()
        node = start
        while True:
            if path and self.excess(node) < 0 and self.label[node] // _MOVE == moves:
                return path
            if node not in arcs:
                arcs[node] = self._arcs(node)
            step = next((arc for arc in arcs[node] if arc[1] not in used), None)
            if step is not None:
                path.append((node, step[0], step[1]))
                if step[1] != _NONE:
                    used.add(step[1])
                node = step[0]
            elif path:
                self.dead |= 1 << node
                node, _to, partition = path.pop()
                used.discard(partition)
            else:
                return None

    def _arcs(self, node: int) -> Iterator[tuple[int, int]]:
        """The steps from a node to nodes labelled one step farther, as the placement is when each is asked for."""
        label = self.label[node]
        if node >= self.brokers:
            for broker in self.shares[node - self.brokers].brokers:
                if self.placement.loads[broker] > self.low[broker] and self.label.get(broker) == label + 1:
                    yield broker, _NONE
            return
        number = self.share_of[node]
        above = self.brokers + number
        if number >= 0 and self.label.get(above) == label + 1 and self.placement.loads[node] < self.high[node]:
            yield above, _NONE
        layers = {cost: self.layers.get(label + cost * _MOVE + 1, 0) for cost in (-1, 0, 1)}
        any_layer = layers[-1] | layers[0] | layers[1]
        for partition, cost, room in self._exits(node, layers, None):
            if not any_layer & ~self.dead:
                return
            hit = room & layers[cost] & ~self.dead
            # Paths are taken between one step asked for and the next: what was true then may not be now.
            while hit and node in self.placement.at(partition):
                hit &= self.placement.room(partition, node) & ~self.dead
                if hit:
                    low = hit & -hit
                    hit ^= low
                    yield low.bit_length() - 1, partition

    def _push(self, path: list[tuple[int, int, int]]) -> None:
        for leaving, coming, partition in path:
            if partition != _NONE:
                self.placement.swap(partition, leaving, coming)
        for node, by in ((path[0][0], -1), (path[-1][1], 1)):
            if node >= self.brokers:
                self.spare[node - self.brokers] += by

    def _shortest(self, goal: int) -> list[tuple[int, int, int]]:
        """The path that the search itself found to the nearest node that has too little."""
        node = min(node for node, label in self.label.items() if label == goal and self.excess(node) < 0)
        path: list[tuple[int, int, int]] = []
        while node in self.parent:
            before, partition = self.parent[node]
            path.append((before, node, partition))
            node = before
        return path[::-1]
