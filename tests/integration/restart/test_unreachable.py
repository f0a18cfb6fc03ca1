"""A cluster that does not answer: a clear sentence within seconds, from every module that talks to one."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    describe_quorum,
    list_brokers,
    list_topics,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits, State
from ansible_collections.streamops.kafka.plugins.module_utils._health.quorum_rules import controller
from tests.support.cluster import Cluster
from tests.support.modules import run_module

MODULES = {"topics": {"topics": [{"name": "a"}]}, "broker_configs": {}, "cluster_info": {}}


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of loopback on which nothing listens, kept from others while the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("module", MODULES)
def test_every_server_is_named_with_what_happened_there(module: str, closed_port: int) -> None:
    servers = [f"127.0.0.1:{closed_port}", "no-such-host.invalid:9092"]
    # Sixty seconds for Ansible and all: far below the sum of the time limits of both libraries.
    failed = run_module(f"streamops.kafka.{module}", {"bootstrap_servers": servers, **MODULES[module]}, timeout=60)
    assert failed["failed"]
    assert "no bootstrap server answered" in failed["msg"]
    assert f"127.0.0.1:{closed_port}: [Errno 111] Connection refused" in failed["msg"]
    assert set(failed["failure"]["attempts"]) == set(servers)
    assert "Nothing was changed" in failed["msg"]


def test_a_server_that_is_no_broker_is_told_from_one_that_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"127.0.0.1:{silent.getsockname()[1]}"
        failed = run_module("streamops.kafka.topics", {"bootstrap_servers": [server], "topics": []}, timeout=60)
    assert failed["failed"]
    assert list(failed["failure"]["attempts"]) == [server]
    assert "took the connection and did not answer" in failed["msg"]


def test_one_server_of_the_list_that_answers_is_enough(combined: Cluster, closed_port: int) -> None:
    servers = [f"127.0.0.1:{closed_port}", *combined.bootstrap_servers]
    assert not run_module("streamops.kafka.topics", {"bootstrap_servers": servers, "topics": []})["failed"]


@pytest.mark.full
def test_one_frozen_broker_of_three_is_named_and_the_others_answer(combined: Cluster) -> None:
    frozen, *others = combined.bootstrap_servers
    try:
        with combined.frozen("kafka1"):
            # It stays registered for seconds, so a client that begins at another one may draw it.
            for servers in [others] * 3 + [combined.bootstrap_servers] * 3:
                with Session(Connection(tuple(servers), request_timeout=10)) as admin:
                    assert {broker.id for broker in list_brokers(admin)} >= {2, 3}
                    assert "orders" in list_topics(admin)
            found = run_module(
                "streamops.kafka.topics", {"bootstrap_servers": combined.bootstrap_servers, "topics": []}, timeout=100
            )
        assert not found["failed"], found
        assert f"bootstrap server {frozen}: it took the connection and did not answer" in found["warnings"][0]
    finally:
        back = {"bootstrap_servers": combined.bootstrap_servers, "timeout": 120}
        assert run_module("streamops.kafka.isr_wait", back)["in_sync"]


@pytest.mark.full
def test_a_frozen_active_controller_is_no_reason_to_call_anybody_no_voter(combined: Cluster) -> None:
    connection = {"bootstrap_servers": combined.bootstrap_servers}
    with Session(Connection.from_params(connection)) as admin:
        quorum = describe_quorum(admin)
    assert quorum is not None
    frozen = quorum.leader_id
    stopping = min({1, 2, 3} - {frozen})
    nodes = [{"host": node, "node_id": number, "roles": ["controller"]} for node, number in combined.identities.items()]
    try:
        with combined.frozen(f"kafka{frozen}"):
            # There is another leader soon, of which brokers that wait for the old one know nothing for 30 s.
            began = time.monotonic()
            wish = {**connection, "node_ids": [stopping], "expected_controllers": [1, 2, 3], "timeout": 10}
            shut = run_module("streamops.kafka.restart_gate", wish, timeout=60)
            assert time.monotonic() - began < 25, "a gate of 10 s"
            assert shut["failed"]
            assert "no active controller" not in shut["msg"]
            found = run_module("streamops.kafka.cluster_info", connection, timeout=100)
        assert found["quorum"]["error"] is None, found["quorum"]
        assert found["quorum"]["leader_id"] in {1, 2, 3} - {frozen}
        behind = list(controller(State(found, nodes=nodes), Limits()))
        assert [one.what for one in behind] == [f"controller kafka{frozen} (id {frozen}) is down or behind the quorum"]
    finally:
        assert run_module("streamops.kafka.isr_wait", {**connection, "timeout": 120})["in_sync"]
