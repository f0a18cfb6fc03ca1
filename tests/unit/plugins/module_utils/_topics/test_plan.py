"""Deciding about topics: which plan follows from what is there and what is wanted, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.bulk import MAX_RECORDS
from ansible_collections.streamops.kafka.plugins.module_utils._topics.desired import (
    DesiredTopic,
    TopicState,
    parse_specs,
)
from ansible_collections.streamops.kafka.plugins.module_utils._topics.plan import (
    CONFIGURED,
    CREATED,
    DELETED,
    GROWN,
    Asked,
    Brokers,
    OtherFactor,
    Plan,
    changes_of,
    growth_requests,
    plan_topic,
    plan_topics,
    records,
)

BROKERS = Brokers(dict.fromkeys((1, 2, 3)))


def plan(state: dict[str, TopicState], *specs: DesiredTopic, allow_delete: bool = False) -> Plan:
    """The plan on three live brokers."""
    return plan_topics(state, Asked(specs, allow_delete), BROKERS)


def at_topic(value: str, kind: str = "LONG") -> ConfigValue:
    """A value set at the topic itself."""
    return ConfigValue(value, kind, "DYNAMIC_TOPIC")


def test_a_missing_topic_is_created_with_its_keys() -> None:
    found = plan({}, DesiredTopic("a", 3, 2, {"retention.ms": "1", "segment.ms": None}))
    (topic,) = found.topics
    assert (topic.creates, topic.create_with, topic.growth) == (True, 3, None)
    assert topic.config == {"retention.ms": "1"}
    assert topic.change.before is None
    assert topic.change.after == {"partitions": 3, "replication_factor": 2, "config": {"retention.ms": "1"}}


def test_a_topic_as_wanted_needs_nothing() -> None:
    state = {"a": TopicState(3, 2, {"retention.ms": at_topic("1000")})}
    assert plan(state, DesiredTopic("a", 3, 2, {"retention.ms": "1000"})) == Plan(())


def test_more_partitions_grow_the_topic_and_tell_from_and_to() -> None:
    (topic,) = plan({"a": TopicState(3, 2)}, DesiredTopic("a", 5, 2)).topics
    assert topic.growth == (3, 5)
    assert (topic.change.before, topic.change.after) == ({"partitions": 3}, {"partitions": 5})


def test_only_named_keys_are_compared_and_changed() -> None:
    state = {"a": TopicState(3, 2, {"retention.ms": at_topic("1"), "segment.ms": at_topic("7")})}
    (topic,) = plan(state, DesiredTopic("a", config={"retention.ms": "2"})).topics
    assert topic.config == {"retention.ms": "2"}
    assert topic.change.before == {"config": {"retention.ms": "1"}}


def test_a_value_equal_to_the_default_is_still_set_at_the_topic() -> None:
    state = {"a": TopicState(3, 2, {"retention.ms": ConfigValue("5", "LONG", "DEFAULT")})}
    (topic,) = plan(state, DesiredTopic("a", config={"retention.ms": "5"})).topics
    assert topic.change.before == {"config": {"retention.ms": "5 (default)"}}


def test_null_takes_a_key_back_once() -> None:
    spec = DesiredTopic("a", config={"retention.ms": None})
    (topic,) = plan({"a": TopicState(3, 2, {"retention.ms": at_topic("1")})}, spec).topics
    assert topic.config == {"retention.ms": None}
    assert plan({"a": TopicState(3, 2, {"retention.ms": ConfigValue("1", "LONG", "STATIC_BROKER")})}, spec).topics == ()


def test_another_replication_factor_is_reported_and_left() -> None:
    found = plan({"a": TopicState(3, 2)}, DesiredTopic("a", 3, 3))
    assert found == Plan((), replication_differs=(OtherFactor("a", 2, 3),))


@pytest.mark.parametrize(
    ("replicas", "wanted", "differs"),
    [
        (((1, 2, 3), (2,), (3, 1, 2)), 3, (OtherFactor("a", 1, 3, (1,)),)),
        (((1, 2, 3), (2,), (3, 1, 2)), 1, (OtherFactor("a", 1, 1, (0, 2)),)),
        (((1, 2), (2,), (3,)), 3, (OtherFactor("a", 1, 3, (0, 1, 2)),)),
        (((1, 2), (2, 3), (3, 1)), 3, (OtherFactor("a", 2, 3),)),
        (((1, 2), (2, 3), (3, 1)), 2, ()),
    ],
)
def test_partitions_that_have_another_number_of_replicas_are_named(
    replicas: tuple[tuple[int, ...], ...], wanted: int, differs: tuple[OtherFactor, ...]
) -> None:
    now = TopicState(3, max(map(len, replicas)), {}, replicas)
    assert plan({"a": now}, DesiredTopic("a", 3, wanted)).replication_differs == differs


def test_the_partition_with_the_fewest_replicas_says_whether_one_may_be_away() -> None:
    now = TopicState(2, 3, {}, ((1, 2, 3), (2, 1)))
    assert plan({"a": now}, DesiredTopic("a", config={"min.insync.replicas": "2"})).all_in_sync == (("a", 2, 2),)


def test_writes_that_a_single_broker_could_stop_are_told() -> None:
    state = {"held": TopicState(3, 2), "one": TopicState(3, 1)}
    wanted = [("held", 3, "2"), ("one", 1, "1"), ("new", 3, "3"), ("above", 2, "3"), ("well", 3, "2"), ("odd", 3, "x")]
    specs = [DesiredTopic(name, 3, factor, {"min.insync.replicas": least}) for name, factor, least in wanted]
    found = plan(state, *specs, DesiredTopic("default", 3, None, {"min.insync.replicas": "3"}), DesiredTopic("b", 3, 3))
    assert found.all_in_sync == (("held", 2, 2), ("new", 3, 3), ("above", 3, 2))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (DesiredTopic("a", 2), "cannot take partitions away"),
        (DesiredTopic("a", absent=True), "Set allow_delete: true"),
        (DesiredTopic("new", 1, 4), "only 3 brokers may get replicas (1, 2, 3)"),
        (DesiredTopic("new", 0, 1), "partitions is 0"),
        (DesiredTopic("new", 1, -1), "replication_factor is -1"),
        (DesiredTopic("__consumer_offsets", 50), "belongs to Kafka itself"),
        (DesiredTopic("a b", 1), "illegal name"),
        (DesiredTopic("..", 1), "illegal name"),
        (DesiredTopic("", 1), "illegal name"),
        (DesiredTopic("n" * 250, 1), "this one has 250"),
        (DesiredTopic("x.y", 1), "collides with x_y"),
    ],
)
def test_what_cannot_be_done_is_refused(spec: DesiredTopic, says: str) -> None:
    found = plan({"a": TopicState(3, 2), "x_y": TopicState(1, 1)}, spec)
    assert len(found.violations) == 1
    assert says in found.violations[0]
    assert not any(topic.delete or topic.growth for topic in found.topics)


def test_all_violations_are_told_at_once() -> None:
    found = plan(
        {"a": TopicState(3, 2)},
        DesiredTopic("a", 1),
        DesiredTopic("b", 1, 9),
        DesiredTopic("b", 1),
        DesiredTopic("c d"),
    )
    assert len(found.violations) == 4


def test_our_own_topics_are_no_internal_ones() -> None:
    assert not plan({}, DesiredTopic("_streamops_smoke", 1, 1)).violations


def test_a_name_of_249_characters_is_allowed() -> None:
    assert not plan({}, DesiredTopic("n" * 249, 1, 1)).violations


def test_deleting_needs_consent_and_an_existing_topic() -> None:
    (topic,) = plan({"a": TopicState(3, 2)}, DesiredTopic("a", absent=True), allow_delete=True).topics
    assert topic.delete
    assert plan({}, DesiredTopic("a", absent=True)) == Plan(())


@pytest.mark.parametrize(
    ("held", "wanted", "refused"),
    [
        ("compact", {}, True),
        ("delete,compact", {}, True),
        ("delete, compact", {}, True),
        (" compact , delete", {}, True),
        ("delete", {"cleanup.policy": "delete, compact"}, True),
        ("delete", {"cleanup.policy": "compact"}, True),
        ("delete", {}, False),
        (None, {}, False),
    ],
)
def test_a_compacted_topic_grows_with_consent_only(held: str | None, wanted: dict[str, Any], refused: bool) -> None:
    config = {} if held is None else {"cleanup.policy": at_topic(held, "LIST")}
    state, spec = {"a": TopicState(3, 2, config)}, DesiredTopic("a", 6, config=wanted)
    found = plan(state, spec)
    assert [("is compacted" in said, "would grow from 3 to 6 partitions" in said) for said in found.violations] == [
        (True, True)
    ] * refused
    agreed = plan_topics(state, Asked([spec], allow_compacted_growth=True), BROKERS)
    assert not agreed.violations
    assert [topic.growth for topic in agreed.topics] == [(3, 6)]
    assert not plan(state, DesiredTopic("a", 3, config=wanted)).violations


def test_fenced_brokers_are_named_when_replicas_are_short() -> None:
    found = plan_topics({}, Asked([DesiredTopic("a", 1, 3)]), Brokers({1: None, 2: None}, fenced=[3]))
    assert "registered but down: 3, start them first" in found.violations[0]


def test_a_cordoned_broker_gets_no_partition_and_is_named() -> None:
    brokers = Brokers({1: None, 2: None, 3: None}, cordoned=[2])
    (violation,) = plan_topics({}, Asked([DesiredTopic("a", 1, 3)]), brokers).violations
    assert "only 2 brokers may get replicas (1, 3); cordoned: 2, uncordon them first" in violation
    (topic,) = plan_topics({}, Asked([DesiredTopic("a", 1, 2, every_broker_leads=True)]), brokers).topics
    assert topic.placed == ((1, 3), (3, 1))


def test_values_of_yaml_become_the_text_of_kafka() -> None:
    item = {"name": "a", "config": {"x": True, "y": [1, "b"], "z": 1e3, "n": None, "bad": {"k": 1}}}
    specs, violations = parse_specs([item])
    assert specs[0].config == {"x": "true", "y": "1,b", "z": "1000", "n": None}
    assert len(violations) == 1


def test_a_topic_above_the_limit_is_created_and_then_grown() -> None:
    (topic,) = plan({}, DesiredTopic("a", 25_000, 1, {"k": "v"})).topics
    assert records(topic) == MAX_RECORDS
    totals = [request["a"] for request in growth_requests([topic])]
    assert totals[-1] == 25_000
    assert all(late - early <= MAX_RECORDS for early, late in pairwise([topic.create_with or 0, *totals]))


@given(st.lists(st.tuples(st.integers(1, 30_000), st.integers(0, 30_000)), max_size=8))
def test_growth_reaches_every_goal_within_the_limit(pairs: list[tuple[int, int]]) -> None:
    state = {str(number): TopicState(now, 1) for number, (now, _more) in enumerate(pairs)}
    specs = [DesiredTopic(str(number), now + more, 1) for number, (now, more) in enumerate(pairs)]
    have = {name: topic.partitions for name, topic in state.items()}
    for request in growth_requests(plan(state, *specs).topics):
        assert sum(total - have[name] for name, total in request.items()) <= MAX_RECORDS
        have.update(request)
    assert have == {spec.name: spec.partitions for spec in specs}


@given(st.integers(1, 50), st.one_of(st.none(), st.integers(1, 50)), st.dictionaries(st.sampled_from("xyz"), st.none()))
def test_applying_a_plan_leaves_nothing_to_do(now: int, wanted: int | None, config: dict[str, Any]) -> None:
    spec = DesiredTopic("a", wanted, None, {**config, "k": "1"})
    before = TopicState(now, 1, {key: at_topic("5") for key in "xyzk"})
    found = plan_topic(spec, before)
    after = {key: ConfigValue("9", "LONG", "DEFAULT") for key in config}
    partitions = found.growth[1] if found and found.growth else now
    assert plan_topic(spec, TopicState(partitions, 1, {**after, "k": at_topic("1")})) is None


def test_a_topic_that_every_broker_shall_lead_grows_where_one_leads_none() -> None:
    state = {"a": TopicState(6, 2, {"cleanup.policy": at_topic("delete")}, ((1, 2), (2, 1)) * 3)}
    (topic,) = plan(state, DesiredTopic("a", 4, 2, every_broker_leads=True)).topics
    assert (topic.growth, [replicas[0] for replicas in topic.placed]) == ((6, 7), [3])
    assert (topic.change.before, topic.change.after) == ({"partitions": 6}, {"partitions": 7})
    assert plan({"a": TopicState(7, 2, {}, (*state["a"].replicas, *topic.placed))}, topic.spec) == Plan(())


def test_such_a_topic_is_created_with_each_partition_placed() -> None:
    (topic,) = plan({}, DesiredTopic("a", 6, 3, every_broker_leads=True)).topics
    assert topic.create_with == 6
    assert sorted(replicas[0] for replicas in topic.placed) == [1, 1, 2, 2, 3, 3]
    (least,) = plan({}, DesiredTopic("a", None, 1, every_broker_leads=True)).topics
    assert (least.create_with, least.placed) == (3, ((1,), (2,), (3,)))


def test_what_cannot_be_placed_is_refused() -> None:
    led = {"every_broker_leads": True}
    assert "replication_factor is not given" in plan({}, DesiredTopic("a", 6, **led)).violations[0]
    assert "at most 9000 can be placed" in plan({}, DesiredTopic("a", 20_000, 1, **led)).violations[0]
    assert "partitions is 0" in plan({}, DesiredTopic("a", 0, 1, **led)).violations[0]
    state = {"a": TopicState(1, 1, {"cleanup.policy": at_topic("compact", "LIST")}, ((1,),))}
    assert "is compacted, and would grow from 1 to 3 partitions" in plan(state, DesiredTopic("a", **led)).violations[0]


def test_a_topic_that_must_exist_is_not_created_and_names_like_it_are_shown() -> None:
    state = {"orders": TopicState(3, 2), "payments": TopicState(3, 2)}
    found = plan_topics(state, Asked([DesiredTopic("ordres", 6)], allow_create=False), BROKERS)
    assert found.violations == (
        "topic ordres: does not exist (names like it: orders), and allow_create is false. Name a topic of the cluster.",
    )
    unlike = plan_topics(state, Asked([DesiredTopic("x", 6)], allow_create=False), BROKERS)
    assert unlike.violations == ("topic x: does not exist, and allow_create is false. Name a topic of the cluster.",)
    grown = plan_topics(state, Asked([DesiredTopic("orders", 6)], allow_create=False), BROKERS)
    assert (grown.violations, grown.topics[0].growth) == ((), (3, 6))


@pytest.mark.parametrize(
    "name",
    ["_streamops_state", "__consumer_offsets", "__transaction_state", "__share_group_state", "__remote_log_metadata"],
)
@pytest.mark.parametrize("absent", [True, False])
def test_what_kafka_and_this_collection_keep_for_themselves_is_never_touched(name: str, absent: bool) -> None:
    spec = DesiredTopic(name, config={"cleanup.policy": "delete"}, absent=absent)
    found = plan({name: TopicState(1, 3)}, spec, allow_delete=True)
    assert found.topics == ()
    assert "is never touched. Take it out." in found.violations[0]


def test_a_topic_of_a_user_may_begin_with_two_underscores() -> None:
    assert plan({"__audit": TopicState(1, 3)}, DesiredTopic("__audit", 2, 3)).violations == ()


def limited(state: dict[str, TopicState], *specs: DesiredTopic) -> Plan:
    """The plan on three live brokers that may get 4,000 replicas each."""
    return plan_topics(state, Asked(specs, most_new_replicas=4000), BROKERS)


def test_a_number_with_zeros_too_many_is_refused_before_any_request_knows_it() -> None:
    found = limited({}, DesiredTopic("a", 5_000_000, 1), DesiredTopic("b", 3, 3))
    (violation,) = found.violations
    assert "the list adds 5000009 replicas, 1666670 to each of 3 brokers that may get some" in violation
    assert "set max_new_replicas_per_broker to 1666670 to mean it" in violation
    assert [topic.create_with for topic in found.topics] == [-1, -1], "Kafka judges the keys, without the numbers"


def test_what_is_there_already_does_not_count_and_growth_does() -> None:
    state = {"a": TopicState(50_000, 3)}
    assert limited(state, DesiredTopic("a", 50_001, 3), DesiredTopic("b", 12, 3)).violations == ()
    assert "150000 replicas" in limited(state, DesiredTopic("a", 100_000)).violations[0]
    assert limited({}, DesiredTopic("a", 12_000, 1)).violations == (), "4,000 each are allowed"


def test_of_a_plan_done_in_part_only_what_was_done_is_shown() -> None:
    state = {"old": TopicState(3, 2), "grows": TopicState(1, 1, {"retention.ms": at_topic("1")})}
    new, grows = DesiredTopic("new", 25_000, 1), DesiredTopic("grows", 5, config={"retention.ms": "2"})
    plans = plan(state, new, grows, DesiredTopic("old", absent=True), allow_delete=True).topics
    assert changes_of(plans, []) == []
    (created,) = changes_of(plans, [(CREATED, "new")])
    assert (created.before, created.after) == (None, {"partitions": 9_499, "replication_factor": 1})
    (further,) = changes_of(plans, [(CREATED, "new"), (GROWN, "new", "18999")])
    assert further.after == {"partitions": 18_999, "replication_factor": 1}
    (grown,) = changes_of(plans, [(GROWN, "grows", "5")])
    assert (grown.before, grown.after) == ({"partitions": 1}, {"partitions": 5})
    (configured,) = changes_of(plans, [(CONFIGURED, "grows")])
    assert (configured.before, configured.after) == (
        {"config": {"retention.ms": "1"}},
        {"config": {"retention.ms": "2"}},
    )
    everything = [(DELETED, "old"), (CREATED, "new"), (GROWN, "new", "25000"), (GROWN, "grows", "5")]
    assert changes_of(plans, [*everything, (CONFIGURED, "grows")]) == [topic.change for topic in plans]
