# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a node that something else runs may be taken over: it must be the one that the inventory describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import normpath
from typing import TYPE_CHECKING

from ...module_utils._migration.modes import MIGRATING, mode_of
from ...module_utils._node.adopted import Claim
from ...module_utils._node.installed import APACHE, KAFKA, MANAGERS, MIRROR, SUPERVISOR, SYSTEMD, ZOOKEEPER
from ..findings import REFUSE, Finding
from .foreign import CLIENT_PORTS, ForeignNode, chroot, foreign_nodes, member_ports, mirrored, our_nodes

if TYPE_CHECKING:
    from .foreign import Machine, Process

#: States of a unit (systemctl(1), is-enabled) of which it is known how it starts at boot, and whether it does.
_AT_BOOT = {"enabled": True, "enabled-runtime": True, "linked": False, "disabled": False}
#: What a unit of ours does not see of its machine (systemd.exec(5), ProtectHome= and PrivateTmp=).
_HIDDEN = ("/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/")  # nosec B108
_LOOK = "run adopt.yml without kafka_adopt, which shows what runs"
#: What servers of ZooKeeper must have alike to hear each other, or to log in with each other; all are off by default
#: (QuorumPeerConfig, QuorumAuth).
_BETWEEN_SERVERS = ("sslQuorum", "quorum.auth.enableSasl", "enforce.auth.enabled")
#: What says under which names a flow writes, with what holds where nothing is said (MirrorConnectorConfig of Kafka 3.9
#: and 4.3). With other names ours would begin anew beside what is there.
_OF_FLOWS = {
    "replication.policy.class": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
    "replication.policy.separator": ".",
    "replication.policy.internal.topic.separator.enabled": "true",
    "offset-syncs.topic.location": "source",
}
#: What names the group of the workers of a cluster and their topics; without them both have the names of the clusters
#: (MirrorMakerConfig.workerConfig).
_OF_WORKERS = ("group.id", "config.storage.topic", "offset.storage.topic", "status.storage.topic")
#: May not change while workers of both kinds run (KIP-618).
_EXACTLY_ONCE = "exactly.once.source.support"
#: The first MirrorMaker (KIP-720).
LEGACY_MAIN = "kafka.tools.MirrorMaker"


@dataclass(frozen=True)
class Wanted:
    """What the inventory says of a node.

    product -- KAFKA, ZOOKEEPER or MIRROR. mode -- of a node of Kafka, one of modes.MODES; empty of all others. user --
    that it is to run as; empty where it runs as whoever runs the play. data -- its directories of data; own --
    directories and files of ours on its machine; main_class, properties -- that it is to start with.
    """

    host: str
    product: str
    node_id: int | None
    roles: Sequence[str]
    mode: str
    version: str
    cluster_id: str
    user: str
    data: Sequence[str]
    own: Sequence[str]
    main_class: str
    properties: Mapping[str, object]

    @property
    def texts(self) -> dict[str, str]:
        """Return its properties as a file has them, but for lists."""
        return {name: str(value).strip() for name, value in self.properties.items()}

    @property
    def title(self) -> str:
        """Return how a sentence names it."""
        return (
            f"mirror of {_listed(mirrored(self.texts))}" if self.product == MIRROR else f"node with id {self.node_id}"
        )

    def is_it(self, node: ForeignNode) -> bool:
        """Tell whether a process of its product is the node: it has its id, or carries the flows of the mirror."""
        if self.product == MIRROR:
            return mirrored(node.told["properties"]) == mirrored(self.texts)
        return node.node_id == self.node_id


@dataclass(frozen=True)
class TakeOver:
    """What is written of the process that runs a node, and why it may not be taken over.

    claim -- empty where nothing is to be written: the node is ours already, or it is refused.
    """

    claim: Claim = field(default_factory=Claim)
    findings: Sequence[Finding] = ()


