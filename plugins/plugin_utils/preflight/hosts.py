# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what only the hosts can tell, beside their disks and clocks: answers, ports, Java."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host, by_cluster
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.advice import MOST_OF_LINK

# Oldest Java that a broker of a line starts with (KIP-1013 for 4.x; 3.9 still runs on 8, which KIP-750 deprecated).
MIN_JAVA = {"4": 17, "3": 11}


def unanswered(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B21: every host of the play answered."""
    for host in hosts:
        if host.info is None:
            yield Violation(
                "B21", ERROR, (host.name,), "", "the host did not answer what is on it",
                host.silence or "no answer", "an answer from every host of the play",
                "make the host reachable, or take it out of the inventory",
            )  # fmt: skip


def names(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B18: every node can resolve the names of the nodes that it connects to, and to another machine than its own."""
    for host in hosts:
        for name, addresses in (host.info.get("names") or {} if host.info is not None else {}).items():
            loopback = [address for address in addresses if ipaddress.ip_address(address.partition("%")[0]).is_loopback]
            if not addresses or loopback:
                found = f"{name} is {', '.join(loopback)} there" if loopback else f"{name} is not known there"
                yield Violation(
                    "B18", ERROR, (host.name,), "kafka_listeners", "a node cannot find another by what it advertises",
                    found, "a name that leads every node to the other machine",
                    "correct DNS or the hosts file of the node, or set advertised_host to an address",
                )  # fmt: skip


def ports(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B20: each port is free or held by the node itself."""
    owners = {
        (host.machine, host.info["process"]["pid"]): host.name
        for host in hosts
        if host.info is not None and host.info["process"]["running"]
    }
    for host in hosts:
        for port, holder in (host.info["ports"] if host.info is not None else {}).items():
            if holder is None or holder["ours"]:
                continue
            # A running node's port whose owner cannot be seen is most likely its own: no reason to stop everything.
            unseen = holder["pid"] is None and host.info is not None and host.info["process"]["running"]
            yield Violation(
                "B20", WARNING if unseen else ERROR, (host.name,), f"port {port}", "another process has the port",
                _holder(holder, owners.get((host.machine, holder["pid"]))), "a free port, or the node itself",
                "stop that process, or give the listener another port",
            )  # fmt: skip


def _holder(holder: Mapping[str, Any], node: str | None) -> str:
    if holder["pid"] is None:
        return str(holder.get("note") or "a process of another user")
    command = str(holder["command"])
    shown = command if len(command) <= 80 else f"{command[:77]}..."
    return f"pid {holder['pid']} ({f'node {node}' if node else shown})"


def java(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B29: Java is there and new enough for the Kafka version."""
    for host in hosts:
        if host.info is None:
            continue
        found, least = host.info["java"], MIN_JAVA.get(host.version.split(".")[0], max(MIN_JAVA.values()))
        allowed = f"Java {least} or newer for Kafka {host.version}"
        way_out = "install it, or set kafka_java_home to one that is there"
        if found["error"] and not host.installs_java:
            yield Violation(
                "B29", ERROR, (host.name,), "kafka_java_home", "no usable Java", found["error"], allowed, way_out
            )
        elif found["version"] is not None and found["version"] < least:
            shown = f"Java {found['version']} ({found['path']})"
            yield Violation(
                "B29", ERROR, (host.name,), "kafka_java_home", "Java is too old", shown, allowed, way_out
            )  # fmt: skip


def java_mixed(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B29: nodes of a cluster on different Java lines behave differently under load."""
    for cluster, members in by_cluster(host for host in hosts if not host.only_mirrors).items():
        by_major: dict[int, list[str]] = {}
        for host in members:
            if host.info is not None and host.info["java"]["version"]:
                by_major.setdefault(host.info["java"]["version"], []).append(host.name)
        if len(by_major) > 1:
            found = "; ".join(f"{major} on {', '.join(names)}" for major, names in sorted(by_major.items()))
            yield Violation(
                "B29", WARNING, tuple(name for names in by_major.values() for name in names), "kafka_java_home",
                f"the nodes of cluster {cluster} run on different Java versions", found, "one for all nodes",
                "install the same Java on all nodes",
            )  # fmt: skip


def network(hosts: Sequence[Host]) -> Iterator[Violation]:
    """C23: the link of a machine has room for what a broker copies when it fills up again."""
    machines: dict[str, list[Host]] = {}
    for host in hosts:
        if host.network_mbits > 0 and "C23" not in host.accepted and host.info is not None and host.info.get("network"):
            machines.setdefault(host.machine, []).append(host)
    for found in machines.values():
        told = found[0].info["network"] if found[0].info is not None else {}
        busy = max(told["received_bytes_per_second"], told["sent_bytes_per_second"]) * 8 / 1_000_000
        speed = found[0].network_mbits
        if busy * 100 > MOST_OF_LINK * speed:
            yield Violation(
                "C23", WARNING, tuple(host.name for host in found), "preflight_network_mbits",
                "the network has little room left: a broker that fills up again, or takes over, comes on top",
                f"{told['interface']} carries {busy:.0f} Mbit/s one way, {busy * 100 / speed:.0f} % of {speed}",
                f"at most {MOST_OF_LINK} %",
                "add brokers or a faster link, limit clients by kafka_quotas, or throttle moves; name C23 in"
                " preflight_accept once this is known",
                policy=True,
            )  # fmt: skip


RULES = (unanswered, names, ports, java, java_mixed, network)
