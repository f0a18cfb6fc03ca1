# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the words of Java and Kafka is a fault, and what of a node's arguments is tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.commands import CommandTimeoutError
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from ansible_collections.streamops.kafka.plugins.module_utils._node.start_record import argument_file_words
from ansible_collections.streamops.kafka.plugins.module_utils._node.trial import (
    TrialError,
    elsewhere,
    fault,
    quoted,
    shown,
    trial,
    tried,
    why_not_judged,
)

TRACE = """Exception in thread "main" org.apache.kafka.common.config.ConfigException: Invalid value 0 for configuration\
 queued.max.requests: Value must be at least 1
\tat org.apache.kafka.common.config.ConfigDef$Range.ensureValid(ConfigDef.java:1037)
"""
CAUSED = """Exception in thread "main" java.lang.IllegalArgumentException: Error creating broker listeners from 'x'
\tat org.apache.kafka.network.SocketServerConfigs.a(SocketServerConfigs.java:190)
Caused by: java.lang.IllegalArgumentException: No security protocol defined for listener FOO
\t... 8 more
"""
JVM = """NOTE: Picked up JDK_JAVA_OPTIONS: -Xshare:auto
Unrecognized VM option 'UseFoo'
Did you mean '(+/-)UseZGC'?
Error: Could not create the Java Virtual Machine.
Error: A fatal exception has occurred. Program will exit.
"""
LINKAGE = """Error: LinkageError occurred while loading main class kafka.tools.StorageTool
\tjava.lang.UnsupportedClassVersionError: kafka/tools/StorageTool has been compiled by a more recent version
"""
NO_ROOM = (
    "Error occurred during initialization of VM\nCould not reserve enough space for 4194304KB object heap\n",
    "# There is insufficient memory for the Java Runtime Environment to continue.\n",
    'Exception in thread "main" java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory\n',
)
FORMATTED = "Found log directory:\n  /data\n\nFound metadata: {node.id=1}\n"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Found log directory:\n  /data\n\nFound metadata: {node.id=1}\n", ""),
        ("Found problem:\n  /data is not formatted.\n", ""),
        ("", ""),
        (TRACE, "Kafka does not take its properties: Invalid value 0 for configuration queued.max.requests: Value"),
        (CAUSED, "Kafka does not take its properties: No security protocol defined for listener FOO"),
        ('Exception in thread "main" java.lang.NullPointerException', "properties: java.lang.NullPointerException"),
        (JVM, "Java does not take its arguments: Unrecognized VM option 'UseFoo' / Did you mean '(+/-)UseZGC'?"),
        ("Error: Could not create the Java Virtual Machine.", "it does not say which"),
        (
            "Error: Could not find or load main class kafka.tools.StorageTool\nCaused by: java.lang."
            "ClassNotFoundException: kafka.tools.StorageTool",
            "this Java cannot load kafka.tools.StorageTool of the release: java.lang.ClassNotFoundException",
        ),
        (LINKAGE, "this Java cannot load kafka.tools.StorageTool of the release: java.lang.UnsupportedClassVersionErr"),
        ("Error: Could not find or load main class ord\nCaused by: java.lang.ClassNotFoundException: ord", "a blank"),
        ('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space', "Java has too little memory"),
        *((text, "") for text in NO_ROOM),
    ],
)
def test_a_fault_is_told_in_the_words_of_the_one_that_found_it(said: str, found: str) -> None:
    assert found in fault(said) if found else fault(said) == ""


def test_what_would_disturb_the_running_node_is_not_tried() -> None:
    words = ["-Xms4g", "-Xmx4g", "-javaagent:/a.jar=9404:/m.yml", "-Xlog:gc*:file=/gc.log", "-XX:+UseZGC", "-Dmine=1"]
    words += ["-Dcom.sun.management.jmxremote.port=9999", "-XX:+AlwaysPreTouch", "-Dlog4j2.configurationFile=/l.yaml"]
    assert tried([*words, "-cp", "/libs/*"]) == ["-Xmx4g", "-XX:+UseZGC", "-Dmine=1", "-cp", "/libs/*"]
    words = ["-XX:+HeapDumpOnOutOfMemoryError", "-XX:HeapDumpPath=/h", "-XX:OnOutOfMemoryError=systemctl restart kafka"]
    words += ["-XX:OnError=gdb %p", "-Xshare:dump", "-XX:VMOptionsFile=/o", "-XX:Flags=/f", "-XX:AllocateHeapAt=/mnt"]
    assert tried(words) == []


def test_the_word_that_java_takes_for_a_program_is_not_shown_as_it_may_be_half_a_password() -> None:
    assert "ord" not in fault("Error: Could not find or load main class my-secret-ord").split()
    assert "my-secret" not in fault("Error: Could not find or load main class my-secret-ord")


@pytest.mark.parametrize(
    ("code", "said", "has_properties", "why"),
    [
        (0, FORMATTED, True, ""),
        (1, "Found problem:\n  /data does not exist\n", True, ""),
        (0, "", True, "the JVM ended with 0 without an answer"),
        (-9, "", True, "the JVM ended with -9 without an answer"),
        (0, "", False, ""),
        (1, "", False, "the JVM ended with 1 without an answer"),
        *((1, text, False, "this machine has no room for a second JVM now") for text in NO_ROOM),
    ],
)
def test_only_an_answer_is_a_judgement(code: int, said: str, has_properties: bool, why: str) -> None:
    found = why_not_judged(code, said, has_properties)
    assert found.startswith(why) if why else found == ""


