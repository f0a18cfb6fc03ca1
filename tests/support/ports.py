"""Which ports of the machines of a scenario answer, tried from one of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass

from tests.support.machines import Ask, Machine

# Ports that a Kafka, ZooKeeper, JMX or Connect left open would be found on, and enough others.
SUSPECTS = [22, 80, 111, 443, 1099, 2181, 2888, 3888, 5005, 7071, 7199, 8080, 8083, 8443, 9010, 9090, 9092, 9093, 9094]
OTHERS = {*SUSPECTS, *random.Random(1).sample(range(1, 65536), 200)}

#: Address and port.
Place = tuple[str, int]


@dataclass(frozen=True)
class Scan:
    """What was tried, what answered, and the places that the nodes open, by purpose."""

    tried: int
    machines: int
    found: set[Place]
    declared: dict[str, set[Place]]

    def __str__(self) -> str:
        return f"{self.tried} ports of {self.machines} machines, {len(self.found)} open"


def scanned(ask: Ask, who: Machine | None, nodes: Iterable[Machine]) -> Scan:
    """Tries every port that any node opens, and 200 others, at every machine but one's own; None: the control node."""
    everyone = list(nodes)
    others = [node for node in everyone if who is None or node.machine != who.machine]
    addresses = sorted({node.address for node in others})
    ports = sorted({port for node in everyone for port in node.ports.values()} | OTHERS)
    declared: dict[str, set[Place]] = {}
    for node in others:
        for purpose, port in node.ports.items():
            declared.setdefault(purpose, set()).add((node.address, port))
    tried = [(address, port) for address in addresses for port in ports]
    found = {(address, port) for address, port in json.loads(ask(who, "scan.py", tried))}
    return Scan(len(tried), len(addresses), found, declared)
