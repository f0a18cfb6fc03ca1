# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops of mirrors by table: what would come back, meet other records, or is one cluster twice, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.opposed import same_cluster
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import ADVICE, expect
from tests.support.preflight_mirrors import flow, mirrored, topics

ID = "MkU3OEVBNTcwNTJENDM2Qg"
ALL = {"topics": [".*"]}
SAME = {"policy": "identity"}
OLD = {"engine": "legacy"}
LEGACY_HOSTS = {
    name: {"kafka_cluster_name": name.removeprefix("m_"), "kafka_version": "3.9.2"} for name in ("m_dc_a", "m_dc_b")
}


def ring(*ends: str, **more: Any) -> list[dict[str, Any]]:
    """Flows from each cluster to the next and from the last to the first, all with these keys."""
    return [flow(one, other, **more) for one, other in zip(ends, [*ends[1:], ends[0]], strict=True)]


def there_and_back(there: dict[str, Any], back: dict[str, Any], **more: Any) -> Inventory:
    """A flow from dc_a into dc_b, and one back."""
    return mirrored(flow(**there), flow("dc_b", "dc_a", **back), **more)


LOOPS: dict[str, tuple[Inventory, list[str]]] = {
    "a topic of the inventory": (
        mirrored(*ring("dc_a", "dc_b", **SAME)),
        ["dc_a->dc_b, dc_b->dc_a form a loop", "under the same name", "topic orders of kafka_topics", "enabled: false"],
    ),
    "both everything": (mirrored(*ring("dc_a", "dc_b", **SAME, **ALL)), ["topic orders of kafka_topics"]),
    "literal against pattern": (
        there_and_back({**SAME, "topics": ["audit"]}, {**SAME, "topics": ["a.*"]}),
        ["names 'audit'", "preflight_accept: [possible_mirror_loop]"],
    ),
    "prefixes of which one holds the other": (
        there_and_back({**SAME, "topics": ["eu[.].*"]}, {**SAME, "topics": ["eu[.]audit[.].*"]}),
        ["names 'eu.audit.' and what follows"],
    ),
    "patterns that cannot be compared": (
        there_and_back({**SAME, "topics": ["(?i)audit.*"]}, {**SAME, "topics": ["a.*"]}),
        ["names 'a' and what follows"],
    ),
    "over three clusters": (
        mirrored(*ring("a", "b", "c", **SAME), clusters="a b c"),
        ["a->b, b->c, c->a form a loop", "topic orders"],
    ),
    "legacy both ways": (mirrored(*ring("dc_a", "dc_b", **OLD), mirrors=LEGACY_HOSTS), ["the same name"]),
    "legacy one way": (
        there_and_back(OLD, SAME, mirrors=LEGACY_HOSTS),
        ["dc_a->dc_b, dc_b->dc_a form a loop", "the same name"],
    ),
    "names that grow": (
        there_and_back(ALL, {**SAME, **ALL}),
        ["under an ever longer name", "without end"],
    ),
    "names that grow over three": (
        mirrored(flow("a", "b", **ALL), flow("b", "c", **ALL, **SAME), flow("c", "a", **ALL, **SAME), clusters="a b c"),
        ["an ever longer name"],
    ),
}


#: Loops of patterns, in which no topic of the inventory is.
POSSIBLE = ("literal against pattern", "prefixes of which one holds the other", "patterns that cannot be compared")


@pytest.mark.parametrize("name", LOOPS)
def test_each_loop_is_named_alone(name: str) -> None:
    inventory, parts = LOOPS[name]
    expect(inventory, "possible_mirror_loop" if name in POSSIBLE else "mirror_loop", *parts)


