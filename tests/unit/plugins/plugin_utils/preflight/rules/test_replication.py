# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers of copies, by table: one mistake in a good inventory gives exactly its own violation."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import ADVICE, combined, config, expect, isolated, only, topic

RACKS = {f"kafka{n}": {"kafka_rack": f"r{n}"} for n in (1, 2, 3)}
MIN_ISR_3 = topic(config={"min.insync.replicas": 3})
UNCLEAN = config(unclean_leader_election_enable=True)

GOOD = [
    combined(hosts=RACKS),
    combined(count=5),
    combined(kafka_config={}),
    # What a later layer overrides is not rendered.
    combined(kafka_config=config(default_replication_factor=5), kafka_broker_config={"default.replication.factor": 3}),
    combined(kafka_topics=[topic(config={"min.insync.replicas": "2"})]),
    combined(kafka_topics=[{"name": "defaults"}]),
    # Combined controllers count as brokers, isolated ones do not need racks.
    isolated(hosts={f"broker{n}": {"kafka_rack": f"r{n}"} for n in (4, 5, 6)}),
    combined(kafka_config=config(offsets_topic_replication_factor=3, unclean_leader_election_enable="false")),
    # A topic that shall go needs no copies.
    combined(kafka_topics=[topic(replication_factor=9, state="absent")]),
]

ERRORS: list[tuple[Inventory, str, list[str]]] = [
    (
        combined(count=4),
        "even_quorum",
        ["kafka1, kafka2, kafka3, kafka4", "needs 3 of 4", "survives the loss of 1", "4 controllers"],
    ),
    (
        combined(hosts={"kafka1": {"kafka_rack": "r1"}}),
        "missing_racks",
        ["kafka2, kafka3: kafka_rack", "none on 2 of 3 brokers"],
    ),
    (
        combined(kafka_topics=[topic(replication_factor=4)]),
        "more_replicas_than_brokers",
        ["topic orders", "replication_factor 4 with 3 brokers"],
    ),
    (
        combined(kafka_config=config(default_replication_factor=5)),
        "more_replicas_than_brokers",
        ["default.replication.factor", "5 with 3 brokers"],
    ),
    (
        combined(kafka_topics=[topic(config={"min.insync.replicas": 4})]),
        "min_isr_above_replicas",
        ["more copies must be in sync than there are for topic orders", "4 with replication factor 3", "at most 2"],
    ),
    (
        combined(kafka_topics=[MIN_ISR_3]),
        "min_isr_equals_replicas",
        ["every copy must be in sync for topic orders", "no broker can be restarted"],
    ),
    (
        combined(kafka_config=config(min_insync_replicas=3), kafka_topics=[]),
        "min_isr_equals_replicas",
        ["kafka_config['min.insync.replicas']", "3 with replication factor 3"],
    ),
    (
        combined(kafka_config=UNCLEAN),
        "unclean_election",
        ["unclean.leader.election.enable true", "preflight_accept: [unclean_election]"],
    ),
    (combined(kafka_config=config(min_insync_replicas=1)), "low_min_isr", ["min.insync.replicas 1", "2 or more"]),
    (
        combined(kafka_topics=[topic(config={"unclean.leader.election.enable": "true"})]),
        "unclean_election",
        ["for topic orders", "unclean.leader.election.enable true"],
    ),
    (
        combined(kafka_config=config(offsets_topic_replication_factor=4)),
        "more_internal_replicas_than_brokers",
        ["offsets.topic.replication.factor", "4 with 3 brokers", "much later"],
    ),
    (
        combined(
            kafka_config=config(transaction_state_log_replication_factor=3, transaction_state_log_min_isr=4),
        ),
        "transaction_log_min_isr",
        ["transaction.state.log.min.isr", "4 of 3"],
    ),
    (
        combined(kafka_config={}, kafka_topics=[topic(replication_factor=1)]),
        "few_replicas",
        ["too few copies for topic orders", "replication_factor 1"],
    ),
    (
        combined(
            kafka_config=config(transaction_state_log_replication_factor=1, transaction_state_log_min_isr=1),
        ),
        "few_replicas",
        ["transaction.state.log.replication.factor", "found: 1", "3 or more"],
    ),
]

#: Numbers that contradict what this collection sets where the inventory is silent.
ERRORS += [
    (
        combined(kafka_config={}, kafka_broker_config={"min.insync.replicas": 3}, kafka_topics=[]),
        "min_isr_equals_replicas",
        ["kafka_broker_config['min.insync.replicas']", "3 with replication factor 3"],
    ),
    (
        combined(kafka_config={"transaction.state.log.min.isr": 4}),
        "transaction_log_min_isr",
        ["kafka_config['transaction.state.log.min.isr']", "4 of 3"],
    ),
]

