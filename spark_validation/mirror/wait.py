"""Wait until the mirror's own position has reached the frontier of every partition, and say how far it is meanwhile."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from spark_validation.core.cluster import Place
from spark_validation.core.progress import Progress
from spark_validation.mirror.position import Positions

_SAMPLES = 200
_EVERY_SECONDS = 2.0


@dataclass
class Waited:
    """How the wait ended. `behind`: offsets left by partition; `samples`: seconds since the start and offsets left."""

    behind: dict[Place, int] = field(default_factory=dict)
    positions: dict[Place, int] = field(default_factory=dict)
    samples: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def unknown(self, frontiers: dict[Place, int | None]) -> list[str]:
        """Topics that hold records, of which no partition has a position."""
        known = {topic for topic, _partition in self.positions}
        return sorted(
            {topic for (topic, _partition), last in frontiers.items() if last is not None and topic not in known}
        )

    def behind_by_topic(self) -> dict[str, int]:
        """Return how many offsets the mirror has still to pass of each topic that it has not finished."""
        lag: dict[str, int] = {}
        for (topic, _partition), count in self.behind.items():
            lag[topic] = lag.get(topic, 0) + count
        return lag


def left(frontiers: dict[Place, int | None], starts: dict[Place, int], positions: dict[Place, int]) -> dict[Place, int]:
    """Offsets that the mirror has still to pass, by partition; a partition without a record is done at once."""
    behind = {}
    for place, last in frontiers.items():
        if last is not None:
            count = last - max(positions.get(place, -1), starts[place] - 1)
            if count > 0:
                behind[place] = count
    return behind


def beyond(positions: dict[Place, int], ends: dict[Place, int]) -> dict[str, str]:
    """Topics of which a position lies where no record is yet, with the reason: it was that of a topic deleted since.

    ends -- the offsets after the last record, taken after the positions
    """
    return {
        place[0]: f"the mirror's position in partition {place[1]} is {positions[place]}, and the topic ends at {end}: "
        "it was made anew, and the mirror has not noticed"
        for place, end in ends.items()
        if positions.get(place, -1) >= end
    }


def wait(
    positions: Positions,
    frontiers: dict[Place, int | None],
    starts: dict[Place, int],
    seconds: float,
    progress: Progress,
) -> Waited:
    """Look until nothing is left or `seconds` are over; each change is one line of progress."""
    begun = time.monotonic()
    waited = Waited()
    total = sum(left(frontiers, starts, {}).values())
    shown: int | None = None
    while True:
        waited.positions = positions.look()
        waited.behind = left(frontiers, starts, waited.positions)
        waited.seconds = round(time.monotonic() - begun, 3)
        offsets = sum(waited.behind.values())
        if offsets != shown:
            text = f"{offsets:,} offsets left in {len(waited.behind):,} of {len(frontiers):,} partitions"
            progress.line("wait", text, total - offsets, total, "offsets")
            shown = offsets
        _sample(waited.samples, waited.seconds, offsets)
        if not waited.behind or waited.seconds >= seconds:
            return waited
        time.sleep(min(_EVERY_SECONDS, max(0.1, seconds - waited.seconds)))


def _sample(samples: list[dict[str, Any]], seconds: float, offsets: int) -> None:
    """Keep at most _SAMPLES, evenly: when they are too many, every second one goes."""
    samples.append({"seconds": seconds, "left": offsets})
    if len(samples) > _SAMPLES:
        del samples[1:-1:2]
