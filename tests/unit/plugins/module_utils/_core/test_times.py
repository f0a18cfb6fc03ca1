# SPDX-License-Identifier: GPL-3.0-or-later
"""Times as users write them, and as people read them; compared with what Python itself makes of them."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.times import UnclearTimeError, iso, milliseconds


def test_any_time_is_written_and_read_back() -> None:
    chosen = random.Random(7)
    for time in [0, 951_782_400_000, 1_709_164_800_123, *(chosen.randrange(253_402_300_800_000) for _ in range(500))]:
        text = iso(time)
        assert text is not None
        assert text[:-5] == datetime.fromtimestamp(time // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
        assert milliseconds(text, "t") == time
    assert [iso(-1), iso(10**18)] == [None, None]


@pytest.mark.parametrize("text", ["2026-11-24T06:00:00+01:00", "2026-11-24 05:00Z", "2026-11-24T00:30:00.000-0430"])
def test_zones_are_counted(text: str) -> None:
    assert milliseconds(text, "t") == 1_795_496_400_000


@pytest.mark.parametrize("text", ["2026-11-24T06+01", "20261124T060000+0100", "2026-11-24T05:00:00,000999Z"])
def test_other_forms_of_iso_8601_are_read_as_python_reads_them(text: str) -> None:
    assert milliseconds(text, "t") == int(datetime.fromisoformat(text).timestamp() * 1000) == 1_795_496_400_000


@pytest.mark.parametrize(
    "text",
    ["", "now", "2026-02-30T00:00:00Z", "2026-11-24T24:00:00Z", "2026-11-24T06:00+24:00", "2026-11-24T06:00+01:60",
     "9" * 30, "-5"],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UnclearTimeError, match=r"^time_to: "):
        milliseconds(text, "time_to")


@pytest.mark.parametrize(("text", "day"), [("1795496400", "2026-11-24T05:00:00Z"), ("99999999999", "5138-11-16")])
def test_a_time_in_seconds_is_refused_with_the_day_that_it_means(text: str, day: str) -> None:
    with pytest.raises(UnclearTimeError, match=rf"^time_to: {text} in ms is 197.* in seconds it is {day}.*{text}000"):
        milliseconds(text, "time_to")
