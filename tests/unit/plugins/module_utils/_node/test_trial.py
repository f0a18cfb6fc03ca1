# SPDX-License-Identifier: GPL-3.0-or-later
"""What of the words of Java and Kafka is a fault, and what of a node's arguments is tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.trial import TrialError, fault, shown, trial, tried

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
            "the release is not whole: Could not find or load main class kafka.tools.StorageTool",
        ),
    ],
)
def test_a_fault_is_told_in_the_words_of_the_one_that_found_it(said: str, found: str) -> None:
    assert found in fault(said) if found else fault(said) == ""


def test_what_would_disturb_the_running_node_is_not_tried() -> None:
    words = ["-Xms4g", "-Xmx4g", "-javaagent:/a.jar=9404:/m.yml", "-Xlog:gc*:file=/gc.log", "-XX:+UseZGC", "-Dmine=1"]
    words += ["-Dcom.sun.management.jmxremote.port=9999", "-XX:+AlwaysPreTouch", "-Dlog4j2.configurationFile=/l.yaml"]
    assert tried([*words, "-cp", "/libs/*"]) == ["-Xmx4g", "-XX:+UseZGC", "-Dmine=1", "-cp", "/libs/*"]


def test_a_secret_that_an_exception_quotes_is_not_shown() -> None:
    properties = "ssl.keystore.password=very-secret\nnode.id=1\n"
    assert shown("Invalid value very-secret for x, 1", properties) == "Invalid value (secret) for x, 1"


def params(tmp_path: Path, **changed: Any) -> dict[str, Any]:
    """Files that are not on the node yet, of a release that is."""
    (tmp_path / "libs").mkdir(exist_ok=True)
    jvm = {"path": str(tmp_path / "jvm.options"), "content": f'-Xmx1g\n-cp\n"{tmp_path}/libs/*"\n'}
    properties = {"path": str(tmp_path / "server.properties"), "content": "node.id=1\n"}
    return {"name": "kafka1", "java": "/bin/java", "jvm_options": jvm, "properties": properties, **changed}


def never(*_: Any) -> Any:
    """Stand in for a JVM that must not be started."""
    raise AssertionError("a JVM was started")


def test_what_the_node_has_already_is_not_judged_again(tmp_path: Path) -> None:
    given = params(tmp_path)
    for file in (given["jvm_options"], given["properties"]):
        Path(file["path"]).write_text(file["content"])
    assert trial(given, never) == {"changed": False, "judged": False}


def test_a_node_without_its_release_judges_nothing(tmp_path: Path) -> None:
    given = params(tmp_path)
    (tmp_path / "libs").rmdir()
    assert trial(given, never) == {"changed": False, "judged": False}


def test_a_refusal_names_the_node_the_value_and_what_was_left(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], _seconds: float) -> tuple[int, str, str]:
        asked.append(command)
        return 1, "", TRACE

    with pytest.raises(TrialError) as refused:
        trial(params(tmp_path), run)
    said = refused.value.message
    assert "kafka1 would not start with what this run would write: Kafka does not take its properties" in said
    assert "Nothing was written for this node by this step" in said
    assert not Path(asked[0][-1]).parent.exists(), "nothing is left of the trial"


def test_of_other_processes_java_alone_judges(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], _seconds: float) -> tuple[int, str, str]:
        asked.append(command)
        return 0, "", 'openjdk version "17"'

    assert trial(params(tmp_path, properties=None), run) == {"changed": False, "judged": True}
    assert asked[0][2:] == ["-version"]
