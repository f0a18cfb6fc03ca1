# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings a tuning tries, in which runs."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.grid import (
    OPTIONS,
    most_runs,
    option_runs,
    tasks_runs,
    together_runs,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tuning import CONSUMER, PRODUCER

_MIB = 1024 * 1024


def test_rounds_follow_each_other_so_that_a_slow_hour_strikes_all_settings() -> None:
    runs = tasks_runs([4, 1, 4], 2)
    assert [(run.number, run.round, run.tasks) for run in runs] == [(1, 1, 1), (2, 1, 4), (3, 2, 1), (4, 2, 4)]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_default_of_an_option_is_what_the_role_sets(name: str) -> None:
    option = OPTIONS[name]
    role = {"consumer": CONSUMER, "producer": PRODUCER}[option.side]
    assert option.default in option.values
    assert {key: role[key] for key in option.keys} == option.properties(option.default)


def test_options_are_tried_one_at_a_time_and_the_role_s_own_value_is_not_tried_again() -> None:
    runs = option_runs(["linger", "compression"], 1, 4, 9, 512 * _MIB)
    assert [(run.number, run.tasks, dict(run.settings)) for run in runs] == [
        (9, 4, {"linger": 0}),
        (10, 4, {"linger": 100}),
        (11, 4, {"compression": "none"}),
        (12, 4, {"compression": "zstd"}),
    ]
    assert runs[0].properties == {"producer.linger.ms": 0}
    assert runs[0].label == "4 tasks, linger 0 ms"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("batch", 65536, "64 KiB"),
        ("fetch", 4 * _MIB, "4 MiB"),
        ("buffers", -1, "kernel"),
        ("linger", 20, "20 ms"),
        ("compression", "zstd", "zstd"),
    ],
)
def test_values_are_shown_with_their_units(name: str, value: Any, said: str) -> None:
    assert OPTIONS[name].shown(value) == said


def test_fetches_that_do_not_fit_on_the_heap_are_left_out() -> None:
    small = [run.settings["fetch"] for run in option_runs(["fetch"], 1, 16, 1, 512 * _MIB)]
    large = [run.settings["fetch"] for run in option_runs(["fetch"], 1, 16, 1, 1024 * _MIB)]
    assert (small, large) == ([_MIB], [_MIB, 16 * _MIB])


def test_fetch_sets_both_of_its_properties() -> None:
    (run, *_rest) = option_runs(["fetch"], 1, 1, 1, 512 * _MIB)
    assert run.properties == {"consumer.max.partition.fetch.bytes": _MIB, "consumer.fetch.max.bytes": 4 * _MIB}


def test_one_better_value_is_not_tried_together_with_nothing() -> None:
    assert together_runs({"linger": 0}, 2, 4, 9) == []
    assert [run.number for run in together_runs({"linger": 0, "batch": _MIB}, 2, 4, 9)] == [9, 10]


def test_the_most_runs_hold_all_parts() -> None:
    names = list(OPTIONS)
    heap = 10**12
    planned = [
        *tasks_runs([1, 2], 2),
        *option_runs(names, 2, 2, 5, heap),
        *together_runs({"linger": 0, "batch": _MIB}, 2, 2, 25),
    ]
    assert most_runs([1, 2], names, 2) == len(planned)
