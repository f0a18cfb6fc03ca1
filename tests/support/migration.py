# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster on its way from ZooKeeper to KRaft and back: the runs of the playbook, and what its nodes tell."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from tests.support.cluster import Run, free_port_base, said, until
from tests.support.metrics import scrape
from tests.support.modules import run_module
from tests.support.planted import forms
from tests.support.traffic import Ledger, producing, read_all
from tests.support.zookeeper import ZookeeperCluster, inventory, with_controllers, without_zookeeper

MIGRATE = "playbooks/migrate_to_kraft.yml"
TOPIC, OLD = "written", "archive"
FLAG = "zookeeper.metadata.migration.enable"
TELLING = ("process.roles", "broker.id", "node.id", FLAG)
WATCHED = {"kafka_metrics_enabled": True}
#: The phases on the way forward, up to the one before the last way back.
STEPS = ["controllers_ready", "copied", "dual_write_kraft"]
#: Settings of a writer. Nobody elects leaders from the stop of the controllers until the first broker has restarted; a
#: node may take long to come back on a busy machine, and no record may be given up meanwhile.
PATIENT = {"delivery.timeout.ms": 900000}
#: Where inventories/local_zookeeper has the port of the metrics, from that of the node.
METRICS = 60
CONTROL = "kafka_controller_kafkacontroller_"


