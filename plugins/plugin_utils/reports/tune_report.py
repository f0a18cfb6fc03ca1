# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of the tuning of a mirror: one HTML file with the curves, made from the rows of its runs alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ...module_utils._mirror_tune.grid import OPTIONS, TOGETHER_KIND, Option
from ..mirrors.knee import NEAR, Knee, Point, curve
from ..mirrors.tune_result import (
    failed_runs,
    inventory_lines,
    no_knee,
    option_curve,
    rate,
    tasks_curve,
    tasks_knee,
    unfinished,
)
from .document import card, document, head
from .move_plots import Frame

_NUM = ' class="num"'
_CURVE = (
    "Bytes of the values a second. A dot is the median of its repeats, the bar around it their range; the dashed line "
    "is 5 % below the best."
)
_OPTION = "Measured with the tasks of the knee. The full dot is the value that the role sets."


def tune_report(
    flow: str, rows: Sequence[Mapping[str, Any]], end: Mapping[str, Any], mirrors: int, missing: int = 0
) -> str:
    """Return the report as one HTML document.

    Args:
        flow: source->target.
        rows: What tune_result takes.
        end: What tune_ends.end_of returned.
        mirrors: How many mirrors share the tasks of the target.
        missing: How many runs are missing, where the tuning failed before its last one.
    """
    knee = tasks_knee(rows)
    sections = [_head(flow, knee, rows, missing), _end(end)]
    if knee:
        sections.append(card("Tasks", _CURVE, _plot(tasks_curve(rows), knee.point.value, "tasks")))
        for name, option in OPTIONS.items():
            points = option_curve(rows, name)
            if points:
                note = f"{_OPTION} {_gains(points, option)}"
                sections.append(card(name.capitalize(), note, _plot(points, option.default, name, option.shown)))
        together = next(iter(curve((row for row in rows if row["kind"] == TOGETHER_KIND), "kind")), None)
        text = "\n".join(inventory_lines(flow, rows, str(end["resource"]), mirrors))
        note = f"All better values together: {rate(together)}." if together else ""
        name = "Proposal for the inventory"
        sections.append(card(name, note, _scrolled(name, f"<pre>{escape(text)}</pre>")))
    sections.append(_runs(rows))
    return document(f"Tuning of {flow}", "\n".join(sections))


def _head(flow: str, knee: Knee | None, rows: Sequence[Mapping[str, Any]], missing: int) -> str:
    if knee is None:
        tone, word, say = "inconclusive", "No knee", f"{no_knee(rows).capitalize()}."
        say += "" if rows and len(failed_runs(rows)) == len(rows) else " Raise mirror_tune_bytes."
    else:
        tone, word = ("pass" if knee.certain and not missing else "inconclusive"), f"{knee.point.value} tasks"
        say = f"{rate(knee.point)}, the smallest number within {100 * NEAR:.0f} % of the best: {rate(knee.best)}."
        if not knee.certain:
            say += " Repeats differ as much as settings do, so raise rounds or bytes."
    say += f" {unfinished(missing)}." if missing else ""
    return head(tone, word, say, f"<b>Tuning of a mirror</b><br>{escape(flow)}<br>{len(rows)} runs", "h1")


def _end(end: Mapping[str, Any]) -> str:
    return card(f"What ends it: {str(end['resource']).replace('_', ' ')}", str(end["why"]), "")


def _scrolled(name: str, body: str) -> str:
    """Wrap what may be wider than the page."""
    return f'<div class="scroll" role="group" aria-label="{escape(name)}" tabindex="0">{body}</div>'


def _gains(points: Sequence[Point], option: Option) -> str:
    own = next(point for point in points if point.value == option.default)
    words = [
        f"{option.shown(point.value)}: {100 * (point.median / own.median - 1):+.0f} %"
        for point in points
        if point is not own
    ]
    return f"Against it {', '.join(words)}."


def _plot(points: Sequence[Point], marked: Any, name: str, shown: Callable[[Any], str] = str) -> str:
    """The curve over its settings, which stand at equal distances; the marked one is filled."""
    frame = Frame(max(max(point.rates) for point in points), in_bytes=True)
    y = frame.y(max(point.median for point in points) * (1 - NEAR))
    places = [(frame.x((at + 0.5) / len(points)), point) for at, point in enumerate(points)]
    line = " ".join(f"{x:.1f},{frame.y(point.median):.1f}" for x, point in places)
    frame.parts.append(f'<polyline points="{line}" style="fill:none;stroke:var(--accent);stroke-width:2.5"/>')
    ends = f'x1="{frame.x(0):.1f}" x2="{frame.x(1):.1f}"'
    frame.parts.append(f'<line class="expected" {ends} y1="{y:.1f}" y2="{y:.1f}"/>')
    for x, point in places:
        frame.parts += _dot(frame, x, point, f"{name} {shown(point.value)}: {rate(point)}", point.value == marked)
        frame.label(x, shown(point.value))
        frame.label(x, rate(point), row=1)
    said = "; ".join(f"{shown(point.value)}: {rate(point)}" for point in points)
    return frame.svg(f"rate over {name}: {said}")


def _dot(frame: Frame, x: float, point: Point, title: str, is_marked: bool) -> Iterator[str]:
    """The median of a setting, and a bar for the range of its repeats."""
    low, high = frame.y(min(point.rates)), frame.y(max(point.rates))
    range_style = "stroke:var(--accent);stroke-width:6;opacity:.35"
    yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" style="{range_style}"/>'
    style = f"fill:var(--{'accent' if is_marked else 'card'});stroke:var(--accent);stroke-width:2"
    at = f'cx="{x:.1f}" cy="{frame.y(point.median):.1f}"'
    yield f'<circle {at} r="5" style="{style}"><title>{escape(title)}</title></circle>'


def _runs(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = ("Setting", "Run", "Round", "MB/s", "Records", "Seconds", "Busy cores", "Of the mirror")
    names = "".join(f"<th{_NUM if at else ''}>{name}</th>" for at, name in enumerate(heads))
    cells = "".join(f"<tr>{_row(row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>"
    note = "A run without a rate copied for less than two seconds, or it failed."
    failed = "".join(f'<p class="note">{escape(run)}</p>' for run in failed_runs(rows))
    return card("Runs", note, failed + _scrolled("Runs", table))


def _row(row: Mapping[str, Any]) -> str:
    figures = [str(row["number"]), str(row["round"]), _measured(row), f"{row['records']:,}"]
    figures += [f"{row[name]:.1f}" for name in ("seconds", "busy", "own")]
    return f"<td>{escape(str(row['label']))}</td>" + "".join(f"<td{_NUM}>{figure}</td>" for figure in figures)


def _measured(row: Mapping[str, Any]) -> str:
    return f"{row['bytes_per_second'] / 1e6:,.1f}" if row["bytes_per_second"] else "none"
