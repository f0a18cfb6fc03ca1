# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which host of a play does what is done once for several: for a machine, a release, a firewall, a supervisord."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..inventory.build import machine_of
from ..inventory.mirror_nodes import has_flow
from ..inventory.model import Node
from .parts import key
from .process import service_name
from .readers import Reader

#: What hosts of one machine have alike that share a piece of work: preparing it, installing a release, its firewall,
#: ending what runs their processes.
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
    # Its configuration and its socket: two nodes with both alike have one supervisord.
    "supervisord": ("kafka_service_manager", "kafka_config_dir", "kafka_run_dir"),
}


class Turns:
    """Who takes which turn; C(processes) returns all nodes and mirrors of the inventory, by their ids."""

    def __init__(self, reader: Reader, processes: Callable[[], Sequence[Node]]) -> None:
        self._reader, self._processes = reader, processes

    @key
    def first(self) -> dict[str, bool]:
        """Say, for each work that hosts of a machine share, whether the host is the first of the play to do it."""
        return {work: self._is_first(alike) for work, alike in ALIKE.items()}

    def _is_first(self, alike: Iterable[str]) -> bool:
        return next(self._sharing(alike)) == self._reader.host

    def _sharing(self, alike: Iterable[str]) -> Iterator[str]:
        """The hosts of the play that share a piece of work on the machine, nodes first and by their ids.

        Mirrors without a flow come last: their role does nothing for them.
        """

        def shared(host: str) -> list[Any]:
            """Return what hosts that share the work have alike."""
            variables = self._reader.read(host)
            return [machine_of(variables, host), *(variables[name] for name in alike)]

        own = shared(self._reader.host)
        processes = self._processes()
        places = {node.name: number for number, node in enumerate(sorted(processes, key=_is_idle))}
        hosts = sorted(self._reader.play_hosts, key=lambda host: (places.get(host, len(places)), host))
        return (host for host in hosts if shared(host) == own)

    @key
    def services(self) -> list[str]:
        """The services of those hosts of the play that one supervisord runs with this one."""
        sharing = set(self._sharing(ALIKE["supervisord"]))
        return [service_name(node.identity()) for node in self._processes() if node.name in sharing]


def _is_idle(node: Node) -> bool:
    return node.only_mirrors and not has_flow(node.get("mirror_flows"), node.cluster)
