"""What the report of job proof shows besides checks and provenance: the counts by partition and kind. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from spark_validation.report.shown import Document, tile

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
