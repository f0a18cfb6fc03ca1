# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster makes of its inventory and of the voters that its quorum told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.inventory_data import view

LISTENERS = [
    {"name": "CLIENTS", "port": 9092, "purpose": "clients"},
    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
]


def member(number: int) -> dict[str, Any]:
    return {"id": number, "directory_id": f"d{number}", "log_end_offset": 9, "lag": 0, "last_caught_up_ms_ago": 1}


def voters(*ids: int | dict[str, Any], leaving: Any = (), missing: bool = False) -> Any:
    """The inventory has c1, c2 and c3; the quorum has other voters."""
    quorum = {"leader_id": 1, "leader_epoch": 1, "high_watermark": 9, "observers": [], "error": None}
    asked = {
        "nodes": [],
        "cluster_id": "c",
        "quorum": {**quorum, "voters": [member(one) if isinstance(one, int) else one for one in ids]},
    }
    hosts: dict[str, dict[str, Any]] = {f"c{one}": {"kafka_node_id": one} for one in (1, 2, 3)}
    hosts["c1"]["__common_registered"] = asked
    common = {"kafka_listeners": LISTENERS, "kafka_controllers_leaving": leaving, "_common_changes_voters": missing}
    return view(hosts, controllers=list(hosts), host="c2", **common)


def test_who_comes_is_known_on_every_host() -> None:
    found = voters(1)["voters"]
    assert (found["joining"], found["leaving"], found["refusal"]) == (["c2", "c3"], [], "")
    assert found["lines"][0].endswith("1 voter now, 3 wanted")


@pytest.mark.parametrize("leaving", [["c2", "c3"], "c2,c3", "c2, c3", '["c2", "c3"]'])
def test_who_goes_may_be_a_list_or_text(leaving: Any) -> None:
    found = voters(1, 2, 3, leaving=leaving)["voters"]
    assert (found["going"], found["leaving"], found["refusal"]) == ([2, 3], ["c2", "c3"], "")
    assert "Take c2, c3 out of kraft_controllers now" in found["left"][1]


def test_a_voter_that_the_inventory_lacks_goes_too() -> None:
    found = voters(1, 2, 3, 4)["voters"]
    assert found["going"] == [4]
    assert len(found["left"]) == 1


def test_only_a_change_of_the_voters_takes_an_inventory_that_lacks_one() -> None:
    def lacks(changes: bool) -> list[str]:
        model = voters(1, 2, 3, 4, missing=changes)
        return list(model["seen"]["missing"])

    assert len(lacks(False)) == 1
    assert lacks(True) == []


def test_without_an_answer_it_is_said_and_nobody_goes_or_is_gone() -> None:
    hosts: dict[str, dict[str, Any]] = {f"c{one}": {"kafka_node_id": one} for one in (1, 2, 3)}
    hosts["c1"]["__common_registered"] = {"msg": "connection timed out", "failed": True}
    common = {"kafka_listeners": LISTENERS, "kafka_controllers_leaving": "c3"}
    found = view(hosts, controllers=list(hosts), host="c2", **common)["voters"]
    assert "connection timed out" in found["unanswered"]
    assert (found["going"], found["gone"], found["leaving"]) == ([], [], ["c3"])


def test_a_controller_is_gone_once_it_votes_no_more() -> None:
    assert voters(1, 2, 3, leaving="c2,c3")["voters"]["gone"] == []
    found = voters(1, 3, leaving="c2,c3")["voters"]
    assert (found["gone"], found["unanswered"]) == (["c2"], "")


def test_who_does_not_answer_goes_first() -> None:
    down = {**member(4), "last_caught_up_ms_ago": None}
    assert voters(1, 2, 3, down, leaving="c3")["voters"]["silent"] == [4]
    assert voters(1, 2, 3, 4)["voters"]["silent"] == []


def test_that_one_controller_joins_by_itself_is_seen_wherever_it_stands() -> None:
    auto = {"kraft_controller_config": {"controller.quorum.auto.join.enable": "true"}}
    hosts: dict[str, dict[str, Any]] = {f"c{one}": {"kafka_node_id": one} for one in (1, 2, 3)}
    hosts["c3"].update(auto)
    found = view(hosts, controllers=list(hosts), host="c1", kafka_listeners=LISTENERS)["voters"]["facts"]
    assert found.joins_itself is True
    assert voters(1, 2, 3)["voters"]["facts"].joins_itself is False


def test_what_wins_says_whether_a_controller_joins_by_itself() -> None:
    key = "controller.quorum.auto.join.enable"
    hosts: dict[str, dict[str, Any]] = {f"c{one}": {"kafka_node_id": one} for one in (1, 2, 3)}
    common = {"kafka_listeners": LISTENERS, "kafka_config": {key: True}, "kraft_controller_config": {key: "false"}}
    found = view(hosts, controllers=list(hosts), host="c1", **common)["voters"]["facts"]
    assert found.joins_itself is False


@pytest.mark.parametrize("asked_for", [True, "true", "yes"])
def test_a_static_quorum_goes_dynamic_where_it_is_asked_for_also_by_text(asked_for: Any) -> None:
    static = [{**member(one), "directory_id": None} for one in (1, 2, 3)]
    taken = {"changes": [{"feature": "kraft.version", "from": 0, "to": 1}]}
    seen = {"version": "4.3.1", "process": {"running": True}}

    def found(raising: dict[str, Any], **common: Any) -> Any:
        hosts: dict[str, dict[str, Any]] = {
            f"c{one}": {"kafka_node_id": one, "__common_node_info": seen} for one in (1, 2, 3)
        }
        quorum = {"leader_id": 1, "leader_epoch": 1, "high_watermark": 9, "observers": [], "error": None}
        hosts["c1"]["__common_registered"] = {"nodes": [], "cluster_id": "c", "quorum": {**quorum, "voters": static}}
        hosts["c1"]["__common_voters_raising"] = raising
        known = {"kafka_listeners": LISTENERS, "kafka_version": "4.3.1", **common}
        return view(hosts, controllers=list(hosts), host="c1", **known)["voters"]

    goes = found(taken, kafka_dynamic_quorum=asked_for)
    assert (goes["goes_dynamic"], goes["refusal"], goes["joining"]) == (True, "", [])
    assert "kafka_dynamic_quorum=true" in found(taken)["refusal"]
    assert found(taken)["goes_dynamic"] is False
    assert "kraft.version 1 is refused" in found({}, kafka_dynamic_quorum=asked_for)["refusal"]
