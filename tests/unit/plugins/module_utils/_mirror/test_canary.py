"""The ways of canaries' events through flows: direct, over chains, both ways, and never in a circle."""

from __future__ import annotations

import re

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.canary import (
    MOST_FLOWS,
    drill_prefix,
    events_topic,
    routes,
    with_events,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow, matches, remote_topic


def flow(source: str, target: str, policy: str = "default", **values: object) -> Flow:
    return Flow(source, target, ("orders",), policy=policy, **values)  # type: ignore[arg-type]


def ways(flows: list[Flow], *watched: str) -> dict[str, tuple[str, str]]:
    """The ways by name: the topic before the last flow, and behind it."""
    return {route.name: (route.topic, route.copy) for route in routes(flows, watched)}


def test_one_flow_is_one_way() -> None:
    assert ways([flow("a", "b")], "b") == {"a->b": ("streamops-canary.a.b", "a.streamops-canary.a.b")}


def test_names_are_kept_with_policy_identity() -> None:
    assert ways([flow("a", "b", "identity")], "b") == {"a->b": ("streamops-canary.a.b", "streamops-canary.a.b")}


def test_a_chain_is_followed_to_its_end() -> None:
    assert ways([flow("a", "b"), flow("b", "c")], "b", "c") == {
        "a->b": ("streamops-canary.a.b", "a.streamops-canary.a.b"),
        "b->c": ("streamops-canary.b.c", "b.streamops-canary.b.c"),
        "a->b->c": ("a.streamops-canary.a.b", "b.a.streamops-canary.a.b"),
    }


def test_both_ways_are_two_ways_and_no_circle() -> None:
    assert set(ways([flow("a", "b"), flow("b", "a")], "a", "b")) == {"a->b", "b->a"}


def test_no_event_is_written_where_no_canary_follows_it() -> None:
    assert ways([flow("a", "b"), flow("b", "c")], "c") == {"b->c": ("streamops-canary.b.c", "b.streamops-canary.b.c")}
    assert ways([flow("a", "b")]) == {}


def test_a_canary_behind_a_cluster_without_one_still_ends_a_chain() -> None:
    found = ways([flow("a", "b"), flow("b", "c"), flow("c", "d")], "b", "d")
    assert set(found) == {"a->b", "c->d", "a->b->c->d"}


def test_a_topic_that_comes_twice_under_one_name_is_followed_on_the_shorter_way() -> None:
    flows = [
        flow("a", "b", "identity"),
        flow("b", "d", "identity"),
        flow("b", "c", "identity"),
        flow("c", "d", "identity"),
    ]
    found = ways(flows, "b", "d")
    assert "a->b->d" in found
    assert "a->b->c->d" not in found


def test_flows_that_do_not_run_and_topics_that_are_left_out_are_no_way() -> None:
    assert ways([flow("a", "b", enabled=False)], "b") == {}
    assert ways([flow("a", "b", engine="legacy")], "b") == {}
    assert ways([flow("a", "b", topics_exclude=("streamops.*",))], "b") == {}


def test_ways_end_after_some_flows() -> None:
    flows = [flow(str(number), str(number + 1)) for number in range(8)]
    longest = max(len(route.flows) for route in routes(flows, [str(number) for number in range(9)]))
    assert longest == MOST_FLOWS


def test_many_clusters_with_all_flows_make_a_bounded_number_of_ways() -> None:
    names = [f"c{number}" for number in range(6)]
    flows = [flow(one, other) for one in names for other in names if one != other]
    # The last flow of each leads to c0, and the first as well, where its events are followed from.
    assert len(routes(flows, ["c0"])) == 5
    assert len(routes(flows, names)) == 6 * 5 * (1 + 4 + 4 * 3)


def test_each_flow_copies_the_events_that_pass_it_and_its_drills_and_nothing_else() -> None:
    flows = [flow("a", "b"), flow("b", "c"), flow("b", "a")]
    first, second, back = with_events(flows, ["b", "c"])
    assert first.topics == ("orders", "streamops-canary[.]a[.]b", "streamops-drill[.]a[.]b-[0-9a-f]{8}-[0-9]+")
    events = ("streamops-canary[.]b[.]c", "a[.]streamops-canary[.]a[.]b")
    assert sorted(second.topics) == sorted(("orders", *events, "streamops-drill[.]b[.]c-[0-9a-f]{8}-[0-9]+"))
    assert back == flows[2]


def test_the_patterns_match_the_topics_alone() -> None:
    (given,) = with_events([flow("a-b", "c_d")], ["c_d"])
    topic = events_topic(given)
    assert matches(given, topic)
    assert re.fullmatch(given.topics[1], topic)
    assert matches(given, f"{drill_prefix(given)}0badcafe-0")
    assert not matches(given, "streamops-drill.a-b.c_d-x-0badcafe-0")
    assert not matches(given, topic.replace(".", "x"))
    assert remote_topic(given, topic) == "a-b.streamops-canary.a-b.c_d"
