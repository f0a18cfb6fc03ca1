"""report.html, made from result.json alone: one file, no network, no script. Pure but for `write`."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pkgutil
from html import escape
from pathlib import Path
from typing import Any

from spark_validation.report import layout, plots
from spark_validation.report import mirror as mirror_report
from spark_validation.report import shown as proof_report
from spark_validation.report.shown import Document, card, tile

#: Jobs whose reports have parts of their own; all others show those of job smoke.
_OWN = {part.JOB: part for part in (mirror_report, proof_report)}
_WORDS = {
    "pass": ("Pass", "Everything that was acknowledged is there, once, in order and unchanged."),
    "fail": ("Fail", "It was judged, and something is wrong. The failing checks say what."),
    "inconclusive": ("Inconclusive", "A part of this run cannot be judged. Nothing was found to be wrong."),
    "error": ("Error", "The job could not run, so nothing is proved."),
}
_MARKS = {
    "pass": "M18 31l8 8 16-18",
    "fail": "M20 20l20 20M40 20L20 40",
    "inconclusive": "M23 23a7 7 0 1 1 10 7c-3 1-3 3-3 5M30 43v.1",
    "error": "M30 17v16M30 43v.1",
}
# A first screen has room for so many.
_FINDINGS = 8
_ORDER = ("error", "fail", "inconclusive", "pass", "info")


def write(values: dict[str, Any], path: Path) -> None:
    """Write the report of a decoded result.json."""
    path.write_text(render(values), encoding="utf-8")


def render(values: dict[str, Any]) -> str:
    """The report as one HTML document."""
    document = Document(values)
    style = (pkgutil.get_data("spark_validation.core", "report.css") or b"").decode()
    own = _OWN.get(document.get("job"))
    sections = [_head(document)]
    if document.get("figures.total"):
        sections += [own.tiles(document) if own else _tiles(document)]
    sections += [_checks(document)]
    if own:
        sections += [card(*parts) for parts in own.cards(document)]
    if document.get("cluster.brokers"):
        sections += [card("Cluster layout", layout.NOTE, layout.draw(document))]
    if document.get("figures.partitions"):
        sections += _distributions(document)
    sections += [_phases(document), _provenance(document)]
    title = f"{_WORDS[document.get('verdict')][0]}: Kafka validation {escape(document.get('run_id') or '')}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{title}</title><style>{style}</style></head><body><main>\n"
        + "\n".join(section for section in sections if section)
        + f"\n<footer>Drawn from result.json alone, schema {document.show('schema')}</footer></main></body></html>\n"
    )


def _head(document: Document) -> str:
    verdict = document.get("verdict")
    own = _OWN.get(document.get("job"))
    word, say = _WORDS[verdict]
    say = own.SAYS if own and verdict == "pass" else say
    said = _found(document) or (escape(document.get("message")) if document.get("message") else say)
    facts = own.facts(document) if own else _facts(document)
    return f"""<header class="card {verdict}">
