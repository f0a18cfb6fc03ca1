"""Whether a controller knows a leader since its start: its quorum-state, and what Kafka 3.9.2 and 4.3.1 log of it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import adopted
from ansible_collections.streamops.kafka.plugins.module_utils._node.log_lines import forms, last_line, says
from ansible_collections.streamops.kafka.plugins.module_utils._node.wait import REACHED
from ansible_collections.streamops.kafka.plugins.module_utils._node.wait_look import (
    TAKES_PART,
    led,
    loading,
    look,
    signs_of_work,
)
from ansible_collections.streamops.kafka.plugins.modules.node_wait import SPEC as OWN

STATE = '{"leaderId":%s,"leaderEpoch":9,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
LOADER = "INFO [MetadataLoader id=1] initializeNewPublishers: "
WAITS = LOADER + "the loader is still catching up because we still don't know the high water mark yet."
BEHIND = LOADER + "The loader is still catching up because we have loaded up to offset 7, but the high water mark is 9"
THERE = LOADER + "The loader finished catching up to the current high water mark of 9"
BEGAN = 1_790_000_000.0


@pytest.fixture
def params(tmp_path: Path) -> dict[str, Any]:
    """A controller that is started; its state of before names a leader."""
    (tmp_path / "meta.properties").write_text("cluster.id=x")
    partition = tmp_path / "__cluster_metadata-0"
    partition.mkdir()
    (partition / "quorum-state").write_text(STATE % 2)
    files = [str(tmp_path / "server.log"), str(tmp_path / "console.log")]
    return {"metadata_dir": str(tmp_path), "state": "started", "log_files": files}


def logged(params: dict[str, Any], *lines: tuple[float, str]) -> dict[str, Any]:
    stamps = [time.strftime("[%Y-%m-%d %H:%M:%S,123]", time.localtime(BEGAN + at)) for at, _text in lines]
    told = [f"{stamp} {text}\n" for stamp, (_at, text) in zip(stamps, lines, strict=True)]
    Path(params["log_files"][0]).write_text("".join(told))
    return params


def test_the_leader_of_the_run_before_is_none_while_the_log_knows_no_high_water_mark(params: dict[str, Any]) -> None:
    assert led(logged(params, (-60, THERE), (2, WAITS)), BEGAN) is False
    assert (
        led(logged(params, (2, WAITS), (9, WAITS), (9.5, "INFO [RaftManager id=1] Node 2 disconnected")), BEGAN)
        is False
    )


@pytest.mark.parametrize("last", [BEHIND, THERE])
def test_a_high_water_mark_comes_from_a_leader_of_this_run(last: str, params: dict[str, Any]) -> None:
    assert led(logged(params, (2, WAITS), (3, last)), BEGAN) is True


def test_where_the_log_says_nothing_of_this_start_the_state_decides(params: dict[str, Any]) -> None:
    assert led(params, BEGAN) is True
    assert led(logged(params, (-60, WAITS), (2, "INFO rotated")), BEGAN) is True
    (Path(params["metadata_dir"]) / "__cluster_metadata-0" / "quorum-state").write_text(STATE % -1)
    assert led(logged(params, (3, THERE)), BEGAN) is False


RECOVERS = "INFO [LogLoader partition=orders-%d, dir=/data] Recovering unflushed segment 0. 1 recovered for orders-%d."


def test_loading_is_told_by_the_last_log_or_offset_and_not_by_its_time(params: dict[str, Any]) -> None:
    files = params["log_files"]
    assert loading(files, BEGAN) == ""
    first = loading(logged(params, (-60, RECOVERS % (9, 9)), (2, RECOVERS % (1, 1)))["log_files"], BEGAN)
    assert "orders-1" in first
    later = loading(logged(params, (2, RECOVERS % (1, 1)), (9, RECOVERS % (1, 1)))["log_files"], BEGAN)
    assert later == first, "the same again is no progress"
    assert loading(logged(params, (2, RECOVERS % (1, 1)), (9, RECOVERS % (2, 2)))["log_files"], BEGAN) != first
    assert "offset 7" in loading(logged(params, (2, BEHIND))["log_files"], BEGAN)
    assert loading(logged(params, (2, WAITS))["log_files"], BEGAN) == "", "who knows no leader loads nothing"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("INFO [RaftManager id=1] Completed transition to Unattached(epoch=0, voters=[1, 2, 3]) from null", True),
        ("INFO [RaftManager id=1] Attempting durable transition to Candidate(epoch=3)", True),
        ("INFO [RaftManager id=1] Reading KRaft snapshot and log as part of the initialization", False),
        ("INFO Registered kafka:type=kafka.Log4jController MBean", False),
    ],
)
def test_a_voter_takes_part_once_its_raft_client_is_in_a_state(line: str, said: bool, params: dict[str, Any]) -> None:
    files = logged(params, (-60, THERE), (2, line))["log_files"]
    assert says(files, TAKES_PART, BEGAN) is said
    assert last_line(files, BEGAN).endswith(line)
    assert last_line(files, BEGAN + 60) == ""


def test_nothing_is_asked_of_others(params: dict[str, Any]) -> None:
    assert led({**params, "metadata_dir": ""}, BEGAN) is None
    assert led({**params, "state": "stopped"}, BEGAN) is None


RETRY = (
    "INFO [RaftManager id=1] Vote to 'k%d:9093' in epoch %d failed, request %x of Ab%s-_XYZabcdefghijkl0 (rate 0.%d)"
)
NEW_LINES = [
    "INFO [SocketServer listenerType=BROKER, nodeId=1] Created data-plane acceptor for ListenerName(CLIENT)",
    "INFO [GroupCoordinator id=1] Startup complete.",
    "WARN [BrokerServer id=1] A listener is slow",
    "\tlistener.name = null",
]


def test_what_is_tried_again_has_one_form_and_each_new_kind_of_line_another(params: dict[str, Any]) -> None:
    files = params["log_files"]
    again = [(2.0 + n, RETRY % (n % 3, n, 4096 + n, n, n)) for n in range(50)]
    assert len(forms(logged(params, *again)["log_files"], BEGAN)) == 1
    more = [*again, *((60.0 + n, line) for n, line in enumerate(NEW_LINES))]
    assert len(forms(logged(params, *more)["log_files"], BEGAN)) == 1 + len(NEW_LINES)
    assert forms(files, BEGAN + 59) == forms(logged(params, *more[50:])["log_files"], BEGAN)
    assert forms(files, time.time() + 60) == [], "not written since"


def test_errors_and_their_traces_are_no_sign_of_work(params: dict[str, Any]) -> None:
    errors = ["ERROR Fatal thing (kafka.Kafka$)", "java.io.IOException: no", "\tat kafka.Kafka.main(Kafka.scala)"]
    assert forms(logged(params, *((2.0, line) for line in errors[:2]))["log_files"], BEGAN) == []
    Path(params["log_files"][0]).write_text("\n".join(errors))
    assert forms(params["log_files"], None) == []


def test_a_log_that_grew_large_is_read_in_a_moment(params: dict[str, Any]) -> None:
    Path(params["log_files"][0]).write_text((RETRY % (1, 2, 3, 4, 5) + "x" * 900 + "\n") * 40_000)
    began = time.process_time()
    assert len(forms(params["log_files"], None)) == 1
    assert time.process_time() - began < 1.0


def test_the_work_of_a_process_is_its_processor_time(params: dict[str, Any]) -> None:
    logged(params, (2, THERE))
    running = {"running": True, "pid": os.getpid()}
    found = signs_of_work(params, running, BEGAN)
    assert len(found["forms"]) == 1
    assert 0.0 < found["processor_seconds"] <= time.process_time() + 0.1
    assert signs_of_work(params, {"running": False, "pid": None}, BEGAN) == {"forms": [], "processor_seconds": 0.0}


def test_the_process_of_the_old_service_is_waited_for_whatever_a_start_record_says(tmp_path: Path) -> None:
    # Ours ran here before, at the port that the old process opens now.
    (tmp_path / "started").mkdir()
    with subprocess.Popen(["true"]) as ended:
        texts = {"pid": str(ended.pid), "start_time": "1", "server.properties": "listeners=A://:1\n", "jvm.options": ""}
    for name, text in texts.items():
        (tmp_path / "started" / name).write_text(text)
    claim: adopted.Claim = {
        "manager": "none",
        "name": "",
        "enabled": False,
        "control": "",
        "main_class": "kafka.Kafka",
        "properties_file": str(tmp_path / "server.properties"),
    }
    (tmp_path / "adopted.json").write_text(adopted.dump(adopted.claimed(claim)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serves = f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(600)"
    options = {
        **{name: option.get("default") for name, option in OWN.items()},
        "node": "a",
        "state": "started",
        "state_dir": str(tmp_path),
        "adopted_file": str(tmp_path / "adopted.json"),
        "ports": [port],
        "interval": 20.0,
    }
    child = subprocess.Popen([sys.executable, "-c", serves, "kafka.Kafka", str(tmp_path / "server.properties")])
    try:
        reached = look(options, time.time, time.sleep, lambda unit: "")
    finally:
        child.kill()
        child.wait()
    assert (reached["verdict"], reached["process"]["pid"], reached["missing_ports"]) == (REACHED, child.pid, [])
    assert look({**options, "interval": 0}, time.time, time.sleep, lambda unit: "")["process"]["running"] is False
