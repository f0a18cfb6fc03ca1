# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One node of the play and what its host answered: what the preflight rules on hosts look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os.path import normpath
from typing import Any

from ...module_utils._client.login import chosen
from ...module_utils._core.properties import value_text
from ...module_utils._migration.modes import BROKER
from ..inventory.model import Node
from ..inventory.nodes import STAGE, disk_mode
from ..inventory.variables import UNDEFINED, as_bool, as_int
from ..render.security import SASL_PROTOCOLS


@dataclass(frozen=True)
class Offer:
    """The SASL mechanisms that a listener shall offer; own -- by which our clients log in there, empty without any."""

    listener: str
    mechanisms: tuple[str, ...]
    own: str = ""


@dataclass(frozen=True)
class Host:
    """One node of the play; info is the result of node_info, clock what it says of the clock, None when there is none.

    production -- whether its cluster has that profile; min_free_mib, min_free_inodes -- what each data directory needs
    free; require_mount -- whether each must be on a mount of its own; installs_java -- whether the play brings Java
    where there is none; silence -- why it did not answer; mode -- whose data may be on its disks
    (disk_mode); emptied -- whether its disks may be empty on purpose, although its cluster has run; joins -- whether it
    is a controller that the quorum does not know yet; is_taken_over -- whether the run takes it over from what ran it
    before; member -- whether it is one of its ensemble of ZooKeeper, and not about to come or go; network_mbits -- the
    speed of its machine's link, 0 when it is not judged; trust -- what
    plugin_utils/preflight/trust_reader says of its stores, None without TLS; beside -- what nodes that are no hosts of
    the inventory there have left on its machine; features -- what its cluster has finalised, None where the cluster was
    not asked or did not answer; unasked -- why it did not; former_cluster -- the name that its cluster may have had;
    names_version -- whether the inventory says its C(version), which is the default of the collection otherwise;
    offers -- the listeners at which clients log in, as far as the inventory says by which mechanisms;
    started_by_systemd -- whether systemd runs it, by a script in its config_dir.
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
    joins: bool = False
    is_taken_over: bool = False
    member: bool = True
    network_mbits: int = 0
    trust: Mapping[str, Any] | None = None
    beside: Sequence[Mapping[str, Any]] = ()
    features: Mapping[str, int] | None = None
    unasked: str = ""
    former_cluster: str = ""
    names_version: bool = True
    started_by_systemd: bool = True
    config_dir: str = ""
    offers: tuple[Offer, ...] = ()

    @property
    def disks(self) -> Sequence[Mapping[str, Any]]:
        """Return what it said about its data directories; nothing when it did not answer, or keeps no data."""
        return self.info["disks"] if self.info and not self.only_mirrors else ()

    @property
    def was_flagged(self) -> bool:
        """Return whether it was last started with the migration flag; False when it did not answer."""
        return bool(self.info and self.info.get("migrates"))

    @property
    def only_mirrors(self) -> bool:
        """Return whether it runs MirrorMaker, which keeps all it knows in clusters, and nothing else."""
        return self.roles == ("mirror",)


def by_cluster(hosts: Iterable[Host]) -> dict[str, list[Host]]:
    """The hosts of each cluster, in order."""
    clusters: dict[str, list[Host]] = {}
    for host in hosts:
        clusters.setdefault(host.cluster, []).append(host)
    return clusters


def host_of(node: Node, info: Any, nodes: Iterable[Node] = ()) -> Host:
    """Return what the rules look at, from a node of the inventory and its result of node_info.

    nodes -- all of the inventory, whose own files on its machine are no strangers'.
    """
    return Host(
        name=node.name,
        cluster=node.cluster,
        machine=node.machine,
        node_id=as_int(node.get("zookeeper_id" if node.zookeeper else "kafka_node_id")),
        roles=tuple(role for role in ("broker", "controller", "zookeeper", "mirror") if getattr(node, role)),
        cluster_id=node.text("kafka_cluster_id"),
        version=node.text("zookeeper_version" if node.zookeeper else "kafka_version"),
        mode=disk_mode(
            [BROKER] if node.broker else [], {"kafka_mode": node.text("kafka_mode"), STAGE: node.text(STAGE)}
        ),
        former_cluster=node.text("kafka_accept_former_cluster_name"),
        emptied=node.name in node.names("kafka_replaced_nodes"),
        joins=as_bool(node.get("_common_changes_voters", False))
        and node.name in node.names("kafka_joining_controllers"),
        is_taken_over=as_bool(node.get("_common_foresees_claim", False)),
        member=node.is_member(),
        production=node.text("kafka_profile") != "development",
        min_free_mib=as_int(node.get("preflight_min_free_mib")) or 0,
        min_free_inodes=as_int(node.get("preflight_min_free_inodes")) or 0,
        network_mbits=as_int(node.get("preflight_network_mbits")) or 0,
        require_mount=as_bool(node.get("kafka_require_mount", False)),
        installs_java=bool(node.java_package((_answer(info, "system") or {}).get("system"))),
        started_by_systemd=node.text("kafka_service_manager") == "systemd",
        config_dir=node.text("kafka_config_dir"),
        offers=tuple(_offers(node)),
        accepted=tuple(node.names("preflight_accept")),
        info=_answer(info, "disks"),
        clock=_answer((_answer(info, "clock") or {}).get("clock"), "offset"),
        silence=_silence(info),
        beside=_strangers(_answer(info, "beside"), [other for other in nodes if other.machine == node.machine]),
    )


def _offers(node: Node) -> Iterator[Offer]:
    """Yield what listeners shall offer; a native property wins, and one that is made at run time is passed over."""
    ours = [] if node.variables.get("kafka_sasl_mechanisms") is UNDEFINED else node.names("kafka_sasl_mechanisms")
    for listener in node.listeners():
        if listener.protocol not in SASL_PROTOCOLS:
            continue
        key = f"listener.name.{listener.name.lower()}.sasl.enabled.mechanisms"
        native = node.properties().get(key)
        if native is not None and native.value is UNDEFINED:
            continue
        offered = ours if native is None else [name.strip() for name in value_text(key, native.value).split(",")]
        if offered:
            yield Offer(listener.name, tuple(offered), chosen(ours) if listener.purpose == "clients" else "")


def _strangers(info: Mapping[str, Any] | None, nodes: Sequence[Node]) -> list[Mapping[str, Any]]:
    """Return what node_info found beside a node that is of none of these nodes."""
    configs = {normpath(f"{node.text('kafka_config_dir')}/{node.name}") for node in nodes}
    disks = [path for node in nodes for path in (*node.log_dirs(), node.text("kafka_metadata_log_dir")) if path]
    own = {*configs, *map(normpath, disks)}
    return [one for one in (info or {}).get("beside", ()) if normpath(one["config_dir"] or one["path"]) not in own]


def _answer(registered: Any, key: str) -> Any:
    """A registered result that has what was asked for, else None."""
    return registered if isinstance(registered, dict) and key in registered else None


def _silence(registered: Any) -> str:
    """Say why a registered result is no answer, on one line; '' when it is one."""
    if not isinstance(registered, dict) or not (registered.get("unreachable") or registered.get("failed")):
        return ""
    return " ".join(str(registered.get("msg", "")).removeprefix("Task failed: ").split())[:300]