<svg class="mark" viewBox="0 0 60 60" aria-hidden="true"><path d="{_MARKS[verdict]}"/></svg>
<div><div class="word">{word}</div><div class="say">{said}</div>{_covered(document)}</div>
<div class="facts">run <b>{document.show("run_id")}</b>, {facts}<br>
{document.show("started_ms", "time")}, {document.show("seconds", "seconds")} s</div></header>"""


def _found(document: Document) -> str:
    """Return what is wrong, the first of it in full; the checks below have the rest."""
    found = [document.show(f"findings.{place}") for place in range(len(document.get("findings", [])))]
    more = f"and {len(found) - _FINDINGS} more, in the checks below" if len(found) > _FINDINGS else ""
    return "<br>\n".join([*found[:_FINDINGS], *([more] if more else [])])


def _covered(document: Document) -> str:
    """Say what was compared and what was left out, in the words of the result."""
    lines = [document.show(f"covered.{place}") for place in range(len(document.get("covered", [])))]
    return f'<div class="say covered">{"<br>".join(lines)}</div>' if lines else ""


def _facts(document: Document) -> str:
    again = "audited again, nothing written" if document.get("mode") == "audit" else "written and audited"
    return f"{again}<br>\ntopic <b>{document.show('settings.topic')}</b>{_cluster_name(document)}"


def _cluster_name(document: Document) -> str:
    return f" of cluster <b>{document.show('cluster.id')}</b>" if document.get("cluster.id") else ""


def _tiles(document: Document) -> str:
    size = f"{document.show('figures.total.bytes', 'bytes')} of keys and values"
    slow = f"99th percentile {document.show('figures.latency.p99')} ms"
    tiles = [
        tile(document, "Records read back", "figures.total.records", "", size),
        tile(document, "Append latency, median", "figures.latency.p50", "ms", slow),
    ]
    if document.get("figures.live"):
        more = f"{document.show('figures.live.mode')} stream, 99th percentile {document.show('figures.live.p99')} ms"
        tiles.append(tile(document, "End to end, median", "figures.live.p50", "ms", more))
    if document.get("figures.write"):
        more = f"read and judged at {document.show('figures.read.records_per_second')}/s"
        tiles.append(tile(document, "Written", "figures.write.records_per_second", "records/s", more))
    else:
        more = f"in {document.show('figures.read.seconds', 'seconds')} s"
        tiles.append(tile(document, "Read and judged", "figures.read.records_per_second", "records/s", more))
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _checks(document: Document) -> str:
    checks: list[dict[str, Any]] = document.get("checks", [])
    order = sorted(range(len(checks)), key=lambda place: _ORDER.index(checks[place]["status"]))
    rows = "".join(_check_row(document, f"checks.{place}", checks[place]) for place in order)
    head = '<tr><th></th><th>Check</th><th class="num">Expected</th><th class="num">Found</th><th></th></tr>'
    body = f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    return card("Checks", "A run passes when no check fails and none is left undecided.", body)


def _check_row(document: Document, path: str, check: dict[str, Any]) -> str:
    advice = f'<div class="advice">{document.show(path + ".suggests")}</div>' if check["suggests"] else ""
    shown = {name: document.show(f"{path}.{name}") for name in ("title", "expected", "actual", "unit")}
    tone = check["status"]
    head = f'<tr class="{tone}"><td>{_pill(tone)}</td>'
    if isinstance(check["actual"], str):
        return f'{head}<td colspan="4">{shown["title"]}{advice}</td></tr>'
    figures = "".join(f'<td class="num">{shown[name]}</td>' for name in ("expected", "actual"))
    examples = _examples(document, path, check)
    return f"{head}<td>{shown['title']}{advice}{examples}</td>{figures}<td>{shown['unit']}</td></tr>"


def _pill(status: str) -> str:
    return f'<span class="pill {status}">{status}</span>'


def _examples(document: Document, path: str, check: dict[str, Any]) -> str:
    examples: list[dict[str, Any]] = check["examples"]
    if not examples:
        return ""
    names = list(dict.fromkeys(name for example in examples for name in example))
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{document.show(f'{path}.examples.{place}.{name}')}</td>" for name in names) + "</tr>"
        for place in range(len(examples))
    )
    summary = f"{len(examples)} of {document.show(path + '.examples_total')} examples"
    return f"<details><summary>{summary}</summary><table><tr>{head}</tr>{rows}</table></details>"


def _distributions(document: Document) -> list[str]:
    legend = layout.legend(document)
    records, sizes = (plots.by_partition(document, measure) + legend for measure in ("records", "bytes"))
    note = "Coloured by leader; the dashed line is what was acknowledged."
    by_records = card("Records by partition", note, records)
    sections = [_pair(by_records, card("Bytes by partition", "Keys and values as they were read back.", sizes))]
    note = "From the send to the broker's append time, in ms, by number of records."
    append = card("Append latency", note, plots.latency(document, "figures.latency"))
    if document.get("figures.live.count"):
        note = f"Producer, Kafka, Spark ({document.show('figures.live.mode')}), Kafka; in ms, by number of probes."
        sections.append(_pair(append, card("Live end-to-end latency", note, plots.latency(document, "figures.live"))))
    else:
        sections.append(append)
    sections.append(card("Timeline", "Records appended while the run wrote.", plots.timeline(document)))
    return sections


def _pair(left: str, right: str) -> str:
    return f'<div class="two">{left}{right}</div>'


def _phases(document: Document) -> str:
    phases = document.get("figures.phases", [])
    if not phases:
        return ""
    parts = "".join(
        f'<i style="flex:{phase["seconds"]:.3f};background:{plots.colour(place)}" title="{escape(phase["name"])}"></i>'
        for place, phase in enumerate(phases)
    )
    keys = "".join(
        f'<span><i style="background:{plots.colour(place)}"></i>{document.show(f"figures.phases.{place}.name")} '
        f"<b>{document.show(f'figures.phases.{place}.seconds', 'seconds')}</b> s</span>"
        for place in range(len(phases))
    )
    body = f'<div class="stack">{parts}</div><div class="legend">{keys}</div>'
    return card("Where the time went", "Seconds by phase.", body)


def _provenance(document: Document) -> str:
    paths = [f"{group}.{name}" for group in ("versions", "settings") for name in document.get(group, {})]
    rows = "".join(
        f"<tr><td>{escape(path.replace('.', ': '))}</td><td>{document.show(path)}</td></tr>" for path in paths
    )
    ranges = ", ".join(
        f"{escape(index)}: {document.show(f'ranges.{index}.0')} to {document.show(f'ranges.{index}.1')}"
        for index in document.get("ranges", {})
    )
    if ranges:
        rows += f"<tr><td>frozen offsets by partition (end excluded)</td><td>{ranges}</td></tr>"
    note = "What ran, with what, and which offsets were judged."
    return card("Provenance", note, f'<table class="plain">{rows}</table>') if rows else ""
