# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight rows on what is lost with a control node."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined


def test_a_new_ca_that_would_be_lost_is_refused_once_with_all_its_nodes() -> None:
    inventory = combined({})
    names = [node.name for node in inventory.nodes]
    lost = replace(inventory, unkept=dict.fromkeys(names, ("/root/ca/east", "AWX_HOST is set")))
    (found,) = [one for one in check_inventory(lost) if one.name == "ca_not_kept"]
    assert sorted(found.hosts) == sorted(names)
    assert found.found == "/root/ca/east has no CA and ends with the control node (AWX_HOST is set)"
    assert "set streamops_artifacts" in found.fix


def test_nothing_is_said_where_nothing_is_lost() -> None:
    assert not [one for one in check_inventory(combined({})) if one.name == "ca_not_kept"]
