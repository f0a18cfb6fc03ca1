# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/groups.yml: groups with their lag, and offsets that move only where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import delete_topics
from tests.support.cluster import Cluster, said
from tests.support.groups import commit, make_topic, member
from tests.support.modules import run_module

TOPIC, GROUP = "read-in-part", "billing"


@pytest.fixture
def behind(combined: Cluster) -> Iterator[Cluster]:
    """The cluster with a group that has read 4 of 10 records of each of two partitions."""
    make_topic(combined.bootstrap_servers, TOPIC, 2, records=10)
    commit(combined.bootstrap_servers, GROUP, {(TOPIC, 0): 4, (TOPIC, 1): 4})
    yield combined
    gone = {"bootstrap_servers": combined.bootstrap_servers, "group": GROUP, "state": "absent"}
    assert not run_module("streamops.kafka.group_offsets", gone)["failed"]
    with Session(Connection(tuple(combined.bootstrap_servers))) as admin:
        delete_topics(admin, [TOPIC])


@pytest.mark.full
def test_groups_are_shown_and_offsets_move_only_without_members_and_not_in_a_plan(behind: Cluster) -> None:
    empty = dict.fromkeys(
        (
            "kafka_consumer_group",
            "kafka_consumer_group_to",
            "kafka_consumer_group_topics",
            "kafka_consumer_group_offset",
        ),
        "",
    )
    shown = behind.playbook("playbooks/groups.yml", **empty).ok()
    assert f"{GROUP} classic Empty 0 12 {TOPIC}-1 6" in said(shown)
    assert shown.changed == 0
    wish = {"kafka_consumer_group": GROUP, "kafka_consumer_group_to": "shift", "kafka_consumer_group_shift_by": "-3"}
    one = {**wish, "kafka_consumer_group_topics": f"{TOPIC}:1"}
    planned = behind.playbook("playbooks/groups.yml", plan_only="yes", **one).ok()
    assert f"{TOPIC}-1: 4 -> 1 (3 records read again)" in said(planned)
    assert f"{GROUP} classic Empty 0 12" in said(planned), "nothing was moved"
    with member(behind.bootstrap_servers, GROUP, TOPIC):
        refused = behind.playbook("playbooks/groups.yml", **one)
    assert refused.rc != 0
    assert f"group {GROUP}: has 1 member(s)" in said(refused)
    moved = behind.playbook("playbooks/groups.yml", **one).ok()
    assert f"{TOPIC}-1: 4 -> 1 (3 records read again)" in said(moved)
    assert f"{GROUP} classic Empty 0 15 {TOPIC}-1 9" in said(moved)
    assert moved.changed == 1, said(moved)
    # Records that are passed by are no task that is skipped.
    ahead = behind.playbook("playbooks/groups.yml", **{**one, "kafka_consumer_group_shift_by": "2"}).ok()
    assert f"{TOPIC}-1: 1 -> 3 (2 records skipped)" in said(ahead)
    assert ahead.changed == 1, said(ahead)


@pytest.mark.full
@pytest.mark.parametrize("named", ["", "billing, shipping"])
def test_offsets_of_no_group_or_of_several_are_not_moved(combined: Cluster, named: str) -> None:
    run = combined.playbook("playbooks/groups.yml", kafka_consumer_group=named, kafka_consumer_group_to="latest")
    assert run.rc != 0
    assert f"so kafka_consumer_group must name one group (found: {named or 'nothing'})" in said(run)
