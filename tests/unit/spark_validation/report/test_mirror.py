"""The report of the mirror audit: every figure in it is the one in result.json, and plots are well formed."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

from spark_validation.core.result import Result
from spark_validation.mirror import figures, judge
from spark_validation.mirror.config import parse
from spark_validation.mirror.seen import LOST, Compared, Found, Scope, Span
from spark_validation.report import page
from spark_validation.report.shown import Document, formatted
from tests.unit.spark_validation.mirror.test_config import GOOD
from tests.unit.spark_validation.report.test_page import read

EXAMPLE = {"topic": "orders", "partition": 0, "source_offset": 7, "target_offset": None, "key": "<k>"}


def document() -> dict[str, Any]:
    """A result with every part that a report can show."""
    arguments = parse(GOOD)
    scopes = [
        Scope(0, "orders", "dc_a.orders", (Span(0, 41, (0, 60), (0, 58)),)),
        Scope(1, "state", "dc_a.state", (Span(0, None, (0, 0), None),), compacted=True),
    ]
    seen = Compared(
        kinds={LOST: Found(2, {0: 2}, [EXAMPLE])},
        pairs={0: {"n_a": 42, "n_c": 18, "n_t": 58, "bytes_a": 4200, "bytes_c": 1800, "bytes_t": 5800}},
        slots=[
            {"began_ms": 1_795_000_000_000, "width_ms": 60_000, "source": 42, "beyond": 0, "target": 40},
            {"began_ms": 1_795_000_180_000, "width_ms": 60_000, "source": 0, "beyond": 18, "target": 18},
        ],
        cells=4, unequal_cells=1,
    )  # fmt: skip
    result = Result("mirror_audit", "audit", "run-7", 1_795_224_153_899, 1_795_224_195_757)
    result.settings = arguments.public()
    result.checks = judge.judge_records(seen, scopes, arguments, {})
    result.figures = {
        **figures.of_comparison(seen, scopes),
        "frozen": figures.frozen(scopes),
        "read": {"records": 60, "seconds": 2.5, "records_per_second": 24},
        "lag": [{"seconds": 0.0, "left": 60}, {"seconds": 2.0, "left": 0}],
        "phases": [{"name": "wait", "seconds": 2.0}],
    }
    return result.to_dict()


def test_a_time_that_no_calendar_has_is_shown_as_a_number() -> None:
    assert formatted(1_795_000_000_000, "time") == "2026-11-18 11:06:40 UTC"
    assert formatted(1_795_000_000_000_000, "time") == "1795000000000000 ms"


def test_every_figure_shown_is_the_one_in_the_result() -> None:
    values = document()
    shown = read(page.render(values)).figures
    assert {path for path, _, _ in shown} >= {
        "settings.source.alias",
        "figures.topics.0.lost",
        "figures.total.mirrored",
    }
    for path, form, text in shown:
        assert unescape(text) == formatted(Document(values).get(path), form), path


def test_the_worst_topic_stands_first_and_faults_make_the_verdict() -> None:
    values = document()
    assert values["verdict"] == "fail"
    assert [row["source"] for row in values["figures"]["topics"]] == ["orders", "state"]


def test_plots_are_well_formed_and_text_is_escaped() -> None:
    html = page.render(document())
    plots = re.findall(r"<svg viewBox.*?</svg>", html, re.DOTALL)
    assert len(plots) == 2
    for plot in plots:
        ElementTree.fromstring(plot)
    assert "<k>" not in html


def test_an_audit_that_began_at_marks_does_not_read_as_one_of_everything() -> None:
    values = document()
    assert "only what is new" not in page.render(values)
    scopes = [
        Scope(0, "orders", "dc_a.orders", (Span(0, 41, (0, 60), (0, 58), since=(9, 9)), Span(1, 3, (0, 4), (0, 4))))
    ]
    values["figures"] |= figures.of_comparison(Compared(renewed={(0, 0)}), scopes) | {"frozen": figures.frozen(scopes)}
    values["figures"]["covered"] = {"earlier": {"partitions": 1, "records": 10, "whole_ms": 5, "whole": {"new": 1}}}
    html = page.render(values)
    assert re.search(r"only what is new in <[^>]*>1</[^>]*> partitions", html)
    assert "every record; in 1 of 2 partitions only what is new" in html
    assert [row["since"] for row in values["figures"]["frozen"]] == [[9, 9], None]
