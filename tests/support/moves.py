"""Topics with data to move, and looks at what moves and at its throttles, for tests of reassignments."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer
from kafka.admin import KafkaAdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers, list_topics
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER, TOPIC
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle import live_throttles
from ansible_collections.streamops.kafka.plugins.module_utils._state.api import read_state
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import delete_topics
from tests.support.cluster import BIN, ROOT, Cluster, environment, until
from tests.support.modules import run_module

MODULE = "streamops.kafka.reassignment"
#: Numbers that the audit of traffic can read, made big by blanks.
RECORD_BYTES = 100_000
#: Records that wait to be sent, at most: 100 MB.
QUEUED = 1000


def arguments(cluster: Cluster, **options: Any) -> dict[str, Any]:
    """Options of a run that looks often and measures shortly."""
    return {
        "bootstrap_servers": cluster.bootstrap_servers,
        "state": "applied",
        "interval": 1,
        "sample_seconds": 1,
        "timeout": 120,
        **options,
    }


def move(cluster: Cluster, check: bool = False, **options: Any) -> dict[str, Any]:
    """Run the module to its end."""
    return run_module(MODULE, arguments(cluster, **options), check=check)


@contextmanager
def administering(cluster: Cluster) -> Iterator[Session]:
    """The cluster's administration, through the brokers that listen now."""
    with Session(Connection(tuple(cluster.bootstrap_servers), request_timeout=10)) as admin:
        yield admin


@contextmanager
def topic_of(cluster: Cluster, name: str, assignment: dict[int, list[int]], megabytes: int) -> Iterator[str]:
    """A topic with these replicas and as many megabytes in each partition."""
    client = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    # Kafka counts the partitions of an assignment itself.
    settings = {"min.insync.replicas": "1"}
    client.create_topics([NewTopic(name, num_partitions=-1, replica_assignments=assignment, topic_configs=settings)])
    client.close()
    try:
        fill(cluster, name, len(assignment), megabytes)
        yield name
    finally:
        with administering(cluster) as admin:
            delete_topics(admin, [name])


def fill(cluster: Cluster, topic: str, partitions: int, megabytes: int) -> None:
    """Write as many megabytes to each partition, as numbers below zero."""
    producer = Producer({"bootstrap.servers": ",".join(cluster.bootstrap_servers), "linger.ms": 20})
    for number in range(partitions * megabytes * 10):
        value = str(-1 - number).rjust(RECORD_BYTES).encode()
        while len(producer) > QUEUED:
            producer.poll(0.05)
        producer.produce(topic, value, partition=number % partitions)
    assert producer.flush(60) == 0


def replicas(cluster: Cluster, topic: str) -> dict[int, list[int]]:
    """Where the partitions of a topic are."""
    with administering(cluster) as admin:
        return {p.index: list(p.replicas) for p in list_topics(admin)[topic]}


def throttles(cluster: Cluster, *topics: str) -> dict[str, Any]:
    """What brokers that are alive, and topics, have of their own as throttles."""
    with administering(cluster) as admin:
        alive = [str(broker.id) for broker in list_brokers(admin) if not broker.fenced]
        return {"brokers": live_throttles(admin, BROKER, alive), "topics": live_throttles(admin, TOPIC, topics)}


def record(cluster: Cluster) -> Any:
    """What a run keeps with the cluster, None when there is nothing."""
    with administering(cluster) as admin:
        return read_state(admin, "reassignment")[0]


def children(parent: int) -> list[int]:
    """The process ids of whom a process started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent:
                found.append(int(stat.parent.name))
    return found


class Background:
    """A run of the module that a test can kill with all that it started."""

    def __init__(self, cluster: Cluster, **options: Any) -> None:
        play = {
            "hosts": "localhost",
            "connection": "local",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": sys.executable},
            "tasks": [{"name": "Move", MODULE: arguments(cluster, **options)}],
        }
        self._folder = tempfile.TemporaryDirectory(prefix="moves")
        book = Path(self._folder.name) / "play.yml"
        book.write_text(yaml.safe_dump([play]))
        self._output = (Path(self._folder.name) / "output").open("w")
        command = [str(BIN / "ansible-playbook"), "-i", "localhost,", str(book)]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(),
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def output(self) -> str:
        """What it has printed until now."""
        return (Path(self._folder.name) / "output").read_text()

    def until(self, condition: Any, what: str) -> None:
        """Wait for a condition while it runs."""

        def come() -> bool:
            """Whether the condition holds; a run that ended before that is an error."""
            if condition():
                return True
            assert self._process.poll() is None, f"ended before {what}: {self.output()}"
            return False

        until(come, what)

    def kill(self) -> None:
        """SIGKILL to ansible-playbook and to all that it started."""
        # Ansible's workers have sessions of their own and would go on: stopped top down, nobody begets more of them.
        family = [self._process.pid]
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
            family += children(pid)
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._output.close()
