"""The arguments file of job mirror_audit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spark_validation.cli import main
from spark_validation.core.errors import BadArgumentsError
from spark_validation.mirror.config import FIELDS, Pair, parse

SIDE = {"alias": "dc_a", "bootstrap_servers": ["127.0.0.1:9092"]}
GOOD: dict[str, Any] = {
    "run_id": "r1",
    "output_dir": "/tmp/out",
    "source": SIDE,
    "target": {**SIDE, "alias": "dc_b"},
    "topics": [{"source": "orders", "target": "dc_a.orders"}],
    "position": {"offsets_topic": "mm2-offsets.dc_a.internal"},
}


def test_the_least_arguments_give_the_documented_defaults() -> None:
    arguments = parse(GOOD)
    assert arguments.pairs == [Pair("orders", "dc_a.orders")]
    assert (arguments.wait_seconds, arguments.bucket_seconds, arguments.max_examples) == (300, 60, 20)
    assert arguments.keeps_partitions
    assert not arguments.exactly_once


def test_the_legacy_engine_keeps_no_partitions_and_has_a_group() -> None:
    arguments = parse({**GOOD, "flow": {"engine": "legacy"}, "position": {"group": "g"}})
    assert (arguments.keeps_partitions, arguments.group) == (False, "g")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"topcis": []}, "unknown key 'topcis'"),
        ({"source": None}, "source is required"),
        ({"source": {"alias": "a"}}, "source: bootstrap_servers is required"),
        ({"target": {**SIDE, "kafka": {"acks": "1"}}}, "target: kafka: not to be set here: acks"),
        ({"topics": []}, "topics: the list is empty"),
        ({"topics": [{"source": "a"}]}, "topics: [0].target is required"),
        ({"topics": GOOD["topics"] * 2}, "source topics given twice: orders"),
        ({"position": {}}, "give one of offsets_topic and group"),
        ({"position": {"group": "g"}}, "the legacy engine has a group, MirrorMaker 2 an offsets_topic"),
        ({"gaps": [{"topic": "orders"}]}, "gaps: [0].partition is required; [0].first is required"),
        ({"flow": {"engine": "brooklin"}}, "flow: engine: 'brooklin' is not one of mirror_maker_2, legacy"),
        ({"bucket_seconds": 0}, "bucket_seconds: 0 is not between"),
        ({"mode": "run"}, "unknown key 'mode'"),
    ],
)
def test_a_bad_argument_is_refused_with_what_is_wrong(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadArgumentsError, match=re.escape(complaint)):
        parse({**GOOD, **change})


def test_secrets_of_both_clusters_are_masked_in_what_a_report_shows() -> None:
    secret = {"sasl.jaas.config": "s3cret", "security.protocol": "SASL_SSL"}
    shown = parse({**GOOD, "source": {**SIDE, "kafka": secret}, "target": {**SIDE, "kafka": secret}}).public()
    assert "s3cret" not in json.dumps(shown)
    assert shown["source"]["kafka"]["security.protocol"] == "SASL_SSL"


def test_an_unusable_file_ends_with_exit_code_2_and_a_result_that_says_why(tmp_path: Path) -> None:
    arguments = tmp_path / "args.json"
    arguments.write_text("{}")
    assert main(["mirror_audit", "--args-file", str(arguments)]) == 2
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["job"], result["verdict"]) == ("mirror_audit", "error")
    assert (tmp_path / "report.html").is_file()


def test_the_page_documents_every_key_with_its_type() -> None:
    page = (Path(__file__).parents[4] / "docs" / "mirror-audit.md").read_text()
    table = page.split("## Arguments of the job")[1]
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", table, re.MULTILINE))
    assert rows == {name: known.kind for name, known in FIELDS.items()}
