"""The last error lines of a log are those of this start, and show no secret."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.log_lines import last_errors, says, telling_lines


def stamp(at: float) -> str:
    return time.strftime("[%Y-%m-%d %H:%M:%S,123]", time.localtime(at))


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-21 01:03:54,986] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)",
        "2026-11-21T01:03:54.986962926Z main ERROR Exiting Kafka due to fatal exception",
        "java.lang.RuntimeException: No `meta.properties` found in /d",
        "Caused by: java.net.BindException: Address already in use",
        "org.apache.kafka.common.config.ConfigException: Invalid value x for configuration node.id",
        "[2026-11-21 01:03:54,986] WARN Connection to node -1 (b1/10.0.0.1:9092) terminated during authentication.",
        "Unrecognized VM option 'UseZGCC'",
        "[0.000s][error][logging] Error opening log file '/no/gc.log': No such file or directory",
        "Invalid -Xlog option '-Xlog:gc:file=/no/gc.log', see error log for details.",
        "Error: Could not create the Java Virtual Machine.",
        "Error: Could not find or load main class kafka.Kafka",
        "java.lang.InternalError: a fault occurred in a recent unsafe memory access operation in compiled Java code",
        "java.lang.StackOverflowError",
    ],
)
def test_lines_that_tell_why(line: str) -> None:
    assert telling_lines(line, None) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-21 01:03:54,986] INFO all is well",
        "[2026-11-21 01:03:54,986] INFO onError: none (org.example.Errors)",
        "\tat kafka.Kafka$.main(Kafka.scala:1)",
        "\t... 3 more",
        "",
    ],
)
def test_lines_that_tell_nothing(line: str) -> None:
    assert telling_lines(line, None) == []


def test_only_lines_since_the_start_count_and_a_line_without_time_belongs_to_the_one_before() -> None:
    now = time.time()
    text = "\n".join(
        [
            f"{stamp(now - 900)} ERROR old",
            "java.lang.IllegalStateException: old too",
            f"{stamp(now)} ERROR new",
            "java.lang.IllegalStateException: new too",
        ]
    )
    told = telling_lines(text, now - 60)
    assert [line.rpartition(" ")[0].endswith("ERROR") or "new too" in line for line in told] == [True, True]
    assert "old" not in " ".join(told)


def test_the_number_of_a_request_is_no_secret() -> None:
    line = (
        "[2026-11-22 18:16:57,506] ERROR Unexpected error handling request RequestHeader(apiKey=VOTE, apiVersion=2): "
        "ClusterAuthorizationException"
    )
    assert telling_lines(line, None) == [line]
    assert telling_lines("ERROR reporter: apiKey=ABCD, url=x", None) == [
        "ERROR reporter: apiKey=(not shown: may hold a secret)"
    ]


def test_a_log_says_what_is_waited_for_only_since_the_start(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    now = time.time()
    log.write_text(f"{stamp(now - 100)} INFO Successfully joined group\n(and so on)\n{stamp(now)} INFO begins\n")
    assert says([str(tmp_path / "none"), str(log)], "joined group", None)
    assert not says([str(log)], "joined group|and so on", now)
    log.write_text(log.read_text() + "without a time: joined group\n")
    assert says([str(log)], "joined group", now)


def test_at_most_the_last_twenty_of_all_files_each_once(tmp_path: Path) -> None:
    one, two = tmp_path / "server.log", tmp_path / "console.log"
    one.write_text("".join(f"[2026-11-21 01:03:54,{n:03d}] ERROR {n}\n" for n in range(30)))
    two.write_text("Error: last\nError: last\n")
    told = last_errors([str(one), str(two), str(tmp_path / "missing")], None)
    assert len(told) == 20
    assert told[-1] == "Error: last"
    assert told.count("Error: last") == 1


def test_a_file_that_was_not_written_since_gives_nothing(tmp_path: Path) -> None:
    log = tmp_path / "console.log"
    log.write_text("Error: from another start\n")
    os.utime(log, (1000, 1000))
    assert last_errors([str(log)], 5000) == []


def test_only_the_end_of_a_huge_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("ERROR first\n" + "x" * 100 + "\n" * 300_000 + "ERROR last\n")
    assert last_errors([str(log)], None) == ["ERROR last"]


def test_a_line_that_may_hold_a_secret_is_cut_before_it() -> None:
    told = telling_lines('ERROR bad=1 sasl.jaas.config=org.apache... password="hunter2"', None)
    assert "hunter2" not in told[0]
    assert told[0].startswith("ERROR bad=1 sasl.jaas.config=")


def test_what_a_cut_log_begins_with_belongs_to_no_known_start(tmp_path: Path) -> None:
    """A node that was refused logs more than is read; the middle of an old error is no error of this start."""
    log = tmp_path / "server.log"
    old = f"{stamp(1000)} ERROR refused\n" + "Caused by: the certificate of before\n" * 20000
    log.write_text(f"{old}{stamp(2000)} INFO starts\n{stamp(2001)} ERROR port taken\n")
    assert last_errors([str(log)], 2000) == [f"{stamp(2001)} ERROR port taken"]
    assert not says([str(log)], "of before", 2000)


def test_what_was_said_once_is_found_behind_a_megabyte_that_came_after_it(tmp_path: Path) -> None:
    """A mirror logs the properties of all its tasks when it has started, more than is read for errors."""
    now = time.time()
    log = tmp_path / "server.log"
    properties = "\n".join(f"\tproperty.{number} = [value]" for number in range(40_000))
    log.write_text(
        f"{stamp(now)} INFO Kafka MirrorMaker started\n{stamp(now)} INFO ConsumerConfig values:\n{properties}\n"
    )
    assert log.stat().st_size > 1_000_000
    assert says([str(log)], "Kafka MirrorMaker started", now - 1)
    assert not says([str(log)], "Kafka MirrorMaker started", now + 60)
    # A line without a time belongs to the last one before it that has one.
    assert says([str(log)], "property.39999 ", now - 1)
    assert not says([str(log)], "property.39999 ", now + 60)
