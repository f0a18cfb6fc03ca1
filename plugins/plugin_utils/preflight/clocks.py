# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the clocks of the hosts: against each other, against the control node, and what keeps them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.clock_offset import Reading
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host, by_cluster
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

#: Seconds between two nodes of a cluster that are refused, and that are worth a warning. Kafka compares times of
#: different machines in retention, in transaction time-outs, in delegation tokens; TLS in certificates.
REFUSED, WARNED = 1.0, 0.1
_CLOCKS = "chrony or systemd-timesyncd on every machine, with the same sources"


def between_nodes(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B28: the clocks of a cluster agree, as far as the time that the questions took lets this be known."""
    for cluster, clocks in _readings(hosts).items():
        apart = max((one.apart(other) for one, other in combinations(clocks.values(), 2)), default=0.0)
        if apart <= WARNED or (apart <= REFUSED and _accepted(hosts, cluster)):
            continue
        middle = Reading(statistics.median_low(reading.offset for reading in clocks.values()))
        # One of two clocks that are further apart than a limit is further than half of it from any third.
        limit = REFUSED if apart > REFUSED else WARNED
        out = tuple(name for name, reading in clocks.items() if reading.apart(middle) > limit / 2)
        yield Violation(
            "B28", ERROR if apart > REFUSED else WARNING, out, "",
            f"the clocks of cluster {cluster} differ by at least {apart:.2f} s", _shown(clocks),
            f"{REFUSED:g} s between two nodes, without a warning {WARNED:g} s",
            f"let a time service keep them: {_CLOCKS}", policy=True,
        )  # fmt: skip


def control_node(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B28: a cluster whose clocks agree but are far from the control node's; certificates are made on that one."""
    for cluster, clocks in _readings(hosts).items():
        middle = statistics.median_low(reading.offset for reading in clocks.values())
        nearest = min(clocks.values(), key=lambda reading: abs(reading.offset - middle))
        if nearest.apart(Reading(0.0)) > REFUSED and not _accepted(hosts, cluster):
            yield Violation(
                "B28", WARNING, tuple(clocks), "", "the control node has another time than the nodes", _shown(clocks),
                f"{REFUSED:g} s; a certificate made on a control node that is ahead is not valid yet on the nodes",
                "set the clock of the control node, or those of the nodes",
            )  # fmt: skip


def kept(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B28: in the production profile something keeps every clock right, and every clock could be read."""
    for host in hosts:
        if host.info is None or "B28" in host.accepted:
            continue
        clock = host.clock or {"offset": None, "synchronized": None, "service": "", "problem": "it was not asked"}
        if clock["offset"] is None or (clock["synchronized"] is None and host.production):
            yield Violation(
                "B28", WARNING, (host.name,), "", "the clock could not be judged", clock["problem"], "an answer",
                "see what the host answers to date and timedatectl, or add B28 to preflight_accept",
            )  # fmt: skip
        elif clock["synchronized"] is False and host.production:
            found = f"{clock['service']} runs, but has no source" if clock["service"] else "no time service is seen"
            yield Violation(
                "B28", WARNING, (host.name,), "", "nothing keeps the clock right", found,
                "a kernel that knows its clock follows a source (timedatectl: System clock synchronized)",
                f"{_CLOCKS}; in a container on the machine below",
            )  # fmt: skip


def _readings(hosts: Sequence[Host]) -> dict[str, dict[str, Reading]]:
    """By cluster the clocks that could be read."""
    found = {
        cluster: {
            host.name: Reading(host.clock["offset"], host.clock["uncertainty"])
            for host in members
            if host.clock is not None and host.clock["offset"] is not None
        }
        for cluster, members in by_cluster(hosts).items()
    }
    return {cluster: clocks for cluster, clocks in found.items() if clocks}


def _accepted(hosts: Sequence[Host], cluster: str) -> bool:
    return all("B28" in host.accepted for host in hosts if host.cluster == cluster)


def _shown(clocks: Mapping[str, Reading]) -> str:
    listed = [f"{name} {reading.offset:+.2f} s (± {reading.uncertainty:.2f})" for name, reading in clocks.items()]
    return f"against the control node {', '.join(listed)}"


RULES = (between_nodes, control_node, kept)
