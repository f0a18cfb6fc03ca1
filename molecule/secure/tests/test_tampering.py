"""What somebody changed by hand: a dry run names it, a run repairs it, and neither shows a secret."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support import certificates
from tests.support.machines import Ask, Machine, eventually
from tests.support.modules import run_module
from tests.support.planted import KEYTAB

ROOT = Path(__file__).resolve().parents[3]
TOPIC = "led-by-a-liar"
# Seconds that a broker may take to start and to take part again, on a busy machine.
PATIENCE = 240
BY_HAND = {"principal": "User:outsider", "role": "producer", "topics": ["orders"]}


def site(*words: str) -> tuple[str, int]:
    """The output of site.yml on the scenario's inventory as molecule made it, and how many tasks changed something."""
    command = ["ansible-playbook", "-i", os.environ["MOLECULE_INVENTORY_FILE"], "site.yml", "-vvv", "--diff", *words]
    given = [*command, "-e", "spark_validation_enabled=false"]
    done = subprocess.run(given, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-5000:]
    assert "planted-" not in output
    assert KEYTAB.decode() not in output
    return output, sum(map(int, re.findall(r"changed=(\d+)", output)))


@pytest.mark.full
def test_changes_by_hand_are_named_by_a_dry_run_and_repaired(
    machines: dict[str, Machine], administrator: dict[str, Any], settings: dict[str, Any], ask: Ask,
    ca: certificates.Issued,
) -> None:  # fmt: skip
    peer, liar = machines["broker1"], machines["broker3"]
    assert run_module("streamops.kafka.acls", {**administrator, "acls": [BY_HAND]})["changed"]
    peer.run("nft", "insert", "rule", "inet", "streamops_kafka", "input", "accept")
    liar.run("sh", "-c", f"echo log.retention.hours=1 >> {liar.directories[1]}/{liar.name}/server.properties")
    wrong = certificates.issue(liar.name, by=ca, names=("10.99.99.99",))
    store = f"{liar.directories[1]}/{liar.name}/tls/keystore.pem"
    liar.run("sh", "-c", f"cat > {store}", given=wrong.key_pem().decode() + wrong.pem().decode())

    check, count = site("--check")
    assert count == 3, "the files of the node, the firewall, the ACLs"
    for named in ("keystore.pem", "log.retention.hours=1", "streamops_kafka", "User:outsider"):
        assert named in check, f"the dry run does not name {named}"

    question = {"address": liar.address, "port": liar.ports["clients"], "ca": ca.pem().decode()}

    def shake() -> str:
        return str(ask(machines["client"], "handshake.py", question))

    liar.run("systemctl", "restart", liar.service, timeout=PATIENCE)
    eventually(lambda: "IP address mismatch" in shake(), "a refusal", PATIENCE)
    nobody_follows(liar, peer, administrator["bootstrap_servers"], settings)

    # The liar is registered and alive, and nobody can talk to it: it must not keep the run from repairing it.
    assert site()[1] > 3
    assert "agreed" in shake()
    assert site()[1] == 0


def nobody_follows(liar: Machine, peer: Machine, servers: list[str], settings: dict[str, Any]) -> None:
    """Brokers do not replicate from a leader whose certificate names somebody else."""
    connection = {**settings, "bootstrap.servers": ",".join(servers)}
    topic = NewTopic(TOPIC, 1, replica_assignment=[[liar.node_id, peer.node_id]])
    insist(connection, lambda admin: admin.create_topics([topic], request_timeout=10), "TOPIC_ALREADY_EXISTS")
    log = f"{peer.directories[3]}/{peer.name}/server.log"
    say = f"No subject alternative names matching IP address {liar.address} found"
    eventually(lambda: say in peer.run("tail", "-n", "400", log), "the refusal in the log of the follower", PATIENCE)
    insist(connection, lambda admin: admin.delete_topics([TOPIC], request_timeout=10), "UNKNOWN_TOPIC_OR_PART")


def insist(connection: dict[str, Any], send: Callable[[AdminClient], dict[str, Any]], done: str) -> None:
    """Sends a request until it is done: each new client draws a broker to send it to, which may be the liar."""

    def answered() -> bool:
        admin = AdminClient(connection)
        try:
            send(admin)[TOPIC].result(15)
        except TimeoutError:
            return False
        except KafkaException as error:
            return bool(error.args[0].name() == done)
        return True

    eventually(answered, done, PATIENCE)
