# SPDX-License-Identifier: GPL-3.0-or-later
"""What a question for the time tells for certain, and no more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.clock_offset import Reading, narrowest, seconds

SECONDS = st.floats(-10, 10)
WAYS = st.floats(0, 3)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("1795248616.250000000\n", 1795248616.25),
        ("1795248616.N\n", None),
        ("1795248616", None),
        ("", None),
        ("Welcome!\n1795248616.250000000\n", None),
    ],
)
def test_only_seconds_with_their_fraction_are_a_time(said: str, meant: float | None) -> None:
    assert seconds(said) == meant


def test_the_shortest_question_is_kept() -> None:
    assert narrowest([(0.0, 5.5, 1.0), (2.0, 7.0, 2.25), (4.0, 9.5, 5.0)]) == Reading(4.875, 0.125)


@given(off=SECONDS, there=WAYS, back=WAYS)
def test_the_true_offset_is_always_within_the_uncertainty(off: float, there: float, back: float) -> None:
    reading = narrowest([(100.0, 100.0 + there + off, 100.0 + there + back)])
    assert abs(reading.offset - off) <= reading.uncertainty + 1e-9


@given(one=SECONDS, other=SECONDS, ways=st.tuples(WAYS, WAYS, WAYS, WAYS))
def test_clocks_are_never_called_further_apart_than_they_are(
    one: float, other: float, ways: tuple[float, float, float, float]
) -> None:
    first = narrowest([(0.0, ways[0] + one, ways[0] + ways[1])])
    second = narrowest([(50.0, 50.0 + ways[2] + other, 50.0 + ways[2] + ways[3])])
    assert first.apart(second) <= abs(one - other) + 1e-9
    assert first.apart(second) == second.apart(first)