class Way:
    """The cluster on its way: tests take one step after the other, in order."""

    def __init__(
        self,
        inventory: Path,
        directory: Path,
        port_base: int,
        *,
        variables: Mapping[str, Any] | None = None,
        login: Mapping[str, Any] | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        """Prepare a cluster by its inventory, the directory of its nodes and its first port.

        variables -- of its inventory; login -- the options of modules by which its administrator is let in; secrets --
        words that no run may show.
        """
        self.inventory, self.directory, self.port_base = inventory, directory, port_base
        self.variables = {**WATCHED, **(variables or {})}
        self.login = dict(login or {})
        self.cluster = self._known()
        self._planted = [form for word in secrets for form in forms(word.encode())]
        #: The digest of the plan of a step that was taken.
        self.approved = ""
        #: Numbers that a writer knows to be stored, by topic.
        self.stored: dict[str, set[int]] = {}

    @classmethod
    @contextlib.contextmanager
    def begun(cls, directory: Path, servers: int = 3, **more: Any) -> Iterator[Self]:
        """Give a cluster that has begun, and end its processes behind the tests.

        servers -- how many of ZooKeeper: each run takes longer with each machine; more -- as of the class.
        """
        way = cls(inventory(directory / "inventory", servers), directory / "nodes", free_port_base(), **more)
        try:
            way.run(playbook="site.yml").ok()
            way.write_first_records()
            yield way
        finally:
            way.cluster.destroy()

    def _known(self) -> ZookeeperCluster:
        return ZookeeperCluster(self.inventory, self.directory, self.port_base, dict(self.variables))

    @property
    def connection(self) -> dict[str, Any]:
        """Return the options by which modules reach the cluster."""
        return {"bootstrap_servers": self.cluster.bootstrap_servers, **self.login}

    @property
    def client(self) -> dict[str, Any]:
        """Return the same as settings of librdkafka, whose own times hold."""
        settings = Connection.from_params(self.connection).confluent_config()
        return {name: value for name, value in settings.items() if not name.endswith(".ms")}

    def add_controllers(self) -> None:
        """Add controllers to the inventory; a cluster of ours knows only the hosts that it had when it was made."""
        with_controllers(self.inventory)
        self.cluster = self._known()

    def leave_zookeeper(self) -> None:
        """Take ZooKeeper out of the inventory, behind the last step."""
        without_zookeeper(self.inventory)
        self.cluster = self._known()

    def plan(self) -> str:
        """Return the digest of the plan of the next step, as a workflow hands it on."""
        return str(re.findall(r"streamops_plan_digest=([\w,-]+)", said(self.next("--check").ok()))[-1])

    def phase(self) -> str:
        """Return the phase that the screen shows."""
        return phase_behind(self.run())

    def next(self, *arguments: str, **given: Any) -> Run:
        """Return a run that takes the next step."""
        return self.run(*arguments, kafka_migration="next", **given)

    def back(self, *arguments: str) -> Run:
        """Return a run that takes a half step back."""
        return self.run(*arguments, kafka_migration="back")

    def run(self, *arguments: str, playbook: str = MIGRATE, **given: Any) -> Run:
        """Return a run, which shows no secret."""
        run = self.cluster.playbook(playbook, *arguments, **given)
        shown = run.output.encode()
        assert not [form for form in self._planted if form in shown], "a run shows a secret"
        return run

    def write_first_records(self) -> None:
        """Make two topics, and write their first records."""
        topics = [
            {"name": TOPIC, "partitions": 6, "replication_factor": 3, "config": {"min.insync.replicas": 2}},
            {"name": OLD, "partitions": 3, "replication_factor": 3, "config": {"retention.ms": "-1"}},
        ]
        created = run_module("streamops.kafka.topics", {**self.connection, "topics": topics})
        assert not created["failed"], created
        for topic in (TOPIC, OLD):
            with producing(self.cluster.bootstrap_servers, topic, rate=500, settings=self.client) as ledger:
                ledger.reaches(1000)
            self.keeps(ledger, topic)

    def quorum(self) -> dict[str, int]:
        """Return the newest C(quorum-state) of the controllers: leaderId and leaderEpoch."""
        files = [self.cluster.data(node) / "__cluster_metadata-0" / "quorum-state" for node in self.cluster.controllers]
        states = [json.loads(file.read_text()) for file in files if file.exists()]
        newest: dict[str, int] = max(states, key=lambda state: (state["leaderEpoch"], state["leaderId"]))
        return newest

    def elect(self, times: int) -> None:
        """Have the quorum elect so often: each time its leader is killed, and comes back."""
        leaders = {self.cluster.identities[node]: node for node in self.cluster.controllers}
        for _time in range(times):
            before = self.quorum()
            leader = leaders[before["leaderId"]]
            process = self.cluster.pid(leader)
            self.cluster.kill(leader)
            until(lambda seen=before: self._is_elected(seen), "another controller leads", 120)
            until(lambda node=leader, old=process: self.cluster.has_started_again(node, old), "it comes back", 120)
            # One that dies before this counts as one that cannot start, and stays down.
            until(lambda node=leader: self.cluster.counts_as_running(node), "its supervisor to believe in it", 120)

    def _is_elected(self, before: dict[str, int]) -> bool:
        now = self.quorum()
        return now["leaderEpoch"] > before["leaderEpoch"] and now["leaderId"] >= 0

    @contextlib.contextmanager
    def under_load(self, behind: float = 300) -> Iterator[Ledger]:
        """Write with acks=all while something is done, and behind it; then read all that was ever acknowledged.

        behind -- how many seconds the last records may take
        """
        with producing(self.cluster.bootstrap_servers, TOPIC, rate=200, settings=PATIENT) as ledger:
            ledger.reaches(500)
            yield ledger
            ledger.reaches(len(ledger.acknowledged) + 500, behind)
        self.keeps(ledger, TOPIC)

    def keeps(self, ledger: Ledger, topic: str) -> None:
        """Note what a writer was told, and read all that was ever acknowledged."""
        assert not ledger.failed
        self.stored.setdefault(topic, set()).update(ledger.acknowledged)
        for name, numbers in self.stored.items():
            assert not sorted(numbers - set(read_all(self.cluster.bootstrap_servers, name, settings=self.client)))

    def metric(self, nodes: list[str], name: str) -> list[float | None]:
        """Return what each node serves under a name of the Kafka controller; None where it does not."""
        texts = (scrape(self.cluster.port(node, METRICS)) for node in nodes)
        values = (re.search(rf"^{CONTROL}{name} (\S+)$", text, re.MULTILINE) for text in texts)
        return [float(value[1]) if value else None for value in values]

    def started(self, node: str) -> dict[str, str]:
        """Return the properties that tell in which mode a node was started."""
        known = parse((self.cluster.record(node) / "server.properties").read_text())
        return {key: known[key] for key in known if key in TELLING}


def phase_behind(run: Run) -> str:
    """Return the phase that a run shows at its end, which is well."""
    return str(re.findall(r"Cluster local_zookeeper: (\w+)", said(run.ok()))[-1])
