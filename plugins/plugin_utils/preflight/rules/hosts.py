# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what only the hosts can tell, beside their disks and clocks: answers, names, ports, Java, link."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....module_utils._node.adopted import NOBODY, OLD, OURS, RETURNED
from ....module_utils._release.releases import like, releases
from ...reports.advice import MOST_OF_LINK
from ..host import Host, by_cluster
from ..rule import WARNING, Problem, host_rule

#: The oldest Java that a server of ZooKeeper is started with.
ZOOKEEPER_JAVA = 11


@host_rule(
    fix="make the host reachable, or remove it from the inventory (a broker or controller: with its id in "
    "kafka_accept_missing_nodes); while its machine is out, playbook resources works without it (topics, users, ACLs, "
    "quotas)",
)
def no_answer(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A host of the play did not answer; the message has what its connection said."""
    for host in hosts:
        if host.info is None:
            yield Problem(host, "the host did not answer", host.silence or "no answer")


def _answered(hosts: Sequence[Host]) -> Iterator[tuple[Host, Mapping[str, Any]]]:
    return ((host, host.info) for host in hosts if host.info is not None)


@host_rule(
    variable="kafka_listeners",
    allowed="a name that leads every node to the other machine",
    fix="correct DNS or the hosts file of the node, or set advertised_host to an address",
)
def unresolvable_node(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A node cannot resolve the name of another node that it connects to, or resolves it to itself."""
    for host, info in _answered(hosts):
        for name, addresses in (info.get("names") or {}).items():
            loopback = [address for address in addresses if ipaddress.ip_address(address.partition("%")[0]).is_loopback]
            if not addresses or loopback:
                found = f"{name} is {', '.join(loopback)} there" if loopback else f"{name} is not known there"
                yield Problem(host, "a node cannot find another by what it advertises", found)


@host_rule(
    allowed="the service of this collection, or that of before with a run of adopt.yml",
    fix="give back the others with adopt.yml -e kafka_adopt=back, or take the node over again with -e kafka_adopt=take",
)
def given_back(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A node was given back to the service that ran it before, or a run that gives nodes back was cut."""
    for host, info in _answered(hosts):
        adopted = info.get("adopted") or {}
        if adopted.get("phase") == RETURNED and not host.is_taken_over:
            runs = {OLD: "which runs it", OURS: "and is still run by this collection", NOBODY: "and does not run"}
            yield Problem(host, "the node was given back", f"{adopted['service']}, {runs[adopted['runs']]}")


@host_rule(
    allowed="a free port, or the node itself",
    fix="stop that process, or give the listener another port; a node that others installed is taken over by adopt.yml",
)
def port_taken(hosts: Sequence[Host]) -> Iterator[Problem]:
    """Another process than the node has its port. A warning when the node runs and the owner cannot be seen."""
    owners = {
        (host.machine, info["process"]["pid"]): host.name
        for host, info in _answered(hosts)
        if info["process"]["running"]
    }
    for host, info in _answered(hosts):
        for port, holder in info["ports"].items():
            if holder is None or holder["ours"]:
                continue
            # A running node's port whose owner cannot be seen is most likely its own: no reason to stop everything.
            unseen = holder["pid"] is None and info["process"]["running"]
            yield Problem(
                host,
                "another process has the port",
                found=_holder(holder, owners.get((host.machine, holder["pid"]))),
                variable=f"port {port}",
                level=WARNING if unseen else None,
            )


def _holder(holder: Mapping[str, Any], node: str | None) -> str:
    if holder["pid"] is None:
        return str(holder.get("note") or "a process of another user")
    command = str(holder["command"])
    shown = command if len(command) <= 80 else f"{command[:77]}..."
    return f"pid {holder['pid']} ({f'node {node}' if node else shown})"


@host_rule(
    variable="kafka_java_home",
    fix="install it, or set kafka_java_package to the package that brings it, or kafka_java_home to one that is there",
)
def no_java(hosts: Sequence[Host]) -> Iterator[Problem]:
    """Java is missing (unless the play can install it), or too old: Kafka 4 needs 17, Kafka 3.9 needs 11."""
    for host, info in _answered(hosts):
        found, least = info["java"], _least_java(host)
        allowed = f"Java {least} or newer for Kafka {host.version}"
        if found["error"] and not host.installs_java:
            yield Problem(host, "no usable Java", f"{found['error']} ({info['system']['name']})", allowed)
        elif found["version"] is not None and found["version"] < least:
            yield Problem(host, "Java is too old", f"Java {found['version']} ({found['path']})", allowed)


def _least_java(host: Host) -> int:
    """The oldest Java that what it runs starts with."""
    if "zookeeper" in host.roles:
        return ZOOKEEPER_JAVA
    known = like(host.version)
    return known.java[0] if known else max(one.java[0] for one in releases())


@host_rule(variable="kafka_java_home", fix="install the same Java on all nodes", level=WARNING)
def mixed_java(hosts: Sequence[Host]) -> Iterator[Problem]:
    """The nodes of a cluster run on different Java versions, which behave differently under load."""
    for cluster, members in by_cluster(host for host in hosts if not host.only_mirrors).items():
        by_major: dict[int, list[str]] = {}
        for host, info in _answered(members):
            if info["java"]["version"]:
                by_major.setdefault(info["java"]["version"], []).append(host.name)
        if len(by_major) > 1:
            found = "; ".join(f"{major} on {', '.join(names)}" for major, names in sorted(by_major.items()))
            what = f"the nodes of cluster {cluster} run on different Java versions"
            yield Problem([*by_major.values()], what, found)


@host_rule(
    variable="kafka_config_dir",
    allowed="bin_t",
    fix="once on each machine, before the nodes start: mkdir -p DIR; semanage fcontext -a -t bin_t 'DIR(/.*)?'; "
    "restorecon -R DIR (DIR is kafka_config_dir; semanage is in policycoreutils-python-utils)",
    level=WARNING,
    acceptable=True,
)
def selinux_start_script(hosts: Sequence[Host]) -> Iterator[Problem]:
    """SELinux enforces its policy, and the start script in `kafka_config_dir` would not have the type of a program."""
    # In Red Hat's policy a program of the type bin_t that systemd starts becomes unconfined_service_t, also without new
    # privileges: it may use all ports and directories (fedora-selinux/selinux-policy, unconfinedservice.te).
    for host, info in _answered(hosts):
        system = info["system"]
        if host.started_by_systemd and system["selinux"] == "enforcing" and system["config_type"] != "bin_t":
            label = f"{system['config_type'] or 'no type'} on {host.config_dir}"
            yield Problem(host, "SELinux may keep systemd from starting the node", label)


@host_rule(
    variable="preflight_network_mbits",
    allowed=f"at most {MOST_OF_LINK} %",
    fix="add brokers or a faster link, limit clients by kafka_quotas, or throttle moves",
    level=WARNING,
    acceptable=True,
)
def busy_network(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A machine's traffic, one way, is above 75 % of `preflight_network_mbits` (judged when that is set)."""
    machines: dict[str, list[Host]] = {}
    for host, info in _answered(hosts):
        if host.network_mbits > 0 and info.get("network"):
            machines.setdefault(host.machine, []).append(host)
    for found in machines.values():
        traffic = found[0].info["network"] if found[0].info is not None else {}
        busy = max(traffic["received_bytes_per_second"], traffic["sent_bytes_per_second"]) * 8 / 1_000_000
        speed = found[0].network_mbits
        if busy * 100 > MOST_OF_LINK * speed:
            yield Problem(
                found,
                "the network has little room left for a broker that fills up again or takes over",
                found=f"{traffic['interface']} carries {busy:.0f} Mbit/s, {busy * 100 / speed:.0f} % of {speed}",
            )
