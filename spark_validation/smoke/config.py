"""The arguments of job smoke: one JSON object, checked whole before anything starts. Pure.

`FIELDS` is the one place where a key, its type, its default and its meaning stand; docs/spark-validation.md repeats it
and a test compares the two.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spark_validation.core import fields
from spark_validation.core.errors import BadArgumentsError
from spark_validation.core.fields import Field, between

OWN_TOPIC = "_streamops_smoke"
MODES = ("run", "audit")


@dataclass(frozen=True)
class Arguments:
    """The checked arguments of job `smoke`. Sizes in bytes, times in seconds unless the name says otherwise."""

    run_id: str
    bootstrap_servers: list[str]
    output_dir: str
    mode: str = "run"
    kafka: dict[str, str] = field(default_factory=dict)
    topic: str = OWN_TOPIC
    consent_topic: str | None = None
    partitions: int | None = None
    records: int = 100_000
    writers: int | None = None
    payload_min_bytes: int = 16
    payload_max_bytes: int = 256
    ledger_file: str | None = None
    layout: dict[str, Any] | None = None
    topic_retention_seconds: int | None = None
    max_latency_p99_ms: int | None = None
    stream_check: bool = True
    live_seconds: int = 5
    timeout_seconds: int = 10

    def public(self) -> dict[str, Any]:
        """Return what a report may show: every argument but the layout (it has its own place), with secrets masked."""
        shown = {name: getattr(self, name) for name in FIELDS if name != "layout"}
        shown["kafka"] = fields.masked(self.kafka)
        return shown


FIELDS: dict[str, Field] = {
    "run_id": Field("string", "name of the run, stands in every record", True, fields.run_id),
    "bootstrap_servers": Field("list of strings", "brokers to start from, host:port", True, fields.servers),
    "output_dir": Field("string", "where result.json, report.html, ledger.json and progress.jsonl are written", True),
    "mode": Field(
        "string", "run: write and audit; audit: read an earlier run again, write nothing", rule=fields.one_of(*MODES)
    ),
    "kafka": Field(
        "map of strings",
        "native Kafka client properties, without prefix (security.protocol ...)",
        rule=fields.client_properties,
    ),
    "topic": Field("string", "topic to use; must exist", rule=fields.topic),
    "consent_topic": Field("string", "the same name again, needed for any topic but the own one"),
    "partitions": Field(
        "integer", "how many partitions the topic must have (not checked when absent)", rule=fields.count
    ),
    "records": Field("integer", "how many records are written, at least one per partition", rule=fields.count),
    "writers": Field("integer", "Spark tasks that write (default: two per core or more)", rule=between(1, 100_000)),
    "payload_min_bytes": Field("integer", "smallest random payload of a record", rule=between(0, 900_000)),
    "payload_max_bytes": Field("integer", "largest random payload of a record", rule=between(1, 900_000)),
    "ledger_file": Field("string", "mode audit: ledger.json of the run that is audited again"),
    "layout": Field("object", "cluster_id, brokers and partitions as streamops.kafka.cluster_info returns them"),
    "topic_retention_seconds": Field("integer", "retention of the topic: records older than that cannot be judged"),
    "max_latency_p99_ms": Field("integer", "fail when 99 % of the appends took longer (no limit when absent)"),
    "stream_check": Field("boolean", "read the range a second time as a stream and compare"),
    "live_seconds": Field("integer", "length of the live streaming probe, 0 leaves it out", rule=between(0, 600)),
    "timeout_seconds": Field(
        "integer", "how long a client waits for a broker that does not answer", rule=between(1, 600)
    ),
}


def parse(raw: Any) -> Arguments:
    """A decoded arguments file -> Arguments; raises BadArgumentsError with every problem found."""
    arguments = Arguments(**fields.checked(raw, FIELDS))
    problems = _problems_between(arguments)
    if problems:
        raise BadArgumentsError(problems)
    return arguments


def _problems_between(arguments: Arguments) -> list[str]:
    problems = []
    if arguments.topic != OWN_TOPIC and arguments.consent_topic != arguments.topic and arguments.mode == "run":
        problems.append(
            f"topic {arguments.topic!r} is not the job's own topic {OWN_TOPIC!r}: records would be written into it; "
            f'set "consent_topic": "{arguments.topic}" to allow that'
        )
    if arguments.payload_min_bytes > arguments.payload_max_bytes:
        problems.append("payload_min_bytes is larger than payload_max_bytes")
    if arguments.mode == "audit" and not arguments.ledger_file:
        problems.append("ledger_file is required in mode audit: the ledger.json of the run to audit again")
    if arguments.writers is not None and arguments.writers > arguments.records:
        problems.append("writers is larger than records")
    return problems
