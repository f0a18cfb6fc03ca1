"""Every port of every machine, which has a server and a broker, tried from every kind of address."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.machines import Ask, Machine
from tests.support.ports import scanned

ALLOWED = {
    "machine1": {"clients", "brokers", "zookeeper_clients", "zookeeper_quorum", "zookeeper_election"},
    "client": {"clients"},
    "stranger": set(),
    "the control node": {"clients", "zookeeper_clients"},
}


@pytest.mark.parametrize("who", ALLOWED)
def test_exactly_what_the_inventory_allows_is_open(
    who: str, machines: dict[str, Machine], nodes: list[Machine], ask: Ask, note: Callable[[str], None]
) -> None:
    scan = scanned(ask, machines.get(who), nodes)
    # Only the leader waits for followers, and it may be one's own machine.
    waits = scan.declared.pop("zookeeper_quorum")
    assert scan.found - waits == {place for purpose in ALLOWED[who] for place in scan.declared.get(purpose, set())}
    assert len(scan.found & waits) <= ("zookeeper_quorum" in ALLOWED[who])
    note(f"scan from {who}: {scan}, all of them allowed")