WARNINGS_IN_DEVELOPMENT: list[tuple[Inventory, str, str]] = [
    (combined(count=4, kafka_profile="development"), "even_quorum", "needs 3 of 4"),
    (
        combined(kafka_profile="development", kafka_topics=[MIN_ISR_3]),
        "min_isr_equals_replicas",
        "every copy must be in sync",
    ),
    (
        combined(kafka_profile="development", kafka_config=UNCLEAN),
        "unclean_election",
        "unclean.leader.election.enable true",
    ),
]


@pytest.mark.parametrize("inventory", GOOD)
def test_good_numbers_break_no_row(inventory: Inventory) -> None:
    assert check_inventory(inventory) == []


@pytest.mark.parametrize(("inventory", "rule", "parts"), ERRORS)
def test_each_bad_number_is_named_alone(inventory: Inventory, rule: str, parts: list[str]) -> None:
    expect(inventory, rule, *parts)


@pytest.mark.parametrize(("inventory", "rule", "part"), WARNINGS_IN_DEVELOPMENT)
def test_development_only_warns_of_imprudence(inventory: Inventory, rule: str, part: str) -> None:
    expect(inventory, rule, part, level="warning")


def test_development_runs_on_one_node_with_one_copy() -> None:
    single = combined(count=1, kafka_profile="development", kafka_config={}, kafka_topics=[topic(replication_factor=1)])
    expect(single, "even_quorum", "1 controllers", "survives the loss of 0", level="warning")


def test_more_copies_than_brokers_fails_in_development_too() -> None:
    expect(
        combined(kafka_profile="development", kafka_topics=[topic(replication_factor=4)]),
        "more_replicas_than_brokers",
        "4 with 3 brokers",
    )


def test_a_single_production_node_breaks_quorum_and_copies() -> None:
    inventory = combined(count=1, kafka_config={}, kafka_topics=[])
    assert [one.name for one in check_inventory(inventory)] == ["even_quorum", "few_brokers"]


def test_a_broker_that_may_be_missing_counts_and_one_of_the_inventory_counts_once() -> None:
    quiet = {"kafka_topics": [topic()], "preflight_accept": ["even_quorum", "known_vulnerabilities", *ADVICE]}
    found = {one.name for one in check_inventory(combined(count=2, **quiet))}
    assert {"more_replicas_than_brokers", "few_brokers"} <= found
    for accepted in ([3], ["3"], "3", [2, 3]):
        found = [one.name for one in check_inventory(combined(count=2, kafka_accept_missing_nodes=accepted, **quiet))]
        assert found == ["even_quorum"], accepted


def test_fewer_racks_than_copies_is_a_warning_with_the_spread() -> None:
    inventory = combined(hosts={**RACKS, "kafka3": {"kafka_rack": "r1"}})
    expect(inventory, "few_racks", "up to 2 of 3 copies", "2 racks (r1, r2), replication factor 3", level="warning")


def test_a_row_of_prudence_can_be_accepted_by_name() -> None:
    found = only(
        combined(count=4, preflight_accept=["even_quorum", "known_vulnerabilities", *ADVICE]), "even_quorum", "warning"
    )
    assert "accepted by preflight_accept" in found.sentence()


def test_what_cannot_work_cannot_be_accepted() -> None:
    accepted = ["more_replicas_than_brokers", "known_vulnerabilities", *ADVICE]
    found = check_inventory(combined(kafka_topics=[topic(replication_factor=4)], preflight_accept=accepted))
    assert [(one.name, one.level) for one in found] == [
        ("more_replicas_than_brokers", "error"),
        ("unknown_rule", "warning"),
    ]
    assert "4 with 3 brokers" in found[0].sentence()


def test_a_thousand_topics_with_one_mistake_give_one_violation() -> None:
    topics = [topic(f"t{n}", replication_factor=4) for n in range(1000)]
    expect(combined(kafka_topics=topics), "more_replicas_than_brokers", "topics t0, t1, t2, t3, t4 and 995 more")


@pytest.mark.parametrize(("changes", "found"), [(False, ["even_quorum"]), (True, [])])
@pytest.mark.parametrize("leaving", [["kafka4"], "kafka4"])
def test_a_controller_leaves_only_in_a_run_that_changes_the_voters(
    changes: bool, found: list[str], leaving: list[str] | str
) -> None:
    inventory = combined(count=4, kafka_controllers_leaving=leaving, _common_changes_voters=changes)
    assert [one.name for one in check_inventory(inventory)] == found
