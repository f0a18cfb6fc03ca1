# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way leads from one release to another."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.path import mode_of, upgrade_path

KNOWN = ("4.4.0", "4.3.1", "3.9.2", "3.9.1")


@pytest.mark.parametrize(
    ("before", "after", "mode", "text", "legal"),
    [
        ("3.9.2", "4.3.1", "kraft", "3.9.2 -> 4.3.1", True),
        ("3.3.0", "4.4.0", "kraft", "3.3.0 -> 4.4.0", True),
        ("4.3.1", "4.4.0", "kraft", "4.3.1 -> 4.4.0", True),
        ("3.9.1", "3.9.2", "zookeeper", "3.9.1 -> 3.9.2", True),
        ("3.2.3", "3.9.2", "kraft", "3.2.3 -> 3.9.2", True),
        ("3.2.3", "4.3.1", "kraft", "3.2.3 -> 3.9.2 -> 4.3.1", False),
        ("3.9.2", "4.3.1", "zookeeper", "3.9.2 -> migrate to KRaft -> 4.3.1", False),
        ("3.6.0", "4.3.1", "zookeeper", "3.6.0 -> 3.9.2 -> migrate to KRaft -> 4.3.1", False),
        ("4.3.1", "4.3.1", "kraft", "4.3.1", True),
    ],
)
def test_the_legal_way_is_a_line_of_text(before: str, after: str, mode: str, text: str, legal: bool) -> None:
    path = upgrade_path(before, after, mode, KNOWN)
    assert (path.text, path.legal) == (text, legal)
    assert bool(path.fix) is not legal
    assert path.direction == ("same" if before == after else "up")


def test_an_older_release_is_a_way_back() -> None:
    path = upgrade_path("4.3.1", "3.9.2", "kraft", KNOWN)
    assert (path.direction, path.legal, path.text) == ("back", True, "4.3.1 -> 3.9.2")


def test_releases_are_compared_as_numbers() -> None:
    assert upgrade_path("3.9.2", "3.10.0", "kraft", ("3.10.0",)).direction == "up"


def test_a_release_that_the_collection_lacks_is_refused_with_those_that_it_has() -> None:
    for wished in ("4.9.9", "latest"):
        path = upgrade_path("3.9.2", wished, "kraft", KNOWN)
        assert not path.legal
        assert path.why == f"this collection does not have Kafka {wished}"
        assert "4.3.1" in path.fix


def test_what_is_no_version_or_no_mode_is_an_error() -> None:
    with pytest.raises(ValueError, match="'latest' is no release of Kafka"):
        upgrade_path("latest", "4.3.1", "kraft", KNOWN)
    with pytest.raises(ValueError, match="mode must be kraft or zookeeper"):
        upgrade_path("3.9.2", "4.3.1", "kraft_combined", KNOWN)


@pytest.mark.parametrize(
    ("kafka_mode", "mode"), [("kraft_combined", "kraft"), ("kraft_isolated", "kraft"), ("zookeeper", "zookeeper")]
)
def test_every_mode_of_an_inventory_has_a_path(kafka_mode: str, mode: str) -> None:
    assert mode_of(kafka_mode) == mode