NO_LOOPS: dict[str, Inventory] = {
    "the default policy both ways": mirrored(*ring("dc_a", "dc_b", **ALL)),
    "over three clusters": mirrored(*ring("a", "b", "c", **ALL), clusters="a b c"),
    "the default policy twice, names kept once": mirrored(
        flow("a", "b", **ALL), flow("b", "c", **ALL), flow("c", "a", **ALL, **SAME), clusters="a b c"
    ),
    "other topics": there_and_back({**SAME, "topics": ["eu.*"]}, {**SAME, "topics": ["us.*"]}),
    "what one leaves out": there_and_back(
        {**SAME, "topics": [".*"], "topics_exclude": ["us.*"]}, {**SAME, "topics": ["us.*"]}
    ),
    "names that no longer match": there_and_back({}, {**SAME, "topics": [r"dc_a\..*"]}),
    "a name of a list against what cannot be compared": there_and_back(
        {**SAME, "topics": ["audit", "orders"]}, {**SAME, "topics": ["(?i)eu.*"]}
    ),
    "one way disabled": there_and_back(SAME, {**SAME, "enabled": False}),
    "three clusters with other topics": mirrored(
        flow("a", "b", **SAME), flow("b", "c", **SAME), flow("c", "a", **SAME, topics=["audit"]), clusters="a b c"
    ),
}


@pytest.mark.parametrize("name", NO_LOOPS)
def test_what_does_not_come_back_is_no_loop(name: str) -> None:
    assert [one.sentence() for one in check_inventory(NO_LOOPS[name])] == []


def test_a_loop_of_patterns_can_be_accepted_and_one_of_topics_cannot() -> None:
    accepted = {"preflight_accept": ["possible_mirror_loop", "mixed_origins", "known_vulnerabilities", *ADVICE]}
    other = {"dc_a": topics("orders"), "dc_b": topics("audit")}
    loose = [flow(topics=["x.*"], **SAME), flow("dc_b", "dc_a", topics=[".*x"], **SAME)]
    expect(
        mirrored(*loose, hosts=other, **accepted),
        "possible_mirror_loop",
        "accepted by preflight_accept",
        level="warning",
    )
    expect(mirrored(*ring("dc_a", "dc_b", **SAME), **accepted), "mirror_loop", "topic orders")


def test_the_search_ends_where_every_one_of_many_clusters_is_mirrored_into_every_other() -> None:
    names = [f"dc{n:02}" for n in range(12)]
    pairs = [(one, other) for one in names for other in names if one != other]
    looped = mirrored(*(flow(one, other, **ALL, **SAME) for one, other in pairs), clusters=" ".join(names))
    assert {one.name for one in check_inventory(looped)} == {"mirror_loop", "mixed_origins"}
    fine = mirrored(*(flow(one, other, **ALL) for one, other in pairs), clusters=" ".join(names))
    assert check_inventory(fine) == []


