# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Records that were dumped from a node: as lines for people, JSON lines, or one page. Pure."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ...module_utils._dump.asked import METADATA_TOPIC, read
from ...module_utils._migration.modes import ZOOKEEPER
from ..inventory.nodes import stage_of
from .document import card, document
from .status_cells import visible

PREFIX = "kafka_dump_"
TEXT, JSON_LINES, PAGE = "text", "jsonl", "html"
_OPTIONS = (
    "what", "offset_from", "offset_to", "time_from", "time_to", "key", "payload", "records", "bytes", "seconds",
)  # fmt: skip
_HEADS = ("Partition", "Offset", "Time", "Key", "Sizes", "Headers", "Value")
#: Characters of a key and of a value in a line of text; files for programs have all.
_KEY, _VALUE = 40, 400


def refusals(settings: Mapping[str, Any], title: str) -> list[str]:
    """Return all that is wrong with what is asked for, before the node is read; C(title) says what the node is."""
    asked, wrong = read(_given(settings), PREFIX)
    form, path = _format(settings), str(settings.get("kafka_dump_path") or "").strip()
    if form not in (TEXT, JSON_LINES, PAGE):
        wrong.append(f"kafka_dump_format: {form!r} is no format. Allowed: {TEXT}, {JSON_LINES}, {PAGE}.")
    elif form != TEXT and not path:
        wrong.append(f"kafka_dump_format={form} needs a file: give its path with kafka_dump_path.")
    if path.endswith("/"):
        wrong.append(f"kafka_dump_path={path} is a directory. Name a file in it.")
    if asked and asked.topic == METADATA_TOPIC and stage_of(settings) == ZOOKEEPER:
        wrong.append(
            f"kafka_dump_what={asked.what}: this is {title} of mode zookeeper, which keeps its metadata in ZooKeeper "
            "and has no log of it. Ask for offsets, transactions or a partition."
        )
    return wrong


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: settings.get(f"{PREFIX}{name}") for name in _OPTIONS}


def _format(settings: Mapping[str, Any]) -> str:
    return str(settings.get("kafka_dump_format") or "").strip() or TEXT


def path_of(settings: Mapping[str, Any]) -> str:
    """Return where the file is; a relative path begins where ansible-playbook was started."""
    return os.path.abspath(os.path.expanduser(str(settings["kafka_dump_path"]).strip()))


def content(found: Mapping[str, Any], settings: Mapping[str, Any], host: str, cluster: str) -> str:
    """Return the content of the file that is asked for."""
    form = _format(settings)
    if form == JSON_LINES:
        return json_lines(found)
    return page(found, host, cluster) if form == PAGE else "\n".join(text_lines(found, host)) + "\n"


def summary(found: Mapping[str, Any], settings: Mapping[str, Any], host: str) -> list[str]:
    """Return what was written, and what a reader must know of it."""
    count = f"{len(found['tree']):,} lines" if found["tree"] else f"{len(found['records']):,} records"
    check = " (check mode: not written)" if settings.get("ansible_check_mode") else ""
    return [f"Dump         {found['what']} of {host}: {count}, {path_of(settings)}{check}", *_notes(found)]


def text_lines(found: Mapping[str, Any], host: str) -> list[str]:
    """Return a table of the records, or the tree, with what a reader must know."""
    head = f"{found['what']} of {host}: {len(found['records']):,} records"
    if found["tree"]:
        return [f"{found['what']} of {host}", *map(visible, found["tree"]), *map(visible, _notes(found))]
    rows = [_row(one) for one in found["records"]]
    widths = [max(map(len, column)) for column in zip(_HEADS, *rows, strict=True)][:-1]
    table = [_line(row, widths) for row in (_HEADS, *rows)] if rows else []
    return [head, *table, *map(visible, _notes(found))]


def _notes(found: Mapping[str, Any]) -> list[str]:
    read_from = [
        f"Read         {one['partition']}: {one['bytes']:,} bytes of {len(one['segments'])} file(s) "
        f"in {one['directory']}"
        for one in found["partitions"]
        if one["bytes"]
    ]
    return [*read_from, *(f"Note         {note}" for note in found["notes"])]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()


def _row(record: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        record["partition"],
        str(record["offset"]),
        record["time"] or "-",
        _short(record["key"], _KEY),
        f"{_size(record['key_size'])}+{_size(record['value_size'])}",
        _short(",".join(record["headers"]) or None, _KEY),
        _short(_value(record), _VALUE),
    )


def _size(size: int) -> str:
    return "-" if size < 0 else str(size)


def _value(record: Mapping[str, Any]) -> Any:
    if "control" in record:
        return f"[{record['control']}]"
    if "value" not in record:
        return "(deleted)" if record["value_size"] < 0 else "(not asked for)"
    return "(deleted)" if record["value"] is None else record["value"]


def _short(value: Any, most: int) -> str:
    """Return a value on one line: with escapes for what no screen shows, cut where it is long."""
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = visible(text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t"))
    return text if len(text) <= most else f"{text[:most]}..."


def json_lines(found: Mapping[str, Any]) -> str:
    """Return a JSON object a line: first what was read, then each record, or each line of the tree."""
    head = {name: found[name] for name in ("what", "partitions", "notes")}
    lines: list[Any] = [head, *found["records"], *({"tree": line} for line in found["tree"])]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def page(found: Mapping[str, Any], host: str, cluster: str) -> str:
    """Return one HTML document, for people."""
    title = f"{found['what']} of {host}"
    notes = "".join(f"<li>{escape(visible(line))}</li>" for line in _notes(found))
    head = (
        f'<header class="card"><div><h1 class="word">{escape(title)}</h1><p class="say">Cluster {escape(cluster)}: '
        f"{len(found['records']):,} records, read from the files of the node.</p></div></header>"
    )
    body = _tree(found["tree"]) if found["tree"] else _table(found["records"])
    return document(title, f"{head}\n{body}\n{card('Read', '', f'<ul>{notes}</ul>')}")


def _tree(lines: Sequence[str]) -> str:
    text = escape("\n".join(map(visible, lines)))
    return card("Tree", "", f'<div class="scroll" tabindex="0"><pre>{text}</pre></div>')


def _table(records: Sequence[Mapping[str, Any]]) -> str:
    heads = "".join(f'<th scope="col">{escape(one)}</th>' for one in _HEADS)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _row(one))}</tr>" for one in records)
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>" if rows else "<p>None.</p>"
    return card("Records", "", f'<div class="scroll" tabindex="0">{table}</div>')
