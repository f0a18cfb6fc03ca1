# SPDX-License-Identifier: GPL-3.0-or-later
"""The load: its values, and writing it over a line that is too slow for it.

The broker is the one that librdkafka brings for its own tests: its real producer talks to it, and it answers as late as
it is told. What talks to a cluster is proven by tests/integration/mirror/test_mirror_tune.py.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune import api
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.api import values, write

#: Seconds that writing may take, and that what is on its way then may take.
SECONDS, TIMEOUT = 3.0, 6.0


def slow(answer_seconds: float, timeout: float = TIMEOUT) -> Any:
    """A session with a broker that answers so late."""
    config = {"test.mock.num.brokers": 1, "test.mock.broker.rtt": round(answer_seconds * 1000)}
    return SimpleNamespace(confluent_config=lambda: dict(config), connection=SimpleNamespace(request_timeout=timeout))


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """What the source says of the ends of the load, by partition."""
    found = {0: 20, 1: 20}

    def log_ends(_session: Any, _leaders: Any, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Log]:
        """Return logs with these ends."""
        return {key: Log(0, found[key[1]]) for key in keys}

    monkeypatch.setattr(api, "leaders_of", lambda _session, _topics: None)
    monkeypatch.setattr(api, "log_ends", log_ends)
    return found


@pytest.mark.parametrize(
    ("answer_seconds", "megabytes"),
    [
        (1.5, 60),  # Everything is still queued when the time is over,
        (1.5, 600),  # also where it does not fit into the queue.
        (0.4, 200),  # About 11 MB go in a second.
    ],
)
def test_a_load_that_a_slow_line_cannot_take_in_time_ends_early(
    ends: dict[int, int], answer_seconds: float, megabytes: int
) -> None:
    begun = time.monotonic()
    assert write(slow(answer_seconds), 2, megabytes * 10, 100_000, SECONDS) == 40
    assert time.monotonic() - begun < SECONDS + TIMEOUT


def test_a_load_that_fits_is_written_without_waiting_for_the_end_of_its_time(ends: dict[int, int]) -> None:
    begun = time.monotonic()
    assert write(slow(0.01), 2, 100, 1000, 60.0) == 40
    assert time.monotonic() - begun < 30


def test_a_line_on_which_nothing_arrives_is_an_error(ends: dict[int, int]) -> None:
    ends.update({0: 0, 1: 0})
    with pytest.raises(RequestFailedError, match="no record was acknowledged within 3 s"):
        write(slow(0.4), 2, 600, 100_000, SECONDS)


def test_what_is_on_its_way_for_too_long_is_an_error(ends: dict[int, int]) -> None:
    with pytest.raises(RequestFailedError, match="records were not acknowledged"):
        write(slow(0.4, timeout=0.01), 2, 2000, 100_000, 5.0)


def test_a_batch_of_the_load_packs_about_two_to_one() -> None:
    batch = b"".join(values(1000))
    assert {len(value) for value in values(1000)} == {1000}
    assert 0.45 < len(zlib.compress(batch)) / len(batch) < 0.6


def test_values_of_an_odd_size_have_it() -> None:
    assert {len(value) for value in values(17)} == {17}
