"""The ledger: what Spark knows was acknowledged, and where to look for it. Pure.

Spark's Kafka sink lets a task succeed only when every one of its sends was acknowledged (acks=all). So the records of
the attempts that Spark accepted are exactly the acknowledged ones; records of other attempts are leftovers of a failure
and neither loss nor duplicates.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_validation.core.errors import CannotRunError
from spark_validation.smoke.geometry import Geometry

SCHEMA = "streamops.spark_validation.ledger/1"


@dataclass(frozen=True)
class Ledger:
    """One finished write. `ranges`: partition -> first offset and the one after the last; times in epoch ms."""

    run_id: str
    topic: str
    cluster_id: str | None
    shape: Geometry
    final_attempts: dict[int, int]
    ranges: dict[int, tuple[int, int]]
    began_ms: int
    ended_ms: int

    @property
    def span(self) -> int:
        """Offsets in the frozen ranges, in records when nothing else was written meanwhile."""
        return sum(end - start for start, end in self.ranges.values())

    def save(self, path: Path) -> None:
        """Write the ledger as JSON."""
        path.write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """The ledger as JSON values."""
        return {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "topic": self.topic,
            "cluster_id": self.cluster_id,
            "records": self.shape.records,
            "partitions": self.shape.partitions,
            "writers": self.shape.writers,
            "final_attempts": {str(writer): attempt for writer, attempt in sorted(self.final_attempts.items())},
            "ranges": {str(index): list(offsets) for index, offsets in sorted(self.ranges.items())},
            "began_ms": self.began_ms,
            "ended_ms": self.ended_ms,
        }

    @classmethod
    def load(cls, path: Path) -> Ledger:
        """Read a ledger back; raises CannotRunError when the file is missing or is no ledger."""
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            if raw["schema"] != SCHEMA:
                raise ValueError(f"schema is {raw['schema']!r}, this version reads {SCHEMA!r}")
            return cls(
                run_id=raw["run_id"],
                topic=raw["topic"],
                cluster_id=raw["cluster_id"],
                shape=Geometry(raw["records"], raw["partitions"], raw["writers"]),
                final_attempts={int(writer): attempt for writer, attempt in raw["final_attempts"].items()},
                ranges={int(index): (start, end) for index, (start, end) in raw["ranges"].items()},
                began_ms=raw["began_ms"],
                ended_ms=raw["ended_ms"],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CannotRunError(f"ledger {path}", f"{type(error).__name__}: {error}") from error
