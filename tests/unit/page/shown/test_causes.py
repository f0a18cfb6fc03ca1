"""Which findings a page shows first, and what the verdict may not rest on."""

from __future__ import annotations

from typing import Any

import pytest

from page.shown.causes import OF_A_KIND, about_group, about_topic, causes, findings_about, in_a_line, unasked
from tests.support.status_seen import finding, hurt, partition, topic, well


def test_many_findings_of_one_kind_hide_no_other() -> None:
    stopped = [finding("group_stopped", "degraded", f"group g{number} has stopped") for number in range(55)]
    found = causes([finding("broker_down", "degraded", "kafka3 is down"), *stopped, finding("x", "note", "y")])
    assert [(one.kind, len(one.shown), len(one.further)) for one in found] == [
        ("broker_down", 1, 0), ("group_stopped", OF_A_KIND, 55 - OF_A_KIND), ("x", 1, 0),
    ]  # fmt: skip
    assert in_a_line(stopped) == "55 findings (group_stopped)"
    assert in_a_line([]) == ""
    # As the verdict counts them, which has no notes.
    notes = [finding("not_committed", "note", "y")]
    assert in_a_line(notes) == "1 note (not_committed)"
    assert in_a_line([*stopped[:2], *notes]) == "2 findings and 1 note (group_stopped, not_committed)"


def test_findings_are_about_the_group_and_the_topic_that_they_name() -> None:
    some = [finding("group_stopped", "degraded", f"group {name} has stopped in orders") for name in ("a", "ab")]
    assert about_group(some, "a") == some[:1]
    assert {one["kind"] for one in about_topic(hurt(), "orders")} == {"partitions_offline", "under_replicated"}
    assert about_topic(hurt(), "payments.card") == []


def test_a_topic_has_the_findings_on_the_brokers_that_it_lacks_and_none_that_count_others_alone() -> None:
    down = finding("broker_down", "degraded", "broker kafka3.example.com (id 3) is down: 2 with fewer copies")
    others = finding("under_replicated", "degraded", "5 more of 9 partitions under-replicated")
    cluster = {**hurt(offline=[]), "findings": [down, others]}
    lacks = [partition("orders", 0, [1, 2]), partition("payments.card", 0, [1])]
    cluster |= {"under_replicated": lacks, "under_min_isr": []}
    assert about_topic(cluster, "orders") == [down]
    assert about_topic(cluster, "payments.card") == [down, others], "nothing explains that it lacks broker 2"
    assert about_topic(cluster, "__consumer_offsets") == []
    # It waits for a broker that was in sync last; and one that is frozen leads by the metadata.
    assert about_topic({**cluster, "offline": [partition("a", 0, [3], None)]}, "a") == [down]
    frozen = {**topic("a"), "partitions": [partition("a", 0, [1, 2, 3], 3)]}
    assert about_topic({**cluster, "topics": [frozen]}, "a") == [down]
    cut = finding("broker_cut_off", "degraded", "2 followers do not copy from broker 1 (kafka1.example.com)")
    assert about_topic({**cluster, "findings": [cut, others]}, "payments.card") == [cut]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ({"silent_brokers": [{"id": 3, "why": "timed out"}]}, ["the groups of broker 3"]),
        ({"groups": [{"name": "audit", "error": "no answer"}, {"name": "b", "error": None}]}, ["group audit"]),
        ({"known": False}, ["groups"]),
    ],
)
def test_what_was_not_asked_is_named(groups: dict[str, Any], said: list[str]) -> None:
    cluster = well()
    assert [*unasked({**cluster, "groups": {**cluster["groups"], **groups}})] == said
    assert [*unasked(cluster)] == []


@pytest.mark.parametrize(
    ("what", "is_found"),
    [
        ("broker kafka1 (id 1) is down: 3 partitions", True),
        ("broker 1 is registered and not in the inventory", True),
        ("broker 11 is registered and not in the inventory", False),
        ("controller 1 is a voter and not in the inventory", True),
        ("disk of kafka1 is 91 % full", True),
        ("disk of kafka10 is 91 % full", False),
        ("disk of kafka1.example.com is 91 % full", False),
        ("the certificate of kafka1 (kafka1:9092) ends in 3 days", True),
        ("leaders are skewed: other brokers lead 50 % of the preferred partitions of kafka1.", True),
        ("unknown: log directories of broker 1 (no answer)", True),
        ("1 of 9 partitions without a leader: they wait for kafka2, kafka1", True),
        ("1 of 9 partitions without a leader", False),
        ("topic my-kafka1-topic has no leader", False),
        ("broker mykafka1 (id 21) is down", False),
    ],
)
def test_a_finding_names_a_broker_by_its_host_or_by_its_id(what: str, is_found: bool) -> None:
    one = finding("some", "note", what)
    assert findings_about([one], 1, ["kafka1"]) == ([one] if is_found else [])


def test_figures_count_too_and_a_host_is_no_pattern() -> None:
    figure = finding("some", "note", "a voter is late", found="kafka1: caught up 90 s ago")
    assert findings_about([figure], 9, ["kafka1", ""]) == [figure]
    assert findings_about([figure], 9, ["kafka."]) == []
    assert findings_about([figure], 9, []) == []
