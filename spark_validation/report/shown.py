"""How a value of result.json is shown. Every figure of a report goes through `Document.show`, which keeps its address.

The address (`data-path`) makes a report checkable: a test reads each one back and compares it with the JSON. Boxes and
tiles hold such figures.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from html import escape
from typing import Any

from spark_validation.core.result import calendar

DASH = "\N{EN DASH}"


class Document:
    """A decoded result.json with addresses such as `figures.latency.p99` or `checks.0.actual`."""

    def __init__(self, values: dict[str, Any]) -> None:
        """`values` is the whole document."""
        self._values = values

    def get(self, path: str, default: Any = None) -> Any:
        """The value at an address, or `default` when it is not there or null."""
        value: Any = self._values
        for part in path.split("."):
            if isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            elif isinstance(value, dict) and part in value:
                value = value[part]
            else:
                return default
        return default if value is None else value

    def show(self, path: str, form: str = "plain", tag: str = "span") -> str:
        """The value at an address as HTML (or, in a plot, as SVG `tspan`), formatted by `form` (FORMS)."""
        return f'<{tag} data-path="{escape(path)}" data-form="{form}">{escape(self.text(path, form))}</{tag}>'

    def text(self, path: str, form: str = "plain") -> str:
        """The value at an address as bare text, for places that take no markup."""
        return formatted(self.get(path), form)


def formatted(value: Any, form: str) -> str:
    """A value as text. Forms: plain, bytes, ms (a latency), time (epoch milliseconds, UTC), seconds."""
    if value is None:
        return DASH
    if form == "bytes":
        return _scaled(float(value), ("B", "kB", "MB", "GB", "TB"), 1000.0)
    if form == "time":
        date = calendar(value)
        return f"{value:.0f} ms" if date is None else date.strftime("%Y-%m-%d %H:%M:%S UTC")
    if form == "seconds":
        return f"{value:,.1f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items()) or DASH
    return str(value)


def _scaled(value: float, units: tuple[str, ...], step: float) -> str:
    for unit in units[:-1]:
        if abs(value) < step:
            return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"
        value /= step
    return f"{value:,.3g} {units[-1]}"


def card(title: str, note: str, body: str) -> str:
    """A titled box; `note` and `body` are markup."""
    return f'<section class="card"><h2>{escape(title)}</h2><p class="note">{note}</p>{body}</section>'


def tile(document: Document, name: str, path: str, unit: str, more: str) -> str:
    """One headline figure, the value at `path`, with a line below it (markup)."""
    value = f'<div class="value">{document.show(path)}<span class="unit">{unit}</span></div>'
    return f'<div class="tile"><div class="name">{name}</div>{value}<div class="more">{more}</div></div>'


JOB = "proof"
SAYS = "The topic was read to its end. Whether a record is missing is said where the ledger of the proof is."
_NUMBERS = ("partition", "records", "distinct", "first", "last", "out_of_order", "checksum")


def facts(document: Document) -> str:
    """Return what was read, for the head."""
    topic = document.show("settings.topic")
    return f"nothing written<br>\nproof <b>{document.show('settings.proof')}</b> in topic <b>{topic}</b>"


def tiles(document: Document) -> str:
    """Headline figures."""
    others = f"and {document.show('figures.total.others')} that are not of this proof"
    behind = "a number lower than one before it"
    took = f"in {document.show('figures.read.seconds', 'seconds')} s"
    shown = [
        tile(document, "Records of the proof", "figures.total.records", "", others),
        tile(document, "Partitions with records", "figures.total.partitions", "", "of this proof"),
        tile(document, "Out of order", "figures.total.out_of_order", "", behind),
        tile(document, "Read", "figures.read.records_per_second", "records/s", took),
    ]
    return f'<div class="tiles">{"".join(shown)}</div>'


def cards(document: Document) -> list[tuple[str, str, str]]:
    """Title, note and body of each section, those without data left out."""
    if not document.get("figures.proof"):
        return []
    note = "Each kind of record in each partition; the checksum is the sum of crc32 over partition, offset and value."
    return [("Records by partition and kind", note, _counts(document))]


def _counts(document: Document) -> str:
    rows = []
    for place in range(len(document.get("figures.proof", []))):
        path = f"figures.proof.{place}"
        numbers = "".join(f'<td class="num">{document.show(f"{path}.{name}")}</td>' for name in _NUMBERS)
        rows.append(f"<tr><td>{document.show(path + '.kind')}</td>{numbers}</tr>")
    head = "<th>kind</th>" + "".join(f'<th class="num">{name.replace("_", " ")}</th>' for name in _NUMBERS)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
