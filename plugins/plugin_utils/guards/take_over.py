# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a node that something else runs may be taken over: it must be the one that the inventory describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from ...module_utils._node.adopted import MANAGERS, SUPERVISOR, SYSTEMD, Claim
from ..findings import REFUSE, Finding

if TYPE_CHECKING:
    from typing import TypeAlias

#: What adoption_info says of a process, and what it returns of a machine.
Process: TypeAlias = Mapping[str, Any]
Machine: TypeAlias = Process

#: The only product that is taken over.
KAFKA = "kafka"
#: States of a unit (systemctl(1), is-enabled) of which it is known how it starts at boot, and whether it does.
_AT_BOOT = {"enabled": True, "enabled-runtime": True, "linked": False, "disabled": False}
#: What a unit of ours does not see of its machine (systemd.exec(5), ProtectHome= and PrivateTmp=).
_HIDDEN = ("/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/")  # nosec B108
_LOOK = "run adopt.yml without kafka_adopt, which shows what runs"


@dataclass(frozen=True)
class Wanted:
    """What the inventory says of a node.

    user -- that it is to run as; empty where it runs as whoever runs the play. data -- its directories of data; own --
    directories and files of ours on its machine.
    """

    host: str
    product: str
    node_id: int | None
    roles: Sequence[str]
    version: str
    cluster_id: str
    user: str
    data: Sequence[str]
    own: Sequence[str]


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
    if wanted.product != KAFKA:
        what = f"{wanted.host} is to run {wanted.product}, and this release takes over brokers and controllers alone"
        return TakeOver(findings=[Finding(REFUSE, what, "take the host out of the inventory of the take-over")])
    candidates = [told for told in machine["processes"] if told["product"] == KAFKA and _number(told) == wanted.node_id]
    others = [told for told in candidates if told["ours"] is None]
    if not others:
        if is_known or candidates:
            return TakeOver()
        what = f"no node with id {wanted.node_id} runs on {wanted.host}"
        return TakeOver(findings=[Finding(REFUSE, what, f"start it by its own service; {_LOOK}")])
    if len(others) > 1:
        pids = ", ".join(str(told["pid"]) for told in others)
        what = f"several nodes with id {wanted.node_id} run on {wanted.host} (processes {pids})"
        return TakeOver(findings=[Finding(REFUSE, what, "stop the one that is not meant")])
    told = others[0]
    findings = [
        *_service_findings(told, wanted),
        *_differences(told, wanted),
        *_in_the_way(told, wanted),
        *_out_of_reach(wanted),
    ]
    return TakeOver(findings=findings) if findings else TakeOver(claim_of(told))


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


def _number(told: Process) -> int | None:
    """Return the id of a node by its properties, else by its directories."""
    marks = [place["meta_properties"] or {} for place in told["dirs"]]
    words = [told["properties"].get("node.id"), *(mark.get("node.id") for mark in marks)]
    return next((int(word) for word in words if word and str(word).strip().isdecimal()), None)


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


def _differences(told: Process, wanted: Wanted) -> Iterator[Finding]:
    """Tell where the process is another than the inventory describes."""
    marks = [place["meta_properties"] or {} for place in told["dirs"]]
    roles = sorted(word.strip() for word in told["properties"].get("process.roles", "").split(",") if word.strip())
    clusters = sorted({mark["cluster.id"] for mark in marks if mark.get("cluster.id")})
    rows = [
        ("roles", ", ".join(roles) or "those of ZooKeeper mode", ", ".join(sorted(wanted.roles))),
        ("release", f"{told['release'].get('vendor')} {told['release'].get('version')}", f"apache {wanted.version}"),
        ("directories of data", _paths(place["path"] for place in told["dirs"]), _paths(wanted.data)),
    ]
    if wanted.user:
        rows.append(("user", told["user"], wanted.user))
    if wanted.cluster_id:
        rows.append(("cluster id", ", ".join(clusters), wanted.cluster_id))
    for name, runs, inventory in rows:
        if runs != inventory:
            fix = "let the inventory say what runs; change it after the take-over"
            yield Finding(REFUSE, f"{wanted.host}: its {name} by the inventory: {inventory}; what runs: {runs}", fix)
    if not told["properties_file"]:
        yield Finding(REFUSE, f"{wanted.host}: nothing tells with which file of properties it runs", "run as root")


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


def _paths(paths: Iterable[str]) -> str:
    return ", ".join(sorted({normpath(path) for path in paths if path}))
