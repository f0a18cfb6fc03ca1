# SPDX-License-Identifier: GPL-3.0-or-later
"""Kafka's own parser, run from the jars of each version, gives the verdicts of the rules on every key."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import BROKER_KEYS, TOPIC_KEYS
from tests.support.cluster import ROOT
from tests.support.forms import short

#: Validators whose words do not say what they take; the rules take more.
OWN_VALIDATORS = {
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "follower.replication.throttled.replicas",
    "inter.broker.protocol.version",
    "leader.replication.throttled.replicas",
    "log.message.format.version",
    "message.format.version",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
}
WORDS = {
    *("", " ", "true", "FALSE", " True ", "yes", "on", "null", "a", "a,b", "a,a", "a,", ",a", ",", "a , b", "\t8\n"),
    *("0", "1", "-1", "-2", "8", "+8", " 8 ", "08", "8.0", "8.", "1e3", "1_000", "0x10", "8L", "--1", "+", "-", "8 8"),
    *("9", "10", "17", "18", "22", "23", "-131072", "-131073", "1000", "3600000", "86400", "32767", "32768", "-32769"),
    *("2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808"),
    *("0.5", ".5", "5e-1", "0.5d", "0.5F", "0.5l", "1.1", "-0.1", "1e999", "-1e999", "NaN", "nan", "Infinity", "inf"),
    *("+Infinity", "0x1p-1", "0x1p9999", "0x.8p0", "0x1", "1e", ".", "e1", "\u0663", "\u00a08", "8\u2003"),
    *("compact", "delete", "compact,delete", "delete , compact", "compact,compact", "Compact", "drop", "compact,"),
}
#: Every valid word of every key, also in another case and within blanks.
VALID = {word for keys in (*BROKER_KEYS.values(), *TOPIC_KEYS.values()) for one in keys.values() for word in one.values}
VALUES = sorted(WORDS | VALID | {word.swapcase() for word in VALID} | {f" {word} " for word in VALID})


@pytest.mark.parametrize("version", short(sorted(BROKER_KEYS), "4.3.1"))
def test_the_rules_judge_a_value_as_kafka_does(
    kafka_release: Callable[[str], Path], version: str, tmp_path: Path
) -> None:
    values = tmp_path / "values"
    values.write_text("".join(f"{base64.b64encode(value.encode()).decode()}\n" for value in VALUES))
    program = ["java", "-cp", f"{kafka_release(version)}/libs/*", str(ROOT / "tests/support/KafkaVerdicts.java")]
    told = subprocess.run([*program, str(values)], check=True, capture_output=True, text=True, timeout=120).stdout
    rows = [line.split("\t") for line in told.splitlines()]
    assert len(rows) > 350
    wrong = []
    for kind, key, verdicts in rows:
        definition = {"broker": BROKER_KEYS, "topic": TOPIC_KEYS}[kind][version][key]
        for value, verdict in zip(VALUES, verdicts, strict=True):
            taken = verdict == "1"
            if definition.takes(value) != taken and (taken or key not in OWN_VALIDATORS):
                wrong.append((key, value, "Kafka takes it" if taken else "Kafka refuses it"))
    assert wrong == []


@pytest.mark.full
def test_the_definitions_are_those_of_the_releases(kafka_release: Callable[[str], Path]) -> None:
    releases = [f"{version}={kafka_release(version)}/libs" for version in sorted(BROKER_KEYS)]
    made = [sys.executable, str(ROOT / "tools/make_definitions"), "--check", *releases]
    done = subprocess.run(made, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