def take_over(machine: Machine, wanted: Wanted, is_known: bool) -> TakeOver:
    """Tell whether a node may be taken over.

    machine -- what adoption_info returned there; is_known -- whether an earlier run has written who runs the node, so
    that it may be stopped now.
    """
    if "processes" not in machine:
        why = machine.get("msg") or "it did not answer"
        return TakeOver(findings=[Finding(REFUSE, f"{wanted.host} was not looked at: {why}", "make it reachable")])
    others, ours = (
        [node for node in nodes({wanted.host: machine}) if node.product == wanted.product]
        for nodes in (foreign_nodes, our_nodes)
    )
    meant = [node for node in (*others, *ours) if wanted.is_it(node)]
    # Another cluster on the same machine may have a node with this id.
    meant = [node for node in meant if _data(node.told) == _paths(wanted.data)] or meant
    candidates = [node for node in meant if node in others]
    if wanted.main_class == LEGACY_MAIN and others:
        what = f"{wanted.host} is to run a mirror of engine legacy, which is not taken over"
        return TakeOver(findings=[Finding(REFUSE, what, "take the host out of the inventory of the take-over")])
    if len(candidates) != 1:
        # What a mirror of ours carries may be about to change; one without a flow is to run nowhere.
        is_mirror = wanted.product == MIRROR
        is_ours = is_known or (bool(ours) if is_mirror else len(meant) > len(candidates))
        is_nothing = is_mirror and not mirrored(wanted.texts) and not others
        needs_none = (is_ours and not candidates) or is_nothing
        return TakeOver(findings=() if needs_none else [_not_one(candidates, others, wanted)])
    (node,) = candidates
    findings = [
        *_service_findings(node.told, wanted),
        *_differences(node, wanted),
        *_in_the_way(node.told, wanted),
        *_out_of_reach(wanted),
    ]
    return TakeOver(findings=findings) if findings else TakeOver(claim_of(node.told))


def _not_one(candidates: Sequence[ForeignNode], others: Sequence[ForeignNode], wanted: Wanted) -> Finding:
    """Say why the process of a node is not known: none has its id, or several have it.

    others -- all processes of that product which something else runs.
    """
    if candidates:
        pids = ", ".join(str(node.told["pid"]) for node in candidates)
        what = f"several processes of the {wanted.title} run on {wanted.host} ({pids})"
        return Finding(REFUSE, what, "stop the one that is not meant")
    what = f"no {wanted.title} runs on {wanted.host}"
    if wanted.product == MIRROR and others:
        runs = ", ".join(
            f"{_listed(mirrored(node.told['properties']))} (process {node.told['pid']})" for node in others
        )
        return Finding(REFUSE, f"{what}; what runs: {runs}", "let mirror_flows say what runs; change it later")
    nameless = next((node for node in others if node.node_id is None), None)
    if nameless is None:
        return Finding(REFUSE, what, f"start it by its own service; {_LOOK}")
    places = " or ".join(place["path"] for place in nameless.told["dirs"]) or "its directory of data"
    fix = "let the run read its properties and its directories"
    if wanted.product == ZOOKEEPER:
        # A server that serves alone needs none (QuorumPeerConfig.setupMyId).
        fix = f"write {wanted.node_id} into the file myid in {places}, where it has none, and {fix}"
    return Finding(REFUSE, f"{what}, and nothing tells the id of process {nameless.told['pid']}", fix)


def claim_of(told: Process) -> Claim:
    """Return what is written of a process, as the module adopted_node takes it."""
    service = told["service"]
    return {
        "manager": service["manager"],
        "name": service["name"],
        "enabled": service["manager"] == SYSTEMD and _AT_BOOT.get(service["enabled"], False),
        "control": service["control"],
        "main_class": told["main_class"],
        "properties_file": told["properties_file"],
        "release_dir": told["release"].get("dir") or "",
        "version": told["release"].get("version") or "",
        "user": told["user"],
        "logs_dir": told["logs_dir"],
        "pid": told["pid"],
    }


