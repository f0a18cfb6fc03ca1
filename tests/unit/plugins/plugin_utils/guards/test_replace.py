"""What a broker with empty disks would lose for everybody, and what somebody may consent to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.replace import (
    consented,
    losses,
    place_refusal,
    ranges,
    replace_refusal,
    topic_names,
)

Row = tuple[int | None, list[int], list[int]]


def cluster(
    *rows: Row, dead: tuple[int, ...] = (3,), eligible: Any = None, last: Any = None, topic: str = "orders"
) -> dict[str, Any]:
    """What cluster_info returns of one topic; a row is leader, replicas and ISR of a partition."""
    partitions = [
        {"topic": topic, "partition": number, "leader": leader, "replicas": replicas, "isr": isr}
        for number, (leader, replicas, isr) in enumerate(rows)
    ]
    offline = [
        {**one, "eligible_leaders": eligible, "last_known_leaders": last} for one in partitions if one["leader"] is None
    ]
    nodes = [{"id": broker, "fenced": broker in dead} for broker in (1, 2, 3)]
    return {"nodes": nodes, "topics": [{"name": topic, "partitions": partitions}], "offline": offline}


def kinds(seen: dict[str, Any], broker: int = 3) -> list[tuple[int, str, tuple[int, ...]]]:
    return [(one.index, one.kind, one.holders) for one in losses(seen, broker)]


@pytest.mark.parametrize(
    "row", [(1, [1, 2, 3], [1, 2]), (1, [3, 1], [1]), (1, [1, 2], [1, 2]), (None, [1, 2], [1])], ids=str
)
def test_a_broker_that_another_one_leads_for_or_that_has_no_replica_loses_nothing(row: Row) -> None:
    assert kinds(cluster(row)) == []


@pytest.mark.parametrize(
    ("row", "kind", "holders"),
    [
        # Classic: the last member stays in the ISR when its broker goes.
        ((None, [3], [3]), "only", ()),
        ((None, [3, 1, 2], [3]), "last", ()),
        ((None, [3, 1], [1]), "elsewhere", (1,)),
        ((None, [3, 1], [1, 3]), "elsewhere", (1,)),
        ((None, [3, 1], []), "unknown", ()),
        # A broker that lags behind the controller still tells of the leader that has died.
        ((3, [3, 1], [3]), "last", ()),
        ((3, [3, 1], [1, 3]), "elsewhere", (1,)),
        ((1, [3, 1], [1, 3]), "counted", ()),
    ],
    ids=str,
)
def test_a_partition_without_another_live_leader_is_refused(row: Row, kind: str, holders: tuple[int, ...]) -> None:
    assert kinds(cluster(row)) == [(0, kind, holders)]


def test_a_leader_that_is_not_alive_is_none() -> None:
    assert kinds(cluster((1, [1, 3], [1]), dead=(1, 3))) == [(0, "elsewhere", (1,))]


@pytest.mark.parametrize(
    ("eligible", "last", "kind", "holders"),
    [
        # With eligible leader replicas the ISR is empty: the last member went below min.insync.replicas.
        ([3], [], "last", ()),
        ([1, 3], [], "elsewhere", (1,)),
        ([1], [3], "elsewhere", (1,)),
        # An empty disk registers as unclean, and the last leader that was known is elected all the same.
        ([], [3], "last", ()),
        ([], [2], "elsewhere", (2,)),
        ([], [], "unknown", ()),
    ],
)
def test_who_is_eligible_is_known_where_the_isr_is_empty(
    eligible: list[int], last: list[int], kind: str, holders: tuple[int, ...]
) -> None:
    assert kinds(cluster((None, [3, 1, 2], []), eligible=eligible, last=last)) == [(0, kind, holders)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, 1, 2, 3]), st.sets(st.sampled_from([1, 2, 3]), min_size=1), st.sets(st.just(3))
        ),
        max_size=5,
    )
)
def test_whatever_the_metadata_says_nothing_that_is_not_led_by_another_live_broker_passes(rows: Any) -> None:
    seen = cluster(*((leader, sorted(replicas), sorted(isr & replicas)) for leader, replicas, isr in rows))
    refused = {one.index for one in losses(seen, 3)}
    for number, (leader, replicas, _isr) in enumerate(rows):
        if 3 in replicas and leader not in (1, 2):
            assert number in refused


def test_the_refusal_names_topics_partitions_the_safe_way_first_and_the_consent_last() -> None:
    said = replace_refusal(cluster((None, [3], [3]), (None, [3, 1], [3]), (None, [3, 1], [1]), dead=(1, 3)), 3)
    assert "- orders: partition 0: broker 3 has the only replica\n" in said
    assert "- orders: partition 1: broker 3 is the last one in sync\n" in said
    assert "- orders: partition 2: no leader; broker 1 has the data and is down\n" in said
    steps = ["start broker 1 first", "Bring back the old disk of broker 3", '{"kafka_replace_lost_topics": ["orders"]}']
    assert sorted(steps, key=said.index) == steps


def test_elected_is_what_was_lost_and_named_and_saved_is_what_another_live_broker_has() -> None:
    rows: list[Row] = [
        (None, [3], [3]),
        (None, [3, 1], [3]),
        (None, [3, 2], [2]),
        (1, [3, 1], [1]),
        (1, [1, 3], [1, 3]),
    ]
    seen = cluster(*rows, dead=(2, 3))
    named = [(one["topic"], one["partition"]) for one in consented(seen, 3, "orders")]
    assert named == [("orders", 0), ("orders", 1)], "neither what a broker has that is down, nor what is led"
    assert [one["partition"] for one in consented(seen, 3, ["orders"], outlived=True)] == [1]
    assert consented(seen, 3, "payments") == consented(seen, 3, []) == consented(seen, 3, None) == []


def test_after_the_return_of_the_broker_the_same_is_elected() -> None:
    # With eligible leader replicas its registration empties them: it is only the last leader that was known.
    rows: list[Row] = [(None, [3], [3]), (None, [3], [])]
    assert len(consented(cluster(*rows, dead=(), eligible=[], last=[3]), 3, "orders")) == 2


def test_consent_is_for_the_topics_that_it_names() -> None:
    both = cluster((None, [3], [3]))
    more = cluster((None, [3], [3]), topic="payments")
    both["topics"] += more["topics"]
    both["offline"] += more["offline"]
    left = replace_refusal(both, "3", "orders")
    assert "- payments: partition 0" in left
    assert "- orders" not in left
    assert replace_refusal(both, 3, ["orders", "payments"]) == ""
    assert "- orders" in replace_refusal(both, 3, ["ALL"]), "there is no name for all topics"


@pytest.mark.parametrize(
    ("given_text", "names"),
    [
        ([], []),
        ("", []),
        ("orders", ["orders"]),
        (" orders, payments ,", ["orders", "payments"]),
        ('["orders", "payments"]', ["orders", "payments"]),
        (("orders",), ["orders"]),
        ("[orders, payments]", ["orders", "payments"]),
        ("['orders','payments']", ["orders", "payments"]),
        ("[orders]", ["orders"]),
        ("[]", []),
        (None, []),
    ],
)
def test_topics_may_be_given_as_text(given_text: Any, names: list[str]) -> None:
    assert topic_names(given_text) == names


@pytest.mark.parametrize("bad", [True, 3, {"orders": 1}, [1], "[orders", '[{"a": 1}]', "[{a: 1}]", "[a b]", "[1]"])
def test_what_is_no_list_of_topics_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="kafka_replace_lost_topics is no list of topics"):
        topic_names(bad)


@pytest.mark.parametrize("nothing", ["null", "None", " none ", "~"])
def test_a_word_for_nothing_is_no_topic(nothing: str) -> None:
    with pytest.raises(ValueError, match="kafka_replace_lost_topics is no list of topics"):
        topic_names(nothing)
    assert topic_names(["null"]) == ["null"]


@pytest.mark.parametrize(
    "bad", ["*", "orders;payments", "orders payments", '{"a":1}', ["*"], ["a/b"], ["orders,payments"], "..", "a" * 250]
)
def test_a_name_that_no_topic_can_have_is_refused_with_the_separator(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"which no topic can be called .*with commas between the names"):
        topic_names(bad)


def test_a_place_is_taken_only_where_somebody_leads() -> None:
    assert place_refusal(cluster((1, [3, 1], [1])), 3) == ""
    assert place_refusal(cluster((3, [3], [3]), dead=()), "3") == "", "a broker that lives is copied from"
    said = place_refusal(cluster((None, [3], [3]), (None, [3, 1], [1])), 3)
    assert "- orders: partition 0: no leader; broker 3 has the data and is down" in said
    assert "start broker 1, 3 with its disks" in said
    assert "no replica is known to be in sync" in place_refusal(cluster((None, [3, 1], [])), 3)


def test_what_is_never_deleted_comes_back_under_its_own_id() -> None:
    mixed = cluster((None, [3], [3]))
    for name in ("__consumer_offsets", "_streamops_state"):
        more = cluster((None, [3], [3]), topic=name)
        mixed["topics"] += more["topics"]
        mixed["offline"] += more["offline"]
    said = place_refusal(mixed, 3)
    assert "delete the other topics and create them again" in said
    assert "__consumer_offsets, _streamops_state are never deleted: bring broker 3 back with empty disks" in said
    assert '{"kafka_replace_lost_topics": ["__consumer_offsets", "_streamops_state"]}' in said
    alone = place_refusal(cluster((None, [3], [3]), topic="_streamops_state"), 3)
    assert "_streamops_state is never deleted" in alone
    assert "create them again" not in alone
    assert "delete these topics and create them again" in place_refusal(cluster((None, [3], [3])), 3)


def test_consent_to_a_loss_is_not_ignored_where_another_broker_takes_the_place() -> None:
    said = place_refusal(cluster((None, [3], [3])), 3, "orders")
    assert "kafka_replace_lost_topics does not apply with kafka_replaced_id" in said
    assert place_refusal(cluster((1, [3, 1], [1])), 3, "") == place_refusal(cluster((1, [3, 1], [1])), 3, None) == ""


@pytest.mark.parametrize(
    ("row", "eligible", "kinds_found"),
    [
        ((None, [3, 1], [1]), None, []),
        ((None, [3, 1, 2], []), [1], []),
        ((None, [3, 1], [1, 3]), None, ["elsewhere"]),
        ((None, [3, 1], [3]), None, ["last"]),
        ((None, [3, 1, 2], []), [1, 3], ["elsewhere"]),
        ((None, [3, 1], []), None, ["unknown"]),
        ((1, [3, 1], [1, 3]), None, ["counted"]),
    ],
    ids=str,
)
def test_a_broker_that_could_not_lead_loses_nothing_unless_anybody_may(
    row: Row, eligible: Any, kinds_found: list[str]
) -> None:
    seen = cluster(row, eligible=eligible, dead=(1, 3) if row[0] is None else (3,))
    for value, expected in (("false", kinds_found), ("true", kinds_found or ["elsewhere"])):
        seen["topics"][0]["config"] = {"unclean.leader.election.enable": value}
        assert [one.kind for one in losses(seen, 3)] == expected
    del seen["topics"][0]["config"]
    assert [one.kind for one in losses(seen, 3)] == (kinds_found or ["elsewhere"]), "not known is as if it were on"


def test_ranges_are_short_and_thousands_of_topics_are_counted() -> None:
    assert ranges([3, 0, 1, 2, 7]) == "0-3, 7"
    assert ranges(range(0, 100, 2)).endswith("38 and 30 more")
    many = cluster()
    for number in range(60):
        one = cluster((None, [3], [3]), topic=f"t{number:02}")
        many["topics"] += one["topics"]
        many["offline"] += one["offline"]
    assert "- and 10 more\n" in replace_refusal(many, 3)
    assert json.dumps("t49") in replace_refusal(many, 3)
    assert json.dumps("t50") not in replace_refusal(many, 3)
