# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of records, written into a cluster that librdkafka plays in this process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.api import Writer


def session(**more: Any) -> Any:
    """A session whose producer talks to a played cluster."""
    config = {"test.mock.num.brokers": 1, "bootstrap.servers": "played", **more}
    return SimpleNamespace(confluent_config=lambda: config, connection=SimpleNamespace(request_timeout=5))


def record(number: int) -> Any:
    """Return a record, as kafka-python reads it."""
    return SimpleNamespace(
        key=None if number % 2 else b"key",
        value=None if number % 3 else b"value",
        headers=[("name", b"1"), ("none", None)],
        timestamp=1_764_000_000_000 + number,
        topic="orders",
        partition=2,
        offset=number,
    )


def write_all(writer: Writer, records: int) -> None:
    """Write so many records, and wait until they are acknowledged."""
    for number in range(records):
        writer.write(record(number))
    writer.finish()


def test_records_are_written_with_what_they_have() -> None:
    written: list[Any] = []
    writer = Writer(session(), "kept", 2, 1_000_000)
    answered = writer._answered

    def noted(error: Any, message: Any) -> None:
        """Note a record that is acknowledged."""
        written.append(message)
        answered(error, message)

    writer._answered = noted  # type: ignore[method-assign]
    write_all(writer, 20)
    assert writer.number == len(written) == 20
    assert {message.partition() for message in written} == {2}
    assert [message.key() for message in written] == [record(number).key for number in range(20)]
    assert [message.offset() for message in written] == list(range(20))


def test_a_record_may_be_far_larger_than_the_limit_for_compressed_ones() -> None:
    # The played cluster takes no batch above its own limit, so it is only handed over here.
    writer = Writer(session(), "kept", 0, 1_000)
    large = record(1)
    large.value = b"x" * 90_000_000
    writer.write(large)
    assert writer.number == 1


def test_a_record_that_the_client_refuses_is_named_with_its_place() -> None:
    writer = Writer(session(), "kept", 0, 1_000)
    large = record(7)
    large.value = b"x" * 101_000_000
    with pytest.raises(RequestFailedError, match=r"write kept: record orders-2 offset 7: .*MSG_SIZE_TOO_LARGE"):
        writer.write(large)


def test_a_record_that_is_not_taken_is_an_error() -> None:
    writer = Writer(session(), "kept", 99, 0)
    with pytest.raises(RequestFailedError, match="write kept"):
        write_all(writer, 3)
