# SPDX-License-Identifier: GPL-3.0-or-later
"""The cheapest real cluster of three: combined nodes, started by the release's own tools, for tests to hurt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.support.cluster import free_port_base, until
from tests.support.java_process import JavaProcess
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.runs import paused

IDS = (1, 2, 3)


class Trio:
    """Three brokers that are the controllers too; a node is named by its id."""

    def __init__(self, release: Path, directory: Path, agent: tuple[Path, Path] | None = None) -> None:
        """Make its nodes; agent -- the jar and the configuration of what serves their metrics."""
        base = free_port_base()
        voters = ",".join(f"{one}@127.0.0.1:{base + 10 * one + 1}" for one in IDS)
        self._nodes = {
            one: LoneBroker(
                release,
                directory / str(one),
                base + 10 * one,
                options=f"-javaagent:{agent[0]}=127.0.0.1:{base + 10 * one + 3}:{agent[1]}" if agent else "",
                **{
                    "node.id": str(one),
                    "controller.quorum.voters": voters,
                    "offsets.topic.replication.factor": "3",
                    "auto.leader.rebalance.enable": "false",
                },
            )
            for one in IDS
        }

    @property
    def metrics(self) -> list[str]:
        """host:port of the metrics of every node."""
        return [f"127.0.0.1:{node.port + 3}" for node in self._nodes.values()]

    @property
    def bootstrap_servers(self) -> list[str]:
        """host:port of every broker."""
        return [server for node in self._nodes.values() for server in node.bootstrap_servers]

    def begin(self) -> None:
        """Format and start all."""
        for node in self._nodes.values():
            node.format("NkU3OEVBNTcwNTJENDM2Qk")
        self.start(*IDS)

    def start(self, *ids: int) -> None:
        """Start nodes, and wait until all replicas are in sync and lead what they should."""
        for one in ids:
            # Not that of one broker alone, which waits until it listens: it does when a majority runs.
            JavaProcess.start(self._nodes[one])
        self.at_its_best()

    def at_its_best(self) -> None:
        """Wait until every broker serves and all is in sync, and give leaders back."""
        servers = {"bootstrap_servers": self.bootstrap_servers}

        def serve() -> bool:
            found = run_module("streamops.kafka.cluster_info", servers)
            return not found["failed"] and [one["fenced"] for one in found["nodes"]] == [False] * len(IDS)

        until(serve, "all brokers to serve", 150)
        assert run_module("streamops.kafka.isr_wait", {**servers, "timeout": 120, "interval": 1})["in_sync"]
        self.give_leaders_back()

    def give_leaders_back(self) -> None:
        """Let preferred replicas lead."""
        servers = {"bootstrap_servers": self.bootstrap_servers}
        assert not run_module("streamops.kafka.leader_election", servers)["failed"]

    def stop(self, *ids: int) -> None:
        """Stop nodes in order; where a majority is missing they cannot hand over what they lead, and are killed."""
        for one in ids:
            self._nodes[one].terminate(20)

    @contextlib.contextmanager
    def frozen(self, one: int) -> Iterator[None]:
        """A node that takes connections and never answers, for some time; then all is at its best again."""
        with self.paused(one):
            yield
        self.at_its_best()

    def paused(self, node: int) -> contextlib.AbstractContextManager[None]:
        """A node that takes connections and never answers, for some time; what comes then is not waited for."""
        return paused(self._nodes[node].pid)

    def kill(self, *nodes: int) -> None:
        """SIGKILL to nodes; nobody starts them again."""
        for node in nodes:
            self._nodes[node].kill()

    @contextlib.contextmanager
    def stopped(self, one: int) -> Iterator[None]:
        """A node that is stopped for some time; then all is at its best again."""
        self.stop(one)
        try:
            yield
        finally:
            self.start(one)

    def end(self) -> None:
        """End what runs."""
        for node in self._nodes.values():
            node.kill()
