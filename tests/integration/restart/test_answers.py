"""Whether the nodes of a real cluster are out of reach at what they advertise, as the tasks of a roll see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import Cluster, Run

#: An address of this machine that no listener binds.
ELSEWHERE = "127.0.0.9"
PLAY = [
    {
        "hosts": "kafka_brokers",
        "gather_facts": False,
        "any_errors_fatal": True,
        "tasks": [
            {"ansible.builtin.include_role": {"name": "streamops.kafka._common", "tasks_from": "roll/answers.yml"}}
        ],
    }
]


def listeners(cluster: Cluster, changed: str, **change: Any) -> list[dict[str, Any]]:
    """The listeners of a cluster, one of them advertised in another way than the nodes have it."""
    given = cluster.variables.get("kafka_listeners")
    if given is None:
        given = yaml.safe_load((cluster.inventory / "group_vars" / "all.yml").read_text())["kafka_listeners"]
    return [{**one, **change} if one["name"] == changed else one for one in given]


def ask(cluster: Cluster, directory: Path, *arguments: str, **variables: Any) -> Run:
    """Run the tasks on these nodes."""
    playbook = directory / "play.yml"
    playbook.write_text(yaml.safe_dump(PLAY))
    return cluster.playbook(str(playbook), *arguments, **variables)


def said(run: Run) -> str:
    """What it printed, on one line."""
    return " ".join(run.output.split())


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


def test_a_listener_for_clients_is_asked_from_the_control_node(combined: Cluster, tmp_path: Path) -> None:
    lie = listeners(combined, "CLIENT", advertised_host=ELSEWHERE)
    run = ask(combined, tmp_path, "--limit", "kafka1", kafka_listeners=lie)
    assert run.rc != 0
    assert "does not answer the control node (connect)" in said(run)


def test_what_the_inventory_leaves_out_is_said(combined: Cluster, tmp_path: Path) -> None:
    lie = listeners(combined, "BROKER", advertised_host=ELSEWHERE, checked_from=[])
    run = ask(combined, tmp_path, "--limit", "kafka1", kafka_listeners=lie).ok()
    assert "kafka1: listener BROKER is not checked: its checked_from (kafka_listeners) names no place" in said(run)


def test_nodes_show_their_certificates_and_the_administrator_logs_in(secured: Cluster, tmp_path: Path) -> None:
    run = ask(secured, tmp_path).ok()
    assert run.changed == 0
    assert "could not ask" not in run.output
    assert run.output.count("from kafka2") == 2


@pytest.mark.parametrize(
    ("variables", "stage"),
    [({"advertised_host": "localhost"}, "tls"), ({}, "login")],
    ids=["a name that the certificate lacks", "a password that is wrong"],
)
def test_what_clients_of_a_secured_cluster_would_meet(
    secured: Cluster, tmp_path: Path, variables: dict[str, str], stage: str
) -> None:
    more = {} if variables else {"kafka_admin_password": "another one"}
    changed = listeners(secured, "CLIENT", **variables)
    run = ask(secured, tmp_path, "--limit", "kafka1", kafka_listeners=changed, **more)
    assert run.rc != 0
    assert f"does not answer the control node ({stage})" in said(run)
    assert "another one" not in run.output


def test_a_node_that_lacks_its_files_blames_no_other(secured: Cluster, tmp_path: Path) -> None:
    store = secured.directory / "config" / "kafka2" / "tls" / "truststore.pem"
    content = store.read_bytes()
    store.write_bytes(b"")
    try:
        run = ask(secured, tmp_path, "--limit", "kafka1").ok()
    finally:
        store.write_bytes(content)
    assert "kafka1: kafka2 could not ask: connection: the TLS files cannot be used" in said(run)
