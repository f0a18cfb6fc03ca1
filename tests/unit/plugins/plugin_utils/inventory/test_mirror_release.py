# SPDX-License-Identifier: GPL-3.0-or-later
"""The release of a mirror, and who sees it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.mirror_release import mirror_release
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from tests.support.inventory_data import view


@pytest.mark.parametrize(
    ("given", "version"),
    [
        ({"kafka_version": "4.3.1"}, "4.3.1"),
        ({"kafka_version": "3.9.2"}, "3.9.2"),
        ({"kafka_version": "4.4.0"}, "4.3.1"),
        ({"kafka_version": "4.4.0", "kafka_install_source": "archive"}, "4.4.0"),
        ({"kafka_version": "4.4.0", "mirror_maker_kafka_version": " 3.9.2 "}, "3.9.2"),
        ({"kafka_version": "4.3.1", "mirror_maker_kafka_version": "4.4.0"}, "4.4.0"),
        ({"kafka_version": "4.4.0", "mirror_maker_kafka_version": UNDEFINED}, "4.3.1"),
        ({"kafka_version": "9.9.9"}, "9.9.9"),
        ({"kafka_version": UNDEFINED}, UNDEFINED),
    ],
)
def test_a_mirror_runs_what_it_is_told_or_the_newest_with_mirror_maker(given: dict[str, Any], version: Any) -> None:
    assert mirror_release(given) == version


@pytest.mark.parametrize(("host", "version"), [("m", "4.3.1"), ("a", "4.4.0")])
def test_only_mirrors_have_a_release_of_their_own(host: str, version: str) -> None:
    hosts = {"a": {"kafka_node_id": 1, "ansible_host": "h"}, "m": {"ansible_host": "h"}}
    found = view(hosts, brokers=["a"], controllers=["a"], mirrors=["m"], host=host, kafka_version="4.4.0")
    assert found["settings"]["kafka_version"] == found["release"]["version"] == version
    assert f"Apache Kafka {version} " in found["process"]["title"]
    # On the same machine each installs its own release.
    assert found["first"]["release"] is True
