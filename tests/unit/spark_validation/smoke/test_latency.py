"""The histogram of latencies."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from spark_validation.smoke.latency import EXACT, SKEWED, bucket_of, percentile, summary, upper_bound

values = st.lists(st.integers(0, 10_000_000), min_size=1, max_size=200)


@given(st.integers(0, 10**9))
def test_a_bucket_holds_its_value_within_five_percent(value: int) -> None:
    bound = upper_bound(bucket_of(value))
    assert value <= bound
    assert bound == value if value < EXACT else bound <= value * 1.05


@given(values, st.sampled_from([50.0, 95.0, 99.0]))
def test_a_percentile_is_at_most_five_percent_above_the_true_one(latencies: list[int], percent: float) -> None:
    true = sorted(latencies)[math.ceil(percent * len(latencies) / 100) - 1]
    found = percentile(Counter(map(bucket_of, latencies)), percent)
    assert found is not None
    assert true <= found <= true * 1.05


def test_a_negative_latency_is_a_difference_of_clocks() -> None:
    assert bucket_of(-3) == SKEWED
    assert percentile(Counter({SKEWED: 9, 5: 1}), 50) == 0


def test_percentiles_of_nothing_are_unknown() -> None:
    figures = summary({}, 0, None, None)
    assert figures["p99"] is None
    assert figures["mean"] is None


def test_no_percentile_exceeds_the_largest_value() -> None:
    assert summary({bucket_of(1000): 1}, 1000, 1000, 1000)["p99"] == 1000
