"""Whether the nodes of a real cluster are out of reach at what they advertise, as the tasks of a roll see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.answers import ELSEWHERE, ask, listeners
from tests.support.cluster import Cluster, said


@pytest.mark.full
def test_nodes_that_answer_pass_and_nothing_changes(combined: Cluster, tmp_path: Path) -> None:
    run = ask(combined, tmp_path).ok()
    assert run.changed == 0
    for asking in ("from kafka1", "from kafka2", "from kafka3"):
        assert run.output.count(asking) == 2, "two others ask each node"
    assert "is not checked" not in run.output
    assert "could not ask" not in run.output


def test_a_listener_between_brokers_that_is_out_of_reach_fails_and_says_all(combined: Cluster, tmp_path: Path) -> None:
    lie = listeners(combined, "BROKER", advertised_host=ELSEWHERE)
    run = ask(combined, tmp_path, "--limit", "kafka1", kafka_listeners=lie)
    assert run.rc != 0
    address = f"{ELSEWHERE}:{combined.port('kafka1', 1)}"
    found = f"kafka1: listener BROKER at {address} does not answer kafka2 (connect): connection refused at {address}"
    assert found in said(run)
    assert "fix: correct host, port and advertised_host of the listener (kafka_listeners)" in said(run)
    assert f"[kafka1] waiting for listeners: kafka1 BROKER (connection refused at {address}" in run.output
    assert "from kafka3" not in run.output, "the first that finds it out of reach ends the wait"


def test_a_listener_that_leads_to_another_node_fails_and_says_who_answers(combined: Cluster, tmp_path: Path) -> None:
    lie = listeners(combined, "BROKER", port=combined.port("kafka2", 1))
    run = ask(combined, tmp_path, "--limit", "kafka1", kafka_listeners=lie)
    assert run.rc != 0
    address = f"127.0.0.1:{combined.port('kafka2', 1)}"
    who = "(identity): broker 2 answers there, not broker 1"
    assert f"kafka1: listener BROKER at {address} leads kafka2 to another node {who}" in said(run)
    assert "fix: correct advertised_host and port of the listener (kafka_listeners)" in said(run)


@pytest.mark.full
def test_a_listener_for_clients_is_asked_from_the_control_node(combined: Cluster, tmp_path: Path) -> None:
    lie = listeners(combined, "CLIENT", advertised_host=ELSEWHERE)
    run = ask(combined, tmp_path, "--limit", "kafka1", kafka_listeners=lie)
    assert run.rc != 0
    assert "does not answer the control node (connect)" in said(run)


@pytest.mark.full
def test_what_the_inventory_leaves_out_is_said(combined: Cluster, tmp_path: Path) -> None:
    lie = listeners(combined, "BROKER", advertised_host=ELSEWHERE, checked_from=[])
    run = ask(combined, tmp_path, "--limit", "kafka1", kafka_listeners=lie).ok()
    assert "kafka1: listener BROKER is not checked: its checked_from (kafka_listeners) names no place" in said(run)
