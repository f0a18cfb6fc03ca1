"""What a time means, and which times are refused."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups.plan import when_of

NOW = 1_800_000_000.0


def when(text: str, clip: bool = False) -> tuple[int, list[str]]:
    """What a text means at NOW."""
    return when_of({"timestamp": text, "clip": clip}, NOW)


@pytest.mark.parametrize("text", ["2026-11-24T06:00:00+01:00", "2026-11-24T05:00:00Z", " 1795496400000 "])
def test_a_time_is_read_with_its_zone(text: str) -> None:
    assert when(text) == (1_795_496_400_000, [])


def test_a_time_without_a_zone_is_refused() -> None:
    assert "has no time zone" in when("2026-11-24T06:00:00")[1][0]


@pytest.mark.parametrize("text", ["", "yesterday", "-5", "1e12", "²", "2026-13-01T00:00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    assert "is neither" in when(text)[1][0]


@pytest.mark.parametrize(("text", "day"), [("1795496400", "2026-11-24T05:00:00Z"), ("99999999999", "5138-11-16")])
def test_a_time_in_seconds_is_refused_with_the_day_that_it_means(text: str, day: str) -> None:
    wanted, (wrong,) = when(text)
    assert wanted == 0
    assert "in ms is 197" in wrong
    assert f"in seconds it is {day}" in wrong
    assert f"Write {text}000" in wrong


def test_the_time_from_which_kafka_counts_is_one() -> None:
    assert when("0") == (0, [])


def test_the_way_to_the_end_is_that_of_the_module() -> None:
    later = str(int(NOW * 1000) + 60_000)
    of_offsets = {"timestamp": later, "clip": False, "to": "timestamp"}
    assert "choose to: latest" in when_of(of_offsets, NOW)[1][0]
    assert "choose delete_before: end" in when_of({"timestamp": later, "clip": False}, NOW)[1][0]


def test_the_future_needs_consent() -> None:
    later = str(int(NOW * 1000) + 60_000)
    assert "is 60 s in the future" in when(later)[1][0]
    assert when(later, clip=True) == (int(later), [])
