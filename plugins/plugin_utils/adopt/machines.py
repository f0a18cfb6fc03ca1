# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Several hosts of an inventory that are one machine: each of its processes belongs to one of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...module_utils._core.names import capped
from ...module_utils._node.installed import KAFKA, ZOOKEEPER
from ..findings import NOTE, Finding
from ..guards.foreign import Machine, Process, node_number

_HOSTS_SHOWN = 8


@dataclass(frozen=True)
class Said:
    """What an inventory says of the node of a host, by which its process is known.

    ids -- by product; dirs -- of data; ports -- of its listeners. Each is empty where nothing is said.
    """

    ids: Mapping[str, int]
    dirs: Collection[str] = ()
    ports: Collection[int] = ()


def said_by(variables: Mapping[str, object]) -> Said:
    """Return what variables of a host say of its node; one of another form says nothing."""
    ids = {product: _number(variables.get(name)) for product, name in _IDS.items()}
    listeners = variables.get("kafka_listeners")
    listed = listeners if isinstance(listeners, Sequence) and not isinstance(listeners, str) else ()
    ports = [entry.get("port") for entry in listed if isinstance(entry, Mapping)]
    ports.append(variables.get("zookeeper_client_port"))
    dirs = variables.get("kafka_log_dirs")
    listed_dirs = [dirs] if isinstance(dirs, str) else dirs if isinstance(dirs, Sequence) else []
    return Said(
        ids={product: number for product, number in ids.items() if number is not None},
        dirs=[str(path) for path in (*listed_dirs, variables.get("zookeeper_data_dir")) if path],
        ports=[number for port in ports if (number := _number(port)) is not None],
    )


#: By product the variable with the id of a node.
_IDS = {KAFKA: "kafka_node_id", ZOOKEEPER: "zookeeper_id"}
#: The variables that said_by reads.
READ = (*_IDS.values(), "kafka_listeners", "zookeeper_client_port", "kafka_log_dirs", "zookeeper_data_dir")


def _number(value: object) -> int | None:
    text = str(value).strip()
    return int(text) if text.isdecimal() else None


def divided(
    machines: Mapping[str, Machine], said: Mapping[str, Said]
) -> tuple[dict[str, Machine], tuple[Finding, ...]]:
    """Return by host the processes that are its own, and notes on hosts that are one machine.

    machines -- by host what adoption_info returned; said -- by host what the inventory says of its node
    """
    together: dict[str, list[str]] = defaultdict(list)
    for host, machine in machines.items():
        together[str(machine.get("machine") or f"of {host}")].append(host)
    shared = [hosts for hosts in together.values() if len(hosts) > 1]
    parts = {host: part for hosts in shared for host, part in _parts(hosts, machines, said)}
    return {**machines, **parts}, tuple(map(_note, shared))


def _note(hosts: Sequence[str]) -> Finding:
    what = f"{capped(hosts, _HOSTS_SHOWN)} are one machine, so each process is listed once"
    how = f"at the host with its id, its directory of data or one of its ports, else at {hosts[0]}"
    return Finding(NOTE, f"{what}: {how}")


def _parts(
    hosts: Sequence[str], machines: Mapping[str, Machine], said: Mapping[str, Said]
) -> Iterator[tuple[str, Machine]]:
    """Yield each host of one machine with its part of it."""
    # One login may see more than another; each process is as the first host tells it.
    processes = {told["pid"]: told for host in reversed(hosts) for told in machines[host]["processes"]}
    unread = {(place["path"], place["why"]): place for host in hosts for place in machines[host]["unread"]}
    owners = {pid: _owner(told, hosts, said) for pid, told in processes.items()}
    for host in hosts:
        own = [processes[pid] for pid in sorted(processes) if owners[pid] == host]
        yield (
            host,
            {
                **machines[host],
                "processes": own,
                "unread": list(unread.values()) if host == hosts[0] else [],
                "is_shared": True,
            },
        )


def _owner(told: Process, hosts: Sequence[str], said: Mapping[str, Said]) -> str:
    """Return the host to which a process belongs: the one with the most in common, of several the first."""
    return max(hosts, key=lambda host: _fit(told, said.get(host, Said({}))))


def _fit(told: Process, said: Said) -> tuple[int, bool, bool]:
    """Return what a process has in common with a host, what counts most first; another id is less than none."""
    number, wanted = node_number(told), said.ids.get(told["product"])
    if number is not None and wanted is not None and number != wanted:
        return -1, False, False
    has_dir = any(place["path"].rstrip("/") in {path.rstrip("/") for path in said.dirs} for place in told["dirs"])
    return int(number is not None and number == wanted), has_dir, bool({*told["ports"]} & {*said.ports})
