"""The filters to_properties, declared and directory_id, and the one for the format plan, as templates call them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.filter import format_plan, properties

FILTERS: dict[str, Any] = {**properties.FilterModule().filters(), **format_plan.FilterModule().filters()}


def test_to_properties_prints_sorted_text() -> None:
    assert FILTERS["to_properties"]({"b": True, "a": [1, 2]}) == "a=1,2\nb=true\n"


@pytest.mark.parametrize("name", ["to_properties", "declared"])
def test_a_null_value_is_refused_with_its_key_named(name: str) -> None:
    with pytest.raises(AnsibleFilterError, match=r"property log\.dirs: has no value"):
        FILTERS[name]({"log.dirs": None})


@pytest.mark.parametrize("name", ["to_properties", "declared"])
def test_only_a_dictionary_is_accepted(name: str) -> None:
    with pytest.raises(AnsibleFilterError, match="needs a dictionary of properties, found list"):
        FILTERS[name]([1])


def test_declared_hides_secrets() -> None:
    assert FILTERS["declared"]({"ssl.key.password": "x", "node.id": 1})["node.id"] == "1"
    assert "sha256:" in FILTERS["declared"]({"ssl.key.password": "x"})["ssl.key.password"]


def test_directory_id_takes_the_node_id_as_text_too() -> None:
    assert FILTERS["directory_id"]("clusterA", "1") == FILTERS["directory_id"]("clusterA", 1)


@pytest.mark.parametrize(("cluster", "node"), [("", 1), ("clusterA", "one"), ("clusterA", None)])
def test_directory_id_refuses_what_identifies_nothing(cluster: str, node: Any) -> None:
    with pytest.raises(AnsibleFilterError, match="directory_id"):
        FILTERS["directory_id"](cluster, node)


def test_format_plan_takes_null_for_what_an_inventory_leaves_out() -> None:
    node = {"host": "kafka1", "node_id": 1, "roles": ["broker"], "disks": [], "running": False}
    assert FILTERS["format_plan"]([node], None, None, "drawn", None)["source"] == "drawn"


def test_format_plan_says_which_field_of_a_node_is_missing() -> None:
    with pytest.raises(AnsibleFilterError, match="KeyError: 'disks'"):
        FILTERS["format_plan"]([{"host": "kafka1", "node_id": 1, "running": False}], drawn="x")
