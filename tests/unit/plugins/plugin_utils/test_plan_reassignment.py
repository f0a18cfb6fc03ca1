"""The what-if command: a plan, a refusal or a wrong use, from a file alone."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.plan_reassignment import main
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_lines import move_lines


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """A file with three brokers that hold everything and one that holds nothing."""
    partitions = [{"partition": n, "replicas": [1, 2, 3], "size_bytes": 100} for n in range(4)]
    nodes = [{"id": n, "rack": rack} for n, rack in ((1, "a"), (2, "b"), (3, "c"), (4, "a"))]
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps({"nodes": nodes, "topics": [{"name": "t", "partitions": partitions}]}))
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    """The exit code of the command and what it printed."""
    code = main(arguments)
    return code, json.loads(capsys.readouterr().out)


def test_a_plan_comes_with_its_bound_its_figures_and_its_schedule(
    snapshot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, plan = answer(capsys, snapshot, "--rebalance", "--throttle", "50", "--concurrency", "1")
    assert code == 0
    assert (plan["moves"], plan["bound"], plan["proof"], plan["bytes"]) == (2, 2, "count", 200)
    assert plan["spread"]["to"] == {"replicas": 2, "leaders": 0, "topic": 2}
    assert plan["racks_per_partition"] == {"from": {"3": 4}, "to": {"3": 4}}
    assert [(broker["id"], broker["replicas"]["to"], broker["peak_bytes"]) for broker in plan["brokers"]] == [
        (1, 2, 400),
        (2, 4, 400),
        (3, 4, 400),
        (4, 2, 200),
    ]
    assert (plan["schedule"]["seconds"], len([b for b in plan["schedule"]["batches"] if b["bytes"]])) == (11.0, 2)
    assert all(change["reasons"] for change in plan["changes"])


def test_kafkas_file_can_be_had_alone(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = answer(capsys, snapshot, "--replace", "1:4", "--kafka")
    assert code == 0
    assert plan["partitions"][0] == {"topic": "t", "partition": 0, "replicas": [4, 2, 3]}


def test_brokers_that_are_not_there_yet_can_be_added(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = answer(capsys, snapshot, "--add", "5:b", "6:c", "--leaders", "keep")
    assert (code, plan["moves"]) == (0, 6)


def test_only_named_topics_and_disks_with_room_are_planned_for(
    snapshot: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, told = answer(capsys, snapshot, "--rebalance", "--topics", "tt")
    assert (code, told["refused"]) == (
        1,
        ["topics: topic tt does not exist (names like it: t); name a topic of the cluster"],
    )
    code, plan = answer(capsys, snapshot, "--rebalance", "--topics", "t")
    assert (code, plan["moves"]) == (0, 2)
    full = json.loads(Path(snapshot).read_text())
    full["nodes"][3].update(disk_total_bytes=1000, disk_used_bytes=750)
    path = tmp_path / "full.json"
    path.write_text(json.dumps(full))
    code, told = answer(capsys, str(path), "--rebalance", "--topics", "t")
    assert (code, told["moves"], told["no_room"]) == (0, 0, [4])
    assert any(line.startswith("broker 4 gets nothing: its disks have no room") for line in move_lines(told))
    code, told = answer(capsys, str(path), "--replace", "1:4")
    assert (code, told["refused"][0].split(";")[0]) == (
        1,
        "broker 4: would hold 950 bytes with the next new replica beside the old ones, and its limit is 850",
    )
    code, plan = answer(capsys, str(path), "--rebalance", "--disk-reserve", "0.05")
    assert (code, plan["moves"]) == (0, 2)
    code, told = answer(capsys, str(path), "--rebalance", "--disk-reserve", "2")
    assert (code, "is not a fraction" in told["refused"][0]) == (1, True)


def test_a_spec_may_come_from_a_file(snapshot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"replication_factor": {"t": 2}}))
    code, plan = answer(capsys, snapshot, "--spec", str(spec))
    assert (code, plan["moves"], plan["deletions"]) == (0, 0, 4)


def test_a_refusal_says_why(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = answer(capsys, snapshot, "--drain", "1", "4", "--replication-factor", "t:x")
    assert (code, told) == (1, {"refused": ["replication_factor: 'x' for topic t is not a whole number"]})
    code, told = answer(capsys, snapshot, "--drain", "1", "4")
    assert code == 1
    assert "2 brokers may hold replicas, too few for partitions with 3" in told["refused"][0]


def test_a_file_that_cannot_be_read_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.json"), "--rebalance"]) == 2
    (tmp_path / "broken.json").write_text("{")
    assert main([str(tmp_path / "broken.json"), "--rebalance"]) == 2
    assert "broken.json: cannot be read as JSON (Expecting" in capsys.readouterr().err


def test_a_spec_that_is_no_object_is_wrong_use(
    snapshot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.json"
    for text, why in (("[]", "spec.json: is not an object"), ("{", "spec.json: cannot be read as JSON (Expecting")):
        spec.write_text(text)
        assert main([snapshot, "--spec", str(spec)]) == 2
        assert why in capsys.readouterr().err
    assert main([snapshot, "--spec", str(tmp_path / "none.json")]) == 2
    assert "none.json: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--replace", "3"], "'3' has no two sides with a colon between them"),
        (["--replication-factor", ":3"], "':3' has no two sides"),
        (["--drain", "x"], "invalid int value: 'x'"),
        (["--leaders", "some"], "invalid choice: 'some'"),
    ],
)
def test_options_of_the_wrong_form_are_wrong_use(
    snapshot: str, arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([snapshot, *arguments])
    assert ended.value.code == 2
    assert why in capsys.readouterr().err


def test_two_values_for_one_name_are_wrong_use(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([snapshot, "--replace", "1:4", "1:5"]) == 2
    assert "--replace: the same name stands before the colon twice" in capsys.readouterr().err


def test_a_snapshot_may_come_from_standard_input(
    snapshot: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(Path(snapshot).read_text()))
    assert answer(capsys, "-", "--replace", "1:4")[0] == 0


def test_bytes_may_be_balanced_with_a_tolerance_of_nothing(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = answer(capsys, snapshot, "--rebalance", "--balance-by", "bytes", "--rack-rule", "none")
    assert (code, plan["bytes_spread"]) == (0, {"from": 1.3333, "to": 1.0})
    code, plan = answer(capsys, snapshot, "--rebalance", "--balance-by", "bytes", "--bytes-tolerance", "0.4")
    assert (code, plan["moves"]) == (0, 0)
    code, plan = answer(
        capsys, snapshot, "--rebalance", "--balance-by", "bytes", "--bytes-tolerance", "0", "--rack-rule", "none"
    )
    assert (code, plan["moves"], plan["bytes"], plan["bytes_bound"]) == (0, 3, 300, 300)
    code, told = answer(capsys, snapshot, "--rebalance", "--balance-by", "bytes", "--bytes-tolerance", "nan")
    assert (code, "nan is not a fraction" in told["refused"][0]) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--add", "2147483648"], "add: 2147483648 has no id that is a whole number from 0 to 2147483647"),
        (["--add", "4294967296:a"], "{'id': 4294967296, 'rack': 'a'} has no id that is a whole number from 0 to"),
        (["--add", "9" * 5000], "has no id that is a whole number from 0 to 2147483647"),
        (["--drain", "2147483648"], "drain: 2147483648 is not a broker id"),
        (["--replace", "1:2147483648"], "replace: '1' by 2147483648 are not two broker ids"),
    ],
)
def test_an_id_that_kafka_cannot_have_is_refused(
    snapshot: str, arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = answer(capsys, snapshot, *arguments)
    assert code == 1
    assert why in told["refused"][0]


def test_the_largest_id_of_kafka_is_planned_for(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, snapshot, "--add", "2147483647:b")[0] == 0


def test_a_reader_that_ends_early_ends_the_command_without_a_word(snapshot: str) -> None:
    module = "ansible_collections.streamops.kafka.plugins.plugin_utils.plan_reassignment"
    # More than a pipe holds, so that the command still writes when its reader is gone.
    large = json.loads(Path(snapshot).read_text())
    large["topics"][0]["partitions"] = [{"partition": n, "replicas": [1, 2, 3]} for n in range(5_000)]
    Path(snapshot).write_text(json.dumps(large))
    command = [sys.executable, "-m", module, snapshot, "--replace", "1:4"]
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=places, text=True) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "{\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == -signal.SIGPIPE
