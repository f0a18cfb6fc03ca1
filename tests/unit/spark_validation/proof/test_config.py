"""The arguments file of job proof."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spark_validation.cli import main
from spark_validation.core.errors import BadArgumentsError
from spark_validation.proof.config import FIELDS, parse

GOOD: dict[str, Any] = {
    "run_id": "r1",
    "output_dir": "/tmp/out",
    "bootstrap_servers": ["127.0.0.1:9092"],
    "topic": "__streamops_prove",
    "proof": "0a1b2c3d",
}


def test_the_least_arguments_give_the_documented_defaults() -> None:
    arguments = parse(GOOD)
    assert (arguments.timeout_seconds, arguments.kafka, arguments.mode) == (10, {}, "read")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"topcis": []}, "unknown key 'topcis'"),
        ({"topic": None}, "topic is required"),
        ({"topic": "a/b"}, "topic: 'a/b' is not a legal topic name"),
        ({"proof": None}, "proof is required"),
        ({"proof": "0A1B2C3D"}, "proof: '0A1B2C3D' is not 8 hexadecimal digits"),
        ({"proof": "0a1b2c3d\n"}, "is not 8 hexadecimal digits"),
        ({"proof": 12345678}, "proof must be a JSON string, not int"),
        ({"bootstrap_servers": []}, "bootstrap_servers: the list is empty"),
        ({"kafka": {"isolation.level": "read_uncommitted"}}, "kafka: not to be set here: isolation.level"),
        ({"timeout_seconds": 0}, "timeout_seconds: 0 is not between"),
        ({"mode": "read"}, "unknown key 'mode'"),
    ],
)
def test_a_bad_argument_is_refused_with_what_is_wrong(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadArgumentsError, match=re.escape(complaint)):
        parse({**GOOD, **change})


def test_secrets_are_masked_in_what_a_report_shows() -> None:
    shown = parse({**GOOD, "kafka": {"sasl.jaas.config": "s3cret", "security.protocol": "SASL_SSL"}}).public()
    assert "s3cret" not in json.dumps(shown)
    assert shown["kafka"]["security.protocol"] == "SASL_SSL"


def test_an_unusable_file_ends_with_exit_code_2_and_a_result_that_says_why(tmp_path: Path) -> None:
    arguments = tmp_path / "args.json"
    arguments.write_text("{}")
    assert main(["proof", "--args-file", str(arguments)]) == 2
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["job"], result["verdict"]) == ("proof", "error")
    assert "proof is required" in (tmp_path / "report.html").read_text()


def test_the_page_documents_every_key_with_its_type() -> None:
    page = (Path(__file__).parents[4] / "docs" / "spark-validation.md").read_text()
    table = page.split("## Second reader of a proof")[1].split("\n## ")[0].split("| argument |")[1]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", table, re.MULTILINE))
    assert rows == {name: known.kind for name, known in FIELDS.items()}
