# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a cluster may go from one release of Kafka to another, and by which steps.

Kafka's upgrade pages: in KRaft mode 3.3 and later go straight to any 4.x, older ones by way of 3.9; ZooKeeper mode ends
with 3.9, so such a cluster migrates to KRaft there first. Going down is no upgrade but a way back, of its own name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...module_utils._core.cves import numbers

Direction = Literal["same", "up", "back"]

KRAFT, ZOOKEEPER = "kraft", "zookeeper"
#: The first release whose clusters go straight to 4.x, and the last line that runs beside ZooKeeper.
STRAIGHT, BRIDGE = (3, 3), (3, 9)


@dataclass(frozen=True)
class UpgradePath:
    """The way from one release to another.

    direction -- of the two releases; steps -- the legal way, releases and what is to be done between them; why, fix --
    of a way that is not legal in one step, else empty
    """

    direction: Direction
    steps: tuple[str, ...]
    why: str = ""
    fix: str = ""

    @property
    def legal(self) -> bool:
        """Return whether one run may go the whole way."""
        return not self.why

    @property
    def text(self) -> str:
        """The legal way on one line."""
        return " -> ".join(self.steps)


def upgrade_path(from_version: str, to_version: str, mode: str, known: Sequence[str]) -> UpgradePath:
    """Return the way from a release to another; mode is kraft or zookeeper, known the releases that can be installed.

    Raises ValueError for a running version or a mode that is none.
    """
    if mode not in (KRAFT, ZOOKEEPER):
        raise ValueError(f"mode must be {KRAFT} or {ZOOKEEPER}, not {mode!r}")
    before = _numbers(from_version)
    if to_version not in known:
        why = f"this collection does not have Kafka {to_version}"
        return UpgradePath("same", (from_version,), why, f"set kafka_version to one of {', '.join(known)}")
    after = _numbers(to_version)
    if after == before:
        return UpgradePath("same", (to_version,))
    if after < before:
        return UpgradePath("back", (from_version, to_version))
    return _up(from_version, to_version, mode, known)


def mode_of(kafka_mode: str) -> str:
    """Return the mode of a path for a kafka_mode (kraft_combined, kraft_isolated, zookeeper)."""
    return ZOOKEEPER if kafka_mode == ZOOKEEPER else KRAFT


def _up(from_version: str, to_version: str, mode: str, known: Sequence[str]) -> UpgradePath:
    before, after = _numbers(from_version), _numbers(to_version)
    bridges = sorted((one for one in known if _numbers(one)[:2] == BRIDGE), key=_numbers)
    bridge = bridges[-1] if bridges else "3.9"
    first = [from_version] if before >= _numbers(bridge)[:2] else [from_version, bridge]
    if mode == ZOOKEEPER and after >= (4,):
        steps = (*first, "migrate to KRaft", to_version)
        why = f"Kafka {to_version} has no ZooKeeper mode"
        return UpgradePath("up", steps, why, f"take the steps one by one: {' -> '.join(steps)}")
    if mode == KRAFT and before[:2] < STRAIGHT and after >= (4,):
        steps = (from_version, bridge, to_version)
        why = f"Kafka {to_version} does not read what {from_version} has written (metadata before 3.3)"
        fix = f"set kafka_version to {bridge} and finalise its features first: {' -> '.join(steps)}"
        return UpgradePath("up", steps, why, fix)
    return UpgradePath("up", (from_version, to_version))


def _numbers(version: str) -> tuple[int, ...]:
    found = numbers(version)
    if len(found) < 2:
        raise ValueError(f"{version!r} is no release of Kafka; write it in full, such as 4.3.1")
    return found