def test_the_data_directories_are_not_looked_at() -> None:
    text = "log.dirs=/a,/b\nnode.id=1\nmetadata.log.dir=/c\n"
    assert parse(elsewhere(text, "/t/data")) == {"log.dirs": "/t/data", "node.id": "1", "metadata.log.dir": "/t/data"}
    assert parse(elsewhere("node.id=1\n", "/t/data")) == {"node.id": "1"}


def test_a_secret_of_an_argument_is_not_shown() -> None:
    words = ["-Djavax.net.ssl.keyStorePassword=very-secret", "-Dplain=word"]
    assert shown("very-secret in a word", "", words) == "(secret) in a word"


def test_a_secret_that_an_exception_quotes_is_not_shown() -> None:
    properties = "ssl.keystore.password=very-secret\nnode.id=1\n"
    assert shown("Invalid value very-secret for x, 1", properties) == "Invalid value (secret) for x, 1"


def params(tmp_path: Path, **changed: Any) -> dict[str, Any]:
    """Files that are not on the node yet, of a release that is."""
    (tmp_path / "libs").mkdir(exist_ok=True)
    jvm = {"path": str(tmp_path / "jvm.options"), "content": f'-Xmx1g\n-cp\n"{tmp_path}/libs/*"\n'}
    properties = {"path": str(tmp_path / "server.properties"), "content": "node.id=1\n"}
    start = {"path": str(tmp_path / "start"), "content": "exec /bin/java\n"}
    own = {"name": "kafka1", "java": "/bin/java", "jvm_options": jvm, "properties": properties, "start": start}
    return {**own, **changed}


def never(*_: Any, **_more: Any) -> Any:
    """Stand in for a JVM that must not be started."""
    raise AssertionError("a JVM was started")


def test_what_the_node_has_already_is_not_judged_again(tmp_path: Path) -> None:
    given = params(tmp_path)
    for file in (given["jvm_options"], given["properties"], given["start"]):
        Path(file["path"]).write_text(file["content"])
    assert trial(given, never) == {"changed": False, "judged": False, "warnings": []}


def test_another_java_judges_what_the_node_has_already(tmp_path: Path) -> None:
    given = params(tmp_path)
    for file in (given["jvm_options"], given["properties"]):
        Path(file["path"]).write_text(file["content"])
    Path(given["start"]["path"]).write_text("exec /opt/java11/bin/java\n")
    with pytest.raises(TrialError):
        trial(given, lambda *_, **_more: (1, "", JVM))


@pytest.mark.parametrize("problem", [FileNotFoundError(2, "No such file"), CommandTimeoutError("/bin/java", 120)])
def test_a_jvm_that_gives_no_answer_refuses_no_node(tmp_path: Path, problem: Exception) -> None:
    def run(*_: Any, **_more: Any) -> Any:
        raise problem

    found = trial(params(tmp_path), run)
    assert not found["judged"]
    assert "kafka1: Java and Kafka could not judge what this run writes" in found["warnings"][0]


def test_arguments_of_the_login_are_not_those_of_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"):
        monkeypatch.setenv(name, "-XX:+UseFoo")
    given: dict[str, Any] = {}

    def run(_command: list[str], _seconds: float, **more: Any) -> tuple[int, str, str]:
        given.update(more)
        return 0, FORMATTED, ""

    assert trial(params(tmp_path), run)["judged"]
    assert "-XX:+UseFoo" not in given["env"].values()
    assert "PATH" in given["env"]
    assert Path(given["cwd"]).name.startswith("kafka-trial-"), "where a JVM that crashes leaves what is removed"


def test_a_node_without_its_release_judges_nothing(tmp_path: Path) -> None:
    given = params(tmp_path)
    (tmp_path / "libs").rmdir()
    assert trial(given, never) == {"changed": False, "judged": False, "warnings": []}


def test_a_refusal_names_the_node_the_value_and_what_was_left(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], _seconds: float, **_more: Any) -> tuple[int, str, str]:
        asked.append(command)
        return 1, "", TRACE

    with pytest.raises(TrialError) as refused:
        trial(params(tmp_path), run)
    said = refused.value.message
    assert "kafka1 would not start with what this run would write: Kafka does not take its properties" in said
    assert "This step changed nothing on the node" in said
    assert not Path(asked[0][-1]).parent.exists(), "nothing is left of the trial"


def test_of_other_processes_java_alone_judges(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], _seconds: float, **_more: Any) -> tuple[int, str, str]:
        asked.append(command)
        return 0, "", 'openjdk version "17"'

    assert trial(params(tmp_path, properties=None), run) == {"changed": False, "judged": True, "warnings": []}
    assert asked[0][2:] == ["-version"]


def test_arguments_are_written_as_java_reads_them_back() -> None:
    words = ['-Da=b c "d" \\ #@', "-Db=two\nlines\r\t\f", "-Dc='x'"]
    assert argument_file_words("".join(quoted(words))) == words


def test_a_value_that_only_the_service_has_in_its_environment_refuses_no_node(tmp_path: Path) -> None:
    said = TRACE.replace("Invalid value 0", "Invalid value ${env:THREADS}")
    found = trial(params(tmp_path), lambda *_, **_more: (1, "", said))
    assert not found["judged"]
    assert "${env:THREADS} is not known here" in found["warnings"][0]
