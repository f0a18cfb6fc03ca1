# SPDX-License-Identifier: GPL-3.0-or-later
"""Live broker configurations: what is asked of a cluster, and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers import configs_apply
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError

Values = dict[str, str]


class Broker:
    """Stands for the one broker of a cluster, which takes every value."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
        self.values = {key.replace("_", "."): value for key, value in values.items()}
        self.changes: list[Mapping[str, Any]] = []
        self.warnings: list[str] = []
        monkeypatch.setattr(configs_apply, "list_brokers", lambda _session: [SimpleNamespace(id=1, fenced=False)])
        monkeypatch.setattr(configs_apply, "describe_configs", self.describe)
        monkeypatch.setattr(configs_apply, "alter_configs", self.alter)
        monkeypatch.setattr(configs_apply, "warn", self.warnings.append)

    def describe(self, _session: Any, _kind: int, _wanted: Any) -> dict[str, dict[str, ConfigValue]]:
        """Show what is set."""
        view = {
            key: ConfigValue(value, "INT", "DYNAMIC_BROKER", by_source={"DYNAMIC_BROKER": value})
            for key, value in self.values.items()
        }
        return {"1": view}

    def alter(
        self, _session: Any, _kind: int, changes: Mapping[str, Values], validate_only: bool = False
    ) -> dict[str, None]:
        """Take what is to be set."""
        if not validate_only:
            self.changes.append(changes)
            self.values.update(changes["1"])
        return dict.fromkeys(changes)

    def ensure(self, **config: Any) -> dict[str, Any]:
        """Run the module for these keys of the broker."""
        wanted = {key.replace("_", "."): value for key, value in config.items()}
        params = {"brokers": {1: wanted}, "default": {}, "timeout": 1}
        session: Any = None
        return configs_apply.ensure_broker_configs(session, params, check=False, diff=True)


@pytest.mark.parametrize("given", [0, "0", " 0"])
def test_nothing_is_set_where_a_value_is_beyond_its_bound(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(monkeypatch, num_replica_fetchers="1", num_io_threads="8")
    with pytest.raises(RefusedError, match="no follower copies anything"):
        broker.ensure(num_replica_fetchers=given, num_io_threads=16)
    assert broker.changes == []


def test_what_makes_a_cluster_slower_is_set_and_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(monkeypatch, num_io_threads="8")
    assert broker.ensure(num_io_threads=1)["changed"] is True
    assert broker.values == {"num.io.threads": "1"}
    assert len(broker.warnings) == 1
    assert "one request that waits for a disk holds up all others" in broker.warnings[0]
