"""Which properties need no restart."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.dynamic import CLUSTER_LEVEL, is_dynamic


@pytest.mark.parametrize("key", ["num.io.threads", "log.retention.ms", "message.max.bytes", *CLUSTER_LEVEL])
def test_keys_that_kafka_takes_live(key: str) -> None:
    assert is_dynamic(key)


@pytest.mark.parametrize(
    "key",
    ["log.dirs", "log.retention.hours", "listeners", "listener.name.client.ssl.keystore.location", "ssl.keystore.key"],
)
def test_keys_that_need_a_restart(key: str) -> None:
    assert not is_dynamic(key)
