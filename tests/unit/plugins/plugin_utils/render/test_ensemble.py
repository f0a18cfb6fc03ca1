# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server of ZooKeeper makes of what it saw of its ensemble."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.inventory_data import view


def ensemble(reasons: Any = (), states: str = "lff", leaving: Any = ()) -> Any:
    """Seen by z2, of three servers that run with members 1, 2 and 3; a fourth one is new."""
    servers = [
        {"id": number, "state": {"l": "leader", "f": "follower", "u": "unreachable"}[state], "members": [1, 2, 3]}
        for number, state in enumerate(states, 1)
    ]
    seen = {"__common_node_info": {"restart_reasons": list(reasons)}, "__zookeeper_ensemble_now": {"servers": servers}}
    hosts = {f"z{number}": {"zookeeper_id": number, **seen} for number in (1, 2, 3, 4)}
    return view(hosts, zookeepers=list(hosts), host="z2", zookeeper_leaving=leaving)["ensemble"]


def test_only_members_that_come_or_go_are_named() -> None:
    kind = "property"
    comes = {"name": "server.4", "kind": kind, "from": None, "to": "z4:2888:3888"}
    moves = {"name": "server.1", "kind": kind, "from": "a", "to": "b"}
    other = {"name": "tickTime", "kind": kind, "from": None, "to": "1"}
    assert ensemble([comes, moves, other])["changes"] == ["property server.4: (not set) -> z4:2888:3888"]


def test_a_server_that_leaves_is_a_member_until_its_step() -> None:
    found = ensemble(leaving=["z2"])
    assert found["target"] == [1, 3, 4]
    assert found["steps"] == [[1, 2, 3], [1, 2, 3, 4], [1, 3, 4]]
    assert found["own_steps"] == [0, 1]
    assert found["missing"] == []


@pytest.mark.parametrize(
    ("text", "target"), [("z2, z4", [1, 3]), ("z4,", [1, 2, 3]), ("", [1, 2, 3, 4]), ("z22", [1, 2, 3, 4])]
)
def test_text_of_a_survey_names_whole_hosts(text: str, target: list[int]) -> None:
    assert ensemble(leaving=text)["target"] == target


def test_a_member_that_does_not_serve_is_missing() -> None:
    assert ensemble(states="lfu")["missing"] == [3]


def test_a_server_that_serves_alone_needs_no_line_for_itself() -> None:
    comes = {"name": "server.1", "kind": "property", "from": None, "to": "z1:2888:3888"}
    goes = {"name": "server.2", "kind": "property", "from": "z2:2888:3888", "to": None}
    for reasons, changes in (([comes], []), ([comes, goes], 2), ([goes], 1)):
        seen = {"zookeeper_id": 1, "__common_node_info": {"restart_reasons": reasons}}
        found = view({"z1": seen}, zookeepers=["z1"])["ensemble"]["changes"]
        assert (found if changes == [] else len(found)) == changes
