# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of mirrors by table: settings that have one owner."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import expect, topic
from tests.support.preflight_mirrors import flow, mirrored

TWO: dict[str, dict[str, Any]] = {name: {"kafka_cluster_name": "dc_b"} for name in ("mirror1", "mirror2")}


@pytest.mark.parametrize(
    ("variable", "one", "other"),
    [("kafka_config_dir", "/etc/kafka", "/srv/kafka"), ("mirror_maker_refresh_seconds", 60, 30)],
)
def test_mirrors_of_a_target_are_configured_alike(variable: str, one: Any, other: Any) -> None:
    mirrors = {name: {**TWO[name], variable: value} for name, value in zip(TWO, (one, other))}  # noqa: B905
    parts = [f"{variable}: the mirrors of dc_b disagree", f"{one} on mirror1; {other} on mirror2"]
    expect(mirrored(flow(), mirrors=mirrors), "mirrors_disagree", *parts)


def test_properties_that_differ_are_not_shown_since_they_may_be_secrets() -> None:
    variable = "mirror_maker_config"
    mirrors = {name: {**TWO[name], variable: {"offset.flush.timeout.ms": f"s3cret-{name}"}} for name in TWO}
    found = mirrored(flow(), mirrors=mirrors)
    expect(
        found,
        "mirrors_disagree",
        f"{variable}: the mirrors of dc_b disagree",
        "1 entries on mirror1; 1 entries on mirror2",
    )
    assert "s3cret" not in str(check_inventory(found))


def test_mirrors_of_two_targets_may_differ() -> None:
    mirrors = {
        "m1": {"kafka_cluster_name": "dc_b", "mirror_maker_refresh_seconds": 60},
        "m2": {"kafka_cluster_name": "dc_a", "mirror_maker_refresh_seconds": 30},
    }
    assert check_inventory(mirrored(flow(), flow("dc_b", "dc_a"), mirrors=mirrors)) == []


def declared(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """The target declares a topic."""
    return {"dc_b": {"kafka_topics": [{**topic(name), "config": config}]}}


YEAR = {"retention.ms": 31536000000}


@pytest.mark.parametrize(
    ("name", "given"), [("dc_a.orders", {}), ("orders", {"policy": "identity"})], ids=["default", "identity"]
)
def test_settings_that_a_mirror_takes_back_are_told(name: str, given: dict[str, Any]) -> None:
    found = mirrored(flow(**given), hosts=declared(name, {**YEAR, "min.insync.replicas": 2}))
    parts = [f"dc_a->dc_b would overwrite what kafka_topics sets at {name}", "retention.ms with sync_topic_configs"]
    expect(found, "topic_settings_overwritten", *parts, level="warning")


@pytest.mark.parametrize(
    ("name", "given", "config"),
    [
        ("dc_a.orders", {}, {"min.insync.replicas": 2}),
        ("dc_a.orders", {"sync_topic_configs": False}, YEAR),
        ("orders", {}, YEAR),
        ("dc_a.other", {}, YEAR),
        ("dc_a.", {}, YEAR),
    ],
    ids=["the target's own", "not copied", "a topic of its own", "not mirrored", "no name"],
)
def test_other_settings_of_the_target_are_left_alone(name: str, given: dict[str, Any], config: dict[str, Any]) -> None:
    assert check_inventory(mirrored(flow(**given), hosts=declared(name, config))) == []
