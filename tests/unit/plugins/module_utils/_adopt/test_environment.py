"""The environment of a process, and the files that gave it."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._adopt import environment as subject
from ansible_collections.streamops.kafka.plugins.module_utils._adopt.environment import Layer
from ansible_collections.streamops.kafka.plugins.module_utils._node import processes

#: As a role writes it, with a JAAS file and passwords of JKS stores.
KAFKA_ENV = """\
# Managed by the role
KAFKA_HEAP_OPTS="-Xms4g -Xmx4g"
export LOG_DIR=/var/log/kafka
KAFKA_OPTS="-Djava.security.auth.login.config=/etc/jaas.conf \\
  -Djavax.net.ssl.trustStorePassword=changeit"
; another comment
  JMX_PORT = 9999
EXTRA_ARGS='-name kafkaServer "-loggc" \\n $X'
"""


def test_a_file_of_the_environment() -> None:
    assert subject.of_file(KAFKA_ENV) == {
        "KAFKA_HEAP_OPTS": "-Xms4g -Xmx4g",
        "LOG_DIR": "/var/log/kafka",
        "KAFKA_OPTS": "-Djava.security.auth.login.config=/etc/jaas.conf   -Djavax.net.ssl.trustStorePassword=changeit",
        "JMX_PORT": "9999",
        "EXTRA_ARGS": '-name kafkaServer "-loggc" \\n $X',
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("", {}),
        ("\n\n#A=b\n", {}),
        ("A", {}),
        ("A=", {"A": ""}),
        ("A=b\\", {"A": "b\\"}),
        ("A=b \\\nc\nD=e", {"A": "b c", "D": "e"}),
        ('A="x\\"y\\\\z\\q"', {"A": 'x"y\\z\\q'}),
        ("A='it''s'", {"A": "its"}),
        ('A="open\nB=c', {"A": "open\nB=c"}),
        ("A=b # no comment", {"A": "b # no comment"}),
        ("A=b\r\nC=d\r\n", {"A": "b", "C": "d"}),
        ("1A=b\nB-C=d\nE=f=g", {"E": "f=g"}),
        ("A=\u65e5\u672c %h", {"A": "\u65e5\u672c %h"}),
        ("A=b\nA=c", {"A": "c"}),
    ],
)
def test_lines_of_a_file(text: str, variables: dict[str, str]) -> None:
    assert subject.of_file(text) == variables


def test_the_environ_of_a_process() -> None:
    text = "PATH=/bin\0KAFKA_OPTS=-Da=b\nc\0EMPTY=\0no variable\0=x\0PATH=/second\0"
    assert processes.variables(text) == {"PATH": "/bin", "KAFKA_OPTS": "-Da=b\nc", "EMPTY": ""}
    assert processes.variables("") == {}


def test_an_environ_of_100_kilobytes() -> None:
    text = "KAFKA_OPTS=" + "-Dx.password=" + "p" * 100_000 + "\0" + "".join(f"V{i}={i}\0" for i in range(1000))
    known = subject.joined(processes.variables(text), [])
    assert subject.shown(known) == [
        {"name": "KAFKA_OPTS", "value": "-Dx.password=********", "origin": "process", "differs": False}
    ]


def test_each_variable_has_the_file_that_gave_it() -> None:
    layers = [
        Layer("/etc/systemd/system/kafka.service", {"KAFKA_HEAP_OPTS": "-Xmx1g", "LOG_DIR": "/log"}),
        Layer("/etc/default/kafka", {"KAFKA_HEAP_OPTS": "-Xmx4g", "JMX_PORT": "9999", "HOME": "/root"}),
    ]
    process = {"KAFKA_HEAP_OPTS": "-Xmx4g", "LOG_DIR": "/other", "KAFKA_OPTS": "-Dpassword=x", "HOME": "/root"}
    known = subject.joined(process, layers)
    assert {name: (one.value, one.origin, one.differs) for name, one in known.items()} == {
        "KAFKA_HEAP_OPTS": ("-Xmx4g", "/etc/default/kafka", False),
        "LOG_DIR": ("/other", "process", True),
        "KAFKA_OPTS": ("-Dpassword=x", "process", False),
        # It was written there after the process had started.
        "JMX_PORT": ("", "/etc/default/kafka", True),
    }


def test_without_the_process_the_files_are_all_that_is_known() -> None:
    known = subject.joined(None, [Layer("/f", {"KAFKA_OPTS": "-Da=b"})])
    assert known["KAFKA_OPTS"] == subject.Variable("-Da=b", "/f", differs=False)


def test_what_properties_ask_for_matters_too() -> None:
    names = subject.asked_for({"ssl.key.password": "${env:KEY_PASS}", "a": "${env::OTHER}x", "b": "${file:/p:q-r}"})
    assert names == ["KEY_PASS", "OTHER"]
    known = subject.joined({"KEY_PASS": "hunter2", "UNRELATED": "x"}, [], names)
    assert subject.shown(known) == [
        {"name": "KEY_PASS", "value": "********", "origin": "process", "differs": False},
    ]
