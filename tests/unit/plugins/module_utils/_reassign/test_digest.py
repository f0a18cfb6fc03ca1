# SPDX-License-Identifier: GPL-3.0-or-later
"""The digest of a plan, and what is said of a plan that was not approved."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.digest import digests_in, plan_digest, refusal
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import planned
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record, record_of

ONE: dict[str, Any] = {"topic": "t", "partition": 0, "from": [1, 2], "to": [1, 3], "bytes": 5, "reasons": ["a"]}
TWO: dict[str, Any] = {"topic": "t", "partition": 10, "from": [1, 2], "to": [2, 1], "bytes": 5, "reasons": ["b"]}


def test_a_digest_tells_partitions_and_moves_and_not_sizes_reasons_or_the_order_of_changes() -> None:
    found = plan_digest("c", [ONE, TWO])
    assert re.fullmatch("2-1-[0-9a-f]{64}", found)
    assert found == plan_digest("c", [{**TWO, "bytes": None}, {**ONE, "reasons": []}])
    assert found == plan_digest("c", [{**ONE, "from": (1, 2), "to": (1, 3)}, TWO])


@pytest.mark.parametrize("other", [{"to": [3, 1]}, {"from": [2, 1]}, {"topic": "u"}, {"partition": 1}])
def test_another_move_another_leader_and_another_place_to_come_from_are_another_plan(other: dict[str, Any]) -> None:
    assert plan_digest("c", [{**ONE, **other}]) != plan_digest("c", [ONE])


def test_the_same_moves_in_another_cluster_are_another_plan() -> None:
    assert plan_digest("c", [ONE]) != plan_digest("d", [ONE])


def test_a_digest_is_the_same_on_every_machine_and_in_every_version() -> None:
    found = plan_digest("Ünï", [{**ONE, "topic": "t"}])
    assert found == "1-1-c0d8294a1985081f8aaf626ec701075870cb1ec5336885d5ea8d19b3b794cf73"


@pytest.mark.parametrize("text", ["", None, "  ", "\n", ","])
def test_empty_text_approves_nothing_and_refuses_nothing(text: str | None) -> None:
    assert digests_in(text) == []
    assert refusal(text, plan_digest("c", [ONE])) is None


def test_the_approved_plan_may_be_one_of_several_clusters() -> None:
    mine, other = plan_digest("c", [ONE]), plan_digest("d", [TWO])
    for text in (mine, f"{other},{mine}", f"{mine} {other}\n"):
        assert refusal(text, mine) is None


def test_another_plan_is_refused_with_what_it_changes_then_and_now() -> None:
    said = refusal(plan_digest("c", [ONE]), plan_digest("c", [ONE, TWO]))
    assert said is not None
    assert "approved one changes 1 partition with 1 move, the plan of now 2 partitions with 1 move." in said
    assert "fix: run it with plan_only=true" in said
    same = refusal(plan_digest("c", [ONE]), plan_digest("c", [{**ONE, "to": [1, 4]}]))
    assert "the plan of now 1 partition with 1 move, but other ones" in str(same)


def test_a_plan_that_changes_nothing_any_more_is_not_refused() -> None:
    assert refusal(plan_digest("c", [ONE]), plan_digest("c", [])) is None


@pytest.mark.parametrize("text", ["yes", "1-1-abc", "x" * 500])
def test_what_is_no_digest_is_named_as_such(text: str) -> None:
    said = refusal(text, plan_digest("c", [ONE]))
    assert "which is no digest of a plan" in str(said)
    assert len(str(said)) < 400


def test_what_an_earlier_run_began_without_a_digest_is_not_the_approved_plan() -> None:
    assert "the plan of now an unknown number of partitions" in str(refusal(plan_digest("c", [ONE]), ""))


def test_a_record_keeps_the_digest() -> None:
    record = Record({"drain": [1]}, (), digest="1-1-a")
    assert record_of(record.as_data()) == record


SNAPSHOT: dict[str, Any] = {
    "cluster_id": "abc",
    "nodes": [{"id": 1}, {"id": 2}, {"id": 3}],
    "topics": [{"name": "t", "partitions": [{"partition": n, "replicas": [1, 2], "bytes": 9} for n in range(6)]}],
}
PARAMS: dict[str, Any] = {
    "rack_rule": "strict",
    "leaders": "auto",
    "concurrency": 5,
    "throttle": None,
    "replication_factor": {"t": 3},
}


def test_a_plan_made_twice_has_one_digest_however_it_is_paced() -> None:
    found = planned(SNAPSHOT, PARAMS, registered_only=True)
    assert found["plan_digest"] == plan_digest("abc", found["changes"])
    paced = planned(SNAPSHOT, {**PARAMS, "concurrency": 1, "throttle": 1000}, registered_only=True)
    assert paced["plan_digest"] == found["plan_digest"]


def test_a_cluster_id_that_is_no_text_is_refused() -> None:
    with pytest.raises(RefusedError, match="cluster_id: 7 is not a text"):
        planned({**SNAPSHOT, "cluster_id": 7}, PARAMS, registered_only=True)
