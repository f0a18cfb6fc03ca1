# SPDX-License-Identifier: GPL-3.0-or-later
"""Log directories as the module tells them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_dirs import brokers_described
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError

BROKERS = (Broker(1, "h", 1, None, False), Broker(2, "h", 2, None, True))


def replica(partition: int, size: int, future: bool = False) -> dict[str, Any]:
    """A replica as kafka-python has it."""
    return {"partition_index": partition, "partition_size": size, "offset_lag": 0, "is_future_key": future}


def directories(_broker: int) -> list[dict[str, Any]]:
    """Two directories, the second one failed."""
    topics = [{"name": "t", "partitions": [replica(1, 10), replica(0, 5, future=True)]}]
    topics.append({"name": "u", "partitions": [replica(0, 7)]})
    good = {"error_code": 0, "log_dir": "/b", "topics": topics, "total_bytes": 100, "usable_bytes": 40}
    return [good, {"error_code": 56, "log_dir": "/a", "topics": [], "total_bytes": -1, "usable_bytes": -1}]


def test_replicas_and_future_replicas_are_counted_apart_and_directories_come_in_order() -> None:
    (found,) = brokers_described(BROKERS, None, directories, None, True)
    assert (found["id"], found["replica_count"], found["future_count"], found["replica_bytes"]) == (1, 2, 1, 22)
    failed, good = found["directories"]
    assert (failed["path"], failed["online"], failed["total_bytes"]) == ("/a", False, None)
    assert (good["path"], good["usable_bytes"]) == ("/b", 40)
    assert [(one["topic"], one["partition"], one["future"]) for one in good["replicas"]] == [
        ("t", 0, True),
        ("t", 1, False),
        ("u", 0, False),
    ]


def test_topics_limit_what_is_counted_and_replicas_need_not_be_listed() -> None:
    (found,) = brokers_described(BROKERS, [1], directories, ["u"], False)
    assert (found["replica_count"], found["replica_bytes"]) == (1, 7)
    assert all("replicas" not in directory for directory in found["directories"])


def test_a_broker_that_is_down_cannot_be_asked() -> None:
    with pytest.raises(RefusedError, match="broker 2: is not registered and alive"):
        brokers_described(BROKERS, [1, 2], directories, None, True)