OTHERS: dict[str, tuple[str, Inventory, list[str]]] = {
    "itself": ("mirror_into_itself", mirrored(flow("dc_b", "dc_b")), ["mirror_flows[0]", "mirrors dc_b into itself"]),
    "a pair twice": (
        "duplicate_flow",
        mirrored(flow(), flow(topics=["audit"])),
        ["dc_a->dc_b 2 times", "into one flow"],
    ),
    "a pair twice, once disabled": ("duplicate_flow", mirrored(flow(), flow(enabled=False)), ["dc_a->dc_b 2 times"]),
    "a group of heartbeats": (
        "heartbeats_share_group",
        mirrored(flow("a", "b"), flow("b-heartbeats", "a"), clusters="a b b-heartbeats"),
        ["run b-heartbeats->a and those next to b", "heartbeats for a->b", "give b-heartbeats another alias"],
    ),
    "one id": ("source_is_target", mirrored(flow(), kafka_cluster_id=ID), ["dc_a and dc_b are one cluster", ID]),
    "offsets": (
        "internal_topics",
        mirrored(flow(topics=["orders", "__consumer_offsets"])),
        ["internal topics", "__consumer_offsets"],
    ),
    "among others": ("internal_topics", mirrored(flow(topics=["orders|__transaction_state"])), ["internal topics"]),
    "escaped": ("internal_topics", mirrored(flow(topics=[r"\_\_consumer_offsets"])), ["internal topics"]),
    "of MirrorMaker": (
        "internal_topics",
        mirrored(flow(topics=["mm2-offsets[.]dc_a[.]internal"])),
        ["internal topics"],
    ),
    "of this collection": ("internal_topics", mirrored(flow(topics=["_streamops_state"])), ["internal topics"]),
    "signs of life": (
        "internal_topics",
        mirrored(flow(topics=["heartbeats"])),
        ["internal topics", "found: heartbeats"],
    ),
    "all that ends so": ("internal_topics", mirrored(flow(topics=[".*[.]internal"])), ["internal topics"]),
    "escaped or joined": ("internal_topics", mirrored(flow(topics=[r".*\.internal|.*-internal"])), ["internal topics"]),
    "copies of old mirrors": ("internal_topics", mirrored(flow(topics=["ord.*[.]replica"])), ["internal topics"]),
    "all of a kind": ("internal_topics", mirrored(flow(topics=["__.*"])), ["internal topics"]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_each_other_mistake_is_named_alone(name: str) -> None:
    rule, inventory, parts = OTHERS[name]
    expect(inventory, rule, *parts)


@pytest.mark.parametrize(
    "flows",
    [
        # Without heartbeats there is no such herder; nor with a flow back, whose mirrors write them.
        [flow("a", "b", heartbeats=False), flow("b-heartbeats", "a")],
        [flow("a", "b"), flow("b", "a"), flow("b-heartbeats", "a")],
        # In another cluster the group is another one.
        [flow("a", "b"), flow("b-heartbeats", "b")],
    ],
)
def test_an_alias_like_that_of_heartbeats_is_fine_where_they_do_not_meet(flows: list[dict[str, Any]]) -> None:
    found = check_inventory(mirrored(*flows, clusters="a b b-heartbeats"))
    assert [each.name for each in found if each.name == "heartbeats_share_group"] == []


@pytest.mark.parametrize(
    "pattern",
    [
        ".*",
        "_.*",
        "comm2-x",
        "team_streamops_x",
        "internal.*",
        "my[.]heartbeats2",
        "connect-.*",
        ".*internal",
        ".*[.]internal|orders",
    ],
)
def test_a_pattern_that_could_match_internal_topics_too_is_fine(pattern: str) -> None:
    assert check_inventory(mirrored(flow(topics=[pattern]))) == []


@pytest.mark.parametrize("topics", [["device_heartbeats"], [".*heartbeats", "orders"]])
def test_a_name_that_would_not_be_kept_is_refused(topics: list[str]) -> None:
    parts = ["dc_a->dc_b keeps names, but what ends in heartbeats becomes dc_a.", topics[0]]
    expect(mirrored(flow(topics=topics, policy="identity")), "renamed_heartbeats", *parts)
    assert check_inventory(mirrored(flow(topics=topics))) == []


def test_two_origins_of_one_topic_are_an_error_in_production_and_a_warning_in_development() -> None:
    flows = [flow("a", "hub", **SAME), flow("b", "hub", **SAME)]
    parts = ["a->hub and b->hub keep names", "records of two clusters", "topic orders"]
    expect(mirrored(*flows, clusters="a b hub"), "mixed_origins", *parts)
    development = {name: {"kafka_profile": "development"} for name in ("a", "b", "hub")}
    expect(mirrored(*flows, clusters="a b hub", hosts=development), "mixed_origins", *parts, level="warning")
    other = [flow("a", "hub", **SAME), flow("b", "hub", **SAME, topics=["audit"])]
    assert check_inventory(mirrored(*other, clusters="a b hub")) == []


def test_ids_of_running_clusters_are_compared_where_they_are_known() -> None:
    assert same_cluster({"a": ID, "b": "p1i3TnVbRHmcGWhFS1Pexg", "c": "", "d": ""}) == []
    (told,) = same_cluster({"b": ID, "a": ID, "c": "p1i3TnVbRHmcGWhFS1Pexg"})
    assert told.startswith(f"a and b are one cluster, with the id {ID}")
    assert "Nothing was changed" in told
