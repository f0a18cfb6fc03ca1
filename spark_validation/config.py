"""The arguments of a job: one JSON object, checked whole before anything starts. Pure.

`FIELDS` is the one place where a key, its type, its default and its meaning stand; docs/spark-validation.md repeats it
and a test compares the two.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from spark_validation.errors import BadArgumentsError

OWN_TOPIC = "_streamops_smoke"
MODES = ("run", "audit")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_SECRET = re.compile(r"password|secret|token|jaas|\.key$|credential", re.IGNORECASE)

# Spark refuses the first group itself, with an exception in the middle of a run; the job sets the second.
_NOT_YOURS = {
    "auto.offset.reset": "the job reads frozen offset ranges",
    "enable.auto.commit": "the job commits no offsets",
    "interceptor.classes": "Spark refuses it",
    "key.serializer": "Spark sets it",
    "value.serializer": "Spark sets it",
    "key.deserializer": "Spark sets it",
    "value.deserializer": "Spark sets it",
    "group.id": "Spark makes one group per query",
    "bootstrap.servers": "use the key bootstrap_servers",
    "acks": "the job proves acks=all",
    "enable.idempotence": "the job proves the idempotent producer",
    "transactional.id": "Spark's sink has no transactions",
    "isolation.level": "the job reads read_committed",
}


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
        """What a report may show: every argument but the layout (it has its own place), with secrets masked."""
        shown = {name: getattr(self, name) for name in FIELDS if name != "layout"}
        shown["kafka"] = {key: "***" if _SECRET.search(key) else value for key, value in sorted(self.kafka.items())}
        return shown


@dataclass(frozen=True)
class Field:
    """One key: the JSON types it takes (for the message and the check), whether it must be given, what it means."""

    kind: str
    meaning: str
    required: bool = False
    rule: Callable[[Any], str | None] = lambda _value: None


def _between(low: int, high: int) -> Callable[[Any], str | None]:
    return lambda value: None if low <= value <= high else f"{value} is not between {low} and {high}"


def _matches(pattern: re.Pattern[str], what: str) -> Callable[[Any], str | None]:
    return lambda value: None if pattern.fullmatch(value) else f"{value!r} is not {what}"


def _mode(value: str) -> str | None:
    return None if value in MODES else f"{value!r} is not one of {', '.join(MODES)}"


def _servers(value: list[str]) -> str | None:
    bad = [server for server in value if not re.fullmatch(r".+:\d{1,5}", server)]
    if not value:
        return "the list is empty"
    return f"not host:port: {', '.join(bad)}" if bad else None


def _client_properties(value: dict[str, str]) -> str | None:
    refused = [f"{key} ({_NOT_YOURS[key]})" for key in sorted(value) if key in _NOT_YOURS]
    refused += [f"{key} (write it without the prefix kafka.)" for key in sorted(value) if key.startswith("kafka.")]
    return f"not to be set here: {', '.join(refused)}" if refused else None


_COUNT = _between(1, 10_000_000_000)
FIELDS: dict[str, Field] = {
    "run_id": Field(
        "string",
        "name of the run, stands in every record",
        True,
        _matches(_RUN_ID, "1 to 32 letters, digits, dots, dashes or underscores"),
    ),
    "bootstrap_servers": Field("list of strings", "brokers to start from, host:port", True, _servers),
    "output_dir": Field("string", "where result.json, report.html, ledger.json and progress.jsonl are written", True),
    "mode": Field("string", "run: write and audit; audit: read an earlier run again, write nothing", rule=_mode),
    "kafka": Field(
        "map of strings",
        "native Kafka client properties, without prefix (security.protocol ...)",
        rule=_client_properties,
    ),
    "topic": Field("string", "topic to use; must exist", rule=_matches(_TOPIC, "a legal topic name")),
    "consent_topic": Field("string", "the same name again, needed for any topic but the own one"),
    "partitions": Field("integer", "how many partitions the topic must have (not checked when absent)", rule=_COUNT),
    "records": Field("integer", "how many records are written, at least one per partition", rule=_COUNT),
    "writers": Field("integer", "Spark tasks that write (default: two per core or more)", rule=_between(1, 100_000)),
    "payload_min_bytes": Field("integer", "smallest random payload of a record", rule=_between(0, 900_000)),
    "payload_max_bytes": Field("integer", "largest random payload of a record", rule=_between(1, 900_000)),
    "ledger_file": Field("string", "mode audit: ledger.json of the run that is audited again"),
    "layout": Field("object", "cluster_id, brokers and partitions as streamops.kafka.cluster_info returns them"),
    "topic_retention_seconds": Field("integer", "retention of the topic: records older than that cannot be judged"),
    "max_latency_p99_ms": Field("integer", "fail when 99 % of the appends took longer (no limit when absent)"),
    "stream_check": Field("boolean", "read the range a second time as a stream and compare"),
    "live_seconds": Field("integer", "length of the live streaming probe, 0 leaves it out", rule=_between(0, 600)),
    "timeout_seconds": Field(
        "integer", "how long a client waits for a broker that does not answer", rule=_between(1, 600)
    ),
}

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "list of strings": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "map of strings": lambda value: isinstance(value, dict) and all(isinstance(item, str) for item in value.values()),
}


def parse(raw: Any) -> Arguments:
    """A decoded arguments file -> Arguments; raises BadArgumentsError with every problem found."""
    if not isinstance(raw, dict):
        raise BadArgumentsError([f"the file must hold one JSON object, not {type(raw).__name__}"])
    given = {key: value for key, value in raw.items() if value is not None}
    problems = [f"unknown key {key!r}, known are: {', '.join(FIELDS)}" for key in sorted(set(given) - set(FIELDS))]
    problems += [f"{key} is required" for key, known in FIELDS.items() if known.required and key not in given]
    for key, known in FIELDS.items():
        if key in given:
            problems += _problems_of(key, known, given[key])
    if problems:
        raise BadArgumentsError(problems)
    arguments = Arguments(**given)
    problems = _problems_between(arguments)
    if problems:
        raise BadArgumentsError(problems)
    return arguments


def _problems_of(key: str, known: Field, value: Any) -> list[str]:
    if not _TYPES[known.kind](value):
        return [f"{key} must be a JSON {known.kind}, not {type(value).__name__}"]
    complaint = known.rule(value)
    return [f"{key}: {complaint}"] if complaint else []


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
