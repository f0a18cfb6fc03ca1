# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which resource ends a mirror's rate, from what one machine can see. Pure.

What is seen: the curve over tasks, the processors of the mirror's machine, the round trip to the source, and what one
connection may have on its way (socket buffer and fetch). The bandwidth of the line and the disks of brokers are not
seen, so they are what is left, and are named together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .knee import NEAR, Knee, Point, knee_of

#: Share of all cores from which on the processors are what ends it; Java stops the world now and then.
BUSY = 0.85
#: Share of what the buffers let through from which on they are what ends it; slow start and pauses take the rest.
FILLED = 0.6
#: A round trip below this is a near line, on which buffers hold back nothing.
NEAR_SECONDS = 0.002
CPU, PARTITIONS, BUFFERS, FETCH, LINE, MORE_TASKS, UNKNOWN = (
    "cpu",
    "partitions",
    "buffers",
    "fetch",
    "line",
    "more_tasks",
    "unknown",
)


@dataclass(frozen=True)
class Machine:
    """What the mirror's machine showed.

    cores -- processors. busy, own -- cores in use by all, and by the measured mirror alone, while the knee's setting
    ran (medians). round_trip -- seconds to the source. receive_bytes -- the largest receive buffer of a connection.
    """

    cores: int
    busy: float
    own: float
    round_trip: float
    receive_bytes: int


@dataclass(frozen=True)
class Load:
    """Partitions of the load, brokers of the source, bytes that a fetch may bring of a partition and of a broker."""

    partitions: int
    brokers: int
    partition_fetch: int
    broker_fetch: int


def connections(tasks: int, load: Load) -> int:
    """Connections that carry records: each task reads from each broker that leads a partition of its own."""
    working = min(tasks, load.partitions)
    return working * min(load.brokers, max(1, load.partitions // working))


def bound(tasks: int, load: Load, machine: Machine) -> tuple[float, str]:
    """The bytes a second that one round trip lets through, and what sets it: buffers or fetch."""
    count = connections(tasks, load)
    fetch = min(load.broker_fetch, load.partition_fetch * max(1, load.partitions // count))
    window, name = min((machine.receive_bytes, BUFFERS), (fetch, FETCH))
    return count * window / machine.round_trip, name


def end_of(points: Sequence[Point], load: Load, machine: Machine) -> dict[str, Any]:
    """Return {resource, why}: what ends the rate over these numbers of tasks, with the figures that say so."""
    knee = knee_of(points)
    if knee is None:
        return {"resource": UNKNOWN, "why": "no run copied long enough to be measured"}
    rules = (_processors, _windows, _partitions, _too_few_tasks)
    named = (rule(points, knee, load, machine) for rule in rules)
    resource, why = next((found for found in named if found), (LINE, _rest(knee, machine)))
    return {"resource": resource, "why": why}


def _flight(knee: Knee, machine: Machine) -> str:
    """The bandwidth-delay product of the best rate, in words."""
    rate, way = knee.best.median, machine.round_trip
    return f"{rate / 1e6:,.1f} MB/s over {way * 1000:.1f} ms are {rate * way / 1e6:,.2f} MB on their way"


def _processors(_points: Sequence[Point], _knee: Knee, _load: Load, machine: Machine) -> tuple[str, str] | None:
    if machine.busy < BUSY * machine.cores:
        return None
    others = machine.busy - machine.own
    beside = f", {others:.1f} of them by other processes" if others > 0.2 * machine.cores else ""
    busy = f"{machine.busy:.1f} of {machine.cores} cores of the mirror were busy{beside}"
    return CPU, f"{busy}. More mirrors, or machines with more cores, raise the rate."


def _windows(_points: Sequence[Point], knee: Knee, load: Load, machine: Machine) -> tuple[str, str] | None:
    tasks, rate = int(knee.best.value), knee.best.median
    most, name = bound(tasks, load, machine)
    if machine.round_trip < NEAR_SECONDS or rate < FILLED * most:
        return None
    cure = {
        BUFFERS: "Raise net.ipv4.tcp_rmem of the mirror and net.ipv4.tcp_wmem of the source's brokers",
        FETCH: "Raise max.partition.fetch.bytes and fetch.max.bytes",
    }
    through = f"{connections(tasks, load)} connections let {most * machine.round_trip / 1e6:,.2f} MB through at once"
    return name, f"{_flight(knee, machine)}, and {through}. {cure[name]}, or use more tasks."


def _partitions(points: Sequence[Point], knee: Knee, load: Load, _machine: Machine) -> tuple[str, str] | None:
    tasks = int(knee.point.value)
    if load.partitions == 1:
        why = "one partition is copied by one task, whatever the number of tasks"
    elif tasks >= load.partitions and _grew(points, tasks):
        why = f"the rate grew up to {tasks} tasks, and {load.partitions} partitions give work to no more"
    else:
        return None
    return PARTITIONS, f"{why}. More partitions raise the rate."


def _too_few_tasks(points: Sequence[Point], knee: Knee, _load: Load, _machine: Machine) -> tuple[str, str] | None:
    tasks = int(knee.point.value)
    if tasks < max(int(point.value) for point in points) or not _grew(points, tasks):
        return None
    return MORE_TASKS, f"the rate still grew at {tasks} tasks. Try more (mirror_tune_tasks)."


def _rest(knee: Knee, machine: Machine) -> str:
    return (
        f"{_flight(knee, machine)}. {machine.busy:.1f} of {machine.cores} cores were busy, and neither more tasks nor "
        "the buffers hold it back. So the bandwidth of the line or a broker does; from the mirror they look alike."
    )


def _grew(points: Sequence[Point], tasks: int) -> bool:
    """Return whether this number of tasks was better than the next smaller one."""
    smaller = [point for point in points if int(point.value) < tasks]
    own = next(point for point in points if int(point.value) == tasks)
    return bool(smaller) and own.median > smaller[-1].median * (1 + NEAR)


def machine_of(rows: Sequence[Mapping[str, Any]], seen: Mapping[str, Any]) -> Machine:
    """The machine while these runs copied; C(seen) is what the module mirror_tune_process saw of it."""
    busy = sorted(float(row["busy"]) for row in rows)
    own = sorted(float(row["own"]) for row in rows)
    middle = len(rows) // 2
    return Machine(
        int(seen["cores"]),
        busy[middle] if busy else 0.0,
        own[middle] if own else 0.0,
        float(seen["round_trip"]),
        int(seen["receive_bytes"]),
    )
