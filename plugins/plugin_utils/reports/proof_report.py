# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of a proof: one HTML file, made from the module's result alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Any

from .document import card, document, head
from .proof_data import COUNTED, VERDICTS, Row, counts, covered, during, restart_rows

_NOTE = (
    "The longest time without an acknowledged record, and the nodes that were stopped or not yet in sync in it. Kafka "
    "serves a partition again once another broker leads it."
)


def proof_report(proof: Row, cluster: str) -> str:
    """Return the report as one HTML document; C(proof) is what the module record_proof returned."""
    tone = VERDICTS[proof["verdict"]]
    said = f"{proof['why'] or counts(proof)}. Compared: {covered(proof)}."
    facts = f"<b>Proof of a rolling restart</b><br>cluster <b>{escape(cluster)}</b><br>{escape(proof['topic'])}"
    body = [head(tone, proof["verdict"], said, facts), _tiles(proof), _gaps(proof), _restarts(proof), _wrong(proof)]
    return document(f"{proof['verdict']}: proof of a rolling restart", "\n".join(filter(None, body)))


def _tiles(proof: Row) -> str:
    tiles = [*((f"Acknowledged, {kind}", number) for kind, number in proof["acknowledged"].items())]
    if proof.get("read_second"):
        tiles += [("Read, plain", proof["read"]), ("Read, Spark", proof["read_second"])]
    tiles += [(words.capitalize(), proof[key]) for key, words in COUNTED.items()]
    shown = "".join(
        f'<div class="tile"><div class="name">{escape(name)}</div><div class="value">{number:,}</div></div>'
        for name, number in tiles
    )
    return f'<div class="tiles">{shown}</div>'


def _gaps(proof: Row) -> str:
    gaps = [("all, between commits", proof["commit_gap"])] if proof["commit_gap"] else []
    rows = [
        (place, f"{gap['seconds']:.2f} s", _clock(gap["begin"]), during(gap).removeprefix(", "))
        for place, gap in [*((str(one["partition"]), one) for one in proof["gaps"]), *gaps]
    ]
    return _table("Longest gap of each partition", _NOTE, ("Partition", "Gap", "Begin", "Node"), rows)


def _restarts(proof: Row) -> str:
    rows = [(host, _clock(stopped), down, synced) for host, stopped, down, synced in restart_rows(proof["restarts"])]
    return _table("Restarts", "", ("Node", "Stopped", "Listening after", "In sync after that"), rows)


def _wrong(proof: Row) -> str:
    rows = [(one["what"], one["partition"], f"{one['records']:,}", one["first"], one["last"]) for one in proof["wrong"]]
    return _table("Findings", "", ("What", "Partition", "Records", "First offset", "Last offset"), rows)


def _table(title: str, note: str, heads: Iterable[str], rows: list[tuple[Any, ...]]) -> str:
    if not rows:
        return ""
    cells = "".join(f"<tr>{''.join(f'<td>{escape(str(one))}</td>' for one in row)}</tr>" for row in rows)
    names = "".join(f"<th>{escape(one)}</th>" for one in heads)
    table = f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>"
    return card(title, note, f'<div class="scroll">{table}</div>')


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
