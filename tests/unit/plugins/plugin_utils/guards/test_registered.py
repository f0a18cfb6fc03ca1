# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes that a cluster knows and its inventory lacks, by table."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.registered import (
    accepted_ids,
    missing,
    more_brokers,
)

COMBINED = ["broker", "controller"]


def nodes(*ids: int, roles: list[str] | None = None) -> list[dict[str, Any]]:
    return [{"node_id": one, "roles": roles or COMBINED} for one in ids]


def cluster(
    brokers: list[int], voters: list[int] | None, fenced: int | None = None, replicas: int = 7
) -> dict[str, Any]:
    """What cluster_info returned."""
    known = [{"id": one, "fenced": one == fenced, "replicas": replicas} for one in brokers]
    return {"nodes": known, "quorum": None if voters is None else {"voters": [{"id": one} for one in voters]}}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"msg": "connection timed out"},
        cluster([1, 2, 3], [1, 2, 3]),
        cluster([1], [1]),
        cluster([1, 2, 3], None),
        {**cluster([1, 2], None), "quorum": {"error": "no answer", "voters": []}},
    ],
)
def test_nothing_is_missing_where_all_is_known_or_nothing_was_told(answer: dict[str, Any]) -> None:
    assert missing(nodes(1, 2, 3), answer) == []


def test_a_broker_that_lives_is_named_with_the_playbook_that_removes_it() -> None:
    (line,) = missing(nodes(1, 2, 3), cluster([1, 2, 3, 4], [1, 2, 3]))
    assert line.startswith("broker 4 is registered and alive, with 7 replicas. fix: add its host")
    assert "drain_and_remove_broker" in line


@pytest.mark.parametrize(
    ("replicas", "parts"),
    [
        (1, ["down (fenced), with 1 replica.", "replace_node with kafka_replaced_id=4"]),
        (0, ["down (fenced), with no replicas.", "broker_registration (broker: 4, state: unregistered)"]),
    ],
)
def test_a_broker_that_is_down_is_named_with_what_unregisters_it(replicas: int, parts: list[str]) -> None:
    (line,) = missing(nodes(1, 2, 3), cluster([1, 2, 3, 4], [1, 2, 3], fenced=4, replicas=replicas))
    assert all(part in line for part in parts), line


def test_a_voter_is_named_with_the_voters_of_the_quorum() -> None:
    inventory = [*nodes(1, 2, roles=["controller"]), *nodes(4, 5, 6, roles=["broker"])]
    (line,) = missing(inventory, cluster([4, 5, 6], [1, 2, 3]))
    assert line.startswith("controller 3 is one of the 3 voters of the quorum (1, 2, 3). fix: add its host")
    assert "to remove it for good, run playbooks/voters.yml" in line


def test_a_combined_node_is_missing_as_both() -> None:
    first, second = missing(nodes(1, 2), cluster([1, 2, 3], [1, 2, 3]))
    assert first.startswith("controller 3")
    assert second.startswith("broker 3")


def test_a_consent_covers_the_ids_that_it_names() -> None:
    answer = cluster([1, 2, 3, 4], [1, 2, 3])
    assert missing(nodes(1, 2), answer, {3, 4}) == []
    assert [line.split(" is ")[0] for line in missing(nodes(1, 2), answer, {3})] == ["broker 4"]


def test_a_host_that_lost_a_role_is_missing_in_that_role() -> None:
    (line,) = missing([*nodes(1, 2), *nodes(3, roles=["broker"])], cluster([1, 2, 3], [1, 2, 3]))
    assert line.startswith("controller 3")


@pytest.mark.parametrize("given", [[4, 12], ["4", "12"], "4,12", "[4, 12]", " 4 , 12 "])
def test_ids_are_a_list_or_text(given: Any) -> None:
    assert accepted_ids(given) == {4, 12}


def test_no_ids_are_none_and_names_are_no_ids() -> None:
    assert accepted_ids([]) == accepted_ids("") == accepted_ids(None) == accepted_ids("[]") == set()
    with pytest.raises(ValueError, match="kafka_accept_missing_nodes"):
        accepted_ids("kafka4")


def test_brokers_beside_those_of_the_inventory_are_counted() -> None:
    assert more_brokers(nodes(1, 2), cluster([1, 2, 3], [])) == 1
    assert more_brokers(nodes(1, 2, 3, 4), cluster([1, 2, 3], [])) == 0
    assert more_brokers(nodes(1, 2), {}) == 0
