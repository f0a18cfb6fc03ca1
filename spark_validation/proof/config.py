"""The arguments of job proof: one JSON object, checked whole before anything starts. Pure.

`FIELDS` is the one place where a key, its type and its meaning stand; docs/spark-validation.md repeats it and a test
compares the two.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from spark_validation.core import fields
from spark_validation.core.fields import Field, between

_PROOF = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True)
class Arguments:
    """The checked arguments of job `proof`; they are a `fields.Reach`."""

    run_id: str
    output_dir: str
    bootstrap_servers: list[str]
    topic: str
    proof: str
    kafka: dict[str, str] = field(default_factory=dict)
    timeout_seconds: int = 10
    mode: str = "read"

    def public(self) -> dict[str, Any]:
        """Return what a report may show: every argument, with secrets masked."""
        return {**{name: getattr(self, name) for name in FIELDS}, "kafka": fields.masked(self.kafka)}


FIELDS: dict[str, Field] = {
    "run_id": Field("string", "name of the run", True, fields.run_id),
    "output_dir": Field("string", "where result.json, report.html and progress.jsonl are written", True),
    "bootstrap_servers": Field("list of strings", "brokers to start from, host:port", True, fields.servers),
    "topic": Field("string", "topic of the proof", True, fields.topic),
    "proof": Field(
        "string", "id of the proof: its records begin with it", True, fields.matching(_PROOF, "8 hexadecimal digits")
    ),
    "kafka": Field("map of strings", "native Kafka client properties", rule=fields.client_properties),
    "timeout_seconds": Field("integer", "how long a client waits for a broker", rule=between(1, 600)),
}


def parse(raw: Any) -> Arguments:
    """A decoded arguments file -> Arguments; raises BadArgumentsError with every problem found."""
    return Arguments(**fields.checked(raw, FIELDS))
