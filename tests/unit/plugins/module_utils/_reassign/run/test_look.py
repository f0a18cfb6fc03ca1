# SPDX-License-Identifier: GPL-3.0-or-later
"""Write rates from two looks."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import Sample, with_rates, write_rates

KEY = ("t", 0)


@pytest.mark.parametrize(
    ("offsets", "sizes", "rate"),
    [
        ((100, 200), (1000, 2000), 100.0),
        ((100, 100), (1000, 1500), 0.0),  # Nothing was written: it grew by something else.
        ((100, 200), (2000, 1000), 50.0),  # Retention deleted meanwhile: 100 records of 5 bytes on the average.
        ((100, 200), (1000, 1000), 50.0),
        ((0, 0), (0, 0), 0.0),
    ],
)
def test_growth_counts_and_records_where_the_log_did_not_grow(
    offsets: tuple[int, int], sizes: tuple[int, int], rate: float
) -> None:
    first, second = (Sample(10.0 * n, {KEY: offsets[n]}, {KEY: sizes[n]}) for n in (0, 1))
    assert write_rates(first, second) == {KEY: rate}


def test_partitions_that_one_look_does_not_know_have_no_rate() -> None:
    assert write_rates(Sample(0, {}, {}), Sample(10, {KEY: 5}, {KEY: 5})) == {}


def test_rates_are_put_into_a_snapshot_without_touching_it() -> None:
    snapshot = {"nodes": [], "topics": [{"name": "t", "partitions": [{"partition": 0}, {"partition": 1}]}]}
    found = with_rates(snapshot, {KEY: 7.5})
    assert found["topics"][0]["partitions"] == [{"partition": 0, "write_rate": 7.5}, {"partition": 1}]
    assert snapshot["topics"][0]["partitions"] == [{"partition": 0}, {"partition": 1}]
