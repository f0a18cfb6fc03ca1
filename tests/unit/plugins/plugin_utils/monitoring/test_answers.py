# SPDX-License-Identifier: GPL-3.0-or-later
"""Which targets answer, as a line."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.answers import answers


def target(node: str, health: str, error: str = "", pool: str = "streamops-kafka-orders") -> dict[str, Any]:
    labels = {"node": node, "job": "kafka", "instance": f"{node}:9404"}
    return {"scrapePool": pool, "labels": labels, "health": health, "lastError": error}


def test_all_answer() -> None:
    assert answers([target("b1", "up")]) == "Prometheus reads 1 target; 1 answer."


def test_those_that_do_not_are_named_with_the_reason() -> None:
    said = answers([target("b1", "up"), target("b2", "down", "connection refused"), target("b3", "unknown")])
    assert said == (
        "Prometheus reads 3 targets; 1 answer. No answer: b2 (job kafka, b2:9404): connection refused, "
        "b3 (job kafka, b3:9404): not read yet."
    )


def test_targets_of_the_user_are_not_counted() -> None:
    assert answers([target("x", "down", "refused", pool="own")]) == "Prometheus reads 0 targets; 0 answer."


def test_what_prometheus_reads_of_itself_is_not_counted() -> None:
    watchers = [target("prom1", "unknown", pool=f"streamops-{name}") for name in ("prometheus", "alertmanager")]
    assert answers([target("b1", "up"), *watchers]) == "Prometheus reads 1 target; 1 answer."


def test_many_are_counted() -> None:
    assert answers([target(f"b{n}", "down", "refused") for n in range(12)]).endswith("refused and 2 more.")
