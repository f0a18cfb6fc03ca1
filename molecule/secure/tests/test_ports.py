"""Every port of every node, tried from every kind of address, against what the inventory allows."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.machines import Ask, Machine, eventually
from tests.support.ports import scanned

ROOT = Path(__file__).resolve().parents[3]
BACK = "streamops-kafka-firewall-back-*"
# Who tries, and the purposes of listeners that are open to it; docs/firewall.md has the rules.
ALLOWED: dict[str, set[str]] = {
    "broker1": {"clients", "brokers", "controllers"},
    "controller1": {"controllers"},
    "client": {"clients", "metrics"},
    "stranger": set(),
    "the control node": {"clients"},
}


@pytest.mark.parametrize("who", ALLOWED)
def test_exactly_what_the_inventory_allows_is_open(
    who: str, machines: dict[str, Machine], nodes: list[Machine], ask: Ask, note: Callable[[str], None]
) -> None:
    scan = scanned(ask, machines.get(who), nodes)
    assert scan.found == {place for purpose in ALLOWED[who] for place in scan.declared.get(purpose, set())}
    note(f"scan from {who}: {scan}, all of them allowed")


def test_a_port_of_somebody_else_stays_as_it_is(machines: dict[str, Machine], ask: Ask) -> None:
    broker, unit = machines["broker1"], "somebody-else"
    broker.run("systemd-run", "--quiet", "--unit", unit, "python3", "-m", "http.server", "8022")
    try:
        broker.run("timeout", "20", "sh", "-c", "until ss -Htln | grep -q :8022; do sleep 0.2; done")
        assert json.loads(ask(machines["stranger"], "scan.py", [[broker.address, 8022]])) == [[broker.address, 8022]]
    finally:
        broker.run("systemctl", "stop", unit)


def test_the_firewall_is_loaded_at_boot(node: Machine) -> None:
    # The machines lost their power in an earlier test; no run of Ansible has been here since.
    assert node.run("systemctl", "is-enabled", "streamops-kafka-firewall.service") == "enabled"
    assert node.run("systemctl", "is-active", "streamops-kafka-firewall.service") == "active"
    table = node.run("nft", "list", "table", "inet", "streamops_kafka")
    assert all(str(port) in table for port in node.ports.values())


def test_a_table_that_no_run_confirms_goes_away_by_a_timer(machines: dict[str, Machine]) -> None:
    broker = machines["broker2"]

    def table() -> str:
        return broker.run("nft", "--stateless", "list", "table", "inet", "streamops_kafka")

    def units() -> str:
        return broker.run("systemctl", "list-units", "--all", "--plain", "--no-legend", BACK)

    before, file = table(), broker.run("cat", "/etc/streamops-kafka/firewall.nft")
    assert not units(), "the run that installed the cluster left a trial"
    # It lets everyone in, so that no broker loses a connection.
    rules = [{"port": port, "sources": ["0.0.0.0/0", "::/0"]} for port in broker.ports.values()]
    args = json.dumps({"rules": rules, "state": "trial", "trial_seconds": 8})
    command = ["ansible", "broker2", "-i", os.environ["MOLECULE_INVENTORY_FILE"], "-m", "streamops.kafka.firewall"]
    done = subprocess.run([*command, "-a", args], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert table() != before
    assert ".timer" in units()
    eventually(lambda: table() == before, "the previous table", 60)
    eventually(lambda: not units(), "an end of the timer", 30)
    assert broker.run("cat", "/etc/streamops-kafka/firewall.nft") == file
