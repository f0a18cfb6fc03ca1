"""Readers and writers fill the accounts from both ends; figures appear only when both were read."""

from __future__ import annotations

import json

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import PURGED, Gap
from canary.board import CURRENT, LATENCY_WINDOW, Board, Latencies
from canary.config import Config, config_of
from canary.event import Event, Place
from canary.ledger import WINDOW

A, B = "dc_a", "dc_b"
TOPIC, COPY = "streamops-canary.dc_a.dc_b", "dc_a.streamops-canary.dc_a.dc_b"
WAY = {"path": "dc_a->dc_b", "origin": A, "writer": "dc_a->dc_b", "source": A, "topic": TOPIC, "copy": COPY}
CHAIN = {**WAY, "path": "dc_x->dc_a->dc_b", "origin": "dc_x", "writer": "dc_x->dc_a", "topic": "dc_x.t", "copy": "c"}
DAY = 1_000_000.0


def settings(*routes: dict[str, str], **values: object) -> Config:
    clusters = {name: {"bootstrap_servers": [f"{name}:9092"]} for name in (A, B)}
    given = {"cluster": B, "clusters": clusters, "routes": list(routes) or [WAY], "late_after": 10, **values}
    return config_of(json.dumps(given))


def event(number: int, at: float = DAY, partition: int = 0, flow: str = "dc_a->dc_b") -> Event:
    return Event(flow, partition, Place(1, number), round(at * 1000))


def board(*routes: dict[str, str]) -> Board:
    """A board whose both ends were read to their end at 0."""
    found = Board(settings(*routes), 0.0)
    for cluster in (A, B):
        found.read(cluster, set(), 0.0)
    return found


def put(to: Board, cluster: str, topic: str, one: Event, now: float, is_live: bool = True, **more: float) -> None:
    to.take(cluster, topic, one.partition, one.value, is_live, now, more.get("day", DAY + now))


def test_what_a_look_for_gaps_found_stays_while_the_next_ones_fail() -> None:
    given = settings(flows=[{"source": A, "target": B, "topics": ["orders"]}])
    found = Board(given, 100.0)
    (flow,) = given.flows
    assert [(one.age, one.gaps) for one in found.figures(130.0).flows] == [(30.0, None)]
    gap = Gap(PURGED, "orders", 0, 60, 79)
    found.gaps_looked_for(flow, [gap], 140.0)
    found.gaps_not_looked_for(flow, "no route to host" + "x" * 500)
    (one,) = found.figures(150.0).flows
    assert (one.flow, one.age, one.gaps) == ("dc_a->dc_b", 10.0, [gap])
    assert one.why.startswith("no route to host")
    assert len(one.why) <= 200
    found.gaps_looked_for(flow, [], 160.0)
    (one,) = found.figures(160.0).flows
    assert (one.gaps, one.why) == ([], "")


def test_there_are_no_figures_before_both_ends_were_read() -> None:
    found = Board(settings(), 0.0)
    put(found, A, TOPIC, event(0, DAY - 5000), 0.0, is_live=False)
    assert not found.figures(0.0).routes[0].is_ready
    found.read(A, set(), 0.0)
    assert not found.figures(0.0).routes[0].is_ready
    put(found, B, COPY, event(0, DAY - 5000), 1.0, is_live=False)
    found.read(B, set(), 1.0)
    (route,) = found.figures(1.0).routes
    assert route.is_ready
    assert (route.total.late, route.total.missing, route.total.arrived) == (0, 0, 1)


def test_what_is_read_of_the_past_has_an_age_and_no_latency() -> None:
    found = board()
    put(found, A, TOPIC, event(0, DAY - 100), 0.0, is_live=False)
    (route,) = found.figures(0.0).routes
    assert (route.total.oldest_waiting, route.latencies) == (100.0, {})
    put(found, B, COPY, event(0, DAY - 100), 0.0, is_live=False)
    assert found.figures(0.0).routes[0].latencies == {}


def test_the_latency_of_an_own_event_needs_no_clock_of_the_day() -> None:
    found = board()
    found.sends(event(0), 5.0)
    put(found, B, COPY, event(0), 7.5, day=DAY - 9999)
    assert found.figures(8.0).routes[0].latencies[0.5] == 2.5