def _service_findings(told: Process, wanted: Wanted) -> Iterator[Finding]:
    """Tell why the old service could not be kept from starting the node, or could not start it again."""
    service = told["service"]
    manager, title = service["manager"], f"{wanted.host} (process {told['pid']})"
    if manager not in MANAGERS:
        what = f"{title} is run by {manager} {service['name']}, which this collection cannot stop and start"
        yield Finding(REFUSE, what, "let a unit of systemd run it first")
    elif service.get("scope") == "user":
        fix = "let a unit of the system's own systemd run it first"
        yield Finding(REFUSE, f"{title} is run by {service['name']} of a user's own systemd", fix)
    elif manager == SYSTEMD and service["enabled"] not in _AT_BOOT:
        what = f"{title}: {service['name']} is {service['enabled'] or 'in an unknown state'}, so it is not known what"
        yield Finding(REFUSE, f"{what} starts it at boot", "give it an [Install] section, and enable it")
    elif manager == SUPERVISOR and service["enabled"] == "enabled":
        # Its files are not ours to change, and with the machine it would start beside ours, on the same directories.
        files = ", ".join(service["files"]) or "its file"
        what = f"{title}: supervisord starts {service['name']} by itself"
        yield Finding(REFUSE, what, f"set autostart=false in {files} (no reread is needed)")
    if manager == SUPERVISOR and not (service["control"] and service["name"]):
        fix = "run as root, or as the user that runs the process"
        yield Finding(REFUSE, f"{title}: its program, or the file of its supervisord, is not known", fix)


def _differences(node: ForeignNode, wanted: Wanted) -> Iterator[Finding]:
    """Tell where the process is another than the inventory describes."""
    told = node.told
    marks = [place["meta_properties"] or {} for place in told["dirs"]]
    clusters = sorted({mark["cluster.id"] for mark in marks if mark.get("cluster.id")})
    mode = mode_of(told["properties"]) if wanted.product == KAFKA else ""
    rows = [
        ("roles", ", ".join(node.roles), ", ".join(sorted(wanted.roles))),
        ("mode", mode, wanted.mode),
        ("release", f"{node.vendor} {node.version}", f"{APACHE} {_taken_as(node, wanted.version)}"),
        ("directories of data", _data(told), _paths(wanted.data)),
    ]
    if wanted.user:
        rows.append(("user", told["user"], wanted.user))
    if wanted.cluster_id and wanted.product == KAFKA:
        rows.append(("cluster id", ", ".join(clusters), wanted.cluster_id))
    runs, inventory = (_shared(wanted, properties) for properties in (told["properties"], wanted.texts))
    rows += [(name, runs[name] or "none", inventory[name] or "none") for name in runs]
    for name, runs_with, described in rows:
        if runs_with != described:
            fix = "let the inventory say what runs; change it after the take-over"
            yield Finding(
                REFUSE, f"{wanted.host}: its {name} by the inventory: {described}; what runs: {runs_with}", fix
            )
    if MIGRATING in (mode, wanted.mode):
        what = f"{wanted.host}: its cluster is on its way from ZooKeeper to KRaft"
        yield Finding(REFUSE, what, "end that way, or go back, by the means with which it was begun")
    if file := told["properties"].get("dynamicConfigFile"):
        what = f"{wanted.host}: its members stand in {file}, which the server itself writes anew"
        fix = "write them into its zoo.cfg (server.N) without dynamicConfigFile, and restart it by its service first"
        yield Finding(REFUSE, what, fix)
    if not told["properties_file"]:
        yield Finding(REFUSE, f"{wanted.host}: nothing tells with which file of properties it runs", "run as root")


