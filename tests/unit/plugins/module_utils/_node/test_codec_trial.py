# SPDX-License-Identifier: GPL-3.0-or-later
"""What Kafka's tool says of the records of each codec, and what a temporary directory lacks."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import rights
from ansible_collections.streamops.kafka.plugins.module_utils._node.codec_trial import (
    BATCHES,
    MAINS,
    PLAIN,
    authorizer_to_load,
    class_fault,
    directory_fault,
    judged,
    largest_message,
    plain_batch,
    said_by,
    takes_records,
    temporary_directory,
)

OPENED = "Dumping /t/{}/00000000000000000000.log\nLog starting offset: 0\n| offset: 0 CreateTime: 0 keySize: -1\n"
LINK = (
    'Exception in thread "main" org.apache.kafka.common.KafkaException: java.lang.UnsatisfiedLinkError: x\n'
    "\tat a.b(C.java:1)\nCaused by: java.lang.UnsatisfiedLinkError: /n/libzstd.so: failed to map segment\n"
)
MEMORY = 'Exception in thread "main" java.lang.OutOfMemoryError: Cannot reserve 9 bytes of direct buffer memory (x)\n'


def opened(*names: str) -> str:
    return "".join(map(OPENED.format, names))


def test_a_node_that_opens_all_has_no_fault() -> None:
    assert judged(0, opened(*BATCHES, PLAIN), "/tmp") == ("", "")
    # One that is left out is no verdict: a tool that says nothing has read nothing.
    assert judged(0, opened(*BATCHES), "/tmp") == ("", "DumpLogSegments ended with 0 without an answer")
    assert judged(1, "", "/tmp")[0] == ""


def test_the_codec_that_fails_is_named_with_the_temporary_directory() -> None:
    said = opened("gzip", "lz4", "snappy") + "Dumping /t/zstd/00000000000000000000.log\n" + LINK
    found, not_judged = judged(1, said, "/no/such")
    assert found == (
        "Kafka cannot read the codec zstd: /n/libzstd.so: failed to map segment"
        " (the temporary directory of Java is /no/such)"
    )
    assert not_judged == ""


def test_what_is_wrong_with_anything_else_is_no_verdict() -> None:
    said = "Dumping /t/gzip/00000000000000000000.log\n" + 'Exception in thread "main" a.InvalidRecordException: odd\n'
    assert judged(1, said, "/tmp") == ("", "DumpLogSegments: odd")


def test_direct_memory_is_named() -> None:
    said = opened(*BATCHES) + f"Dumping /t/{PLAIN}/00000000000000000000.log\n" + MEMORY
    assert judged(1, said, "/tmp")[0].startswith("direct memory (-XX:MaxDirectMemorySize) has no room for one message")


def test_the_last_temporary_directory_of_the_arguments_holds() -> None:
    assert temporary_directory(["-Xmx1g"]) == "/tmp"
    assert temporary_directory(["-Djava.io.tmpdir=/a", "-Djava.io.tmpdir=/b"]) == "/b"


@pytest.mark.parametrize(("mode", "fault"), [(0o700, ""), (0o500, "is not writable")])
def test_a_directory_that_is_missing_or_closed_is_a_fault(tmp_path: Path, mode: int, fault: str) -> None:
    place = tmp_path / "temporary"
    words = [f"-Djava.io.tmpdir={place}"]
    assert "is missing" in directory_fault(words, "")
    place.mkdir(mode=mode)
    found = directory_fault(words, "")
    # For root no directory is closed.
    assert fault in found if os.geteuid() and fault else found == ""


def test_a_directory_of_another_user_is_closed(tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir(mode=0o755)
    other = "nobody" if getpass.getuser() != "nobody" else "daemon"
    words = [f"-Djava.io.tmpdir={place}"]
    assert f"is not writable for {other}" in directory_fault(words, other)
    place.chmod(0o1777)
    assert directory_fault(words, other) == ""
    assert directory_fault(words, "a-user-that-is-made-later") == ""


def test_who_has_no_name_is_asked_and_an_access_list_decides_more_than_the_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless(_number: int) -> None:
        raise KeyError("uid not found")

    other = "nobody" if getpass.getuser() != "nobody" else "daemon"
    monkeypatch.setattr(rights.pwd, "getpwuid", nameless)
    words = [f"-Djava.io.tmpdir={tmp_path}"]
    assert directory_fault(words, "") == ""
    tmp_path.chmod(0o750)
    assert "is not writable" in directory_fault(words, other)
    monkeypatch.setattr(rights.os, "listxattr", lambda _path: ["system.posix_acl_access"])
    assert directory_fault(words, other) == ""


def test_the_plain_batch_has_the_size_of_the_largest_message() -> None:
    batch = plain_batch(largest_message(""))
    assert 1048588 - 200 < len(batch) <= 1048588
    assert int.from_bytes(batch[8:12], "big") == len(batch) - 12
    assert largest_message("message.max.bytes=2000000\n") == 2000000
    assert largest_message("message.max.bytes=${env:MOST}\n") == 1048588


def test_each_release_has_the_tool_under_one_of_two_names(tmp_path: Path) -> None:
    started: list[list[str]] = []

    def run(command: list[str], _seconds: float, **_more: Any) -> tuple[int, str, str]:
        started.append(command)
        if MAINS[0] in command:
            return 1, "", f"Error: Could not find or load main class {MAINS[0]}\n"
        return 0, opened(*BATCHES, PLAIN), ""

    assert said_by("/bin/java", ["@a"], "", "/tmp", str(tmp_path), run, {}) == ("", "")
    assert [command[2] for command in started] == list(MAINS)
    files = started[-1][-1].split(",")
    assert [Path(file).parent.name for file in files] == [*BATCHES, PLAIN]


def test_a_controller_that_is_no_broker_takes_no_records() -> None:
    assert not takes_records("process.roles=controller\n")
    # A broker, both, a broker with ZooKeeper, and a mirror, whose properties are not judged.
    for properties in ("process.roles=broker\n", "process.roles=broker,controller\n", "broker.id=1\n", ""):
        assert takes_records(properties)


def test_an_authorizer_that_java_does_not_load_is_a_fault() -> None:
    missing = "Error: Could not find or load main class a.B\nCaused by: java.lang.ClassNotFoundException: a.B\n"
    found = "Java does not load authorizer.class.name a.B: java.lang.ClassNotFoundException: a.B"
    assert class_fault(missing, "a.B") == found
    assert class_fault("Error: Main method not found in class a.B, please define\n", "a.B") == ""
    assert authorizer_to_load("authorizer.class.name=a.B\n") == "a.B"
    own = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    assert authorizer_to_load(f"authorizer.class.name={own}\n") == ""
    assert authorizer_to_load("") == ""
