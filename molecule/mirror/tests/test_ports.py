"""Every port of every process, tried from every kind of address in both data centres, against what is allowed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.machines import Ask, Machine
from tests.support.ports import scanned

# Who tries, and the purposes of listeners that are open to it, by cluster; of a machine in the other data centre what
# the engine lets through, which is nothing. docs/firewall.md has the rules.
ALLOWED: dict[tuple[str, str], set[str]] = {
    ("east1", "dc_a"): {"clients", "clients MIRROR", "brokers", "controllers"},
    ("west1", "dc_b"): {"clients", "brokers", "controllers"},
    ("line", "dc_a"): {"clients MIRROR"},
    ("line", "dc_b"): set(),
    ("mirror1", "dc_b"): {"clients"},
    ("stranger", "dc_b"): set(),
    ("the control node", "dc_a"): {"clients", "clients MIRROR"},
    ("the control node", "dc_b"): {"clients"},
}
# The same for the internal REST of the mirrors.
PEERS = {"mirror2": {"mirror_rest"}, "west1": set(), "line": set(), "stranger": set(), "the control node": set()}


@pytest.mark.parametrize(("who", "where"), ALLOWED)
def test_exactly_what_the_inventory_allows_is_open(
    who: str, where: str, machines: dict[str, Machine], ask: Ask, note: Callable[[str], None]
) -> None:
    nodes = [one for one in machines.values() if one.is_node and one.cluster == where]
    scan = scanned(ask, machines.get(who), nodes)
    allowed = {place for purpose in ALLOWED[who, where] for place in scan.declared.get(purpose, set())}
    assert scan.found == allowed
    note(f"scan of {where} from {who}: {scan}, all of them allowed")


@pytest.mark.parametrize("who", PEERS)
def test_mirrors_are_open_to_their_peers_alone(
    who: str, machines: dict[str, Machine], mirrors: list[Machine], ask: Ask, note: Callable[[str], None]
) -> None:
    scan = scanned(ask, machines.get(who), mirrors)
    assert scan.found == {place for purpose in PEERS[who] for place in scan.declared.get(purpose, set())}
    note(f"scan of the mirrors from {who}: {scan}, all of them allowed")
