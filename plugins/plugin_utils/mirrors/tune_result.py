# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a tuning found, from the rows of its runs: curves, knee, what ends it, and lines for the inventory. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._mirror_tune.grid import OPTION_KIND, OPTIONS, TASKS_KIND, TOGETHER_KIND, Run
from .knee import NEAR, Knee, Point, better, curve, knee_of
from .tune_ends import CPU

#: A row of a run: what Run.as_dict says, rate_of (records, seconds, bytes_per_second), busy and own (cores), and
#: problem (why it has no rate, as problem_of says; missing or empty where nothing failed).
Row = Mapping[str, Any]


def tasks_curve(rows: Iterable[Row]) -> list[Point]:
    """The curve over numbers of tasks, from few to many."""
    return sorted(curve((row for row in rows if row["kind"] == TASKS_KIND), "tasks"), key=lambda point: point.value)


def tasks_knee(rows: Iterable[Row]) -> Knee | None:
    """The knee over numbers of tasks; None where no run could be measured."""
    return knee_of(tasks_curve(rows))


def option_curve(rows: Sequence[Row], name: str) -> list[Point]:
    """The curve over the values of an option, in their order; the role's value was measured with the tasks."""
    knee = tasks_knee(rows)
    found = [
        {"value": row["settings"][name], "bytes_per_second": row["bytes_per_second"]}
        for row in rows
        if row["kind"] == OPTION_KIND and row["option"] == name
    ]
    if not found or knee is None:
        return []
    known = {point.value: point for point in curve(found, "value")}
    default = OPTIONS[name].default
    known[default] = Point(default, knee.point.rates)
    return [known[value] for value in OPTIONS[name].values if value in known]


def better_settings(rows: Sequence[Row]) -> dict[str, Any]:
    """By option the values that were better alone than the role's."""
    found = {name: better(option_curve(rows, name), option.default) for name, option in OPTIONS.items()}
    return {name: value for name, value in found.items() if value != OPTIONS[name].default}


def chosen_settings(rows: Sequence[Row]) -> dict[str, Any]:
    """The values that are proposed: all that were better, if they are so together too; else the best one alone."""
    settings, knee = better_settings(rows), tasks_knee(rows)
    if len(settings) < 2 or knee is None:
        return settings
    together = next(iter(curve((row for row in rows if row["kind"] == TOGETHER_KIND), "kind")), None)
    alone = {name: max(point.median for point in option_curve(rows, name)) for name in settings}
    best = max(alone, key=lambda name: alone[name])
    if together and together.median >= alone[best] * (1 - NEAR):
        return settings
    return {best: settings[best]}


def inventory_lines(flow: str, rows: Sequence[Row], resource: str, mirrors: int) -> list[str]:
    """Lines of an inventory that make a flow as fast as it was measured; none where no run could be measured.

    mirrors -- how many share the tasks of the target: where their processors end it, each takes as many as were found.
    """
    knee = tasks_knee(rows)
    if knee is None:
        return []
    target = flow.split("->")[1]
    tasks = int(knee.point.value) * (mirrors if resource == CPU else 1)
    found = [f"# variables of the mirrors next to {target}", f"mirror_maker_tasks_max: {tasks}"]
    sides = Run(0, OPTION_KIND, 1, tasks, "", chosen_settings(rows)).properties
    producer = {key: value for key, value in sides.items() if key.startswith("producer.")}
    consumer = {key: value for key, value in sides.items() if key.startswith("consumer.")}
    if producer:
        found += ["mirror_maker_config:", *(f'  "{target}.{key}": {value}' for key, value in producer.items())]
    if consumer:
        found += [f"# in the flow {flow} of mirror_flows", "config:"]
        found += [f"  {key}: {value}" for key, value in consumer.items()]
    return found


def cores_used(samples: Sequence[Sequence[float]], begin: float | None, end: float | None) -> dict[str, float]:
    """Return {busy, own}: cores in use between two times, from samples of (time, busy seconds, own seconds).

    Both seconds are sums since some start. Zeros where fewer than two samples fall between.
    """
    within = [one for one in samples if begin is not None and end is not None and begin <= one[0] <= end]
    if len(within) < 2:
        return {"busy": 0.0, "own": 0.0}
    took = within[-1][0] - within[0][0]
    busy, own = (round((within[-1][at] - within[0][at]) / took, 3) for at in (1, 2))
    return {"busy": busy, "own": own}


def problem_of(records: int, expected: int, ran: bool, complaints: Sequence[str]) -> str:
    """Say why a run cannot be compared with others; empty where it can, also where it was only too slow for all.

    records, expected -- that came, and that the load has. ran -- whether its mirror still ran when it was stopped.
    complaints -- the last errors of its log.
    """
    if records and (ran or records >= expected):
        return ""
    errors = f"; its last errors: {' / '.join(complaints) or 'none'}"
    if ran:
        return f"no record came through its mirror{errors}"
    return f"its mirror ended by itself after {records:,} of {expected:,} records{errors}"


def failed_runs(rows: Iterable[Row]) -> list[str]:
    """The runs that failed, each with why, in words."""
    return [f"run {row['number']} ({row['label']}): {row['problem']}" for row in rows if row.get("problem")]


def no_knee(rows: Sequence[Row]) -> str:
    """Say why no knee was found, where there is none."""
    if rows and all(row.get("problem") for row in rows):
        return "every run failed"
    return "no run copied for two seconds or more"


def unfinished(missing: int) -> str:
    """Say what to know of a tuning that failed so many runs before its end; empty where none is missing."""
    return f"{missing} runs or more are missing, so this holds for the runs before the failure only" if missing else ""


def lines(flow: str, rows: Sequence[Row], end: Mapping[str, Any], mirrors: int, missing: int = 0) -> list[str]:
    """Return what was found, in lines for people."""
    return [*([f"Not finished {unfinished(missing)}"] if missing else []), *_found(flow, rows, end, mirrors)]


def _found(flow: str, rows: Sequence[Row], end: Mapping[str, Any], mirrors: int) -> list[str]:
    knee, failed = tasks_knee(rows), [f"Not measured {run}" for run in failed_runs(rows)]
    if knee is None:
        cure = "" if rows and len(failed) == len(rows) else ". Raise mirror_tune_bytes"
        return [f"Knee         {flow}: not found, since {no_knee(rows)}{cure}", *failed]
    sure = "" if knee.certain else "; not certain: repeats differ as much as settings do. Raise rounds or bytes"
    return [
        f"Knee         {flow}: {knee.point.value} tasks, {rate(knee.point)} (best {rate(knee.best)} with "
        f"{knee.best.value}){sure}",
        f"Ended by     {end['resource']}: {end['why']}",
        *(f"Tasks        {point.value}: {rate(point)}" for point in tasks_curve(rows)),
        *(
            f"{name.capitalize():<12} {', '.join(f'{option.shown(point.value)}: {rate(point)}' for point in points)}"
            for name, option in OPTIONS.items()
            if (points := option_curve(rows, name))
        ),
        *(
            f"Together     {point_text}"
            for point_text in [
                rate(point) for point in curve((row for row in rows if row["kind"] == TOGETHER_KIND), "kind")
            ]
        ),
        *failed,
        "Proposal",
        *(f"  {line}" for line in inventory_lines(flow, rows, str(end["resource"]), mirrors)),
    ]


def rate(point: Point) -> str:
    """The rate of a setting with its spread."""
    spread = f" ±{100 * point.spread:.0f} %" if len(point.rates) > 1 else ""
    return f"{point.median / 1e6:,.1f} MB/s{spread}"