def test_an_event_that_comes_again_has_no_second_latency() -> None:
    found = board()
    found.sends(event(0), 5.0)
    for now in (6.0, 60.0):
        put(found, B, COPY, event(0), now)
    assert found.figures(61.0).routes[0].latencies[1.0] == 1.0


def test_a_clock_that_steps_makes_no_event_late() -> None:
    """What is read as soon as it stands there is young, whatever it says."""
    found = board()
    put(found, A, TOPIC, event(0, DAY - 90_000), 5.0)
    assert found.figures(6.0).routes[0].total.late == 0


def test_a_chain_is_followed_by_what_another_canary_wrote() -> None:
    found = board(WAY, CHAIN)
    put(found, A, "dc_x.t", event(3, flow="dc_x->dc_a"), 1.0)
    assert [one.total.waiting for one in found.figures(2.0).routes] == [0, 1]
    put(found, B, "c", event(3, flow="dc_x->dc_a"), 3.0)
    assert [one.total.arrived for one in found.figures(4.0).routes] == [0, 1]


def test_what_no_canary_wrote_is_foreign_and_counted_where_it_stands() -> None:
    found = board()
    found.take(A, TOPIC, 0, b"junk", True, 1.0, DAY)
    found.take(B, COPY, 0, b"junk", True, 1.0, DAY)
    found.take(A, TOPIC, 0, event(0, partition=1).value, True, 1.0, DAY)
    found.take(A, TOPIC, 0, None, True, 1.0, DAY)
    figures = found.figures(2.0)
    assert figures.foreign == {A: 3, B: 1}
    assert figures.routes[0].total.written == 0


def test_an_event_of_a_partition_that_the_source_does_not_have_is_foreign() -> None:
    found = board()
    # Before anybody knows how many partitions there are, and after.
    put(found, B, COPY, event(0, partition=99), 1.0)
    found.led(A, 2, 0, 2.0)
    put(found, B, COPY, event(0, partition=99), 3.0)
    figures = found.figures(4.0)
    assert figures.routes[0].total.arrived == 0
    assert list(figures.routes[0].partitions) == []
    assert figures.foreign == {A: 0, B: 1}


def test_a_long_failure_ends_with_a_word() -> None:
    found = board()
    found.not_read(A, "the broker does not answer " * 20)
    why = found.figures(1.0).whys[A]
    assert why.endswith(" ...")
    assert len(why) <= 200
    assert set(why.split()) == {"the", "broker", "does", "not", "answer", "..."}


def test_a_copy_in_another_partition_is_the_same_event() -> None:
    """A legacy mirror chooses partitions anew."""
    found = board()
    put(found, A, TOPIC, event(0, partition=2), 1.0)
    found.take(B, COPY, 0, event(0, partition=2).value, True, 2.0, DAY)
    assert found.figures(3.0).routes[0].partitions[2].arrived == 1


def test_a_copy_that_lost_its_beginning_is_not_asked_for_it() -> None:
    found = Board(settings(), 0.0)
    for number in range(3):
        put(found, A, TOPIC, event(number, DAY - 900 + number), 0.0, is_live=False)
    put(found, B, COPY, event(2, DAY - 898), 0.0, is_live=False)
    found.read(B, {COPY}, 0.0)
    found.read(A, set(), 0.0)
    assert found.figures(500.0).routes[0].total.missing == 0


def test_a_cluster_that_is_not_read_is_not_readable_and_says_why() -> None:
    found = board()
    found.not_read(B, "no route" * 100)
    figures = found.figures(CURRENT + 1)
    assert figures.readable == {A: False, B: False}
    assert figures.whys[B].startswith("no route")
    assert len(figures.whys[B]) <= 200
    found.read(B, set(), CURRENT + 2)
    assert found.figures(CURRENT + 3).readable == {A: False, B: True}
    assert found.figures(CURRENT + 3).whys == {}


def test_nothing_is_missing_while_the_target_is_not_read() -> None:
    found = Board(settings(missing_after=20), 0.0)
    for cluster in (A, B):
        found.read(cluster, set(), 0.0)
    put(found, A, TOPIC, event(0), 0.0)
    assert found.figures(CURRENT + 1).routes[0].total.missing == 0
    found.read(B, set(), CURRENT + 1)
    assert found.figures(CURRENT + 1).routes[0].total.missing == 1


