# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions of a mirror, written into a cluster that librdkafka plays in this process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.api import write_positions

#: Keys and their murmur2 as Java's int: Kafka's own UtilsTest has them.
VECTORS = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}
#: Partitions that a topic of the played cluster gets.
PARTITIONS = 4


def session(**more: Any) -> Any:
    """A session whose producer talks to a played cluster."""
    config = {"test.mock.num.brokers": 1, "bootstrap.servers": "played", **more}
    return SimpleNamespace(confluent_config=lambda: config, connection=SimpleNamespace(request_timeout=5))


def test_a_key_goes_to_the_partition_that_a_producer_of_java_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    import confluent_kafka

    taken: dict[str, int] = {}

    class Noted(confluent_kafka.Producer):
        """Notes where each record came to."""

        def produce(self, topic: str, value: bytes, key: bytes, on_delivery: Any) -> None:
            """Produce and note."""

            def delivered(error: Any, message: Any) -> None:
                taken[message.key().decode()] = message.partition()
                on_delivery(error, message)

            super().produce(topic, value, key, on_delivery=delivered)

    monkeypatch.setattr(confluent_kafka, "Producer", Noted)
    write_positions(session(), "positions", {key.encode(): b"{}" for key in VECTORS})
    # As BuiltInPartitioner.partitionForKey does it: the sign is masked away.
    assert taken == {key: (number & 0x7FFFFFFF) % PARTITIONS for key, number in VECTORS.items()}


def test_positions_that_are_not_acknowledged_are_an_error() -> None:
    silent = session(**{"test.mock.broker.rtt": 60_000})
    silent.connection.request_timeout = 1
    with pytest.raises(RequestFailedError, match="write positions"):
        write_positions(silent, "positions", {b"key": b"{}"})
