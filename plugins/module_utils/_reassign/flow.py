# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Minimum-cost flow over placements: brokers with too much give to brokers with too little by the fewest moves.

The network is source -> partition (its replicas) -> (partition, rack) (the rack rule) -> broker (at most one, cost 0
where the replica is at home, else 1) -> class of brokers. Where topics are bounded, a layer comes between: -> (topic,
broker) -> broker; each topic is a placement of its own then. What holds replicas directly is a leaf, all others are
above leaves. The network is never built: a step from leaf a to leaf b is a partition on a whose replica may go to b,
and costs 1 (a move), 0 (a move goes elsewhere, or comes back to another home) or -1 (a move is taken back); a step up
or down costs nothing. Starting from a placement in which each partition has only the moves that it needs by itself,
shortest augmenting paths keep the cost minimal for the loads reached so far (successive shortest paths), so that the
wanted loads are reached by M* moves. All paths of one length are taken in one sweep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from .._core.errors import StreamopsError
from .racks import Share, bits
from .state import Placement

#: A path is measured by moves first, by steps second: a label is moves * _MOVE + steps, and no path has _MOVE steps.
_MOVE = 1 << 32
#: No partition: a step up or down. Also no node: nothing is above.
_NONE = -1


class Flow:
    """Paths in placements. Nodes are leaves (part * brokers + broker), brokers where parts are bounded, then classes.

    C(parts) are placements of different partitions on the same brokers. Either there is one, or each has its box in
    C(boxes): the least and the most that each broker may hold of it. C(shares) are the classes of brokers.
    C(counted): steps cost what they move; otherwise nothing, so that loads alone matter. C(free): only steps that move
    nothing are allowed, and who leads stays.
    """

    def __init__(
        self,
        parts: Sequence[Placement],
        shares: Sequence[Share] = (),
        boxes: Sequence[Share] = (),
        counted: bool = True,
        free: bool = False,
    ) -> None:
        self.parts = parts
        self.boxes = boxes
        self.counted = counted
        self.free = free
        self.brokers = len(parts[0].loads)
        self.leaves = self.brokers * len(parts)
        #: The node of broker 0 where all that a broker holds comes together.
        self.base = self.leaves if boxes else 0
        above = self.brokers if boxes else 0
        count = self.leaves + above + len(shares)
        self.low = [0] * count
        self.high = [0] * count
        self.up = [_NONE] * count
        self.down: dict[int, Sequence[int]] = {}
        #: What a node hands up, and what the nodes above leaves are handed.
        self.out = [0] * count
        self.held = [0] * count
        self.active = 0
        for part, box in enumerate(boxes):
            self._bound(part, box)
        for number, share in enumerate(shares):
            self._gather(self.leaves + above + number, share)
        self.refresh()
        self.label: dict[int, int] = {}
        self.layers: list[dict[int, int]] = []
        self.parent: dict[int, tuple[int, int]] = {}
        self.torn: list[dict[int, list[int]]] = []
        #: By part the brokers from whose leaves a sweep found no further way.
        self.dead: list[int] = []

    def _bound(self, part: int, box: Share) -> None:
        for broker, low, high in box.each():
            leaf = part * self.brokers + broker
            self.low[leaf], self.high[leaf], self.up[leaf] = low, high, self.base + broker
            self.active |= 1 << broker

    def _gather(self, node: int, share: Share) -> None:
        self.low[node] = self.high[node] = share.total
        self.down[node] = [self.base + broker for broker in share.brokers]
        for broker, low, high in share.each():
            below = self.base + broker
            self.low[below], self.high[below], self.up[below] = low, high, node
            self.active |= 1 << broker

    def between(self, active: int, low: int, high: int) -> None:
        """Set the same bounds for a set of brokers; those of the others are not looked at."""
        self.active = active
        for broker in range(self.brokers):
            self.low[self.base + broker], self.high[self.base + broker] = low, high

    def refresh(self) -> None:
        """Count again what nodes hand up, after loads were changed by others."""
        self.held = [0] * len(self.up)
        for node, above in enumerate(self.up):
            if above != _NONE:
                self.out[node] = min(max(self.load(node), self.low[node]), self.high[node])
                self.held[above] += self.out[node]

    def load(self, node: int) -> int:
        """Return how much comes into a node."""
        if node >= self.leaves:
            return self.held[node]
        return self.parts[node // self.brokers].loads[node % self.brokers]

    def broker_load(self, broker: int) -> int:
        """Return how much a broker holds of all parts."""
        return self.load(self.base + broker)

    def excess(self, node: int) -> int:
        """Return how much a node has too much (negative: too little)."""
        load = self.load(node)
        if self.up[node] != _NONE:
            return load - self.out[node]
        return max(load - self.high[node], 0) + min(load - self.low[node], 0)

    def nodes(self) -> Iterator[int]:
        """All nodes that a path may begin or end at."""
        if self.base:
            yield from (leaf for leaf in range(self.leaves) if self.up[leaf] != _NONE)
        yield from (self.base + broker for broker in bits(self.active))
        yield from self.down

    def settled(self) -> bool:
        """Return whether every node has what it shall have."""
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

    def reached(self, brokers: Sequence[int]) -> int:
        """The brokers that can be reached from these, themselves included."""
        self._search([self.base + broker for broker in brokers], None)
        return sum(1 << node - self.base for node in self.label if self.base <= node < self.base + self.brokers)

    # -- labels: how far every node is -----------------------------------------------------------------------------

    def _search(self, starts: Sequence[int], most: int | None) -> None:
        self.label = dict.fromkeys(starts, 0)
        self.layers = [{} for _part in self.parts]
        for start in starts:
            self._layer(start, 0)
        self.parent = {}
        self.torn = [part.torn() for part in self.parts]
        queue = [(0, start) for start in starts]
        heapify(queue)
        while queue:
            label, node = heappop(queue)
            if label > self.label[node]:
                continue
            if label < -_MOVE * (len(self.up) + 2):
                raise StreamopsError("Reassignment: the planner began with a move too many. Nothing was changed.")
            for step, partition, new in self._relaxed(node, label, most):
                old = self.label.get(step)
                if old is not None and step < self.leaves:
                    self.layers[step // self.brokers][old] &= ~(1 << step % self.brokers)
                self._layer(step, new)
                self.label[step] = new
                self.parent[step] = (node, partition)
                heappush(queue, (new, step))

    def _layer(self, node: int, label: int) -> None:
        if node < self.leaves:
            layer = self.layers[node // self.brokers]
            layer[label] = layer.get(label, 0) | 1 << node % self.brokers

    def _worse(self, part: int, label: int) -> int:
        """The brokers of whose leaves a path of this label would be nearer than any found so far."""
        mask = self.active
        for found, brokers in self.layers[part].items():
            if found <= label:
                mask &= ~brokers
        return mask

    def _relaxed(self, node: int, label: int, most: int | None) -> Iterator[tuple[int, int, int]]:
        """The nodes that are nearer through this one: node, partition of the step, label."""
        for step in self._beside(node):
            if self.label.get(step, label + 2) > label + 1:
                yield step, _NONE, label + 1
        if node >= self.leaves:
            return
        part, broker = divmod(node, self.brokers)
        first = node - broker
        worse = {cost: self._worse(part, label + cost * _MOVE + 1) for cost in (-1, 0, 1)}
        for partition, cost, room in self._exits(part, broker, worse, most):
            hit = room & worse[cost]
            for dearer in range(cost, 2):
                worse[dearer] &= ~hit
            for step in bits(hit):
                yield first + step, partition, label + cost * _MOVE + 1

    def _beside(self, node: int) -> Iterator[int]:
        """The nodes above and below that a unit may be handed to, or taken back from."""
        above = self.up[node]
        if above != _NONE and self.out[node] < self.high[node]:
            yield above
        if node >= self.leaves:
            below = self.down.get(node)
            for step in below if below is not None else range(node - self.base, self.leaves, self.brokers):
                if self.up[step] == node and self.out[step] > self.low[step]:
                    yield step

    def _exits(
        self, part: int, broker: int, wanted: dict[int, int], most: int | None
    ) -> Iterator[tuple[int, int, int]]:
        """Yield what may leave a leaf: partition, cost, and the brokers that it may go to at that cost.

        Partitions are looked at only as long as C(wanted), by cost, asks for any broker.
        """
        placement, price = self.parts[part], 1 if self.counted else 0
        for partition in list(placement.guests[broker]):
            if not wanted[0] | wanted[-price]:
                break
            # A path taken since the list was made may have led it away.
            if partition in placement.guests[broker] and partition not in placement.pinned:
                room, left = placement.room(partition, broker), placement.left(partition)
                if room & left:
                    yield partition, -price, room & left
                yield partition, 0, room & ~left
        for partition in self.torn[part].get(broker, ()):
            if not wanted[0]:
                break
            if broker in placement.at(partition) and not (self.free and broker == placement.had[partition][0]):
                yield partition, 0, placement.room(partition, broker) & placement.left(partition)
        if self.free or (most is not None and most < 1) or not wanted[price]:
            return
        reach = placement.reach(broker)
        if not wanted[price] & reach:
            return
        for partition, room in placement.leaving_home(broker):
            yield partition, price, room
            if not wanted[price] & reach:
                return

    # -- pushing ---------------------------------------------------------------------------------------------------

    def _sweep(self, starts: Sequence[int], moves: int) -> int:
        """Take paths along the labels, each step one nearer, until no more is found; how many were taken."""
        arcs: dict[int, Iterator[tuple[int, int]]] = {}
        self.dead = [0] * len(self.parts)
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
        used: set[tuple[int, int]] = set()
        node = start
        while True:
            if path and self.excess(node) < 0 and self.label[node] // _MOVE == moves:
                return path
            if node not in arcs:
                arcs[node] = self._arcs(node)
            part = node // self.brokers
            step = next((arc for arc in arcs[node] if (part, arc[1]) not in used), None)
            if step is not None:
                path.append((node, step[0], step[1]))
                if step[1] != _NONE:
                    used.add((part, step[1]))
                node = step[0]
            elif path:
                if node < self.leaves:
                    self.dead[part] |= 1 << node % self.brokers
                node, _to, partition = path.pop()
                used.discard((node // self.brokers, partition))
            else:
                return None

    def _arcs(self, node: int) -> Iterator[tuple[int, int]]:
        """The steps from a node to nodes labelled one step farther, as the placement is when each is asked for."""
        label = self.label[node]
        for step in self._beside(node):
            if self.label.get(step) == label + 1:
                yield step, _NONE
        if node >= self.leaves:
            return
        part, broker = divmod(node, self.brokers)
        placement, first = self.parts[part], node - broker
        layers = {cost: self.layers[part].get(label + cost * _MOVE + 1, 0) for cost in (-1, 0, 1)}
        any_layer = layers[-1] | layers[0] | layers[1]
        for partition, cost, room in self._exits(part, broker, layers, None):
            if not any_layer & ~self.dead[part]:
                return
            hit = room & layers[cost] & ~self.dead[part]
            # Paths are taken between one step asked for and the next: what was true then may not be now.
            while hit and broker in placement.at(partition):
                hit &= placement.room(partition, broker) & ~self.dead[part]
                if hit:
                    low = hit & -hit
                    hit ^= low
                    yield first + low.bit_length() - 1, partition

    def _push(self, path: list[tuple[int, int, int]]) -> None:
        for leaving, coming, partition in path:
            if partition != _NONE:
                part, broker = divmod(leaving, self.brokers)
                self.parts[part].swap(partition, broker, coming % self.brokers)
            elif self.up[leaving] == coming:
                self.out[leaving] += 1
                self.held[coming] += 1
            else:
                self.out[coming] -= 1
                self.held[leaving] -= 1

    def _shortest(self, goal: int) -> list[tuple[int, int, int]]:
        """The path that the search itself found to the nearest node that has too little."""
        node = min(node for node, label in self.label.items() if label == goal and self.excess(node) < 0)
        path: list[tuple[int, int, int]] = []
        while node in self.parent:
            before, partition = self.parent[node]
            path.append((before, node, partition))
            node = before
        return path[::-1]
