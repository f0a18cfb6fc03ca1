"""What the report of job mirror_audit shows besides checks and provenance: topics, records in time, lag. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from spark_validation.report.plots import Frame
from spark_validation.report.shown import Document, formatted, tile

JOB = "mirror_audit"
SAYS = "Every record that the mirror had to carry is there, unchanged."
_NAMES = ("source", "target")
_NUMBERS = ("partitions", "records", "beyond", "mirrored", "lost", "phantom", "changed", "duplicated")


def facts(document: Document) -> str:
    """Return what was compared, for the head."""
    source, target = (document.show(f"settings.{side}.alias") for side in ("source", "target"))
    renewed = document.get("figures.covered.earlier.partitions", 0)
    only = (
        f"<br>\nonly what is new in {document.show('figures.covered.earlier.partitions')} partitions" if renewed else ""
    )
    return f"nothing written<br>\nmirror of <b>{source}</b> in <b>{target}</b>{only}"


def tiles(document: Document) -> str:
    """Headline figures."""
    cells = f"{document.show('figures.cells.unequal')} of {document.show('figures.cells.all')} cells were unequal"
    size = f"{document.show('figures.total.bytes', 'bytes')} of keys and values"
    took = f"in {document.show('figures.read.seconds', 'seconds')} s"
    shown = [
        tile(document, "Topics compared", "figures.total.topics", "", cells),
        tile(document, "Records of the source", "figures.total.records", "", size),
        tile(document, "Records of the mirror", "figures.total.mirrored", "", "repeats included"),
        tile(document, "Compared", "figures.read.records_per_second", "records/s", took),
    ]
    return f'<div class="tiles">{"".join(shown)}</div>'


def cards(document: Document) -> list[tuple[str, str, str]]:
    """Title, note and body of each section, those without data left out."""
    made = []
    if document.get("figures.topics"):
        note = "Records up to the frontier, those that came after it, and what the mirror holds; worst first."
        made.append(("Topics", note, _topics(document)))
    if document.get("figures.buckets"):
        note = "Records by their own time: the bar is the source, the line what the mirror holds."
        made.append(("Source against mirror", note, _buckets(document)))
    if len(document.get("figures.lag", [])) > 1:
        made.append(("Lag while waiting", "Offsets that the mirror had still to pass.", _lag(document)))
    return made


def _topics(document: Document) -> str:
    rows = []
    for place in range(len(document.get("figures.topics", []))):
        path = f"figures.topics.{place}"
        names = "".join(f"<td>{document.show(f'{path}.{name}')}</td>" for name in _NAMES)
        numbers = "".join(f'<td class="num">{document.show(f"{path}.{name}")}</td>' for name in _NUMBERS)
        rows.append(f"<tr>{names}{numbers}<td>{document.show(path + '.compared_by')}</td></tr>")
    head = "".join(f"<th>{name}</th>" for name in _NAMES)
    head += "".join(f'<th class="num">{name}</th>' for name in _NUMBERS) + "<th>compared by</th>"
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _buckets(document: Document) -> str:
    slots = document.get("figures.buckets", [])
    frame = Frame(1120, 230, max(max(slot["source"] + slot["beyond"], slot["target"]) for slot in slots))
    first, width = slots[0]["began_ms"], slots[0]["width_ms"]
    count = round((slots[-1]["began_ms"] - first) / width) + 1
    step = frame.plot_width / count
    for slot in slots:
        left = frame.x(round((slot["began_ms"] - first) / width) / count)
        whole = slot["source"] + slot["beyond"]
        title = (
            f"{formatted(slot['began_ms'], 'time')}: source {slot['source']:,} and {slot['beyond']:,} "
            f"after the frontier, mirror {slot['target']:,}"
        )
        frame.draw_bar(left + 0.5, max(1.0, step - 1), whole, 'class="bar"', title)
        y = frame.y(slot["target"])
        ends = f'x1="{left:.1f}" x2="{left + step:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
        frame.parts.append(f'<line class="expected" {ends}/>')
    frame.label(frame.x(0), formatted(first, "time"), "start")
    frame.label(frame.x(1), formatted(slots[-1]["began_ms"] + width, "time"), "end")
    return frame.svg("records of source and mirror over record time")


def _lag(document: Document) -> str:
    samples = document.get("figures.lag", [])
    frame = Frame(1120, 210, max(sample["left"] for sample in samples))
    last = max(samples[-1]["seconds"], 0.001)
    points = " ".join(f"{frame.x(sample['seconds'] / last):.1f},{frame.y(sample['left']):.1f}" for sample in samples)
    line = 'fill="none" stroke="var(--accent)" stroke-width="2"'
    frame.parts.append(f'<polyline points="{points}" {line}/>')
    frame.label(frame.x(0), "0 s", "start")
    frame.label(frame.x(1), f"{last:.1f} s", "end")
    return frame.svg("offsets left while waiting")
