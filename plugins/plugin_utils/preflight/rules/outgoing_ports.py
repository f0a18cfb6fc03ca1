# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The preflight rule on ports that the kernel gives to outgoing connections."""

from __future__ import annotations

from collections.abc import Iterator

from ...inventory.mirror_nodes import PURPOSE as MIRROR_PURPOSE
from ...inventory.model import METRICS_PORT, METRICS_PURPOSE, REST_PORT, Inventory
from ...inventory.variables import as_int
from ...inventory.zookeeper_nodes import PORTS
from ..rule import WARNING, Problem, rule
from .mirror_canary import canary_ports

#: Ports that Linux gives to outgoing connections unless it is told otherwise (ip-sysctl, ip_local_port_range).
FIRST, LAST = 32768, 60999
#: The variable of each purpose that has one of its own; all other ports stand in kafka_listeners.
_VARIABLES = {
    METRICS_PURPOSE: METRICS_PORT,
    MIRROR_PURPOSE: REST_PORT,
    **{purpose: variable for _name, purpose, variable, _port in PORTS},
}


@rule(
    allowed=f"a port below {FIRST} or above {LAST}",
    fix="choose such a port, or set net.ipv4.ip_local_reserved_ports on that machine, which keeps the port free",
    level=WARNING,
    acceptable=True,
)
def port_for_outgoing(inventory: Inventory) -> Iterator[Problem]:
    """A port of a node, its metrics, its mirror, a canary, the page or Prometheus is one that Linux gives to outgoing
    connections by default (32768 to 60999): whenever the process restarts, another one may have it, and the start
    fails with `Address already in use`."""
    by_variable: dict[str, tuple[list[str], list[int]]] = {}
    for variable, host, port in _ports(inventory):
        if port is not None and FIRST <= port <= LAST:
            hosts, ports = by_variable.setdefault(variable, ([], []))
            hosts.append(host)
            ports.append(port)
    for variable, (hosts, ports) in by_variable.items():
        low, high = min(ports), max(ports)
        yield Problem(
            hosts,
            "an outgoing connection may take the port before its process starts",
            found=str(low) if low == high else f"{low} to {high}",
            variable=variable,
        )


def _ports(inventory: Inventory) -> Iterator[tuple[str, str, int | None]]:
    """Yield each port that something of the inventory opens, with its variable and its host."""
    for node in inventory.processes:
        for listener in node.ports():
            yield _VARIABLES.get(listener.purpose, "kafka_listeners"), node.name, listener.port
    for mirror, port, _host in canary_ports(inventory):
        yield "mirror_maker_canary_port", mirror.name, port
    for page in inventory.pages:
        yield "kafka_page_port", page.name, as_int(page.get("kafka_page_port"))
    for monitor in inventory.monitors:
        for variable in ("kafka_monitoring_port", "kafka_monitoring_alertmanager_port"):
            yield variable, monitor.name, as_int(monitor.get(variable))