def test_a_login_that_the_target_refuses_is_no_late_event() -> None:
    """The mirror is well and brings them; the canary does not see it."""
    found = board()
    for minute in range(1, 8):
        put(found, A, TOPIC, event(minute), 60.0 * minute)
        found.read(A, set(), 60.0 * minute)
    (route,) = found.figures(480.0).routes
    assert (route.total.written, route.total.late, route.total.oldest_waiting) == (7, 0, 0.0)


def test_lost_events_stay_missing_while_the_target_is_not_read() -> None:
    found = board()
    for number in range(3):
        put(found, A, TOPIC, event(number), 1.0)
    put(found, B, COPY, event(2), 2.0)
    found.read(B, set(), 20.0)
    for now in (20.0, CURRENT + 30):
        (route,) = found.figures(now).routes
        assert (route.total.missing, route.total.late) == (2, 0)


def test_what_is_old_is_forgotten_also_where_no_figures_are_asked_for() -> None:
    found = board()
    for day in range(4):
        for number in range(10):
            put(found, A, TOPIC, event(100 * day + number), day * WINDOW + number)
            put(found, B, COPY, event(100 * day + number), day * WINDOW + number)
    (account,) = found._accounts
    assert len(account.ledger(0)._written) <= 20
    assert len(account.ledger(0)._arrived) <= 20


def test_a_writer_goes_on_from_what_either_end_tells() -> None:
    found = Board(settings(), 0.0)
    (way,) = settings().own
    assert not found.is_ready(way)
    put(found, B, COPY, event(7), 0.0, is_live=False)
    put(found, A, TOPIC, event(5), 0.0, is_live=False)
    assert found.last_place(way, 0) == Place(1, 7)
    assert found.last_place(way, 1) is None
    for cluster in (A, B):
        found.read(cluster, set(), 0.0)
    assert found.is_ready(way)


def test_writing_is_as_old_as_its_oldest_partition() -> None:
    found = board()
    assert found.figures(30.0).sources[0].last_written == 30.0
    found.wrote(A, 0, 10.0)
    found.wrote(A, 1, 40.0)
    assert found.figures(50.0).sources[0].last_written == 40.0
    found.failed(A, "timed out", 2)
    assert (found.figures(50.0).sources[0].failures, found.figures(50.0).sources[0].why) == (2, "timed out")
    # The topic was made anew with one partition.
    found.led(A, 1, 0, 50.0)
    assert found.figures(50.0).sources[0].last_written == 40.0


def test_a_partition_that_never_took_an_event_is_seen() -> None:
    found = board()
    for now in (0.0, 60.0, 120.0):
        found.led(A, 3, 0, now)
        found.wrote(A, 0, now)
        found.wrote(A, 1, now)
    assert found.figures(130.0).sources[0].last_written == 130.0


def test_a_topic_that_is_made_anew_is_not_as_old_as_the_start() -> None:
    found = board()
    found.wrote(A, 0, 1000.0)
    found.led(A, 0, 1, 1010.0)
    assert found.figures(1010.0).sources[0].last_written == 10.0
    found.led(A, 1, 0, 1011.0)
    assert found.figures(1020.0).sources[0].last_written == 9.0


def test_quantiles_are_latencies_that_occurred() -> None:
    found = Latencies()
    for number in range(1, 101):
        found.add(0, number / 10)
    assert found.quantiles(1) == {0.5: 5.0, 0.95: 9.5, 0.99: 9.9, 1.0: 10.0}


def test_one_latency_is_every_quantile_and_none_is_none() -> None:
    found = Latencies()
    assert found.quantiles(0) == {}
    found.add(0, 2.0)
    assert set(found.quantiles(1).values()) == {2.0}


def test_the_window_forgets() -> None:
    found = Latencies()
    found.add(0, 100.0)
    found.add(LATENCY_WINDOW, 1.0)
    assert set(found.quantiles(LATENCY_WINDOW + 1).values()) == {1.0}


def test_a_clock_that_is_behind_makes_no_latency_below_zero() -> None:
    found = Latencies()
    found.add(0, -3600.0)
    assert found.quantiles(1)[1.0] == 0.0
