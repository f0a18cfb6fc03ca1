"""The filters about mirrors, as templates call them."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.filter.mirror import FilterModule

FILTERS: dict[str, Any] = FilterModule().filters()
RAW = [{"source": "a", "target": "b", "topics": ["orders"]}]


def test_properties_come_from_flows_as_an_inventory_has_them() -> None:
    clusters = {name: {"bootstrap_servers": [f"{name}:9092"], "properties": {}, "brokers": 1} for name in "ab"}
    options = {"refresh_seconds": 5, "offset_flush_seconds": 1, "rebalance_delay_seconds": 1}
    found = FILTERS["mirror_properties"](RAW, "b", clusters, options, "4.3.1")
    assert found["a->b.topics"] == ["orders"]


def test_a_mirror_needs_both_ends() -> None:
    assert FILTERS["mirror_clusters_needed"](RAW, "b") == ["a", "b"]


def test_a_mistake_is_an_error_of_the_template() -> None:
    with pytest.raises(AnsibleFilterError, match=r"mirror_flows_into: mirror_flows\[0\]\.topics: is required"):
        FILTERS["mirror_flows_into"]([{"source": "a", "target": "b"}], "b")
