# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Plots of a reassignment as inline SVG. Colours are variables of the report's style: light and dark both read well."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .move_lines import megabytes

_WIDTH, _HEIGHT = 1100, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 14, 14, 44


class Frame:
    """A plotting area whose vertical axis starts at 0."""

    def __init__(self, most: float, in_bytes: bool) -> None:
        """C(most) is the largest value to show."""
        step = _step(most)
        self._top = step * max(1, math.ceil(most / step - 1e-9))
        self.parts: list[str] = []
        for count in range(round(self._top / step) + 1):
            value = count * step
            label = megabytes(value) if in_bytes else f"{value:,.0f}"
            y = self.y(value)
            self.parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            self.parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')

    def x(self, share: float) -> float:
        """The pixel column of a share (0 to 1) of the width."""
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """The pixel row of a value."""
        return _HEIGHT - _BOTTOM - value / self._top * (_HEIGHT - _TOP - _BOTTOM)

    def draw_bar(self, x: float, width: float, value: float, style: str, title: str) -> None:
        """A bar from the ground up; C(title) shows on pointing."""
        height = self.y(0) - self.y(value)
        self.parts.append(
            f'<rect x="{x:.1f}" y="{self.y(value):.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" {style}>'
            f"<title>{escape(title)}</title></rect>"
        )

    def label(self, x: float, text: str, row: int = 0, anchor: str = "middle") -> None:
        """A text under the horizontal axis."""
        y = _HEIGHT - _BOTTOM + 16 + 16 * row
        self.parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>')

    def svg(self, name: str) -> str:
        """The finished plot."""
        body = "".join(self.parts)
        return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(name)}">{body}</svg>'


def by_broker(brokers: Sequence[Mapping[str, Any]], measure: str) -> str:
    """Before and after of every broker, brokers of a rack side by side. C(measure): replicas, leaders or bytes."""
    ordered = sorted(brokers, key=lambda one: (str(one["rack"] or ""), one["id"]))
    most = max([1, *(one[measure][end] or 0 for one in ordered for end in ("from", "to"))])
    frame = Frame(most, measure == "bytes")
    racks = sorted({str(one["rack"] or "") for one in ordered})
    step = 1 / max(1, len(ordered))
    for place, one in enumerate(ordered):
        left, width = frame.x(place * step), frame.x(step) - frame.x(0)
        tint = f"var(--s{racks.index(str(one['rack'] or '')) % 8})"
        for half, end in enumerate(("from", "to")):
            value = one[measure][end]
            shown = megabytes(value) if measure == "bytes" else f"{value:,}"
            style = f'style="fill:{tint};opacity:{0.35 if end == "from" else 1}"'
            title = f"broker {one['id']}, {'before' if end == 'from' else 'after'}: {shown} {measure}"
            frame.draw_bar(left + width * (0.12 + 0.38 * half), width * 0.36, value or 0, style, title)
        if place % max(1, math.ceil(len(ordered) / 40)) == 0:
            frame.label(left + width / 2, str(one["id"]))
            if one["rack"]:
                frame.label(left + width / 2, str(one["rack"]), row=1)
    return frame.svg(f"{measure} of each broker before and after")


def timeline(history: Sequence[Mapping[str, Any]]) -> str:
    """Bytes that were copied, over the seconds since the start."""
    rows = [row for row in history if "bytes_done" in row]
    seconds = max([1.0, *(row["elapsed"] for row in rows)])
    total = max([1, *(row["bytes_total"] for row in rows)])
    frame = Frame(total, in_bytes=True)
    points = [(frame.x(row["elapsed"] / seconds), frame.y(min(row["bytes_done"], total))) for row in rows]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in [(frame.x(0), frame.y(0)), *points])
    frame.parts.append(f'<polyline points="{line}" style="fill:none;stroke:var(--accent);stroke-width:2.5"/>')
    y = frame.y(total)
    frame.parts.append(f'<line class="expected" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
    for quarter in range(5):
        frame.label(frame.x(quarter / 4), f"{seconds * quarter / 4:.0f} s", anchor="end" if quarter == 4 else "middle")
    return frame.svg("bytes copied over time")


def _step(most: float) -> float:
    """A round distance of about a quarter of the largest value; counts are whole."""
    if most <= 4:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most / 4))
    return next(factor * unit for factor in (1, 2, 2.5, 5, 10) if factor * unit >= most / 4)
