# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Moves into the fewest rounds, so that in each round no broker sends or receives more than so many replicas.

From leader to receiver the moves are the edges of a bipartite multigraph. A broker with d moves is split into
copies of at most C = max ceil(d / k) edges each; such a graph can be coloured with C colours (D. Koenig, 1916), by
exchanging two colours along a path where an edge finds none that is free at both of its ends. So rounds = C, the
least possible. A partition that gets several replicas at once is no edge; plans with such are coloured first fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from .model import Change


def rounds_of(
    moving: Sequence[Change], leaders: Sequence[int], size: Callable[[int], int], most: int
) -> tuple[list[list[Change]], int]:
    """Rounds of changes, big ones with big ones, and the fewest rounds that there can be."""
    ordered = sorted(moving, key=lambda change: (-size(change.partition), change.partition))
    sends: Counter[int] = Counter()
    gets: Counter[int] = Counter()
    for change in ordered:
        # A partition that gets more replicas than that has a round to itself.
        sends[leaders[change.partition]] += min(len(change.added), most)
        gets.update(change.added)
    bound = max((-(-count // most) for side in (sends, gets) for count in side.values()), default=0)
    if all(len(change.added) == 1 for change in ordered):
        colours = _Colouring(bound).colours([(leaders[change.partition], change.added[0]) for change in ordered])
    else:
        colours = _first_fit(ordered, leaders, most)
    rounds: list[list[Change]] = [[] for _round in range(max(colours, default=-1) + 1)]
    for place, colour in enumerate(colours):
        rounds[colour].append(ordered[place])
    return [changes for changes in rounds if changes], bound


def _first_fit(changes: Sequence[Change], leaders: Sequence[int], most: int) -> list[int]:
    """The first round for each change in which all its brokers have room.

    A change with more new replicas than that has a round to itself at its leader.
    """
    used: dict[tuple[str, int], list[int]] = {}
    full: dict[tuple[str, int], int] = {}
    found = []
    for change in changes:
        ends = [("sends", leaders[change.partition], min(len(change.added), most))]
        ends += [("gets", broker, 1) for broker in change.added]
        taken = 0
        for kind, broker, _need in ends:
            taken |= full.get((kind, broker), 0)
        colour = _lowest_free(taken)
        while any(_used(used, (kind, broker), colour) + need > most for kind, broker, need in ends):
            colour += 1
        for kind, broker, need in ends:
            counts = used[kind, broker]
            counts[colour] += need
            if counts[colour] >= most:
                full[kind, broker] = full.get((kind, broker), 0) | 1 << colour
        found.append(colour)
    return found


def _used(used: dict[tuple[str, int], list[int]], end: tuple[str, int], colour: int) -> int:
    counts = used.setdefault(end, [])
    counts += [0] * (colour + 1 - len(counts))
    return counts[colour]


def _lowest_free(taken: int) -> int:
    """The lowest number that is not in a set of bits."""
    return (~taken & (taken + 1)).bit_length() - 1


class _Colouring:
    """Edge colouring of a bipartite multigraph of degree C(count) with as many colours."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.used: dict[tuple[str, int, int], int] = {}
        self.edge_at: dict[tuple[tuple[str, int, int], int], int] = {}
        self.ends: list[tuple[tuple[str, int, int], tuple[str, int, int]]] = []
        self.found: list[int] = []

    def colours(self, edges: Sequence[tuple[int, int]]) -> list[int]:
        """The colour of each edge (from, to)."""
        degree: Counter[tuple[str, int]] = Counter()
        for number, (sender, receiver) in enumerate(edges):
            ends = []
            for side, broker in (("sends", sender), ("gets", receiver)):
                # The copy of the broker that this edge belongs to.
                ends.append((side, broker, degree[side, broker] // self.count))
                degree[side, broker] += 1
            self.ends.append((ends[0], ends[1]))
            self.found.append(-1)
            self._colour(number)
        return self.found

    def _colour(self, number: int) -> None:
        one, other = self.ends[number]
        taken = self.used.get(one, 0) | self.used.get(other, 0)
        both = _lowest_free(taken)
        if both < self.count:
            self._paint(number, both)
            return
        mine, theirs = _lowest_free(self.used.get(one, 0)), _lowest_free(self.used.get(other, 0))
        self._exchange(other, mine, theirs)
        self._paint(number, mine)

    def _exchange(self, start: tuple[str, int, int], mine: int, theirs: int) -> None:
        """Exchange two colours along the path that leaves C(start) by the first, so that it becomes free there.

        The path cannot end at the other end of the new edge: the first colour is free there, and it has two sides.
        """
        path, at, colour = [], start, mine
        while (at, colour) in self.edge_at:
            edge = self.edge_at[at, colour]
            path.append((edge, colour))
            one, other = self.ends[edge]
            at = other if at == one else one
            colour = theirs if colour == mine else mine
        for edge, colour in path:
            self._wipe(edge, colour)
        for edge, colour in path:
            self._paint(edge, theirs if colour == mine else mine)

    def _wipe(self, number: int, colour: int) -> None:
        for end in self.ends[number]:
            self.used[end] &= ~(1 << colour)
            self.edge_at.pop((end, colour), None)

    def _paint(self, number: int, colour: int) -> None:
        self.found[number] = colour
        for end in self.ends[number]:
            self.used[end] = self.used.get(end, 0) | 1 << colour
            self.edge_at[end, colour] = number
