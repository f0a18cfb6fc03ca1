"""The arguments file of a job."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spark_validation.cli import main
from spark_validation.core.errors import BadArgumentsError
from spark_validation.smoke.config import FIELDS, Arguments, parse

GOOD: dict[str, Any] = {"run_id": "r1", "bootstrap_servers": ["127.0.0.1:9092"], "output_dir": "/tmp/out"}


def test_the_least_arguments_give_the_documented_defaults() -> None:
    arguments = parse(GOOD)
    assert (arguments.topic, arguments.records, arguments.mode) == ("_streamops_smoke", 100_000, "run")


def test_every_key_is_a_field_of_the_arguments_and_the_other_way_round() -> None:
    assert set(FIELDS) == set(Arguments.__dataclass_fields__)


def test_a_null_value_is_the_same_as_an_absent_key() -> None:
    assert parse({**GOOD, "max_latency_p99_ms": None}) == parse(GOOD)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"recrods": 5}, "unknown key 'recrods'"),
        ({"run_id": None}, "run_id is required"),
        ({"records": "many"}, "records must be a JSON integer, not str"),
        ({"records": True}, "records must be a JSON integer, not bool"),
        ({"records": 0}, "records: 0 is not between"),
        ({"bootstrap_servers": "127.0.0.1:9092"}, "bootstrap_servers must be a JSON list of strings"),
        ({"bootstrap_servers": []}, "the list is empty"),
        ({"bootstrap_servers": ["kafka1"]}, "not host:port: kafka1"),
        ({"run_id": "a b"}, "run_id: 'a b' is not"),
        ({"mode": "repair"}, "mode: 'repair' is not one of run, audit"),
        ({"kafka": {"acks": "1"}}, "acks (the job proves acks=all)"),
        ({"kafka": {"kafka.security.protocol": "SSL"}}, "write it without the prefix"),
        ({"kafka": {"linger.ms": 5}}, "kafka must be a JSON map of strings"),
        ({"topic": "orders"}, 'set "consent_topic": "orders"'),
        ({"topic": "orders", "consent_topic": "payments"}, 'set "consent_topic": "orders"'),
        ({"payload_min_bytes": 300}, "payload_min_bytes is larger"),
        ({"mode": "audit"}, "ledger_file is required"),
        ({"records": 3, "writers": 4}, "writers is larger than records"),
    ],
)
def test_a_bad_argument_is_refused_with_what_is_wrong(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadArgumentsError, match=re.escape(complaint)):
        parse({**GOOD, **change})


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(BadArgumentsError) as caught:
        parse({"records": "x", "color": "red"})
    assert len(caught.value.problems) == 5


def test_a_topic_of_others_is_allowed_by_its_name() -> None:
    assert parse({**GOOD, "topic": "orders", "consent_topic": "orders"}).topic == "orders"


def test_secrets_are_masked_in_what_a_report_shows() -> None:
    properties = {"security.protocol": "SASL_SSL", "sasl.jaas.config": "s3cret", "ssl.keystore.key": "s3cret"}
    shown = parse({**GOOD, "kafka": properties}).public()
    assert shown["kafka"]["security.protocol"] == "SASL_SSL"
    assert "s3cret" not in json.dumps(shown)


@pytest.mark.parametrize("text", ["{", "[]", '{"records": "x"}'])
def test_an_unusable_file_ends_with_exit_code_2_and_a_result_that_says_why(tmp_path: Path, text: str) -> None:
    arguments = tmp_path / "args.json"
    arguments.write_text(text)
    assert main(["smoke", "--args-file", str(arguments)]) == 2
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["verdict"], result["exit_code"]) == ("error", 2)
    assert result["message"].startswith("arguments: ")
    assert (tmp_path / "report.html").is_file()


def test_the_page_documents_every_key_with_its_type() -> None:
    page = (Path(__file__).parents[4] / "docs" / "spark-validation.md").read_text()
    table = page.split("## Arguments of the job")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", table, re.MULTILINE))
    assert rows == {name: known.kind for name, known in FIELDS.items()}
