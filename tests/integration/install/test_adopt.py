# SPDX-License-Identifier: GPL-3.0-or-later
"""adopt.yml on a broker that others installed, as Apache's archive lies on a disk; nothing changes by it."""

from __future__ import annotations

import socket
import sys
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.cluster import BIN, ROOT, Run, environment, free_port_base, hosts_file, parse_recap, until
from tests.support.java_process import JavaProcess
from tests.support.runs import heard

#: What bin/kafka-server-start.sh and bin/kafka-run-class.sh of Apache's archive come to, in their order.
START = """#!/bin/sh
base=$(cd "$(dirname "$0")/.." && pwd)
for jar in "$base"/libs/*.jar; do CLASSPATH="${CLASSPATH:+$CLASSPATH:}$jar"; done
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" $KAFKA_HEAP_OPTS -server -XX:+UseG1GC -Djava.awt.headless=true \\
  -Dkafka.logs.dir="$LOG_DIR" -cp "$CLASSPATH" kafka.Kafka "$@"
"""


class ApacheLayout(JavaProcess):
    """A combined node below a directory with bin, config and libs, on two ports from C(port) on."""

    def __init__(self, release: Path, home: Path, port: int) -> None:
        self.home, self.port, self.release = home, port, release
        # An id that no option begins like.
        self.cluster_id = "A" + urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22]
        for name in ("bin", "config", "logs"):
            (home / name).mkdir(parents=True)
        (home / "libs").symlink_to(release / "libs")
        (home / "bin" / "kafka-storage.sh").symlink_to(release / "bin" / "kafka-storage.sh")
        script = home / "bin" / "kafka-server-start.sh"
        script.write_text(START)
        script.chmod(0o755)
        (home / "config" / "server.properties").write_text(
            "process.roles=broker,controller\n"
            "node.id=1\n"
            f"controller.quorum.voters=1@localhost:{port + 1}\n"
            f"listeners=PLAINTEXT://:{port},CONTROLLER://:{port + 1}\n"
            f"advertised.listeners=PLAINTEXT://localhost:{port}\n"
            "controller.listener.names=CONTROLLER\n"
            f"log.dirs={home}/data\n"
            # As Apache's own file has them.
            "offsets.topic.replication.factor=1\n"
            "transaction.state.log.replication.factor=1\n"
            "transaction.state.log.min.isr=1\n"
            "share.coordinator.state.topic.replication.factor=1\n"
            "share.coordinator.state.topic.min.isr=1\n"
        )
        super().__init__(release, home, "console", "kafka-server-start.sh", "config/server.properties")
        self._command[0] = str(script)

    def listens(self) -> bool:
        """Return whether clients can connect."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kept(self) -> dict[str, tuple[int, int]]:
        """Return size and time of change of each file that the broker itself does not write on."""
        places = [self.home / "bin", self.home / "config", self.home / "data" / "meta.properties"]
        files = [file for place in places for file in (place, *(place.iterdir() if place.is_dir() else []))]
        return {str(file): (file.stat().st_size, file.stat().st_mtime_ns) for file in files}


@pytest.fixture
def broker(
    kafka_release: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ApacheLayout]:
    """A running broker."""
    monkeypatch.setenv("LOG_DIR", str(tmp_path / "kafka" / "logs"))
    node = ApacheLayout(kafka_release("4.3.1"), tmp_path / "kafka", free_port_base())
    tool, file = node.home / "bin" / "kafka-storage.sh", node.home / "config" / "server.properties"
    heard([str(tool), "format", "-t", node.cluster_id, "-c", str(file)], cwd=node.home).check_returncode()
    node.start()
    try:
        until(node.listens, "the broker to listen")
        yield node
    finally:
        node.kill()


def adopt(inventory: Path, *arguments: str, playbook: str = "adopt") -> Run:
    """Run the playbook."""
    command = [str(BIN / "ansible-playbook"), f"playbooks/{playbook}.yml", "-i", str(inventory), *arguments]
    # With the callback that operators have: each line of the screen stands behind the name of a host.
    done = heard(command, cwd=ROOT, env={**environment(), "ANSIBLE_STDOUT_CALLBACK": "streamops.kafka.operator"})
    return Run(done.returncode, done.stdout, parse_recap(done.stdout))


def asked(broker: ApacheLayout, tool: str, *arguments: str) -> str:
    """Run a tool of Kafka at the broker, and return what it prints."""
    command = [str(broker.release / "bin" / tool), "--bootstrap-server", f"localhost:{broker.port}", *arguments]
    done = heard(command, cwd=broker.home)
    done.check_returncode()
    return done.stdout


def settings(broker: ApacheLayout) -> str:
    """Return what the broker itself says of its settings, live ones among them."""
    return asked(broker, "kafka-configs.sh", "--describe", "--all", "--entity-type", "brokers", "--entity-name", "1")


@pytest.mark.full
def test_the_inventory_of_a_broker_of_others_says_what_runs(broker: ApacheLayout, tmp_path: Path) -> None:
    topic = ("--topic", "orders", "--partitions", "3", "--replication-factor", "1", "--config", "retention.ms=3600000")
    asked(broker, "kafka-topics.sh", "--create", *topic)
    alter = ("--alter", "--add-config")
    asked(
        broker, "kafka-configs.sh", *alter, "producer_byte_rate=1048576", "--entity-type", "users", "--entity-name", "a"
    )
    asked(broker, "kafka-configs.sh", *alter, "num.io.threads=4", "--entity-type", "brokers", "--entity-name", "1")
    hosts = {"here": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}
    inventory, directory = hosts_file(tmp_path / "inventory", {"somewhere": hosts}, {}), tmp_path / "mine"
    # Other tests may run brokers on this machine.
    given = ("-e", "kafka_adopt=inventory", "-e", f"kafka_adopt_inventory={directory}")
    given += ("-e", f"kafka_adopt_cluster={broker.cluster_id}")
    before, held, pid = broker.kept(), settings(broker), broker.pid

    shown = adopt(inventory, *given, "--check", "--diff").ok()
    assert "num.io.threads: 4" in shown.output
    assert not directory.exists()
    first = adopt(inventory, *given).ok()
    assert first.changed == 1
    last = [line.partition("] ")[2] for line in first.output.splitlines() if "Next step " in line][-1]
    assert last.endswith(f"-i {directory}/hosts.yml --become -e kafka_adopt=take --check --diff")
    files = {str(file.relative_to(directory)): file.read_text() for file in directory.rglob("*") if file.is_file()}
    resources = yaml.safe_load(files["group_vars/all/resources.yml"])
    assert resources == {
        "kafka_topics": [
            {"name": "orders", "partitions": 3, "replication_factor": 1, "config": {"retention.ms": 3600000}}
        ],
        "kafka_users": [],
        "kafka_acls": [],
        "kafka_quotas": [{"user": "a", "producer_byte_rate": 1048576}],
    }
    said = yaml.safe_load(files["group_vars/all/kafka.yml"])
    assert (said["kafka_cluster_id"], said["kafka_version"]) == (broker.cluster_id, "4.3.1")
    assert said["kafka_config"]["num.io.threads"] == 4
    assert adopt(inventory, *given).ok().changed == 0

    # The rules of preflight take it, and what it lists the modules leave as it is.
    assert adopt(directory / "hosts.yml", "--check", "--diff", playbook="resources").ok().changed == 0
    (directory / "hosts.yml").write_text("all: {}\n")
    refused = adopt(inventory, *given)
    assert refused.rc != 0
    assert f"{directory} has an inventory with other content (hosts.yml)" in refused.output
    assert (broker.kept(), settings(broker), broker.pid, broker.alive) == (before, held, pid, True)


def test_a_broker_of_others_is_shown_and_nothing_is_changed(broker: ApacheLayout, tmp_path: Path) -> None:
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {
        "here": local,
        # The same machine, of which this host has another node.
        "beside": {**local, "kafka_node_id": 99},
        "away": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
    }
    inventory = hosts_file(tmp_path / "inventory", {"somewhere": hosts}, {})
    before, pid, port = broker.kept(), broker.pid, broker.port
    looks = [adopt(inventory).ok(), adopt(inventory, "--check").ok()]
    for look in looks:
        assert look.changed == 0
        lines = [line.partition("] ")[2] for line in look.output.splitlines() if line.startswith("[")]
        # Other tests may run brokers on this machine.
        head = f"Cluster      {broker.cluster_id}: kraft, combined; static quorum; 4.3.1; 1 node"
        at = lines.index(head)
        node, asked = lines[at + 1 : at + 3]
        assert node.startswith("Node         here: broker, controller; id 1; 4.3.1 as Apache published it; ")
        assert node.endswith(f"; data {broker.home}/data; listens PLAINTEXT://:{port}, CONTROLLER://:{port + 1}")
        assert asked.startswith(f"Asked        localhost:{port} (PLAINTEXT): brokers 1; voters 1, leader 1; ")
        assert "metadata.version 4.3-IV" in asked
        assert any("beside, here are one machine, so each process is listed once" in line for line in lines)
        (away,) = [line for line in lines if "away was not looked at" in line]
        assert away.startswith("Refused ")
        assert lines[-1].startswith("Next step    clear what is refused")
    refused = adopt(inventory, "-e", "kafka_adopt=taken")
    assert refused.rc != 0
    assert "kafka_adopt=taken is nothing to do" in refused.output
    assert "Node  " not in refused.output
    assert (broker.kept(), broker.pid, broker.alive) == (before, pid, True)
