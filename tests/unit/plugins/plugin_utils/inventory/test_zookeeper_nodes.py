"""Servers of an ensemble as the inventory has them, and the steps from one membership to another."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.zookeeper_nodes import (
    client_addresses,
    connect_string,
    expected_servers,
    member_steps,
    membership_changes,
    own_steps,
    server_properties,
)
from tests.support.inventory_data import view

HOSTVARS: dict[str, dict[str, Any]] = {
    "zk1": {"zookeeper_id": 1, "ansible_host": "10.0.0.1"},
    "zk2": {"zookeeper_id": 2, "ansible_host": "10.0.0.2", "zookeeper_client_port": "2281"},
    "zk3": {"zookeeper_id": 3, "ansible_host": "fd00::3"},
    "other": {"zookeeper_id": 1, "kafka_cluster_name": "green"},
}


def nodes() -> list[dict[str, Any]]:
    """The servers of cluster blue."""
    return list(view(HOSTVARS, zookeepers=list(HOSTVARS), kafka_cluster_name="blue")["zookeepers"])


def test_servers_of_other_clusters_are_left_out() -> None:
    assert [node["host"] for node in nodes()] == ["zk1", "zk2", "zk3"]


def test_members_are_written_as_zookeeper_reads_them() -> None:
    assert server_properties(nodes()) == {
        "server.1": "10.0.0.1:2888:3888",
        "server.2": "10.0.0.2:2888:3888",
        "server.3": "[fd00::3]:2888:3888",
    }


@pytest.mark.parametrize(("chroot", "end"), [("", ""), ("/", ""), ("/blue", "/blue"), ("blue/", "/blue")])
def test_brokers_are_told_all_servers_and_the_chroot_once(chroot: str, end: str) -> None:
    assert connect_string(nodes(), chroot) == f"10.0.0.1:2181,10.0.0.2:2281,[fd00::3]:2181{end}"


def test_clients_are_told_the_port_of_each_server() -> None:
    assert client_addresses(nodes())[1] == "10.0.0.2:2281"
    assert expected_servers(nodes())[1] == {"id": 2, "host": "10.0.0.2", "port": 2281}


def test_the_ports_are_listeners_of_their_purposes() -> None:
    assert [(one["purpose"], one["port"]) for one in nodes()[0]["listeners"]] == [
        ("zookeeper_clients", 2181),
        ("zookeeper_quorum", 2888),
        ("zookeeper_election", 3888),
    ]


def running(*memberships: tuple[int, ...]) -> list[dict[str, Any]]:
    """Servers that serve, each started with one of these memberships."""
    return [{"id": n, "state": "follower", "members": list(ids)} for n, ids in enumerate(memberships, 1)]


def test_three_become_five_and_back_one_at_a_time() -> None:
    grown = member_steps(running((1, 2, 3), (1, 2, 3)), [1, 2, 3, 4, 5])
    assert grown == [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]]
    back = member_steps(running((1, 2, 3, 4, 5)), [1, 2, 3])
    assert back == [[1, 2, 3, 4, 5], [1, 2, 3, 4], [1, 2, 3]]
    assert own_steps(grown, 4) == [1, 2]
    assert own_steps(back, 5) == [0]


def test_a_server_is_exchanged_by_adding_before_removing() -> None:
    assert member_steps(running((1, 2, 3)), [1, 2, 4]) == [[1, 2, 3], [1, 2, 3, 4], [1, 2, 4]]


def test_a_cut_step_is_taken_again() -> None:
    mixed = running((1, 2, 3, 4), (1, 2, 3), (1, 2, 3), (1, 2, 3, 4))
    assert member_steps(mixed, [1, 2, 3, 4, 5]) == [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5]]


def test_one_that_serves_alone_becomes_two_before_three() -> None:
    alone = [{"id": 1, "state": "standalone", "members": [1]}, {"id": 2, "state": "not serving", "members": []}]
    assert member_steps(alone, [1, 2, 3]) == [[1], [1, 2], [1, 2, 3]]


def test_memberships_that_are_no_step_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="no single step apart"):
        member_steps(running((1, 2, 3), (1, 2, 3, 4, 5)), [1, 2, 3])
    with pytest.raises(ValueError, match="no ensemble member is running"):
        member_steps([{"id": 1, "state": "unreachable", "members": []}], [1, 2, 3])


MEMBERSHIPS = st.sets(st.integers(1, 9), min_size=3, max_size=7)


@settings(max_examples=50)
@given(MEMBERSHIPS, MEMBERSHIPS)
def test_every_two_majorities_that_follow_each_other_share_a_server(now: set[int], target: set[int]) -> None:
    steps = member_steps(running(tuple(sorted(now))), target)
    assert steps[0] == sorted(now)
    assert steps[-1] == sorted(target)
    for before, after in pairwise(steps):
        for old in combinations(before, len(before) // 2 + 1):
            for new in combinations(after, len(after) // 2 + 1):
                assert set(old) & set(new)


def test_a_member_that_moves_neither_comes_nor_goes() -> None:
    reasons = [
        {"name": "server.1", "from": "a", "to": "b"},
        {"name": "server.2", "from": None, "to": "b"},
        {"name": "server.3", "from": "a", "to": None},
        {"name": "tickTime", "from": None, "to": "1"},
    ]
    assert [one["name"] for one in membership_changes(reasons)] == ["server.2", "server.3"]
