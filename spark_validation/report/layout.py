"""The cluster as a drawing: one box per broker, one square per replica of the topic."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from html import escape
from typing import Any

from spark_validation.report.plots import colour
from spark_validation.report.shown import Document

NOTE = "Filled: leader. Outlined: follower in sync. Dashed: replica that is not in sync."
_COLUMNS, _WIDTH, _GAP, _CELL = 3, 1120, 16, 30
_SHOWN = 120


def draw(document: Document) -> str:
    """Brokers in rows of three, each with the partitions that it holds."""
    brokers: list[dict[str, Any]] = document.get("cluster.brokers", [])
    columns = min(_COLUMNS, max(1, len(brokers)))
    width = (_WIDTH - _GAP * (columns - 1)) / columns
    per_line = int((width - 36) // (_CELL + 6))
    most = max((len(_held(document, broker["id"])) for broker in brokers), default=0)
    height = 78 + (min(most, _SHOWN) + per_line - 1) // per_line * (_CELL + 6)
    parts = []
    for place, broker in enumerate(brokers):
        x, y = place % columns * (width + _GAP), place // columns * (height + _GAP)
        parts.append(
            f'<g transform="translate({x:.1f},{y})">{_broker(document, place, broker, width, height, per_line)}</g>'
        )
    total = ((len(brokers) + columns - 1) // columns) * (height + _GAP) - _GAP
    return f'<svg viewBox="0 0 {_WIDTH} {total}" role="img" aria-label="cluster layout">{"".join(parts)}</svg>'


def legend(document: Document) -> str:
    """Return which colour is which broker."""
    brokers: list[dict[str, Any]] = document.get("cluster.brokers", [])
    keys = "".join(
        f'<span><i style="background:{colour(place)}"></i>broker {document.show(f"cluster.brokers.{place}.id")}</span>'
        for place in range(len(brokers))
    )
    return f'<div class="legend">{keys}</div>'


def _held(document: Document, broker: int) -> list[tuple[int, dict[str, Any]]]:
    partitions = enumerate(document.get("cluster.partitions", []))
    held = [(place, partition) for place, partition in partitions if broker in partition["replicas"]]
    return sorted(held, key=lambda pair: (pair[1]["leader"] != broker, pair[1]["index"]))


def _broker(document: Document, place: int, broker: dict[str, Any], width: float, height: float, per_line: int) -> str:
    shown = {
        name: document.show(f"cluster.brokers.{place}.{name}", tag="tspan") for name in ("id", "host", "rack", "leads")
    }
    rack = f", rack {shown['rack']}" if broker.get("rack") else ""
    address = f"{shown['host']}:{escape(str(broker.get('port') or ''))}"
    parts = [
        f'<rect class="box" width="{width:.1f}" height="{height}" rx="10"/>',
        f'<circle cx="24" cy="26" r="7" fill="{colour(place)}"/>',
        f'<text class="strong" x="40" y="31" style="font-size:15px">broker {shown["id"]}</text>',
        f'<text x="{width - 18:.1f}" y="31" text-anchor="end">leads {shown["leads"]}</text>',
        f'<text x="18" y="54">{address}{rack}</text>',
    ]
    for number, (index, partition) in enumerate(_held(document, broker["id"])[:_SHOWN]):
        x, y = 18 + number % per_line * (_CELL + 6), 68 + number // per_line * (_CELL + 6)
        parts.append(_replica(document, index, partition, broker["id"], f"{x},{y}", colour(place)))
    return "".join(parts)


def _replica(document: Document, index: int, partition: dict[str, Any], broker: int, at: str, tint: str) -> str:
    leads, in_sync = partition["leader"] == broker, broker in partition["isr"]
    style = (
        f'style="fill:{tint}"' if leads else f'class="follower" style="stroke:{tint}"' if in_sync else 'class="behind"'
    )
    role = "leader" if leads else "in sync" if in_sync else "not in sync"
    number = document.show(f"cluster.partitions.{index}.index", tag="tspan")
    middle = f'x="{_CELL / 2}" y="{_CELL / 2 + 4.5}" text-anchor="middle"'
    text = f'<text class="{"inside" if leads else "tick"}" {middle}>{number}</text>'
    title = f"<title>partition {partition['index']}: {role}</title>"
    square = f'<rect width="{_CELL}" height="{_CELL}" rx="6" {style}>{title}</rect>'
    return f'<g transform="translate({at})">{square}{text}</g>'
