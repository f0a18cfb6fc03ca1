# SPDX-License-Identifier: GPL-3.0-or-later
"""The cheapest real cluster: one KRaft node, formatted and started by the release's own tools in a few seconds."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text
from tests.support.cluster import until
from tests.support.java_process import JavaProcess


def as_written(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return properties as they stand in the file that the roles write; LoneBroker writes them as they are."""
    lines = (line.partition("=") for line in to_text(properties).splitlines() if line and not line.startswith("#"))
    return {key: value for key, _equals, value in lines}


class LoneBroker(JavaProcess):
    """Broker and controller in one process, without security, on two ports from `port` on."""

    def __init__(
        self, release: Path, directory: Path, port: int, heap: str = "512m", options: str = "", **properties: str
    ) -> None:
        self.port = port
        self.release = release
        self._file = directory / "server.properties"
        # The launcher names a class for each operator tool; the server itself is none of them.
        command = ("launcher", "kafka-run-class.sh", "kafka.Kafka", str(self._file))
        super().__init__(release, directory, "broker", *command, heap=heap, options=options)
        self._properties = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@127.0.0.1:{port + 1}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{port + 1}",
            "log.dirs": str(directory / "data"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "5",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "5",
            "group.initial.rebalance.delay.ms": "0",
            **properties,
        }

    @property
    def bootstrap_servers(self) -> list[str]:
        """Its address for clients."""
        return [f"127.0.0.1:{self.port}"]

    def format(self, cluster_id: str, *options: str) -> None:
        """Formats its directory, which must be new; `options` are more of the tool, as --release-version=4.0."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._file.write_text("".join(f"{name}={value}\n" for name, value in self._properties.items()))
        tool = str(self.release / "bin" / "kafka-storage.sh")
        # Joined to its option: an id may begin with "-".
        command = [tool, "format", f"--cluster-id={cluster_id}", "-c", str(self._file), *options]
        subprocess.run(command, check=True, capture_output=True)

    def start(self) -> None:
        """Starts it and waits until clients can connect."""
        super().start()
        try:
            until(self._listens, "the broker to listen")
        except AssertionError:
            self.kill()
            raise AssertionError(self.log()[-3000:]) from None

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
