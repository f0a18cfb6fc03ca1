# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The model as roles read it: plain data about the cluster of one host, each part made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    Inventory,
    Node,
    build_inventory,
    build_node,
    machine_of,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.firewall import administrators, places

#: The variables that name the groups of the inventory, by what the hosts in them are.
GROUPS = {
    "controller": "kafka_controllers_group",
    "broker": "kafka_brokers_group",
    "zookeeper": "kafka_zookeeper_group",
    "mirror": "kafka_mirror_makers_group",
}
#: What hosts of one machine have alike that share a piece of work: preparing it, installing a release, its firewall.
ALIKE = {
    "machine": (
        "kafka_service_manager",
        "kafka_user",
        "kafka_group",
        "kafka_install_dir",
        "kafka_config_dir",
        "kafka_data_dir",
        "kafka_log_dir",
        "kafka_run_dir",
        "kafka_java_home",
        "kafka_java_package",
    ),
    "release": (
        "kafka_install_dir",
        "kafka_install_source",
        "kafka_version",
        "kafka_archive_sha512",
        "zookeeper_version",
        "zookeeper_archive_sha512",
    ),
    "firewall": ("kafka_service_manager",),
}


class Reader(Protocol):
    """Who reads the variables of hosts: task.TaskReader, or a test."""

    host: str

    def read(self, host: str) -> Mapping[str, Any]:
        """The typed variables of a host."""

    def is_host(self, name: str) -> bool:
        """Whether the inventory has a host of this name."""

    @property
    def groups(self) -> Mapping[str, list[str]]:
        """The groups of the inventory."""

    @property
    def play_hosts(self) -> Sequence[str]:
        """All hosts of the play."""


class View(Mapping[str, Any]):
    """What docs/house.md lists: settings, node, nodes, zookeepers, mirrors, places, first."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._made: dict[str, Any] = {}
        self._parts: dict[str, Callable[[], Any]] = {
            "settings": lambda: reader.read(reader.host),
            "node": self._node,
            "nodes": lambda: self._plain(self._inventory.kafka),
            "zookeepers": lambda: self._plain(node for node in self._inventory.nodes if node.zookeeper),
            "mirrors": lambda: self._plain(self._inventory.mirrors),
            "places": self._places,
            "first": self._first,
        }

    def __getitem__(self, name: str) -> Any:
        make = self._parts[name]
        try:
            return self._once(name, make)
        except (AttributeError, LookupError, TypeError) as error:
            # Jinja would take these for a key that is not there.
            raise ValueError(f"the inventory has no {name}: {type(error).__name__} {error}") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    @property
    def _inventory(self) -> Inventory:
        own, groups = self._reader.read(self._reader.host), self._reader.groups
        return self._once(
            "inventory",
            lambda: build_inventory(
                self._reader.read, {role: groups.get(own[name], []) for role, name in GROUPS.items()}
            ),
        )  # type: ignore[no-any-return]  # what was made under this name

    def _plain(self, nodes: Iterable[Node]) -> list[dict[str, Any]]:
        cluster = str(self._reader.read(self._reader.host)["kafka_cluster_name"]).strip()
        return [node.plain() for node in nodes if node.cluster == cluster]

    def _node(self) -> dict[str, Any]:
        nodes = (*self["nodes"], *self["zookeepers"], *self["mirrors"])
        found = [node for node in nodes if node["host"] == self._reader.host]
        if not found:
            raise ValueError(
                f"{self._reader.host} is in none of the groups of Kafka, ZooKeeper and MirrorMaker "
                f"({', '.join(GROUPS.values())})"
            )
        return dict(found[0])

    def _places(self) -> list[dict[str, Any]]:
        inventory, groups = self._inventory, self._reader.groups
        known = {node.name: node for node in inventory.processes}
        wanted = [host for node in known.values() for host in (*node.client_hosts(groups), *administrators(node))]
        peers = [
            build_node(host, variables=self._reader.read(host), undefined={}, controller=False, broker=False)
            for host in dict.fromkeys(wanted)
            if host not in known and self._reader.is_host(host)
        ]
        return places([*known.values(), *peers], groups)

    def _first(self) -> dict[str, bool]:
        """Whether the host is the first of the play that shares a piece of work on its machine."""
        return {work: self._is_first(alike) for work, alike in ALIKE.items()}

    def _is_first(self, alike: Iterable[str]) -> bool:
        def shared(host: str) -> list[Any]:
            variables = self._reader.read(host)
            return [machine_of(variables, host), *(variables[name] for name in alike)]

        own = shared(self._reader.host)
        return next(host for host in self._reader.play_hosts if shared(host) == own) == self._reader.host
