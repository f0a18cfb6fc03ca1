# SPDX-License-Identifier: GPL-3.0-or-later
"""A real MirrorMaker 2 in its own process, and properties that let it be quick in tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.support.java_process import JavaProcess


class MirrorProcess(JavaProcess):
    """org.apache.kafka.connect.mirror.MirrorMaker (dedicated mode) of a release, on these properties.

    The folder gets mm2.properties and mirror.log. The properties may be changed (`write`) between two starts.
    """

    def __init__(
        self, release: Path, properties: Mapping[str, str], directory: Path, heap: str = "512m", options: str = ""
    ) -> None:
        self._file = directory / "mm2.properties"
        command = ("connect-mirror-maker.sh", str(self._file))
        super().__init__(release, directory, "mirror", *command, heap=heap, options=options)
        self.write(properties)

    def write(self, properties: Mapping[str, str]) -> None:
        """Writes the properties for the next start."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._file.write_text("".join(f"{name} = {value}\n" for name, value in sorted(properties.items())))


def quick_properties(
    clusters: Mapping[str, list[str]], flows: Mapping[str, Mapping[str, str]], replication: int = 1
) -> dict[str, str]:
    """Properties of a mirror without its long pauses: what takes 10 s to 10 min by default takes a second.

    clusters -- bootstrap servers by alias; flows -- by `a->b` their own properties (`topics` and so on).
    """
    factors = (
        "replication.factor",
        "offset-syncs.topic.replication.factor",
        "checkpoints.topic.replication.factor",
        "heartbeats.topic.replication.factor",
        "offset.storage.replication.factor",
        "config.storage.replication.factor",
        "status.storage.replication.factor",
    )
    properties = {
        "clusters": ", ".join(clusters),
        **{f"{alias}.bootstrap.servers": ",".join(servers) for alias, servers in clusters.items()},
        **{name: str(replication) for name in factors},
        **{f"{pair}.{name}": value for pair, own in flows.items() for name, value in own.items()},
        **{f"{pair}.enabled": own.get("enabled", "true") for pair, own in flows.items()},
        "refresh.topics.interval.seconds": "2",
        "refresh.groups.interval.seconds": "2",
        "emit.checkpoints.interval.seconds": "1",
        "sync.topic.acls.enabled": "false",
        "offset.lag.max": "0",
    }
    # Of a worker, so by cluster: the worker of a flow reads those of its target.
    for alias in clusters:
        properties[f"{alias}.offset.flush.interval.ms"] = "1000"
        properties[f"{alias}.scheduled.rebalance.max.delay.ms"] = "0"
        properties[f"{alias}.group.initial.rebalance.delay.ms"] = "0"
    return properties
