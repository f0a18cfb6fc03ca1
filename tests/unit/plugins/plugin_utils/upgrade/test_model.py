# SPDX-License-Identifier: GPL-3.0-or-later
"""Levels of features as users give them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import given_levels


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ({"metadata.version": "4.0"}, {"metadata.version": "4.0"}),
        ('{"metadata.version": "4.0", "group.version": 1}', {"metadata.version": "4.0", "group.version": 1}),
        ("metadata.version=4.0", {"metadata.version": "4.0"}),
        ("metadata.version=4.0, group.version=1", {"metadata.version": "4.0", "group.version": "1"}),
        ({}, {}),
        ("", {}),
        ("  ", {}),
        ("{}", {}),
        (None, {}),
    ],
)
def test_levels_are_a_dict_json_or_pairs(given: Any, levels: dict[str, Any]) -> None:
    assert given_levels(given) == (levels, "")


@pytest.mark.parametrize(
    "given", ["abc", "4.0", "metadata.version=", "=4.0", "a=1 b", '["a"]', [], ["a=1"], 4, "7", False]
)
def test_what_names_no_levels_is_said_with_its_text(given: Any) -> None:
    levels, unclear = given_levels(given)
    assert levels == {}
    assert unclear.startswith("kafka_upgrade_features is ")
    assert str(given) in unclear
