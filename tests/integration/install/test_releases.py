# SPDX-License-Identifier: GPL-3.0-or-later
"""A node of each release starts from the jars that its lock file pins, and has the features that its row names."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release.releases import Release, releases
from ansible_collections.streamops.kafka.plugins.module_utils._release.rows import METADATA_VERSIONS
from tests.support.cluster import free_port_base
from tests.support.lone_broker import LoneBroker

pytestmark = pytest.mark.full
CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
LINE = re.compile(r"Feature: (\S+)\s.*SupportedMaxVersion: (\S+)\s+FinalizedVersionLevel: (\S+)")
LEVELS = {name: level for level, (name, _changes) in METADATA_VERSIONS.items()}


@pytest.fixture(params=releases(), ids=lambda one: one.version)
def row(request: pytest.FixtureRequest) -> Release:
    """Gives one release after the other."""
    assert isinstance(request.param, Release)
    return request.param


@pytest.fixture
def broker(row: Release, kafka_release: Callable[[str], Path], tmp_path: Path) -> Iterator[LoneBroker]:
    """Gives a node of the release that runs with the least heap of a broker."""
    heap = f"{row.least_heap['broker']}m"
    one = LoneBroker(kafka_release(row.version), tmp_path / "node", free_port_base(), heap=heap)
    one.format(CLUSTER_ID)
    one.start()
    yield one
    one.terminate()


def tool(broker: LoneBroker, name: str, *arguments: str, said: str = "") -> str:
    """Calls an operator tool of the release."""
    command = [str(broker.release / "bin" / name), *arguments]
    done = subprocess.run(command, input=said, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def level(word: str) -> int:
    """The level of a feature, which of metadata.version is a name."""
    return LEVELS[word] if word in LEVELS else int(word)


def test_a_node_keeps_records_and_has_the_features_of_its_row(row: Release, broker: LoneBroker) -> None:
    server = broker.bootstrap_servers[0]
    tool(broker, "kafka-topics.sh", "--bootstrap-server", server, "--create", "--topic", "t")
    tool(broker, "kafka-console-producer.sh", "--bootstrap-server", server, "--topic", "t", said="one\ntwo\n")
    read = ["--bootstrap-server", server, "--topic", "t", "--from-beginning", "--max-messages", "2"]
    assert tool(broker, "kafka-console-consumer.sh", *read, "--timeout-ms", "30000") == "one\ntwo\n"
    told = tool(broker, "kafka-features.sh", "--bootstrap-server", server, "describe")
    found = {name: (level(most), level(final)) for name, most, final in LINE.findall(told)}
    # The voters of this node are fixed, so its kraft.version is 0.
    assert {name: levels for name, levels in found.items() if any(levels)} == {**row.features, "kraft.version": (1, 0)}


def test_it_has_the_tools_of_what_it_can_run(row: Release, kafka_release: Callable[[str], Path]) -> None:
    tools = {path.name for path in (kafka_release(row.version) / "bin").iterdir()}
    assert ("connect-mirror-maker.sh" in tools) == ("mirror" in row.runs)
    assert ("kafka-metadata-shell.sh" in tools) == ("shell" in row.runs)
