"""What somebody changed by hand: a dry run names it, a run repairs it, and neither shows a secret."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support import certificates
from tests.support.machines import Machine, eventually
from tests.support.modules import run_module

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
    return output, sum(map(int, re.findall(r"changed=(\d+)", output)))


@pytest.fixture
def liar(machines: dict[str, Machine], ca: certificates.Issued) -> Machine:
    """A broker that was given, by hand, a certificate of the right CA with another machine's address."""
    broker = machines["broker3"]
    wrong = certificates.issue(broker.name, by=ca, names=("10.99.99.99",))
    store = f"{broker.directories[1]}/{broker.name}/tls/keystore.pem"
    broker.run("sh", "-c", f"cat > {store}", given=wrong.key_pem().decode() + wrong.pem().decode())
    broker.run("systemctl", "restart", broker.service, timeout=PATIENCE)
    return broker


def test_a_wrong_name_is_refused_and_changes_by_hand_are_repaired(
    liar: Machine, machines: dict[str, Machine], administrator: dict[str, Any], ask: Any,
    ca: certificates.Issued, settings: dict[str, Any],
) -> None:  # fmt: skip
    changed = run_module("streamops.kafka.acls", {**administrator, "acls": [BY_HAND]})
    assert changed["changed"], changed
    peer = machines["broker1"]
    peer.run("nft", "insert", "rule", "inet", "streamops_kafka", "input", "accept")
    peer.run("sh", "-c", f"echo log.retention.hours=1 >> {peer.directories[1]}/{peer.name}/server.properties")

    question = {"address": liar.address, "port": liar.ports["clients"], "ca": ca.pem().decode()}

    def shake() -> str:
        return str(ask(machines["client"], "handshake.py", question))

    eventually(lambda: "IP address mismatch" in shake(), "a refusal", PATIENCE)
    follows_nobody_under_a_wrong_name(liar, peer, administrator["bootstrap_servers"], settings)

    check, count = site("--check")
    assert count >= 4
    for named in ("keystore.pem", "log.retention.hours=1", "streamops_kafka", "User:outsider"):
        assert named in check, f"the dry run does not name {named}"
    _, again = site("--check")
    assert again == count, "a dry run changed something"

    site()
    assert "agreed" in shake()
    assert site()[1] == 0


def follows_nobody_under_a_wrong_name(
    liar: Machine, peer: Machine, servers: list[str], settings: dict[str, Any]
) -> None:
    """Brokers do not replicate from a leader whose certificate names somebody else."""
    admin = AdminClient({**settings, "bootstrap.servers": ",".join(servers)})
    topic = NewTopic(TOPIC, replica_assignment=[[liar.node_id, peer.node_id]])
    admin.create_topics([topic], operation_timeout=10)[TOPIC].result(30)
    log = f"{peer.directories[3]}/{peer.name}/server.log"
    say = f"No subject alternative names matching IP address {liar.address} found"
    eventually(lambda: say in peer.run("tail", "-n", "400", log), "the refusal in the log of the follower", PATIENCE)
    admin.delete_topics([TOPIC], operation_timeout=10)[TOPIC].result(30)
