# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a Prometheus must know of all clusters of the inventory, as monitoring/targets.py takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os.path import expanduser
from typing import Any

from ...module_utils._core.addresses import host_port, is_loopback, plain_host, split_host_port
from ..inventory.model import PAGE_GROUP, PROMETHEUS_GROUP, Inventory, Listener, Node
from ..monitoring import dashboards
from ..monitoring.rules import planned
from .canary import running
from .metrics import kind
from .parts import Parts
from .prometheus import alertmanager_socket

PAGE_PORT = 9406
#: The login that a page has beside a port that others reach.
PAGE_USER = "prometheus"
TLS = ("SSL", "SASL_SSL")
#: Ports at which a certificate is looked at. The others of ZooKeeper are for its servers alone, which log strangers.
PROBED = ("clients", "brokers", "controllers", "zookeeper_clients")
ALL_ADDRESSES = ("0.0.0.0", "::")
#: One set of files is written, so these cannot differ from host to host.
COMMON = ("kafka_monitoring_files_dir", "kafka_monitoring_alerts", "kafka_monitoring_runbooks")

Read = Callable[[str], Mapping[str, Any]]


class Monitoring(Parts):
    """The key C(monitoring) of the model; docs/development/house.md lists its own keys."""

    def __init__(self, inventory: Inventory, read: Read, groups: Mapping[str, Sequence[str]]) -> None:
        self._inventory, self._read, self._groups = inventory, read, groups
        super().__init__(
            {
                "targets": self._targets,
                "dashboards": dashboards.files,
                "directory": lambda: expanduser(self._common("kafka_monitoring_files_dir")),
                "alerts": lambda: self._common("kafka_monitoring_alerts"),
                "runbooks": lambda: self._common("kafka_monitoring_runbooks"),
                "alertmanagers": self._alertmanagers,
                "planned": planned,
            }
        )

    def _common(self, name: str) -> Any:
        """Return the value of a variable that all hosts must have alike."""
        hosts = [node.name for node in self._inventory.processes]
        first, *others = hosts
        value = self._read(first)[name]
        for other in others:
            if self._read(other)[name] != value:
                raise ValueError(
                    f"{name} is {value!r} on {first} and {self._read(other)[name]!r} on {other}, but one set of "
                    "files is written for all; fix: set it for the group all"
                )
        return value

    def _alertmanagers(self) -> list[dict[str, str]]:
        """Return the Alertmanagers of the inventory: the host that each is asked from, and its url."""
        return [
            {"host": host, "url": f"http://{alertmanager_socket(self._read(host))}"}
            for host in sorted(self._groups.get(PROMETHEUS_GROUP, ()))
        ]

    def _targets(self) -> list[dict[str, Any]]:
        return [*self._nodes(), *self._pages(), *self._canaries(), *self._machines(), *self._certificates()]

    def _nodes(self) -> Iterator[dict[str, Any]]:
        for node in self._inventory.processes:
            listener = node.metrics()
            secured = bool(node.text("kafka_metrics_password"))
            yield {
                "job": kind(list(node.roles)),
                "node": node.name,
                "cluster": node.cluster,
                "node_id": node.id,
                "address": host_port(_node_address(node, listener), listener.port) if listener else "",
                "tls": bool(listener and listener.protocol == "SSL"),
                "user": node.text("kafka_metrics_user") if secured else "",
                **_files(node.variables),
            }

    def _pages(self) -> Iterator[dict[str, Any]]:
        """Yield the pages: one that others reach has TLS and a login, one on loopback only what it was given."""
        for host in sorted(self._groups.get(PAGE_GROUP, ())):
            variables = self._read(host)
            bound = plain_host(variables.get("kafka_page_host", ""))
            own = plain_host(variables.get("ansible_host") or host)
            address = _reached(host, variables, "kafka_page_host", bound or own, own)
            users = variables.get("kafka_page_users") or ([] if is_loopback(bound or own) else [PAGE_USER])
            yield {
                "job": "page",
                "node": host,
                "address": host_port(address, variables.get("kafka_page_port", PAGE_PORT)),
                "tls": not is_loopback(bound or own) or bool(variables.get("kafka_page_tls_source")),
                "user": PAGE_USER if PAGE_USER in users else min(map(str, users), default=""),
                **_files(variables),
            }

    def _canaries(self) -> Iterator[dict[str, Any]]:
        """Yield the canary of each target, which has no login."""
        for host in running(self._read, self._groups):
            variables = self._read(host)
            bound = plain_host(variables["mirror_maker_canary_host"])
            own = plain_host(variables.get("ansible_host") or host)
            address = _reached(host, variables, "mirror_maker_canary_host", bound, own)
            yield {
                "job": "canary",
                "node": host,
                "address": host_port(address, variables["mirror_maker_canary_port"]),
                **_files(variables),
            }

    def _machines(self) -> Iterator[dict[str, Any]]:
        """Yield each machine with node_exporter once for each cluster that it has nodes of."""
        seen = set()
        for node in self._inventory.processes:
            port = node.get("kafka_monitoring_node_exporter_port", 0)
            address = host_port(plain_host(node.text("kafka_monitoring_address")) or node.address, port)
            if port and (address, node.cluster) not in seen:
                seen.add((address, node.cluster))
                yield {"job": "node", "node": node.name, "cluster": node.cluster, "address": address}

    def _certificates(self) -> Iterator[dict[str, Any]]:
        """Yield a port of each node at which blackbox_exporter sees its certificate."""
        for node in self._inventory.processes:
            exporter = node.text("kafka_monitoring_blackbox_address")
            shown = [one for one in node.listeners() if one.protocol in TLS and one.purpose in PROBED]
            if exporter and shown:
                split_host_port(exporter)
                yield {
                    "job": "blackbox",
                    "node": node.name,
                    "cluster": node.cluster,
                    "address": shown[0].socket,
                    "probe": {"address": exporter, "module": node.text("kafka_monitoring_blackbox_module")},
                }


def _node_address(node: Node, listener: Listener) -> str:
    return _reached(node.name, node.variables, "kafka_metrics_host", listener.host, node.address)


def _reached(host: str, variables: Mapping[str, Any], variable: str, bound: str, own: str) -> str:
    """Return where Prometheus reaches what is bound to an address of a host; `own` is the address of the host.

    Raises ValueError for what is bound to loopback on a machine that is another one.
    """
    given = plain_host(variables["kafka_monitoring_address"])
    if given:
        return given
    if bound in ALL_ADDRESSES:
        return own
    if is_loopback(bound) and not is_loopback(own):
        raise ValueError(
            f"{variable} of {host} is {bound}, which no Prometheus reaches from elsewhere; fix: set an address that it "
            "reaches and a login, or set kafka_monitoring_address of the host where Prometheus runs there. No file was "
            "written."
        )
    return bound


def _files(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return what is read on the machine of Prometheus."""
    return {
        "ca_file": str(variables["kafka_monitoring_ca_file"]),
        "password_file": str(variables["kafka_monitoring_password_file"]),
    }
