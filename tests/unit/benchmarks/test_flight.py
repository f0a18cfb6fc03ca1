"""Tables of a profile: from a recording of two threads of Kafka's client (flight.tsv), and from events by hand."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from benchmarks.flight import Event, Profile, ThreadTimes, cpu_by_group, cpu_times, group, read_events, summary

#: A task that sends to a MockProducer and records a sensor, and a network thread that packs batches with lz4; both take
#: one lock, in which the task sleeps for 20 ms. As FlightEvents.java printed it, cut to some events of each kind.
RECORDED = Path(__file__).with_name("flight.tsv").read_text().splitlines()
PROGRAM = Path(__file__).resolve().parents[3] / "benchmarks" / "FlightEvents.java"


def rows(text: str, title: str) -> list[list[str]]:
    """Return the cells of the rows of the table with this title."""
    table = next(part for part in text.split("\n\n") if part.startswith(f"| {title}"))
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def sample(*frames: str, thread: str = "task-thread-MirrorSourceConnector-0") -> Event:
    return Event("sample", thread, 0, "", frames)


def test_a_recording_is_read_and_shown() -> None:
    text = summary(Profile(10, 12.5, read_events(RECORDED)))
    assert text.startswith("2.5 s, 18 samples of running Java code; 2 collections paused ")
    assert rows(text, "Samples by part") == [["task", "14", "77.8%"], ["producer network", "4", "22.2%"]]
    assert {row[0] for row in rows(text, "Samples by package")} >= {"clients.producer", "common.metrics", "compression"}
    assert [row[0].split(" in ")[0] for row in rows(text, "Native frames") if "lz4" in row[0]] == [
        "net.jpountz.lz4.LZ4JNI.LZ4_compress_limitedOutput"
    ]
    assert rows(text, "Allocated bytes")[0][0] == "[B in java.nio.HeapByteBuffer.<init>"
    assert [row[:5] for row in rows(text, "Waits")] == [
        ["lock", "producer network", "java.lang.Object", "Sample.lambda$main$1", "4"]
    ]


def test_the_poll_of_a_consumer_is_a_part_of_its_own() -> None:
    poll = "org.apache.kafka.clients.consumer.KafkaConsumer.poll"
    send = "org.apache.kafka.connect.runtime.AbstractWorkerSourceTask.sendRecords"
    events = [
        sample("java.util.HashMap.get", poll, "org.apache.kafka.connect.mirror.MirrorSourceTask.poll"),
        sample("java.util.HashMap.get", send),
        sample("java.util.HashMap.put", send),
        sample("java.lang.Thread.run", thread="qtp1-9"),
    ]
    text = summary(Profile(0, 1, events))
    assert rows(text, "Samples by part") == [
        ["task", "2", "50.0%"],
        ["consumer poll", "1", "25.0%"],
        ["other", "1", "25.0%"],
    ]
    assert rows(text, "Samples by package") == [
        ["connect", "2", "50.0%"],
        ["clients.consumer", "1", "25.0%"],
        ["others", "1", "25.0%"],
    ]
    assert rows(text, "Frames, by self")[0] == ["java.util.HashMap.get", "2", "50.0%"]
    assert rows(text, "Frames of Kafka")[0] == [send, "2", "66.7%"]
    assert rows(text, "Methods of Kafka")[0] == [send, "2", "50.0%"]


def test_only_threads_that_carry_records_have_waits_for_work() -> None:
    room = (
        "java.util.concurrent.locks.LockSupport.park",
        "org.apache.kafka.clients.producer.internals.BufferPool.allocate",
    )
    events = [
        Event("park", "task-thread-MirrorSourceConnector-0", 30, "Condition", room),
        Event("park", "task-thread-MirrorSourceConnector-1", 12, "Condition", room),
        Event("park", "pool-1-thread-1", 9000, "Condition", room),
    ]
    assert rows(summary(Profile(0, 1, events)), "Waits") == [["park", "task", "Condition", room[1], "2", "42"]]


def test_a_span_without_events_says_so() -> None:
    assert summary(Profile(0, 1, [])) == (
        "1.0 s, 0 samples of running Java code; 0 collections paused 0 ms.\n\nNo wait of 10 ms and more.\n"
    )


def test_a_lambda_has_one_name_in_all_runs() -> None:
    line = "allocation\tmain\t8\tA$$Lambda$147+0x00007febe01084d0.52908367\tA$$Lambda/0x00007feb.accept;A$$Lambda$9.get"
    event = read_events([line])[0]
    assert (event.type, event.frames) == ("A$$Lambda", ("A$$Lambda.accept", "A$$Lambda.get"))


def test_a_line_of_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no event of FlightEvents\.java: 'Error'"):
        read_events(["Error"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("task-thread-Mir", "task"),
        ("kafka-producer-network-thread | a", "producer network"),
        ("GC Thread#0", "GC"),
        ("C2 CompilerThre", "JIT"),
        ("main", "main"),
        ("java", "main"),
        ("JFR Recorder Th", "recorder"),
        ("qtp123-45", "other"),
    ],
)
def test_threads_are_grouped_by_their_names(name: str, expected: str) -> None:
    assert group(name) == expected


def test_a_name_of_a_thread_may_have_brackets() -> None:
    stat = "71 (a (b) c) S 1 71 71 0 -1 4194304 10 0 0 0 150 50 0 0 20 0 1 0 5 0 0"
    assert cpu_times(stat, 100) == ("a (b) c", 2.0)


def test_cpu_is_that_between_the_looks_around_the_span() -> None:
    looks = [
        ThreadTimes(0, {1: ("main", 1.0)}),
        ThreadTimes(1, {1: ("main", 5.0)}),
        ThreadTimes(2, {1: ("main", 5.5), 2: ("C2 CompilerThre", 0.25)}),
        ThreadTimes(3, {1: ("main", 6.0)}),
        ThreadTimes(4, {1: ("main", 9.0)}),
    ]
    assert cpu_by_group(looks, 1.2, 2.8) == ({"main": 1.0, "JIT": 0.25}, 2)
    assert cpu_by_group(looks, -5, 50) == ({"main": 8.0, "JIT": 0.25}, 4)
    assert cpu_by_group(looks[:1], 0, 1) == ({}, 0.0)
    assert rows(summary(Profile(1.2, 2.8, [], looks)), "Threads") == [
        ["main", "1.00", "0.50", "80%"],
        ["JIT", "0.25", "0.12", "20%"],
        ["all, in 2.0 s", "1.25", "0.62"],
    ]


@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")
def test_a_recording_of_this_jdk_becomes_such_lines(tmp_path: Path) -> None:
    recording = tmp_path / "own.jfr"
    start = f"-XX:StartFlightRecording=filename={recording},settings=profile"
    # Without arguments the program itself ends at once, having been compiled: enough to be recorded.
    subprocess.run(["java", start, str(PROGRAM)], check=False, capture_output=True, timeout=120)
    words = ["java", str(PROGRAM), str(recording), "0", str(2**53)]
    printed = subprocess.run(words, check=True, capture_output=True, text=True, timeout=120).stdout
    kinds = {event.kind for event in read_events(printed.splitlines())}
    assert {"sample", "allocation"} <= kinds
    nothing = subprocess.run([*words[:3], "0", "1"], check=True, capture_output=True, text=True, timeout=120).stdout
    assert nothing == ""
