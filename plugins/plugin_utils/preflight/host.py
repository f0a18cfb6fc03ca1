# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One node of the play and what its host answered: what the preflight rules on hosts look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Host:
    """One node of the play; info is the result of node_info, clock that of clock_info, None when there is none.

    production -- whether its cluster has that profile; min_free_mib, min_free_inodes -- what each data directory needs
    free; require_mount -- whether each must be on a mount of its own; installs_java -- whether the play brings Java
    where there is none; silence -- why it did not answer; mode -- its kafka_mode; emptied -- whether its disks may be
    empty on purpose, although its cluster has run; member -- whether it is one of its ensemble of ZooKeeper, and not
    about to come or go; network_mbits -- the speed of its machine's link, 0 when it is not judged; trust -- what
    plugin_utils/preflight/trust_reader says of its stores, None without TLS.
    """

    name: str
    cluster: str
    machine: str
    node_id: int | None
    roles: tuple[str, ...]
    cluster_id: str
    version: str
    production: bool
    min_free_mib: int
    min_free_inodes: int
    require_mount: bool
    installs_java: bool
    accepted: tuple[str, ...]
    info: Mapping[str, Any] | None
    clock: Mapping[str, Any] | None
    silence: str = ""
    mode: str = ""
    emptied: bool = False
    member: bool = True
    network_mbits: int = 0
    trust: Mapping[str, Any] | None = None

    @property
    def disks(self) -> Sequence[Mapping[str, Any]]:
        """What it said about its data directories; nothing when it did not answer, or keeps no data."""
        return self.info["disks"] if self.info and not self.only_mirrors else ()

    @property
    def only_mirrors(self) -> bool:
        """Whether it runs MirrorMaker, which keeps all it knows in clusters, and nothing else."""
        return self.roles == ("mirror",)


def by_cluster(hosts: Iterable[Host]) -> dict[str, list[Host]]:
    """The hosts of each cluster, in order."""
    clusters: dict[str, list[Host]] = {}
    for host in hosts:
        clusters.setdefault(host.cluster, []).append(host)
    return clusters
