# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory of reports as runs leave them, each made by the code that makes it, and what others may leave there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import planned
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.markup import status_page
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_data import move_data
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_report import move_report
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import as_json
from spark_validation.core.result import Check, Result
from spark_validation.report.page import render
from tests.support.status_seen import everything

SCRIPT = "<!doctype html><script>document.title = 'ran'</script><p onclick='alert(1)'>hostile</p>"
#: Names of files that somebody may leave, without their ending.
NAMES = [
    "<script>alert(1)</script>".replace("/", "_"),
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "..",
    "=1+1",
    "\u202egnp",
    "line\nbreak\x1b[31m",
    "a%2fb?c#d",
]
_ROWS = [{"partition": number, "replicas": [1], "size_bytes": 1_000_000} for number in range(6)]
_SNAPSHOT: dict[str, Any] = {
    "nodes": [{"id": number, "rack": rack} for number, rack in ((1, "a"), (2, "b"), (3, "c"))],
    "topics": [{"name": "orders", "partitions": _ROWS}],
}
PLAN = planned(_SNAPSHOT, {"concurrency": 5, "throttle": None, "rebalance": True}, registered_only=True)
DONE: dict[str, Any] = {"stage": "done", "elapsed": 244.0, "history": [], "refused": {}, "throttles_left": []}
#: A proof that found two records lost, as the module record_proof returns it.
PROOF: dict[str, Any] = {
    "verdict": "fail",
    "why": "topic __streamops_prove, partition 1, offsets 7 to 8: 2 records acknowledged and lost",
    "topic": "__streamops_prove",
    "acknowledged": {"idempotent": 1000, "transactional": 500},
    "read": 1498,
    "lost": 2,
    "repeated": 0,
    "reordered": 0,
    "moved": 0,
    "aborted_read": 0,
    "wrong": [{"what": "lost", "partition": 1, "records": 2, "first": 7, "last": 8}],
    "gaps": [
        {"partition": 0, "seconds": 0.5, "begin": 1_795_514_990.0, "hosts": []},
        {"partition": 1, "seconds": 4.25, "begin": 1_795_515_001.0, "hosts": ["kafka<1>"]},
    ],
    "commit_gap": {"partition": -1, "seconds": 1.5, "begin": 1_795_515_001.0, "hosts": ["kafka<1>"]},
    "restarts": [
        {"host": "kafka<1>", "stopped": 1_795_515_000.0, "listening": 1_795_515_012.0, "in_sync": 1_795_515_020.0}
    ],
}


def result(job: str = "smoke", status: str = "pass", **more: Any) -> dict[str, Any]:
    """What a Spark job writes, with two checks of which the second may fail."""
    checks = [Check("lost", "No record is lost", "pass", 0, 0), Check("order", "In order", status, 0, 3)]
    return Result(job, "write", "run-1", 1_795_600_000_000, 1_795_600_062_000, checks=checks, **more).to_dict()


def left(root: Path) -> Path:
    """Make the directory; the cluster is orders."""
    own = root / "orders"
    put(own / "20261124T101500-000001-rebalance", "report", move_report(PLAN, DONE, "Rebalance", "orders"),
        move_data(PLAN, DONE, "Rebalance", "orders", "2026-11-24T10:19:04Z"))  # fmt: skip
    put(own / "20261125T101500-000001-rebalance-plan", "report", move_report(PLAN, {}, "Rebalance", "orders"),
        move_data(PLAN, {}, "Rebalance", "orders", "2026-11-25T10:19:04Z"))  # fmt: skip
    put(root / "all", "status", status_page(everything()), as_json(everything()))
    passed = result()
    put(own / "20261125T120000-000001-validation", "report", render(passed), json.dumps(passed), "result")
    sides = {side: {"alias": name} for side, name in (("source", "orders"), ("target", "copy"))}
    failed = result("mirror_audit", "fail", settings=sides)
    put(root / "mirror-orders-copy" / "1", "report", SCRIPT, json.dumps(failed), "result")
    for number, name in enumerate(NAMES):
        put(own, name, SCRIPT, ["", "[" * 100_000, "{}", "null", '{"schema": 1}', "\0", '{"schema": []}', "[]"][number])
    outside = root.parent / "outside.html"
    outside.write_text("not of this directory", encoding="utf-8")
    (own / "linked.html").symlink_to(outside)
    (root / "linked").symlink_to(own)
    (own / "linked-directory").symlink_to(own / "20261125T120000-000001-validation")
    put(own, "linked-data", SCRIPT)
    (own / "linked-data.json").symlink_to(own / "20261125T120000-000001-validation" / "result.json")
    os.mkfifo(own / "pipe.html")
    put(own, "pipe-data", SCRIPT)
    os.mkfifo(own / "pipe-data.json")
    (own / "directory.html").mkdir()
    put(own, "large", "")
    os.truncate(own / "large.html", 20_000_001)
    return root


def put(folder: Path, name: str, page: str, data: str | None = None, data_name: str = "") -> None:
    """Write a report and its data."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.html").write_text(page, encoding="utf-8")
    if data is not None:
        (folder / f"{data_name or name}.json").write_text(data, encoding="utf-8")
