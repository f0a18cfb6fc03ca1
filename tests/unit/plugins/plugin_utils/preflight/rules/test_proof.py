# SPDX-License-Identifier: GPL-3.0-or-later
"""What a proof would refuse in the roll is refused before anything begins."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined, expect, isolated, only

ONE: dict[str, Any] = {"count": 1, "kafka_config": {}, "kafka_topics": [], "kafka_profile": "development"}


def proof_of_one(**variables: Any) -> list[str]:
    """The names of the rules on proofs that a cluster of one broker breaks."""
    return [one.name for one in check_inventory(combined(**ONE, **variables)) if "proof" in one.name]


@pytest.mark.parametrize(
    ("variables", "parts"),
    [
        (
            {"kafka_prove_topic": "orders"},
            ["kafka_prove_topic: ", "'orders' does not begin with", "fix: set kafka_prove"],
        ),
        ({"kafka_prove_topic": "__streamops_prove 2"}, ["kafka_prove_topic: ", "no name that Kafka takes"]),
        (
            {"kafka_prove_rate": "1000"},
            ["3600 seconds with 1000 records a second", "more than 2,000,000", "fix: lower"],
        ),
    ],
)
def test_a_proof_that_the_module_would_refuse_is_refused(variables: dict[str, Any], parts: list[str]) -> None:
    expect(combined(kafka_prove="true", **variables), "refused_proof", *parts)
    assert check_inventory(combined(kafka_prove="false", **variables)) == []


@pytest.mark.parametrize("variables", [{"kafka_prove_seconds": 0}, {"kafka_prove_rate": "1"}])
def test_what_is_out_of_its_own_range_is_named_once(variables: dict[str, Any]) -> None:
    expect(combined(kafka_prove=True, **variables), "unclear_value", *variables)


def test_brokers_say_how_a_cluster_is_proven() -> None:
    mine = {"kafka_prove": True, "kafka_prove_rate": 1000}
    assert only(isolated(hosts={"broker5": mine}), "refused_proof").hosts == ("broker5",)
    assert check_inventory(isolated(hosts={"controller1": mine})) == []


def test_a_proof_with_what_it_takes_is_fine() -> None:
    assert check_inventory(combined(kafka_prove=True)) == []
    assert check_inventory(combined(kafka_prove=True, kafka_prove_topic="__streamops_prove_2")) == []


def test_a_cluster_of_one_broker_is_proven_where_the_gate_lets_the_topic_go() -> None:
    assert proof_of_one(kafka_prove=True) == ["proof_of_one_broker"]
    assert proof_of_one(kafka_prove=True, kafka_gate_allow_unavailable_topics=["orders"]) == ["proof_of_one_broker"]
    for allowed in (["*"], ["orders", "__streamops_prove"]):
        assert proof_of_one(kafka_prove=True, kafka_gate_allow_unavailable_topics=allowed) == []
    assert proof_of_one() == []


def test_a_value_with_which_no_job_can_run_is_one_problem_of_all_its_hosts() -> None:
    given = {"spark_validation_records": "5", "spark_validation_topic": "orders"}
    assert [one for one in check_inventory(combined()) if one.name == "unfit_validation"] == []
    (found,) = [one for one in check_inventory(combined(**given)) if one.name == "unfit_validation"]
    assert (found.variable, found.allowed, len(found.hosts)) == ("spark_validation_consent_topic", "'orders'", 3)
    (found,) = [one for one in check_inventory(combined(spark_validation_records=5)) if one.name == "unfit_validation"]
    assert (found.variable, found.found, found.allowed) == ("spark_validation_records", "5", "6 or more")