def _taken_as(node: ForeignNode, version: str) -> str:
    """Return the release that a process counts as: its own, where that is taken over as the one of the inventory.

    Of ZooKeeper also an earlier patch of the same line is: patches of a line have one format of data and one protocol
    between servers, and what runs with known vulnerabilities may not be started again (docs/zookeeper.md).
    """
    if node.product != ZOOKEEPER:
        return version
    (line, _dot, patch), (wished_line, _dot, wished) = (text.rpartition(".") for text in (node.version, version))
    numbers = [int(text) for text in (patch, wished) if text.isdecimal()]
    return node.version if line == wished_line and len(numbers) == 2 and numbers == sorted(numbers) else version


def _shared(wanted: Wanted, texts: Mapping[str, str]) -> dict[str, str]:
    """Return what a node must have as the others of its cluster have it, by what a sentence calls it.

    texts -- properties, of what runs or of the inventory.
    """
    if wanted.product == KAFKA:
        return {"path in ZooKeeper": chroot(texts)}
    if wanted.product == MIRROR:
        return _of_mirror(texts)
    ports = member_ports(texts)
    # A single member is no member: it serves alone, with or without its line (QuorumPeerConfig.parseDynamicConfig).
    members = [f"{name} {ports[name]}" for name in sorted(ports)] if len(ports) > 1 else []
    weighs = sorted(f"{name}={value}" for name, value in texts.items() if name.startswith(("group.", "weight.")))
    return {
        "members, with their ports": ", ".join(members),
        "groups of servers": ", ".join(weighs),
        "ports for clients": ", ".join(f"{name} {texts[name]}" for name in CLIENT_PORTS if texts.get(name)),
        **{name: texts.get(name, "false").lower() for name in _BETWEEN_SERVERS},
    }


def _of_mirror(texts: Mapping[str, str]) -> dict[str, str]:
    """Return what a mirror must have as before, so that it goes on where the one before it was."""
    flows = mirrored(texts)
    prefixes = ["", *sorted({f"{cluster}." for flow in flows for cluster in flow.split("->")})]
    named = [f"{prefix}{key}" for prefix in prefixes for key in _OF_WORKERS]
    return {
        "groups and topics of workers": ", ".join(f"{name}={texts[name]}" for name in named if name in texts),
        **{
            f"{flow}.{key}": texts.get(f"{flow}.{key}", texts.get(key, default)).lower()
            for flow in flows
            for key, default in _OF_FLOWS.items()
        },
        **{
            f"{target}.{_EXACTLY_ONCE}": texts.get(f"{target}.{_EXACTLY_ONCE}", "disabled").lower()
            for target in sorted({flow.split("->")[1] for flow in flows})
        },
    }


def _in_the_way(told: Process, wanted: Wanted) -> Iterator[Finding]:
    """Tell which files of the old installation stand where ours would be written."""
    theirs = [told["properties_file"], *told["service"]["files"]]
    for path in theirs:
        if any(f"{normpath(path)}/".startswith(f"{normpath(own)}/") for own in wanted.own if path):
            what = f"{wanted.host}: {path} of the old installation stands where this collection would write"
            yield Finding(REFUSE, what, "set kafka_config_dir to a directory of its own")


def _out_of_reach(wanted: Wanted) -> Iterator[Finding]:
    """Tell which directories a unit of ours would not see (ProtectHome=, PrivateTmp= of kafka.service.j2)."""
    for path in wanted.data if wanted.user else ():
        hidden = next((place for place in _HIDDEN if f"{normpath(path)}/".startswith(place)), "")
        if hidden:
            what = f"{wanted.host}: {path} is below {hidden}, which a unit of this collection does not see"
            yield Finding(REFUSE, what, "move its data to another directory by its old service first")


def _listed(flows: Sequence[str]) -> str:
    return ", ".join(flows) or "no flow"


def _data(told: Process) -> str:
    return _paths(place["path"] for place in told["dirs"])


def _paths(paths: Iterable[str]) -> str:
    return ", ".join(sorted({normpath(path) for path in paths if path}))
