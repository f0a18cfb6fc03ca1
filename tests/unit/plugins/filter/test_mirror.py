"""The filters about mirrors, as templates call them."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.filter.mirror import FilterModule

FILTERS: dict[str, Any] = FilterModule().filters()
OPTIONS = {"refresh_seconds": 5, "offset_flush_seconds": 1, "rebalance_delay_seconds": 1}
RAW = [{"source": "a", "target": "b", "topics": ["orders"]}]


def test_properties_come_from_flows_as_an_inventory_has_them() -> None:
    clusters = {name: {"bootstrap_servers": [f"{name}:9092"], "properties": {}, "brokers": 1} for name in "ab"}
    found = FILTERS["mirror_properties"](RAW, "b", clusters, OPTIONS, "4.3.1")
    assert found["a->b.topics"] == ["orders"]


def test_a_mirror_needs_both_ends() -> None:
    assert FILTERS["mirror_clusters_needed"](RAW, "b") == ["a", "b"]


class Lazy(dict[str, Any]):
    """A mapping as templates hand it to filters: nobody but Ansible can make another one of its kind."""

    def __init__(self) -> None:
        raise NotImplementedError("Direct construction of lazy containers is not supported.")

    @classmethod
    def of(cls, values: dict[str, Any]) -> Lazy:
        """With these values."""
        made = cls.__new__(cls)
        made.update({key: cls.of(value) if isinstance(value, dict) else value for key, value in values.items()})
        return made


def test_native_properties_of_a_flow_come_through_a_template() -> None:
    legacy = {"engine": "legacy", "consumer_config": {"fetch.min.bytes": 1}}
    flows = [Lazy.of({**RAW[0], "config": {"tasks.max": 3}}), Lazy.of({**RAW[0], "target": "c", **legacy})]
    ends = {name: Lazy.of({"bootstrap_servers": [f"{name}:1"], "properties": {}, "brokers": 1}) for name in "abc"}
    options = Lazy.of({**OPTIONS, "config_dir": "/etc/m"})
    (into,) = FILTERS["mirror_flows_into"](FILTERS["mirror_flows_into"](flows, "b"), "b")
    assert into["config"] == {"tasks.max": 3}
    assert FILTERS["mirror_properties"](flows, "b", ends, options, "4.3.1")["a->b.tasks.max"] == 3
    (old,) = FILTERS["mirror_flows_into"](flows, "c")
    assert FILTERS["mirror_legacy_process"](old, ends, options)["consumer"]["fetch.min.bytes"] == 1


def test_a_mistake_is_an_error_of_the_template() -> None:
    with pytest.raises(AnsibleFilterError, match=r"mirror_flows_into: mirror_flows\[0\]\.topics: is required"):
        FILTERS["mirror_flows_into"]([{"source": "a", "target": "b"}], "b")
