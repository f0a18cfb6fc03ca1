"""The start record is read as the java launcher and sha256sum write and read it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._node import start_record as record


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-Xmx1g\n-Xms1g\n", ["-Xmx1g", "-Xms1g"]),
        ("-cp /opt/kafka/libs/*", ["-cp", "/opt/kafka/libs/*"]),
        ("# heap\n-Xmx1g # all of it\n", ["-Xmx1g"]),
        ('-Dname="a b"\n"-Dpath=C:\\\\x"', ["-Dname=a b", "-Dpath=C:\\x"]),
        ("'-Da=b c'", ["-Da=b c"]),
        ('"a\\\n   b"', ["ab"]),
        ("-Da=1#b\n-Db=2", ["-Db=2"]),
        ('"-Da=1#b"', ["-Da=1#b"]),
        ('""', [""]),
        ("", []),
    ],
)
def test_splits_an_argument_file_as_java_does(text: str, words: list[str]) -> None:
    assert record.argument_file_words(text) == words


@given(st.lists(st.text(st.characters(blacklist_characters="\0"), max_size=10), max_size=5))
def test_quoted_words_come_back_whole(words: list[str]) -> None:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
    text = "\n".join('"' + "".join(escapes.get(char, char) for char in word) + '"' for word in words)
    # A backslash escape swallows no blank that follows it.
    assert record.argument_file_words(text) == words


def test_reads_sha256sum_lines_and_leaves_out_the_rest() -> None:
    digest = "a" * 64
    assert record.digests(f"{digest}  /etc/k/key.pem\n{digest} */etc/k/b c\nnonsense\n\n") == {
        "/etc/k/key.pem": digest,
        "/etc/k/b c": digest,
    }


@pytest.mark.parametrize("pid", [None, "", "x", "12 13"])
def test_a_record_without_a_usable_pid_names_no_process(pid: str | None) -> None:
    assert record.identity({"pid": pid, "start_time": "5"}) is None


def test_a_record_names_its_process_and_what_it_was_started_with() -> None:
    files = {"pid": "12\n", "start_time": "345\n", "server.properties": "a=1\n", "jvm.options": "-Xmx1g\n"}
    assert record.identity(files) == (12, 345)
    assert record.contents(files) == {"properties": {"a": "1"}, "jvm": ["-Xmx1g"], "files": {}, "limits": {}}


def test_limits_are_lines_of_name_and_value() -> None:
    files = {"server.properties": "a=1", "jvm.options": "", "limits": "kafka_limit_nofile 65536\n"}
    assert (record.contents(files) or {})["limits"] == {"kafka_limit_nofile": "65536"}


def test_an_incomplete_record_has_no_contents() -> None:
    assert record.contents({"server.properties": "a=1"}) is None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('-Xmx1g\n-cp\n"/opt/kafka/releases/kafka-4.3.1-077aaa0428e8/libs/*"\n', "4.3.1"),
        ('-cp\n"/srv/old kafka/releases/zookeeper-3.8.6-0123456789ab/libs/*"', "3.8.6"),
        ("-cp\n/usr/share/kafka/libs/*", None),
        ("# -cp /r/kafka-4.3.1-077aaa0428e8/libs/*", None),
        ("", None),
        (None, None),
    ],
)
def test_the_version_is_that_of_the_jars(text: str | None, version: str | None) -> None:
    assert record.version(text) == version


@pytest.mark.parametrize(
    ("properties", "ports"),
    [
        ({"listeners": "CLIENT://127.0.0.1:9092, BROKER://[fd00::1]:9093,CONTROLLER://:9094"}, [9092, 9093, 9094]),
        ({"clientPort": "2181", "server.1": "a:2888:3888:participant", "server.2": "b:2888:3888"}, [2181, 3888]),
        ({"secureClientPort": "2182", "server.1": "a:2888:3887"}, [2182]),
        ({"node.id": "1"}, [3888, 9999]),
        ({}, [3888, 9999]),
    ],
)
def test_a_process_opens_the_ports_that_it_was_started_with(properties: dict[str, str], ports: list[int]) -> None:
    text = "".join(f"{key}={value}\n" for key, value in properties.items())
    assert record.opened_ports({record.PROPERTIES: text}, [3888, 9999]) == ports


def test_without_wanted_ports_or_a_record_none_are_added() -> None:
    listeners = "listeners=CLIENT://:9092\n"
    assert record.opened_ports({record.PROPERTIES: listeners}, []) == []
    assert record.opened_ports({record.PROPERTIES: None}, [9092]) == [9092]
    assert record.opened_ports({record.PROPERTIES: "a=\\u00zz\n"}, [9092]) == [9092]
