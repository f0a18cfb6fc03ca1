# SPDX-License-Identifier: GPL-3.0-or-later
"""A dump as text, JSON lines and a page; and what is refused before a node is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.dumped import (
    content,
    json_lines,
    page,
    refusals,
    text_lines,
)

RECORD = {
    "partition": "orders-1",
    "offset": 7,
    "timestamp": 0,
    "time": "2023-11-14T22:13:20.000Z",
    "timestamp_type": "CreateTime",
    "key": "<b>\nkey\u202e",
    "key_size": 5,
    "value_size": 3,
    "headers": ["trace"],
    "transactional": False,
}
FOUND: dict[str, Any] = {
    "what": "orders-1",
    "partitions": [
        {"partition": "orders-1", "directory": "/data", "start": 0, "segments": ["/data/0.log"], "bytes": 9}
    ],
    "records": [RECORD, {**RECORD, "offset": 8, "value_size": -1}, {**RECORD, "offset": 9, "control": "COMMIT"}],
    "tree": [],
    "notes": ["stopped after 2 records"],
}
SETTINGS = {"kafka_mode": "kraft", "kafka_dump_what": "orders-1", "kafka_cluster_name": "c"}


def test_text_is_a_table_with_a_line_for_each_record() -> None:
    lines = text_lines(FOUND, "kafka1")
    assert lines[0] == "orders-1 of kafka1: 3 records"
    assert lines[2].endswith("(not asked for)")
    assert "<b>\\nkey\\u202e" in lines[2]
    assert lines[3].endswith("(deleted)")
    assert lines[4].endswith("[COMMIT]")
    assert lines[-1] == "Note         stopped after 2 records"


def test_json_lines_hold_what_was_read_and_each_record() -> None:
    head, first, *_rest = map(json.loads, json_lines(FOUND).splitlines())
    assert head["notes"] == ["stopped after 2 records"]
    assert first == RECORD
    assert content(FOUND, {**SETTINGS, "kafka_dump_format": "jsonl"}, "kafka1", "c") == json_lines(FOUND)


def test_a_page_escapes_what_users_wrote_and_has_no_script() -> None:
    text = page(FOUND, "kafka1", "c")
    assert "&lt;b&gt;" in text
    assert "<b>\\n" not in text
    assert "<script" not in text
    assert "image:" in page({**FOUND, "records": [], "tree": ["image:", "  topics:"]}, "kafka1", "c")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kafka_dump_format": "html"}, "kafka_dump_format=html needs a file"),
        ({"kafka_dump_format": "pdf"}, "kafka_dump_format: 'pdf' is no format"),
        ({"kafka_dump_path": "/tmp/"}, "kafka_dump_path=/tmp/ is a directory"),
        ({"kafka_mode": "zookeeper", "kafka_dump_what": "metadata"}, "keeps its metadata in ZooKeeper"),
        ({"kafka_dump_records": "x"}, "kafka_dump_records is no whole number"),
    ],
)
def test_what_cannot_be_is_refused_before_the_node_is_read(given: dict[str, str], said: str) -> None:
    [why] = refusals({**SETTINGS, **given}, "broker 1")
    assert said in why
    assert refusals(SETTINGS, "broker 1") == []


def test_in_text_the_tree_has_escapes_for_what_no_screen_shows() -> None:
    found = {**FOUND, "records": [], "tree": ["image:", "  \x1b[2Jx\u202ey:"], "notes": ["key=\x1b[0m"]}
    text = "\n".join(text_lines(found, "kafka1"))
    assert "[2Jx" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
