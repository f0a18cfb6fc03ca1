"""The arguments of job mirror_audit: one JSON object, checked whole before anything starts. Pure.

`FIELDS` is the one place where a key, its type and its meaning stand; docs/mirror-audit.md repeats it and a test
compares the two.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spark_validation.core import fields
from spark_validation.core.errors import BadArgumentsError
from spark_validation.core.fields import Field, between

LEGACY = "legacy"
EXACTLY_ONCE = "enabled"
# Of these a report shows how many there are.
_COUNTED = ("topics", "gaps", "marks")
# A bucket as wide as this is as good as none; a narrower one than a second makes more cells than records.
_BUCKET_SECONDS = (1, 30 * 86_400)


@dataclass(frozen=True)
class Cluster:
    """One side: `alias` is its name in the flow. Together with the seconds it is a `fields.Reach`."""

    alias: str
    bootstrap_servers: list[str]
    kafka: dict[str, str]
    timeout_seconds: int


@dataclass(frozen=True)
class Pair:
    """A topic of the source, and its name in the target."""

    source: str
    target: str


@dataclass(frozen=True)
class Arguments:
    """The checked arguments. Times in seconds unless the name says otherwise; `from_ms` is epoch milliseconds."""

    run_id: str
    output_dir: str
    source: Cluster
    target: Cluster
    pairs: list[Pair]
    flow: dict[str, str]
    offsets_topic: str | None = None
    group: str | None = None
    wait_seconds: int = 300
    bucket_seconds: int = 60
    max_examples: int = 20
    from_ms: int | None = None
    max_duplicates: int | None = None
    order_check: bool = True
    timeout_seconds: int = 10
    gaps: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    incremental: bool = False
    mode: str = "audit"
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def keeps_partitions(self) -> bool:
        """Return whether a record stands in the partition of its source: the legacy engine partitions anew."""
        return self.flow.get("engine") != LEGACY

    @property
    def exactly_once(self) -> bool:
        """Return whether a repeat is a fault."""
        return self.flow.get("exactly_once") == EXACTLY_ONCE

    def public(self) -> dict[str, Any]:
        """Return what a report may show: every argument, with secrets masked."""
        shown: dict[str, Any] = {
            name: self.given.get(name, getattr(self, name, None)) for name in FIELDS if name not in _COUNTED
        }
        for name in ("source", "target"):
            side: Cluster = getattr(self, name)
            shown[name] = {"alias": side.alias, "bootstrap_servers": side.bootstrap_servers}
            shown[name]["kafka"] = fields.masked(side.kafka)
        return {**shown, "topics": len(self.pairs), "gaps": len(self.gaps), "marks": len(self.marks)}


_SIDE: dict[str, Field] = {
    "alias": Field("string", "name of the cluster in the flow", True),
    "bootstrap_servers": Field("list of strings", "brokers to start from, host:port", True, fields.servers),
    "kafka": Field("map of strings", "native Kafka client properties", rule=fields.client_properties),
}
_FLOW: dict[str, Field] = {
    "policy": Field("string", "how topics are named", rule=fields.one_of("default", "identity")),
    "engine": Field("string", "what mirrors", rule=fields.one_of("mirror_maker_2", LEGACY)),
    "exactly_once": Field(
        "string", "whether repeats can happen", rule=fields.one_of("disabled", "preparing", EXACTLY_ONCE)
    ),
}
_PAIR: dict[str, Field] = {
    "source": Field("string", "name in the source", True),
    "target": Field("string", "name in the target", True),
}
_GAP: dict[str, Field] = {
    "kind": Field("string", "purged, truncated, truncated_unmirrored, deleted or recreated"),
    "topic": Field("string", "name in the source", True),
    "partition": Field("integer", "partition of the source", True),
    "first": Field("integer", "first offset that is missing", True),
    "last": Field("integer", "last offset that is missing", True),
    "records": Field("integer", "how many of these offsets are missing; at most, where it is not certain", True),
    "certain": Field("boolean", "whether records stood there"),
    "doubt": Field("string", "why it is not certain; still_there, unplaced and others (docs/mirror-gaps.md)"),
    "seen_at": Field("string", "time of the look that found it"),
}
_POSITION: dict[str, Field] = {
    "offsets_topic": Field("string", "MirrorMaker 2's offsets, a topic of the target"),
    "group": Field("string", "consumer group of the legacy engine, on the source"),
}


def _topics(value: list[dict[str, Any]]) -> str | None:
    found = [problem for place, pair in enumerate(value) for problem in fields.problems(pair, _PAIR, f"[{place}].")]
    found += [] if value else ["the list is empty"]
    for side in _PAIR:
        names = [pair.get(side) for pair in value]
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        found += [f"{side} topics given twice: {', '.join(twice)}"] if twice else []
    return "; ".join(found) or None


def _gaps(value: list[dict[str, Any]]) -> str | None:
    found = [problem for place, gap in enumerate(value) for problem in fields.problems(gap, _GAP, f"[{place}].")]
    return "; ".join(found) or None


def _position(value: dict[str, Any]) -> str | None:
    found = fields.problems(value, _POSITION)
    if len(value) != 1:
        found.append("give one of offsets_topic and group")
    return "; ".join(found) or None


def _object(table: dict[str, Field]) -> fields.Rule:
    return lambda value: "; ".join(fields.problems(value, table)) or None


FIELDS: dict[str, Field] = {
    "run_id": Field("string", "name of the run", True, fields.run_id),
    "output_dir": Field("string", "where result.json, report.html and progress.jsonl are written", True),
    "source": Field("object", "alias, bootstrap_servers and kafka of the source", True, _object(_SIDE)),
    "target": Field("object", "the same of the target", True, _object(_SIDE)),
    "flow": Field("object", "policy, engine and exactly_once of the flow", rule=_object(_FLOW)),
    "topics": Field("list of objects", "source and target name of each topic", True, _topics),
    "position": Field("object", "offsets_topic (MirrorMaker 2) or group (legacy engine)", True, _position),
    "gaps": Field("list of objects", "what mirror_gaps found: records that can no longer be mirrored", rule=_gaps),
    "marks": Field("list of objects", "what earlier audits proved, as figures.marks of their result.json (mark.py)"),
    "incremental": Field("boolean", "read only what is new behind the marks"),
    "wait_seconds": Field("integer", "how long the mirror may take to reach the frontier", rule=between(0, 86_400)),
    "bucket_seconds": Field("integer", "width of a cell in record time", rule=between(*_BUCKET_SECONDS)),
    "max_examples": Field("integer", "how many records of each kind are listed", rule=between(1, 1000)),
    "from_ms": Field("integer", "judge records from this time on (epoch milliseconds)", rule=between(0, 10**13)),
    "max_duplicates": Field("integer", "fail when more records came twice", rule=between(0, 10**15)),
    "order_check": Field("boolean", "judge the order within partitions"),
    "timeout_seconds": Field("integer", "how long a client waits for a broker", rule=between(1, 600)),
}


def parse(raw: Any) -> Arguments:
    """A decoded arguments file -> Arguments; raises BadArgumentsError with every problem found."""
    given = fields.checked(raw, FIELDS)
    legacy = given.get("flow", {}).get("engine") == LEGACY
    if legacy != ("group" in given["position"]):
        raise BadArgumentsError(["position: the legacy engine has a group, MirrorMaker 2 an offsets_topic"])
    wait = given.get("timeout_seconds", Arguments.timeout_seconds)
    whole = ("source", "target", "topics", "position", "flow")
    plain = {key: value for key, value in given.items() if key not in whole}
    return Arguments(
        **plain,
        source=_cluster(given["source"], wait),
        target=_cluster(given["target"], wait),
        flow=given.get("flow", {}),
        pairs=[Pair(pair["source"], pair["target"]) for pair in given["topics"]],
        offsets_topic=given["position"].get("offsets_topic"),
        group=given["position"].get("group"),
        given={key: given[key] for key in ("flow", "position") if key in given},
    )


def _cluster(value: dict[str, Any], timeout_seconds: int) -> Cluster:
    return Cluster(value["alias"], value["bootstrap_servers"], value.get("kafka", {}), timeout_seconds)
