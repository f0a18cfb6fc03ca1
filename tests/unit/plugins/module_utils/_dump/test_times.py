# SPDX-License-Identifier: GPL-3.0-or-later
"""Times as users write them, and as people read them; compared with what Python itself makes of them."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._dump.times import UnclearTimeError, iso, milliseconds


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


@pytest.mark.parametrize("text", ["", "now", "2026-02-30T00:00:00Z", "2026-11-24T24:00:00Z", "9" * 30, "-5"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UnclearTimeError, match=r"^time_to: "):
        milliseconds(text, "time_to")
