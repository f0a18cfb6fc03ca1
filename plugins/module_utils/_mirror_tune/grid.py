# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The settings that a tuning tries, and the runs in which it tries them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

_KIB, _MIB = 1024, 1024 * 1024

#: Tasks that are tried.
TASKS = (1, 2, 4, 8, 16, 32)
TASKS_KIND, OPTION_KIND, TOGETHER_KIND = "tasks", "option", "together"


@dataclass(frozen=True)
class Option:
    """A setting of the clients of a mirror.

    side -- consumer (it reads the source) or producer (it writes the target).
    values -- what is tried, from small to large; default -- what the role sets, which is one of them.
    keys -- native properties, each with the factor by which the value is multiplied.
    """

    name: str
    side: str
    values: tuple[Any, ...]
    default: Any
    keys: Mapping[str, int]

    def shown(self, value: Any) -> str:
        """A value for people: 1 MiB, 20 ms, kernel."""
        if value == -1:
            return "kernel"
        if not isinstance(value, int):
            return str(value)
        if self.name == "linger":
            return f"{value} ms"
        return f"{value // _MIB} MiB" if value >= _MIB else f"{value // _KIB} KiB"

    def properties(self, value: Any) -> dict[str, Any]:
        """The native properties of a value, without the side in front."""
        return {key: value if factor == 1 else value * factor for key, factor in self.keys.items()}


#: In the order in which they are tried.
OPTIONS = {
    one.name: one
    for one in (
        Option("batch", "producer", (64 * _KIB, 256 * _KIB, 1024 * _KIB), 256 * _KIB, {"batch.size": 1}),
        Option("linger", "producer", (0, 20, 100), 20, {"linger.ms": 1}),
        Option(
            "fetch",
            "consumer",
            (1 * _MIB, 4 * _MIB, 16 * _MIB),
            4 * _MIB,
            {"max.partition.fetch.bytes": 1, "fetch.max.bytes": 4},
        ),
        Option("buffers", "consumer", (-1, 1 * _MIB, 4 * _MIB), -1, {"receive.buffer.bytes": 1}),
        Option("compression", "producer", ("none", "lz4", "zstd"), "lz4", {"compression.type": 1}),
    )
}


@dataclass(frozen=True)
class Run:
    """One mirror that copies the load once: its number from 1 on, what it is for, and its settings.

    round -- which repeat it is, from 1 on. option -- of kind option, the one that differs from the role's value.
    settings -- by option the value that is not the role's.
    """

    number: int
    kind: str
    round: int
    tasks: int
    option: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The run in words."""
        named = ", ".join(f"{name} {OPTIONS[name].shown(value)}" for name, value in self.settings.items())
        return f"{self.tasks} tasks" + (f", {named}" if named else "")

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data."""
        return {**asdict(self), "settings": dict(self.settings), "label": self.label}

    @property
    def properties(self) -> dict[str, Any]:
        """Native properties by side, as C(consumer.fetch.max.bytes)."""
        return {
            f"{OPTIONS[name].side}.{key}": item
            for name, value in self.settings.items()
            for key, item in OPTIONS[name].properties(value).items()
        }


def tasks_runs(tasks: Iterable[int], rounds: int) -> list[Run]:
    """The runs of the first part: each number of tasks once a round, so that a slow hour strikes all alike."""
    wanted = sorted(set(tasks))
    pairs = [(turn, count) for turn in range(1, rounds + 1) for count in wanted]
    return [Run(number, TASKS_KIND, turn, count) for number, (turn, count) in enumerate(pairs, 1)]


def option_runs(names: Sequence[str], rounds: int, tasks: int, first: int, heap_bytes: int) -> list[Run]:
    """The runs of the second part, at the knee: each value but the role's, one at a time, numbered from C(first).

    The role's own values were measured in the first part. Fetches that would not fit on the heap are left out.
    """
    tried = [
        (name, value)
        for name in names
        for value in OPTIONS[name].values
        if value != OPTIONS[name].default and fits(name, value, tasks, heap_bytes)
    ]
    pairs = [(turn, *one) for turn in range(1, rounds + 1) for one in tried]
    return [
        Run(first + at, OPTION_KIND, turn, tasks, name, {name: value}) for at, (turn, name, value) in enumerate(pairs)
    ]


def fits(name: str, value: Any, tasks: int, heap_bytes: int) -> bool:
    """Return whether one fetch of each task has room on the heap."""
    most = OPTIONS[name].properties(value).get("fetch.max.bytes", 0)
    return bool(tasks * most <= heap_bytes)


def together_runs(settings: Mapping[str, Any], rounds: int, tasks: int, first: int) -> list[Run]:
    """The runs of the third part: all values that were better alone, together; none where fewer than two were."""
    if len(settings) < 2:
        return []
    return [Run(first + turn - 1, TOGETHER_KIND, turn, tasks, "", dict(settings)) for turn in range(1, rounds + 1)]


def most_runs(tasks: Sequence[int], names: Sequence[str], rounds: int) -> int:
    """Return how many runs there are at most."""
    values = sum(len(OPTIONS[name].values) - 1 for name in names)
    return rounds * (len(set(tasks)) + values + (1 if len(names) > 1 else 0))
