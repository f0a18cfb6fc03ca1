"""Directory ids are stable, distinct and of Kafka's form."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.directory_id import directory_id

CLUSTERS = st.text(min_size=1, max_size=30)


@given(CLUSTERS, st.integers(0, 2**31 - 1))
def test_has_the_form_of_a_kafka_uuid(cluster: str, node: int) -> None:
    text = directory_id(cluster, node)
    data = base64.urlsafe_b64decode(text + "==")
    assert len(text) == 22
    assert not text.startswith("-")
    assert len(data) == 16
    assert int.from_bytes(data, "big") >= 100
    assert base64.urlsafe_b64encode(data).decode().rstrip("=") == text


@given(CLUSTERS)
def test_no_two_nodes_of_a_cluster_share_one(cluster: str) -> None:
    assert len({directory_id(cluster, node) for node in range(50)}) == 50


def test_never_changes_between_releases_of_this_collection() -> None:
    # What disks carry: a change here would give every controller a new identity.
    assert directory_id("QAbcdEFGhijkLMNopqRSTg", 1) == "DuegLCg5R6yOInzD1u_82g"


def test_refuses_an_empty_cluster_id() -> None:
    with pytest.raises(ValueError, match="cluster id"):
        directory_id("", 1)
