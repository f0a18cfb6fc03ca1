"""Settings that a row of benchmarks/mirror.py has beside those of the role, read from KEY=VALUE,KEY=VALUE. Pure.

A property of the flow stands as Kafka names it, one of the clients behind `consumer.` or `producer.`, one of Connect's
worker behind `worker.`. Four keys are no properties: `heap` (as 512m), `java` (more arguments of the JVM, with blanks
between them), `source` (how the records are compressed that the mirror reads), `exactly_once`.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: What may matter where processors hold a mirror back, for `--only candidates`. mirror_tune.yml tries tasks, batches,
#: linger.ms, compression.type, receive buffers and sizes of a fetch too, but over the real line of a flow.
CANDIDATES = (
    "tasks.max=1",
    "tasks.max=2",
    "consumer.fetch.min.bytes=65536",
    "consumer.max.poll.records=500",
    "consumer.max.poll.records=10000",
    "consumer.max.partition.fetch.bytes=1048576",
    "producer.batch.size=16384",
    "producer.batch.size=1048576",
    "producer.linger.ms=0",
    "producer.linger.ms=100",
    "producer.compression.type=none",
    "producer.compression.type=zstd",
    "producer.max.in.flight.requests.per.connection=1",
    "source=lz4",
    "source=zstd",
    "offset.lag.max=0",
    "offset.lag.max=10000",
    "emit.checkpoints.enabled=false",
    "emit.offset-syncs.enabled=false,emit.checkpoints.enabled=false,sync.group.offsets.enabled=false",
    "worker.topic.tracking.enable=false",
    "exactly_once=enabled",
    "exactly_once=enabled,consumer.max.poll.records=10000",
    "heap=256m",
    "heap=2g",
    "java=-XX:-UseG1GC -XX:+UseParallelGC -XX:MaxGCPauseMillis=200",
    "java=-XX:TieredStopAtLevel=1",
)
_SOURCES = ("none", "gzip", "snappy", "lz4", "zstd")
_EXACTLY_ONCE = ("disabled", "enabled")


@dataclass(frozen=True)
class Settings:
    """What a row changes. `properties`: by key as it was given; `source`: compression of the records to be mirrored."""

    properties: Mapping[str, str] = field(default_factory=dict)
    exactly_once: str = "disabled"
    source: str = "none"
    heap: str = "512m"
    java: str = ""

    def applied(self, given: Mapping[str, Any], source: str, target: str) -> dict[str, Any]:
        """Return the properties of a mirror from one cluster to another with those of this row instead of them."""
        own = {}
        for key, value in self.properties.items():
            of_worker = key.startswith(("producer.", "worker."))
            own[f"{target}.{key.removeprefix('worker.')}" if of_worker else f"{source}->{target}.{key}"] = value
        return {**given, **own}


def read_settings(words: str) -> Settings:
    """Read the words of a row; raises ValueError that names the word which cannot be read and what is right."""
    pairs = {}
    for word in words.split(","):
        key, equals, value = (part.strip() for part in word.partition("="))
        if not key or not equals or not value:
            raise ValueError(f"{word!r} of {words!r} is no KEY=VALUE, such as producer.linger.ms=0")
        if key in pairs:
            raise ValueError(f"{words!r} sets {key} twice")
        pairs[key] = value
    fixed = {key: pairs.pop(key) for key in ("exactly_once", "source", "heap", "java") if key in pairs}
    settings = Settings(pairs, **fixed)
    if settings.exactly_once not in _EXACTLY_ONCE:
        raise ValueError(f"exactly_once={settings.exactly_once}: give one of {', '.join(_EXACTLY_ONCE)}")
    if settings.source not in _SOURCES:
        raise ValueError(f"source={settings.source}: give one of {', '.join(_SOURCES)}")
    if not re.fullmatch(r"\d+[mg]", settings.heap):
        raise ValueError(f"heap={settings.heap}: give it as 512m or 2g")
    return settings
