"""Latencies as quantiles of the last hour, by nearest rank."""

from __future__ import annotations

from canary.latencies import WINDOW, Latencies


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
    found.add(WINDOW, 1.0)
    assert set(found.quantiles(WINDOW + 1).values()) == {1.0}


def test_a_clock_that_is_behind_makes_no_latency_below_zero() -> None:
    found = Latencies()
    found.add(0, -3600.0)
    assert found.quantiles(1)[1.0] == 0.0
