"""The result of a job: checks, verdict, figures; written as `result.json`. Pure but for `save`."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SCHEMA = "streamops.spark_validation.result/1"

PASS, FAIL, INCONCLUSIVE, ERROR, INFO = "pass", "fail", "inconclusive", "error", "info"
# The first of these that any check has is the verdict; `info` never decides.
_WORST_FIRST = (ERROR, FAIL, INCONCLUSIVE)
EXIT_CODES = {PASS: 0, FAIL: 1, INCONCLUSIVE: 1, ERROR: 2}


@dataclass(frozen=True)
class Check:
    """One question and its answer. `examples` are at most 20 of `examples_total`; `suggests` is empty on a pass.

    `places` say where, by partition: how many `records` (or offsets), between which offsets (`first`, `last`).
    """

    name: str
    title: str
    status: str
    expected: Any
    actual: Any
    difference: Any = None
    threshold: Any = None
    unit: str = ""
    examples: list[dict[str, Any]] = field(default_factory=list)
    examples_total: int = 0
    suggests: str = ""
    seconds: float | None = None
    places: list[dict[str, Any]] = field(default_factory=list)


def none_of(
    name: str,
    title: str,
    unit: str,
    total: int,
    examples: list[dict[str, Any]],
    suggests: str,
    status: str = FAIL,
    examples_total: int | None = None,
    seconds: float | None = None,
    places: list[dict[str, Any]] | None = None,
) -> Check:
    """A check that passes when nothing was counted. `status` and `suggests` are for when something was."""
    return Check(
        name,
        title,
        status if total else PASS,
        expected=0,
        actual=total,
        difference=total,
        threshold=0,
        unit=unit,
        examples=examples,
        examples_total=total if examples_total is None else examples_total,
        suggests=suggests if total else "",
        seconds=seconds,
        places=places or [],
    )


def noted(name: str, title: str, unit: str, total: int, examples: list[dict[str, Any]]) -> Check:
    """A check that decides nothing: it says how many there are."""
    return Check(name, title, INFO, None, total, unit=unit, examples=examples, examples_total=total)


def verdict_of(checks: list[Check]) -> str:
    """pass only when every check passed; without any check nothing was proved, so error."""
    statuses = {check.status for check in checks}
    return next((status for status in _WORST_FIRST if status in statuses), PASS if PASS in statuses else ERROR)


def broken_off(checks: list[Check], what: str, why: str) -> Check:
    """The check of a job that could not go on at step `what`. What was found wrong before stays the verdict."""
    failed = any(check.status == FAIL for check in checks)
    message = f"{what}: {why}"
    return Check(
        "run",
        "The job ran to its end" if failed else "The job could run",
        INCONCLUSIVE if failed else ERROR,
        expected="it runs",
        actual=message,
        suggests=why,
    )


@dataclass
class Result:
    """Everything that result.json holds. Times are epoch milliseconds, durations seconds.

    covered -- what was compared and what was left out, in sentences
    """

    job: str
    mode: str
    run_id: str
    started_ms: int
    finished_ms: int = 0
    message: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    cluster: dict[str, Any] = field(default_factory=dict)
    ranges: dict[str, list[int]] = field(default_factory=dict)
    ledger: dict[str, Any] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    covered: list[str] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The whole result as JSON values, with schema, verdict and exit code first."""
        verdict = verdict_of(self.checks)
        head = {"schema": SCHEMA, "verdict": verdict, "exit_code": EXIT_CODES[verdict]}
        seconds = round((self.finished_ms - self.started_ms) / 1000, 3)
        return {**head, **asdict(self), "seconds": seconds}


def save(document: dict[str, Any], path: Path) -> None:
    """Write a result whole or not at all: whoever polls for the file never reads half of it."""
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)


def rate(records: int, seconds: float) -> dict[str, float | int]:
    """Records, the seconds they took, and records per second."""
    return {
        "records": records,
        "seconds": round(seconds, 3),
        "records_per_second": round(records / seconds) if seconds else 0,
    }


def calendar(milliseconds: float) -> datetime | None:
    """Epoch milliseconds as a date (UTC); None for a number that no calendar has: a producer stamped microseconds."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
