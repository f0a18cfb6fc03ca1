"""What the counts of a proof come to: checks, verdict, figures, and a report that shows those figures."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._prove import ledger
from ansible_collections.streamops.kafka.plugins.module_utils._spark.job import summary
from spark_validation.core.result import Result
from spark_validation.proof.config import parse
from spark_validation.proof.counts import KINDS, Counted
from spark_validation.proof.judge import figures, judge_found, judge_settled
from spark_validation.report import page
from spark_validation.report.shown import Document, formatted
from spark_validation.told import findings
from tests.unit.spark_validation.proof.test_config import GOOD
from tests.unit.spark_validation.report.test_page import read

COUNTED = [
    Counted(0, "idempotent", 3, 2, 0, 4, 1, 6_000_000_000),
    Counted(0, "transactional", 2, 2, 0, 2, 0, 4_000_000_000),
    Counted(3, "idempotent", 1, 1, 3, 3, 0, 17),
]


def document(counted: list[Counted], unsettled: int = 0) -> dict[str, Any]:
    """A result with every part that a report can show."""
    result = Result("proof", "read", "run-7", 1_795_224_153_899, 1_795_224_195_757)
    result.settings = parse({**GOOD, "kafka": {"sasl.jaas.config": "s3cret"}}).public()
    places = [("__streamops_prove", index) for index in range(unsettled)]
    result.checks = [judge_settled(places, dict.fromkeys(places, 7)), judge_found(counted, "0a1b2c3d")]
    result.findings = findings(result.checks, "__streamops_prove")
    result.ranges = {"0": [0, 7], "3": [0, 2]}
    result.figures = {
        **figures(counted, 4),
        "read": {"records": 10, "seconds": 2.5, "records_per_second": 4},
        "phases": [{"name": "read", "seconds": 2.0}],
    }
    return json.loads(json.dumps(result.to_dict()))  # type: ignore[no-any-return]


def test_the_kinds_are_those_that_a_proof_writes() -> None:
    assert KINDS == ledger.KINDS


def test_a_topic_that_was_read_to_its_end_passes_with_an_entry_for_each_partition_and_kind() -> None:
    values = document(COUNTED)
    assert (values["verdict"], values["findings"]) == ("pass", [])
    assert values["figures"]["proof"][0] == {
        "partition": 0, "kind": "idempotent", "records": 3, "distinct": 2, "first": 0, "last": 4, "out_of_order": 1,
        "checksum": 6_000_000_000,
    }  # fmt: skip
    assert values["figures"]["total"] == {"records": 6, "others": 4, "partitions": 2, "out_of_order": 1}


def test_a_topic_without_a_record_of_the_proof_is_inconclusive_and_says_so() -> None:
    values = document([])
    assert (values["verdict"], values["figures"]["proof"]) == ("inconclusive", [])
    assert values["findings"] == [
        "The topic holds records of proof 0a1b2c3d: expected at least 1, found 0 records: the topic is that of another "
        "proof, or its records were deleted"
    ]


def test_an_open_transaction_makes_the_verdict_inconclusive_and_its_partitions_are_named() -> None:
    values = document(COUNTED, unsettled=2)
    assert values["verdict"] == "inconclusive"
    assert "expected 0, found 2 partitions" in values["findings"][0]
    assert [row["partition"] for row in values["checks"][0]["examples"]] == [0, 1]


def test_a_play_gets_the_counts() -> None:
    values = document(COUNTED)
    assert summary(values)["figures"]["proof"] == values["figures"]["proof"]
    assert summary(values)["figures"]["total"]["records"] == 6


def test_every_figure_shown_is_the_one_in_the_result() -> None:
    for values in (document(COUNTED), document([]), document(COUNTED, unsettled=1)):
        html = page.render(values)
        shown = read(html).figures
        assert {path for path, _, _ in shown} >= {"settings.proof", "figures.total.others"}
        for path, form, text in shown:
            assert unescape(text) == formatted(Document(values).get(path), form), path
        assert "s3cret" not in html


def test_a_pass_claims_no_more_than_that_the_topic_was_read() -> None:
    html = page.render(document(COUNTED))
    assert "The topic was read to its end." in html
    assert "acknowledged" not in html
    assert len(re.findall(r"figures\.proof\.\d\.checksum", html)) == 3


def test_a_report_is_drawn_again_from_a_job_that_could_not_run(tmp_path: Path) -> None:
    result = Result("proof", "", "", 1_795_224_153_899, 1_795_224_195_757)
    page.write(result.to_dict(), tmp_path / "report.html")
    assert "could not run" in (tmp_path / "report.html").read_text()
