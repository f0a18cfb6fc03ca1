"""Every port of every node, tried from every kind of address, against what the inventory allows."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support.machines import Ask, Machine
from tests.support.ports import scanned

# Who tries, and the purposes of listeners that are open to it; docs/firewall.md has the rules.
ALLOWED: dict[str, set[str]] = {
    "broker1": {"clients", "brokers", "controllers"},
    "controller1": {"controllers"},
    "client": {"clients"},
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
