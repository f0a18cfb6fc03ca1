# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the clocks of the hosts: against each other, against the control node, and what keeps them.

How far the reading of a clock can be wrong is half of the time that the question took. Two clocks are as far apart as
their offsets less both uncertainties, so a slow connection hides a small difference and never invents one.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from ...clock_offset import Reading
from ..host import Host, by_cluster
from ..rule import ERROR, WARNING, Problem, host_rule

#: Seconds between two nodes of a cluster that are refused, and that are worth a warning. Kafka compares times of
#: different machines in retention, in transaction time-outs, in delegation tokens; TLS in certificates.
REFUSED, WARNED = 1.0, 0.1
_CLOCKS = "run chrony or systemd-timesyncd on every machine, with the same sources"


@host_rule(
    allowed=f"{REFUSED:g} s between two nodes, without a warning {WARNED:g} s",
    fix=_CLOCKS,
    acceptable=True,
)
def clocks_apart(hosts: Sequence[Host]) -> Iterator[Problem]:
    """The clocks of a cluster are more than 1 s apart. From 0.1 s on it is a warning."""
    for cluster, clocks in _readings(hosts).items():
        apart = max((one.apart(other) for one, other in combinations(clocks.values(), 2)), default=0.0)
        if apart <= WARNED:
            continue
        middle = Reading(statistics.median_low(reading.offset for reading in clocks.values()))
        # One of two clocks that are further apart than a limit is further than half of it from any third.
        limit = REFUSED if apart > REFUSED else WARNED
        out = [name for name, reading in clocks.items() if reading.apart(middle) > limit / 2]
        what = f"the clocks of cluster {cluster} differ by at least {apart:.2f} s"
        yield Problem(out, what, _shown(clocks), level=ERROR if apart > REFUSED else WARNING)


@host_rule(
    allowed=f"{REFUSED:g} s; a certificate made on a control node that is ahead is not valid yet on the nodes",
    fix="set the clock of the control node, or those of the nodes",
    level=WARNING,
    acceptable=True,
)
def control_node_clock(hosts: Sequence[Host]) -> Iterator[Problem]:
    """The nodes agree on the time, and the control node, where certificates are made, has another one."""
    for clocks in _readings(hosts).values():
        middle = statistics.median_low(reading.offset for reading in clocks.values())
        nearest = min(clocks.values(), key=lambda reading: abs(reading.offset - middle))
        if nearest.apart(Reading(0.0)) > REFUSED:
            yield Problem([*clocks], "the control node has another time than the nodes", _shown(clocks))


_NOT_ASKED = {"offset": None, "synchronized": None, "service": "", "problem": "it was not asked"}


def _clocks(hosts: Sequence[Host]) -> Iterator[tuple[Host, Mapping[str, Any]]]:
    return ((host, host.clock or _NOT_ASKED) for host in hosts if host.info is not None)


@host_rule(fix="see what the host answers to date and timedatectl", level=WARNING, acceptable=True)
def unknown_clock(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A clock could not be read, or in production whether anything keeps it right."""
    for host, clock in _clocks(hosts):
        if clock["offset"] is None or (clock["synchronized"] is None and host.production):
            yield Problem(host, "the clock could not be judged", clock["problem"])


@host_rule(
    allowed="a kernel that knows its clock follows a source (timedatectl: System clock synchronized)",
    fix=f"{_CLOCKS}; in a container on the machine below",
    level=WARNING,
    acceptable=True,
)
def clock_not_synchronized(hosts: Sequence[Host]) -> Iterator[Problem]:
    """In production nothing keeps a clock right, as the kernel sees it (timedatectl shows the same bit)."""
    for host, clock in _clocks(hosts):
        if clock["offset"] is not None and clock["synchronized"] is False and host.production:
            found = f"{clock['service']} runs, but has no source" if clock["service"] else "no time service is seen"
            yield Problem(host, "nothing keeps the clock right", found)


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


def _shown(clocks: Mapping[str, Reading]) -> str:
    listed = [f"{name} {reading.offset:+.2f} s (± {reading.uncertainty:.2f})" for name, reading in clocks.items()]
    return f"against the control node {', '.join(listed)}"
