# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of a reassignment: one HTML file, made from the module's results alone."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from ...module_utils._core.progress import duration
from .document import card, document, head
from .move_data import misplaced, outcome_of
from .move_lines import UNKEPT, above_lines, again_lines, megabytes
from .move_plots import by_broker, timeline

#: How many partitions are listed; a plan of a million must still open in a browser.
LISTED = 500
_WORDS = {
    "done": ("pass", "Done", "Every partition has the replicas that were planned, in sync."),
    "planned": ("info", "Planned", "Nothing was moved."),
    "failed": ("fail", "Not done", "See the output of the run for what is left."),
}


def move_report(plan: Mapping[str, Any], done: Mapping[str, Any], title: str, cluster: str) -> str:
    """The report as one HTML document.

    C(plan): the plan (state applied in check mode); C(done): what carrying it out returned, empty when only planned.
    C(title): the goal, in words.
    """
    word = outcome_of(done)
    sections = [_head(word, title, cluster, done)]
    if "moves" in plan:
        sections += [
            _tiles(plan, done),
            card("Replicas by broker", "Pale: before; full: after. A colour is a rack.", _bars(plan, "replicas")),
            card("Preferred leaders by broker", "Pale: before; full: after.", _bars(plan, "leaders")),
            card("Bytes by broker", " ".join(["Pale: before; full: after.", *_above(plan)]), _bars(plan, "bytes")),
        ]
    if any(row.get("bytes_total") for row in done.get("history") or ()):
        note = "Copied bytes over the seconds of the run; the dashed line is all of them."
        sections.append(card("Timeline", note, timeline(done["history"])))
    sections += [_checks(done), _changes(plan)]
    body = "\n".join(section for section in sections if section)
    return document(f"{_WORDS[word][1]}: {title}", body)


def _head(word: str, title: str, cluster: str, done: Mapping[str, Any]) -> str:
    took = f"<br>{duration(done['elapsed'])}" if done.get("elapsed") is not None else ""
    return head(*_WORDS[word], f"<b>{escape(title)}</b><br>cluster <b>{escape(cluster)}</b>{took}")


def _tiles(plan: Mapping[str, Any], done: Mapping[str, Any]) -> str:
    seconds = plan["schedule"]["seconds"]
    real = f"took {duration(done['elapsed'])}" if done.get("elapsed") is not None else "not begun"
    fewest = f"fewest possible {plan['bound']:,}, proof: {plan['proof']}"
    if plan["proof"] == "bytes" and plan.get("bytes_above"):
        fewest = UNKEPT
    elif plan["proof"] == "bytes":
        fewest = f"at least {megabytes(plan['bytes_bound'])} to keep all limits of bytes"
    tiles = [
        ("Replicas moved", f"{plan['moves']:,}", fewest),
        ("Bytes to copy", megabytes(plan["bytes"]), f"{plan['deletions']:,} replicas deleted"),
        (
            "Leader changes",
            f"{plan['leader_changes']:,}",
            f"fewest possible {plan['leader_bound']:,} for these replicas",
        ),
        ("Predicted", duration(seconds) if seconds is not None else "no throttle", real),
    ]
    shown = "".join(
        f'<div class="tile"><div class="name">{name}</div><div class="value">{value}</div>'
        f'<div class="more">{escape(more)}</div></div>'
        for name, value, more in tiles
    )
    return f'<div class="tiles">{shown}</div>'


def _bars(plan: Mapping[str, Any], measure: str) -> str:
    return by_broker(plan["brokers"], measure)


def _above(plan: Mapping[str, Any]) -> list[str]:
    """Sentences about brokers that stay above their limit of bytes."""
    return [f"{line[0].upper()}{line[1:]}." for line in above_lines(plan)]


def _checks(done: Mapping[str, Any]) -> str:
    if not done:
        return ""
    rows = [
        ("Every partition has the replicas that were planned", done.get("stage") == "done" and not misplaced(done)),
        ("The cluster refused no partition", not done.get("refused")),
        ("Throttles are what they were on every broker", not done.get("throttles_left")),
        ("No throttle of unknown origin was found", not done.get("leftover_throttles")),
    ]
    shown = "".join(
        f'<tr class="{"pass" if holds else "fail"}"><td><span class="pill {"pass" if holds else "fail"}">'
        f"{'pass' if holds else 'fail'}</span></td><td>{escape(what)}</td></tr>"
        for what, holds in rows
    )
    note = " ".join(["Asked of the cluster after the last move.", *again_lines(done)])
    return card("Checks", note, f"<table><tbody>{shown}</tbody></table>")


def _changes(plan: Mapping[str, Any]) -> str:
    changes = plan.get("changes") or []
    if not changes:
        return ""
    rows = "".join(
        f"<tr><td>{escape(one['topic'])}-{one['partition']}</td><td>{_ids(one['from'])}</td><td>{_ids(one['to'])}</td>"
        f'<td class="num">{megabytes(one["bytes"])}</td><td>{escape("; ".join(one["reasons"]))}</td></tr>'
        for one in changes[:LISTED]
    )
    heads = '<tr><th>Partition</th><th>From</th><th>To</th><th class="num">Bytes</th><th>Why</th></tr>'
    note = f"{min(LISTED, len(changes)):,} of {len(changes):,}."
    table = f"<table><thead>{heads}</thead><tbody>{rows}</tbody></table>"
    return card("Partitions", note, f'<div class="scroll">{table}</div>')


def _ids(replicas: list[int]) -> str:
    return ", ".join(map(str, replicas))
