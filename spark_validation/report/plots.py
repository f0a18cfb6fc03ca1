"""Plots as inline SVG, drawn from a Document alone. Colours are CSS variables: light and dark both read well."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from spark_validation.report.shown import Document, formatted

COLOURS = 8
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 12, 14, 30


def colour(position: int) -> str:
    """The CSS colour of the nth broker."""
    return f"var(--s{position % COLOURS})"


def ticks(most: float) -> list[float]:
    """About four round values from 0 to at least `most`."""
    if most <= 0:
        return [0.0, 1.0]
    raw = most / 4
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * unit for factor in (1, 2, 2.5, 5, 10) if factor * unit >= raw)
    return [step * count for count in range(math.ceil(most / step - 1e-9) + 1)]


class Frame:
    """A plotting area: maps values to pixels and draws the axes. Width and height in pixels of the viewBox."""

    def __init__(self, width: int, height: int, most: float, form: str = "plain") -> None:
        """`most` is the largest value to show; the vertical axis starts at 0."""
        self.width, self.height, self.form = width, height, form
        self.ticks = ticks(most)
        self.parts: list[str] = []
        for tick in self.ticks:
            y = self.y(tick)
            self.parts.append(f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            label = formatted(tick, form)
            self.parts.append(f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')

    @property
    def plot_width(self) -> float:
        """Pixels between the axes."""
        return self.width - _LEFT - _RIGHT

    def x(self, share: float) -> float:
        """The pixel column of a share (0 to 1) of the width."""
        return _LEFT + share * self.plot_width

    def y(self, value: float) -> float:
        """The pixel row of a value."""
        return self.height - _BOTTOM - value / self.ticks[-1] * (self.height - _TOP - _BOTTOM)

    def draw_bar(self, x: float, width: float, value: float, style: str, title: str) -> None:
        """A bar from the ground up; `title` shows on pointing."""
        top, ground = self.y(value), self.y(0)
        radius = min(3.0, width / 2)
        self.parts.append(
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{max(0.0, ground - top):.1f}" '
            f'rx="{radius:.1f}" {style}><title>{escape(title)}</title></rect>'
        )

    def mark(self, x: float, row: int, text: str) -> None:
        """A dashed vertical line with a text beside its top, in text row `row` so that two marks stay readable."""
        self.parts.append(f'<line class="marker" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{self.y(0):.1f}"/>')
        end = x > self.x(0.75)
        place = f'x="{x - 6 if end else x + 6:.1f}" y="{_TOP + 10 + 16 * row}"'
        self.parts.append(f'<text class="strong" {place} text-anchor="{"end" if end else "start"}">{text}</text>')

    def label(self, x: float, text: str, anchor: str = "middle") -> None:
        """A label under the horizontal axis."""
        self.parts.append(f'<text class="tick" x="{x:.1f}" y="{self.height - 10}" text-anchor="{anchor}">{text}</text>')

    def svg(self, name: str) -> str:
        """The finished plot."""
        ground = f'<line class="axis" x1="{_LEFT}" x2="{self.width - _RIGHT}" y1="{self.y(0)}" y2="{self.y(0)}"/>'
        body = "".join([*self.parts, ground])
        return f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(name)}">{body}</svg>'


def by_partition(document: Document, measure: str) -> str:
    """Bars by partition, coloured by leader. `measure` is records or bytes; records also show what was expected."""
    rows: Sequence[dict[str, int]] = document.get("figures.partitions", [])
    leaders = {part["index"]: part["leader"] for part in document.get("cluster.partitions", [])}
    order = [broker["id"] for broker in document.get("cluster.brokers", [])]
    form = "bytes" if measure == "bytes" else "plain"
    wanted = [row["expected"] for row in rows] if form == "plain" else []
    frame = Frame(560, 230, max([*(row[measure] for row in rows), *wanted, 0]), form)
    step = frame.plot_width / max(1, len(rows))
    every = max(1, math.ceil(len(rows) / 24))
    for position, row in enumerate(rows):
        left = frame.x(0) + position * step
        leader = leaders.get(row["partition"])
        tint = colour(order.index(leader)) if leader in order else "var(--soft)"
        path = f"figures.partitions.{position}"
        title = f"partition {row['partition']}: {document.text(f'{path}.{measure}', form)}"
        frame.draw_bar(left + step * 0.14, step * 0.72, row[measure], f'style="fill:{tint}"', title)
        if form == "plain":
            y = frame.y(row["expected"])
            ends = f'x1="{left + step * 0.05:.1f}" x2="{left + step * 0.95:.1f}"'
            frame.parts.append(f'<line class="expected" {ends} y1="{y:.1f}" y2="{y:.1f}"/>')
        if position % every == 0:
            frame.label(left + step / 2, document.show(path + ".partition", tag="tspan"))
    return frame.svg(f"{measure} by partition")


# Columns of the latency plot: about three per decade, in milliseconds; the last one is open.
_EDGES = (0, 1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100, 140, 200, 300, 500, 700, 1000, 2000, 5000, 10000, 30000, 1e9)


def latency(document: Document, path: str) -> str:
    """The latency histogram at `path` in the columns of _EDGES, with its median and 99th percentile marked."""
    rows = document.get(path + ".histogram", [])
    pairs = list(pairwise(_EDGES))
    counts = [sum(row["count"] for row in rows if low < row["up_to"] + 1 <= high) for low, high in pairs]
    filled = [place for place, count in enumerate(counts) if count] or [0]
    first, last = max(0, filled[0] - 1), min(len(pairs) - 2, filled[-1] + 1)
    frame = Frame(560, 230, max(counts))
    step = frame.plot_width / (last - first + 1)
    for place in range(first, last + 1):
        left = frame.x(0) + (place - first) * step
        title = f"{counts[place]:,} below {_EDGES[place + 1]:,g} ms"
        frame.draw_bar(left + 1, step - 2, counts[place], 'class="bar"', title)
        if (place - first) % (1 if last - first < 13 else 2) == 0:
            frame.label(left, f"{_EDGES[place]:,g}")
    for row, name in enumerate(("p50", "p99")):
        value = document.get(f"{path}.{name}")
        if value is not None:
            place = next(index for index, (_low, high) in enumerate(pairs) if value < high)
            inside = (value + 0.5 - pairs[place][0]) / (pairs[place][1] - pairs[place][0])
            x = frame.x(0) + (place - first + min(1.0, inside)) * step
            frame.mark(x, row, f"{name} {document.show(f'{path}.{name}', tag='tspan')} ms")
    return frame.svg("latency distribution in milliseconds")


def timeline(document: Document) -> str:
    """Records appended per slot of time while the run wrote."""
    slots = [slot for slot in document.get("figures.timeline.slots", []) if slot["index"] >= 0]
    width = document.get("figures.timeline.width_ms", 1000)
    last = max((slot["index"] for slot in slots), default=0) + 1
    frame = Frame(1120, 210, max((slot["records"] for slot in slots), default=0))
    step = frame.plot_width / last
    for slot in slots:
        title = f"{formatted(slot['records'], 'plain')} records"
        frame.draw_bar(frame.x(slot["index"] / last) + 0.5, max(1.0, step - 1), slot["records"], 'class="bar"', title)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        anchor = {0.0: "start", 1.0: "end"}.get(share, "middle")
        frame.label(frame.x(share), f"{share * last * width / 1000:.1f} s", anchor)
    return frame.svg("records appended over time")
