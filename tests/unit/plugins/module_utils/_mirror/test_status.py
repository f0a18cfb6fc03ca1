# SPDX-License-Identifier: GPL-3.0-or-later
"""From logs and positions to lag and verdict."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror import reading, status
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log, Pulse, Seen

FLOW = Flow("a", "b", ("orders",))
ONE = ("orders", 0)


def seen(log: Log, position: int | None = None, **more: Any) -> Seen:
    """A look at one partition that is in the target."""
    positions = {} if position is None else {ONE: position}
    return Seen({ONE: log}, positions, **{"targets": {"a.orders": 1}, **more})


#: Heartbeats that are not judged.
ANY = Pulse()
#: Half past three in the morning, in seconds since 1970.
NIGHT = 3.5 * 3600


def verdict(look: Seen, max_lag: int = 0, pulse: Pulse = ANY) -> dict[str, Any]:
    """What the module says of a look."""
    return status.judged(FLOW, look, max_lag, pulse, NIGHT)


@pytest.mark.parametrize(
    ("log", "position", "frontier", "lag"),
    [
        (Log(0, 0), None, None, 0),  # no record ever
        (Log(50, 50), None, None, 0),  # all taken away by retention
        (Log(0, 100), 100, None, 0),
        (Log(0, 100), 120, None, 0),  # mirrored since the end was seen
        (Log(0, 100), 90, None, 10),
        (Log(0, 100), 90, 95, 5),  # five markers or aborted records at the end
        (Log(0, 100), 90, 90, 0),
        (Log(0, 100), None, None, 100),  # never mirrored
        (Log(40, 100), None, None, 60),
        (Log(40, 100), None, 40, 0),  # nothing but aborted records
        (Log(95, 100), 90, None, 5),  # what is gone is not waited for
        (Log(None, None), 90, None, 0),
    ],
)
def test_lag(log: Log, position: int | None, frontier: int | None, lag: int) -> None:
    look = seen(log, position, frontiers={} if frontier is None else {ONE: frontier})
    found = verdict(look)
    assert found["lag"] == found["topics"][0]["lag"] == found["topics"][0]["partitions"][0]["lag"] == lag


def test_a_look_is_described_by_topic() -> None:
    look = Seen(
        {("t", 1): Log(0, 5), ("t", 0): Log(0, 7), ("s", 0): Log(0, 0)},
        {("t", 0): 7, ("t", 1): 3},
        targets={"a.t": 2, "a.s": 1},
        heartbeat_age_ms=900,
    )
    found = verdict(look)
    assert found["topics"] == [
        {
            "source": "s", "target": "a.s", "target_partitions": 1, "lag": 0,
            "partitions": [{"partition": 0, "source_end": 0, "position": None, "lag": 0}],
        },
        {
            "source": "t", "target": "a.t", "target_partitions": 2, "lag": 2,
            "partitions": [
                {"partition": 0, "source_end": 7, "position": 7, "lag": 0},
                {"partition": 1, "source_end": 5, "position": 3, "lag": 2},
            ],
        },
    ]  # fmt: skip
    assert (found["flow"], found["partitions_done"], found["partitions_total"]) == ("a->b", 2, 3)
    assert (found["heartbeat_age_ms"], found["checkpoint_age_ms"]) == (900, None)


def test_max_lag_is_of_the_whole_flow() -> None:
    look = Seen({("t", 0): Log(0, 5), ("t", 1): Log(0, 5)}, targets={"a.t": 2})
    assert not verdict(look, max_lag=9)["caught_up"]
    assert verdict(look, max_lag=10)["caught_up"]


def test_a_topic_that_is_not_in_the_target_is_not_caught_up_even_without_records() -> None:
    found = verdict(seen(Log(0, 0), targets={}))
    assert not found["caught_up"]
    assert found["problems"] == ["not in b: a.orders"]
    assert found["partitions_done"] == 0


def test_partitions_that_the_target_lacks_are_told() -> None:
    look = Seen({ONE: Log(0, 0), ("orders", 1): Log(0, 0)}, targets={"a.orders": 1})
    found = verdict(look)
    assert found["problems"] == ["fewer partitions in b than in a: a.orders (1 of 2)"]
    assert (found["partitions_done"], found["caught_up"]) == (1, False)


def test_a_partition_without_leader_is_never_done() -> None:
    found = verdict(seen(Log(None, None), 5))
    assert found["problems"] == [
        "no broker of a told where these end, without a leader or with one that did not answer: orders-0"
    ]
    assert (found["partitions_done"], found["caught_up"]) == (0, False)


def test_a_position_beyond_the_log_belongs_to_a_topic_that_is_gone() -> None:
    look = seen(Log(0, 100), 5000, tops={ONE: 120})
    assert status.beyond(look.logs, look.positions) == [ONE]
    found = verdict(look)
    assert (found["lag"], found["caught_up"]) == (100, False)
    assert "orders-0 (5000, end 120): made anew in a, or cut short" in found["problems"][0]


def test_a_position_in_an_open_transaction_is_none() -> None:
    # Read uncommitted, the mirror may be ahead of the last stable offset.
    assert verdict(seen(Log(0, 100), 110, tops={ONE: 120}))["caught_up"]


@pytest.mark.parametrize(
    ("age", "pulse", "problem"),
    [
        (None, ANY, ""),
        (90_000, ANY, ""),
        (29_000, Pulse(30), ""),
        (31_000, Pulse(30), "no heartbeat came through for longer than 30s"),
        (None, Pulse(30), "no heartbeat of a ever came through (topic a.heartbeats)"),
        (None, Pulse(0, NIGHT - 5), "no heartbeat of a ever came through (topic a.heartbeats)"),
        (4_900, Pulse(0, NIGHT - 5), ""),
        (5_100, Pulse(0, NIGHT - 5), "no heartbeat came through since 03:29:55 UTC"),
        (31_000, Pulse(30, NIGHT - 60), "no heartbeat came through for longer than 30s"),
        (29_000, Pulse(30, NIGHT - 5), "no heartbeat came through since 03:29:55 UTC"),
        # The clock of the mirror is behind ours.
        (0, Pulse(0, NIGHT + 5), "no heartbeat came through since 03:30:05 UTC"),
    ],
)
def test_heartbeats_are_judged_when_asked_for(age: int | None, pulse: Pulse, problem: str) -> None:
    found = verdict(seen(Log(0, 1), 1, heartbeat_age_ms=age), pulse=pulse)
    assert (found["problems"], found["caught_up"]) == ([problem] if problem else [], not problem)
    # Whether a flow runs says the same, whatever is behind.
    life = status.life(FLOW, age, pulse, NIGHT)
    assert (life["problems"], life["alive"]) == (found["problems"], found["caught_up"])


def test_what_looks_behind_is_asked_for_nearest_first() -> None:
    logs = {("t", number): Log(0, end) for number, end in enumerate((100, 5, 0, 7))}
    logs["t", 4] = Log(None, None)
    assert status.suspects(Seen(logs, {("t", 3): 7, ("t", 0): 99})) == [("t", 0), ("t", 1)]


def test_patterns_choose_topics() -> None:
    flow = Flow("a", "b", ("orders", "audit[.].*", "none.*"), topics_exclude=("audit[.]secret",))
    existing = ["audit.log", "audit.secret", "orders", "orders2", "__consumer_offsets", "b.orders"]
    assert status.chosen(flow, existing) == ["audit.log", "orders"]


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        (("orders", "ordres"), "topic ordres does not exist in a"),
        (("nobody.*",), "no topic of a matches nobody.*"),
        (("orders", "__consumer_offsets"), "topic __consumer_offsets is never mirrored"),
        (("b.orders",), "topic b.orders is never mirrored"),
    ],
)
def test_a_flow_of_nothing_is_refused(topics: tuple[str, ...], said: str) -> None:
    with pytest.raises(status.NothingToMirrorError, match="never called caught up") as caught:
        status.chosen(Flow("a", "b", topics), ["orders", "b.orders", "__consumer_offsets"])
    assert said in caught.value.message


def test_one_cluster_is_refused() -> None:
    status.refuse_one_cluster(FLOW, "x", "y")
    with pytest.raises(status.SameClusterError, match=r"same cluster \(both have the cluster id x\)"):
        status.refuse_one_cluster(FLOW, "x", "x")


def test_options_make_a_flow() -> None:
    flow = reading.flow_of(
        {"source": "a", "target": "b", "topics": ["t"], "topics_exclude": [], "policy": "identity", "state": "observed"}
    )
    assert (flow.pair, flow.topics, flow.keeps_names, flow.untouched_source) == ("a->b", ("t",), True, False)
    options = {"source": "a", "target": "b", "topics": ["t"], "untouched_source": True, "state": "observed"}
    assert reading.flow_of(options).untouched_source


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"target": "a"}, "mirrors a into itself"),
        ({"topics": ["["]}, "is no regular expression"),
        ({"topics": []}, "topics: is required"),
        (
            {"engine": "legacy", "max_heartbeat_age": 5},
            "max_heartbeat_age is 5, but the engine legacy sends no heartbeats",
        ),
        ({"engine": "legacy", "heartbeat_since": 5.0}, "heartbeat_since is 5.0, but the engine legacy sends no"),
        ({"engine": "legacy", "state": "alive"}, "state is alive, but the engine legacy sends no heartbeats"),
        ({"state": "alive"}, "set one of max_heartbeat_age, heartbeat_since"),
    ],
)
def test_options_that_make_no_flow_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(reading.OptionsError) as caught:
        reading.flow_of({"source": "a", "target": "b", "topics": ["t"], "state": "observed", **changes})
    assert said in caught.value.message


def test_a_failed_task_is_a_problem_however_little_is_behind() -> None:
    failed = {"MirrorSourceConnector task 1": "RecordTooLargeException: too large"}
    found = verdict(seen(Log(0, 1), 1, failed=failed))
    assert found["problems"] == [
        "MirrorSourceConnector task 1 failed: RecordTooLargeException: too large; a failed task does nothing until its "
        "mirror is stopped and started"
    ]
    assert not found["caught_up"]


def test_topics_of_a_tuning_are_told_by_the_cluster_that_has_them() -> None:
    left = {"a": [], "b": ["_streamops_tune_load"]}
    assert status.describe(FLOW, Seen({}, tuned=left))["tuning_topics"] == {"b": ["_streamops_tune_load"]}
    assert status.describe(FLOW, Seen({}))["tuning_topics"] == {}
