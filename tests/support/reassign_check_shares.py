"""What brokers shall hold at the most even, by weight: found by trying all sets of racks, without the planner.

A set of racks must hold at the least what no other rack may take. The racks that must hold most by weight are a class:
nothing makes them hold less. What is left is shared by the others, again and again.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.reassign_check import Network


@dataclass
class Class:
    """Brokers that hold together at least C(total), and each its part of it by weight."""

    parts: dict[int, Fraction]
    total: int


def classes_of(network: Network, sizes: Sequence[int], weights: Mapping[int, Fraction]) -> list[Class]:
    """The classes, the fullest first. C(sizes) of partitions: bytes, or 1 each where replicas are counted."""
    members: dict[str, list[int]] = {}
    for b in sorted(weights):
        members.setdefault(network.rack[b], []).append(b)
    kinds: Counter[tuple[int, int, int]] = Counter()
    for p, (low, high) in enumerate(network.bounds):
        kinds[network.wanted[p], low, high] += sizes[p]
    heavy = {rack: sum((weights[b] for b in brokers), Fraction(0)) for rack, brokers in members.items()}

    def least(racks: frozenset[str]) -> int:
        """What these racks hold together at the least."""
        found = 0
        for (wanted, low, high), size in kinds.items():
            elsewhere = sum(min(high, len(brokers)) for rack, brokers in members.items() if rack not in racks)
            found += size * max(sum(min(low, len(members[rack])) for rack in racks), wanted - elsewhere)
        return found

    found: list[Class] = []
    done: frozenset[str] = frozenset()
    while len(done) < len(members):
        left = sorted(set(members) - done)
        density, _count, chosen = max(
            (Fraction(least(done | set(some)) - least(done)) / sum(heavy[rack] for rack in some), len(some), some)
            for count in range(1, len(left) + 1)
            for some in itertools.combinations(left, count)
        )
        parts = {b: density * weights[b] for rack in chosen for b in members[rack]}
        found.append(Class(parts, least(done | set(chosen)) - least(done)))
        done |= set(chosen)
    return found
