# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a tuning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.grid import Run
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.tune_report import tune_report
from tests.support.browser import Browser

END = {"resource": "more_tasks", "why": "it <grew>."}


def row(kind: str, tasks: int, rate: float | None, option: str = "", **settings: Any) -> dict[str, Any]:
    """The row of a run with this rate in MB/s."""
    run = Run(1, kind, 1, tasks, option, settings)
    measured = {"bytes_per_second": rate and rate * 1e6, "records": 1000, "seconds": 2.5, "busy": 1.0, "own": 0.5}
    return {**run.as_dict(), **measured}


ROWS = [row("tasks", tasks, rate) for tasks, rate in ((1, 50), (2, 98), (4, 100)) for _ in range(2)]


def test_the_page_names_knee_end_curves_proposal_and_every_run() -> None:
    rows = [*ROWS, row("option", 2, 120, "fetch", fetch=16 << 20), row("option", 2, 60, "fetch", fetch=1 << 20)]
    page = tune_report("dc_a->dc_b", rows, END, 1)
    assert '<h1 class="word">2 tasks</h1>' in page
    assert "What ends it: more tasks" in page
    assert "it &lt;grew&gt;." in page
    assert page.count("<svg") == 3
    assert "rate over tasks: 1: 50.0 MB/s ±0 %; 2: 98.0 MB/s ±0 %; 4: 100.0 MB/s ±0 %" in page
    assert "Against it 1 MiB: -39 %, 16 MiB: +22 %." in page
    assert "mirror_maker_tasks_max: 2" in page
    assert page.count("<tr>") == 1 + len(rows)
    assert "<script" not in page


def test_the_curve_of_better_values_together_is_told() -> None:
    better = {"linger": 100, "batch": 1048576}
    page = tune_report("dc_a->dc_b", [*ROWS, row("together", 2, 140, **better)], END, 1)
    assert "All better values together: 140.0 MB/s." in page


def test_a_doubtful_knee_and_no_knee_look_so() -> None:
    doubt = tune_report("dc_a->dc_b", [row("tasks", 1, 50), row("tasks", 2, 98)], END, 1)
    assert "Repeats differ" in doubt
    assert 'class="card inconclusive"' in doubt
    none = tune_report("dc_a->dc_b", [row("tasks", 1, None)], END, 1)
    assert "No knee" in none
    assert "Raise mirror_tune_bytes" in none
    assert "Proposal" not in none


def test_a_run_that_failed_says_why() -> None:
    page = tune_report("dc_a->dc_b", [*ROWS, {**row("tasks", 8, None), "problem": "it <ended>"}], END, 1)
    assert "run 1 (8 tasks): it &lt;ended&gt;" in page
    none = tune_report("dc_a->dc_b", [{**row("tasks", 8, None), "problem": "it <ended>"}], END, 1)
    assert "Every run failed." in none
    assert "Raise mirror_tune_bytes" not in none


def test_the_page_of_a_tuning_that_was_cut_says_so() -> None:
    page = tune_report("dc_a->dc_b", ROWS, END, 1, missing=3)
    assert "3 runs or more are missing" in page
    assert 'class="card inconclusive"' in page


@pytest.mark.parametrize(("width", "is_dark"), [(1280, False), (400, True)], ids=["wide", "narrow"])
def test_the_page_is_legible_on_every_screen(tmp_path: Path, width: int, is_dark: bool) -> None:
    better = {"linger": 100, "batch": 1048576}
    rows = [*ROWS, row("option", 2, 120, "fetch", fetch=16 << 20), row("together", 2, 140, **better)]
    failed = {**row("tasks", 8, None), "problem": "no answer of mirror-with-a-long-name.example.com:8083 " * 4}
    pages = {
        "knee": tune_report("dc_a->dc_b", [*rows, failed], END, 1),
        "none": tune_report(f"{'a' * 60}->{'b' * 60}", [row("tasks", 1, None)], END, 1),
    }
    with Browser(tmp_path / "profile") as browser:
        for name, page in pages.items():
            (tmp_path / f"{name}.html").write_text(page)
            browser.open(f"file://{tmp_path}/{name}.html", width, is_dark)
            (tmp_path / f"{name}.png").write_bytes(browser.picture(1400))
            assert browser.complaints == [], name
            assert browser.value("document.documentElement.scrollWidth") <= width, name
            assert browser.violations() == [], name
