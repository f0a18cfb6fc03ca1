"""Rows of benchmarks/mirror.py: words and what they mean, and the properties that a mirror is started with."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.mirror import DEFAULTS, MIRROR, PLAIN, Bench, Load, chosen, kafkas, ours, whole_table
from benchmarks.mirror_settings import CANDIDATES, Settings, read_settings

TARGET = SimpleNamespace(bootstrap_servers=["127.0.0.1:2"])
BENCH = Bench(Path(), Path(), cast(Any, TARGET), cast(Any, TARGET), cast(Any, None), "", 8080)


def test_words_are_properties_but_for_four_keys() -> None:
    read = read_settings("producer.linger.ms=0, tasks.max=1,heap=2g,exactly_once=enabled,source=lz4,java=-Da=b -Dc=d")
    properties = {"producer.linger.ms": "0", "tasks.max": "1"}
    assert read == Settings(properties, exactly_once="enabled", source="lz4", heap="2g", java="-Da=b -Dc=d")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("mirror", "'mirror' of 'mirror' is no KEY=VALUE"),
        ("tasks.max=", "'tasks.max=' of 'tasks.max=' is no KEY=VALUE"),
        ("tasks.max=1,tasks.max=2", "sets tasks.max twice"),
        ("source=lz5", "source=lz5: give one of none, gzip, snappy, lz4, zstd"),
        ("exactly_once=true", "exactly_once=true: give one of disabled, enabled"),
        ("heap=1", "heap=1: give it as 512m or 2g"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_is_right(words: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace(".", "[.]")):
        read_settings(words)


def test_a_property_stands_where_it_wins_over_that_of_the_role() -> None:
    given = ours(BENCH, "run1", "127.0.0.1:1", "topic")
    settings = read_settings(
        "consumer.max.poll.records=500,producer.linger.ms=0,offset.lag.max=0,worker.rebalance.timeout.ms=1"
    )
    made = settings.applied(given, "run1", "dc_b")
    changed = {key: value for key, value in made.items() if given.get(key) != value}
    assert changed == {
        "run1->dc_b.consumer.max.poll.records": "500",
        "dc_b.producer.linger.ms": "0",
        "run1->dc_b.offset.lag.max": "0",
        "dc_b.rebalance.timeout.ms": "1",
    }
    clients = {"run1->dc_b.consumer.max.poll.records", "dc_b.producer.linger.ms"}
    assert clients <= set(given), "the role sets the same keys, so that these win"


@pytest.mark.parametrize("exactly_once", ["disabled", "enabled"])
def test_the_role_and_kafka_make_a_mirror_of_these_clusters(exactly_once: str) -> None:
    made = ours(BENCH, "run1", "127.0.0.1:1", "topic", exactly_once)
    assert made["dc_b.exactly.once.source.support"] == exactly_once
    assert made["listeners"] == "http://127.0.0.1:8080"
    assert kafkas(BENCH, "run1", "127.0.0.1:1", "topic")["run1->dc_b.topics"] == "topic"


def test_every_candidate_is_a_row_beside_the_copy_of_its_source() -> None:
    loads = chosen(["candidates", MIRROR, "tasks.max=1"], 1000)
    rows = [row for kinds in loads.values() for row in kinds if row not in (PLAIN, MIRROR)]
    assert sorted(rows) == sorted(CANDIDATES)
    assert all(kinds[0] == PLAIN for kinds in loads.values())
    assert loads[Load(6, 1000, 100, True, "lz4")] == [PLAIN, "source=lz4"]


def test_without_a_choice_the_table_is_what_it_was() -> None:
    assert [(load.near, load.partitions, load.records, kinds) for load, kinds in whole_table(1000).items()] == [
        (True, 6, 250, [PLAIN, MIRROR, "mirror, exactly once"]),
        (True, 6, 1000, [PLAIN, MIRROR, "mirror, exactly once"]),
        (False, 6, 200, [PLAIN, DEFAULTS, MIRROR]),
        (False, 1, 200, [PLAIN, DEFAULTS, MIRROR]),
    ]
