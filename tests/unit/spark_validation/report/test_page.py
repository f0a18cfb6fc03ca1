"""The report: every figure in it is the one in result.json, and nothing comes from outside."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from spark_validation.cli import main
from spark_validation.core.result import Check, Result, rate
from spark_validation.report import page
from spark_validation.report.plots import ticks
from spark_validation.report.shown import Document, formatted
from spark_validation.smoke import figures
from spark_validation.smoke.geometry import Geometry
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.observed import Observation, PartitionSeen, Slot


def document(status: str = "pass") -> dict[str, Any]:
    """A result with every part that a report can show."""
    ledger = Ledger(
        "run-7", "_streamops_smoke", "Zm9v", Geometry(61, 2, 2), {0: 0, 1: 0}, {0: (100, 131), 1: (7, 37)}, 0, 999
    )
    seen = Observation(
        partitions={0: PartitionSeen(31, 4711, 1, 2), 1: PartitionSeen(30, 1234567, 3, 4)},
        latency_total_ms=611, latency_least_ms=2, latency_most_ms=303,
        timeline=[Slot(-1, 3, 20), Slot(0, 41, 4000), Slot(4, 17, 1700)],
    )  # fmt: skip
    seen.latency.update({2: 40, 17: 19, 99: 2})
    result = Result("smoke", "run", "run-7", 1_795_224_153_899, 1_795_224_195_757, "", {"topic": "_streamops_smoke"})
    result.versions = {"spark": "4.2.0", "master": "local[2]"}
    result.ledger, result.ranges = ledger.to_dict(), ledger.to_dict()["ranges"]
    example = {"partition": 1, "offset": 23, "writer": 1, "sequence": 12}
    result.findings = [] if status == "pass" else ["topic t: 5 records lost: partition 1: 5 (offsets 23 to 27)"]
    result.checks = [
        Check("lost", "No acknowledged record is lost", status, 0, 5, 5, 0, "records", [example], 5, "look <at> disks"),
        Check("latency", "Append latency", "info", None, 97.0, unit="ms"),
    ]
    result.cluster = {
        "id": "Zm9v",
        "brokers": [
            {"id": 1, "host": "kafka1", "port": 9092, "rack": "a", "leads": 1},
            {"id": 2, "host": "kafka2", "port": 9092, "rack": None, "leads": 1},
        ],
        "partitions": [
            {"index": 0, "leader": 2, "replicas": [1, 2], "isr": [2]},
            {"index": 1, "leader": 1, "replicas": [1, 2], "isr": [1, 2]},
        ],
    }
    result.figures = {
        **figures.of_observation(seen, ledger, 100),
        "write": rate(61, 0.7),
        "read": rate(61, 0.3),
        "live": {
            "mode": "real-time",
            "sent": 9,
            "count": 9,
            "p50": 4.0,
            "p99": 41.0,
            "histogram": [{"up_to": 4.0, "count": 9}],
        },
        "phases": [{"name": "write", "seconds": 0.712}],
    }
    return json.loads(json.dumps(result.to_dict()))  # type: ignore[no-any-return]


class Reader(HTMLParser):
    """Collects addressed figures, text outside of them, and tags."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: list[tuple[str, str, str]] = []
        self.loose: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._open: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self._open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        tag, attributes = self._open[-1] if self._open else ("", {})
        if "data-path" in attributes:
            self.figures.append((attributes["data-path"] or "", attributes["data-form"] or "", data))
        elif tag not in ("style", "title") and "tick" not in (attributes.get("class") or ""):
            self.loose.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.mark.parametrize("status", ["pass", "fail", "inconclusive", "error"])
def test_every_figure_shown_is_the_one_in_the_result(status: str) -> None:
    values = document(status)
    shown = read(page.render(values)).figures
    assert len(shown) > 60
    for path, form, text in shown:
        assert unescape(text) == formatted(Document(values).get(path), form), path


def test_no_number_stands_in_the_report_without_its_address() -> None:
    loose = " ".join(read(page.render(document())).loose)
    # What is left are words; "99th percentile" is one of them, ports are part of an address, and examples are counted.
    rest = re.sub(r"99th percentile|:9092|\b0 to 1\b|1 of| p50 | p99 |p50|p99|\b\d+\.\d s\b|\d: ", "", loose)
    assert not re.findall(r"\d", rest), rest


def test_the_totals_of_the_plots_are_the_totals_of_the_result() -> None:
    html = page.render(document())
    assert [int(count) for count in re.findall(r"<title>partition \d: ([\d,]+)</title>", html)] == [31, 30]
    assert [int(count) for count in re.findall(r"<title>([\d,]+) records</title>", html)] == [41, 17]
    columns = [int(count.replace(",", "")) for count in re.findall(r"<title>([\d,]+) below", html)]
    assert sum(columns) == 61 + 9


def test_a_report_needs_nothing_from_outside_and_runs_no_script() -> None:
    html = page.render(document())
    assert not re.search(r"<script|<link|<img|@import|url\(|https?:", html)
    assert not [name for name, _ in read(html).attributes if name.startswith("on") or name in ("src", "href")]


def test_plots_are_well_formed() -> None:
    plots = re.findall(r"<svg viewBox.*?</svg>", page.render(document()), re.DOTALL)
    assert len(plots) == 6
    for plot in plots:
        ElementTree.fromstring(plot)


def test_the_head_of_a_failing_report_says_what_is_wrong_and_where() -> None:
    head = page.render(document("fail")).partition("</header>")[0]
    assert "5 records lost: partition 1: 5 (offsets 23 to 27)" in head
    assert "Everything that was acknowledged is there" in page.render(document()).partition("</header>")[0]


def test_text_from_the_result_is_escaped() -> None:
    html = page.render(document("fail"))
    assert "look &lt;at&gt; disks" in html
    assert "<at>" not in html


def test_a_run_that_broke_off_has_a_report_too() -> None:
    result = Result(
        "smoke", "", "", 0, 5, "arguments: unknown key 'x'", checks=[Check("run", "It runs", "error", "", "no")]
    )
    html = page.render(result.to_dict())
    assert "unknown key &#x27;x&#x27;" in html


def test_the_command_draws_a_report_again(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(document()))
    assert main(["report", str(tmp_path / "result.json")]) == 0
    assert (tmp_path / "report.html").read_text() == page.render(document())


@pytest.mark.parametrize("text", ["{", "{}"])
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "result.json").write_text(text)
    assert main(["report", str(tmp_path / "result.json")]) == 2
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(("most", "last"), [(0, 1), (3, 3), (97, 100), (16_667, 20_000), (0.2, 0.2)])
def test_axes_end_at_a_round_number_above_the_largest_value(most: float, last: float) -> None:
    assert ticks(most)[-1] == pytest.approx(last)
