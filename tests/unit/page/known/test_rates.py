"""How fast logs grew between two pictures, and what is unknown of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import NO_ANSWER, Log
from page.known.picture import Picture
from page.known.rates import Rate, Rates, rates_between

Part = tuple[int | None, int | None, Log]


def pictured(clock: float, **topics: list[Part]) -> Picture:
    """A picture of topics: of each partition its leader, the bytes of its log, and its ends."""
    listed = [
        {
            "name": name,
            "partitions": [{"partition": at, "leader": leader, "size_bytes": size}
                           for at, (leader, size, _log) in enumerate(parts)],
        }
        for name, parts in topics.items()
    ]  # fmt: skip
    logs = {name: {at: log for at, (_leader, _size, log) in enumerate(parts)} for name, parts in topics.items()}
    brokers: list[dict[str, Any]] = [{"id": 1, "fenced": False}, {"id": 2, "fenced": False}, {"id": 3, "fenced": True}]
    return Picture(1e9, 0.1, 1, 2, 0, logs, [], {"topics": listed, "brokers": brokers}, clock=clock)


BEFORE = pictured(100.0, orders=[(1, 1000, Log(0, 10)), (2, 500, Log(4, 6))], quiet=[(1, 0, Log(0, 0))])


def test_growth_is_by_the_second_of_topics_of_leaders_and_of_all() -> None:
    after = pictured(130.0, orders=[(1, 4000, Log(0, 40)), (2, 800, Log(4, 9))], quiet=[(1, 0, Log(0, 0))])
    found = rates_between(BEFORE, after)
    assert found.seconds == 30
    assert found.topic("orders") == Rate(1.1, 110.0)
    assert found.topic("quiet") == Rate(0.0, 0.0)
    assert (found.broker(1), found.broker(2)) == (Rate(1.0, 100.0), Rate(0.1, 10.0))
    assert found.whole == Rate(1.1, 110.0)
    assert (found.topic("none"), found.broker(3)) == (Rate(), Rate())


@pytest.mark.parametrize(
    ("second", "rate"),
    [
        ((2, 800, Log(5, 9)), Rate(1.1, 100.0, 0, 1)),  # Retention removed a segment.
        ((2, 400, Log(4, 9)), Rate(1.1, 100.0, 0, 1)),  # Compaction made it smaller.
        ((1, 800, Log(4, 9)), Rate(1.1, 100.0, 0, 1)),  # The log of another broker.
        ((None, 800, Log(4, 9)), Rate(1.1, 100.0, 0, 1)),
        ((2, None, Log(4, 9)), Rate(1.1, 100.0, 0, 1)),
        ((2, 800, Log(0, 3)), Rate(1.0, 100.0, 1, 1)),  # Records were lost, or the topic was made anew.
        ((2, 800, Log(missing=NO_ANSWER)), Rate(1.0, 100.0, 1, 1)),
    ],
)
def test_what_was_removed_is_unknown_and_never_negative(second: Part, rate: Rate) -> None:
    after = pictured(130.0, orders=[(1, 4000, Log(0, 40)), second])
    assert rates_between(BEFORE, after).topic("orders") == rate


def test_a_partition_that_another_broker_leads_now_is_known_of_its_topic_and_of_no_broker() -> None:
    after = pictured(130.0, orders=[(2, 4000, Log(0, 40)), (2, 800, Log(4, 9))])
    found = rates_between(BEFORE, after)
    assert found.topic("orders") == Rate(1.1, 10.0, 0, 1)
    assert found.broker(2) == Rate(0.1, 10.0, 1, 1)
    assert found.broker(1) == Rate(0.0, 0.0), "it leads nothing"


def test_where_nothing_is_known_there_is_no_number() -> None:
    after = pictured(130.0, new=[(1, 10, Log(0, 10))], orders=[(1, 1, Log(5, 9))])
    found = rates_between(BEFORE, after)
    assert found.topic("new") == Rate(None, None, 1, 1)
    assert found.topic("orders") == Rate(None, None, 1, 1)
    assert found.whole.data() == {
        "records_per_second": None,
        "bytes_per_second": None,
        "records_unknown_partitions": 2,
        "bytes_unknown_partitions": 2,
    }


def test_the_first_picture_and_a_clock_that_stands_tell_nothing() -> None:
    assert rates_between(None, BEFORE) == Rates()
    assert rates_between(BEFORE, BEFORE) == Rates()
    assert rates_between(BEFORE, replace(BEFORE, clock=0.0)) == Rates()
    empty = Picture(1e9, 0.1, 1, 2, 0, {}, [], clock=130.0)
    assert rates_between(BEFORE, empty) == Rates(30.0, whole=Rate(0.0, 0.0))
