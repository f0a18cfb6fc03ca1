"""The module listener_check against a real broker that has few connections to give away."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import free_port_base
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module

LIMIT = 2
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker whose listener for clients takes LIMIT connections."""
    bound = {"listener.name.plaintext.max.connections": str(LIMIT)}
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("listeners"), free_port_base(), **bound)
    one.format(CLUSTER_ID)
    one.start()
    yield one
    one.kill()


def listener(name: str, port: int, connections: int = 1, host: str = "127.0.0.1") -> dict[str, Any]:
    """One listener of it."""
    return {"node": "kafka1", "name": name, "host": host, "port": port, "connections": connections}


def of(node_id: int, *listeners: dict[str, Any], cluster_id: str = CLUSTER_ID) -> list[dict[str, Any]]:
    """The same listeners, at which this node of this cluster must answer."""
    return [
        {
            **one,
            "node_id": node_id,
            "cluster_id": cluster_id,
            "role": "controller" if one["name"] == "CONTROLLER" else "broker",
        }
        for one in listeners
    ]


def check(*listeners: dict[str, Any], **options: Any) -> dict[str, Any]:
    """What the module finds, through its action plugin; in check mode, which changes nothing about it."""
    result = run_module("streamops.kafka.listener_check", {"listeners": list(listeners), **options}, check=True)
    assert not result.get("failed"), result
    assert not result["changed"]
    return result


def test_listeners_of_brokers_and_of_controllers_answer(broker: LoneBroker) -> None:
    asked = [listener("PLAINTEXT", broker.port, LIMIT), listener("CONTROLLER", broker.port + 1, 3)]
    found = check(*asked, wait=20)
    assert found["unreached"] == []
    assert [(one["listener"], one["connections"]) for one in found["answered"]] == [("PLAINTEXT", 2), ("CONTROLLER", 3)]


def test_a_limit_that_its_peers_exceed_is_told_and_asked_again_within_the_time(broker: LoneBroker) -> None:
    began = time.monotonic()
    found = check(listener("PLAINTEXT", broker.port, LIMIT + 1), timeout=1, wait=15, interval=1)
    assert time.monotonic() - began < 60
    assert found["looks"] > 1
    (one,) = found["unreached"]
    assert one["stage"] == "answer"
    said = "no answer to ApiVersions within 1 s: 2 of 3 connections answered"
    assert one["why"] == f"connected to 127.0.0.1:{broker.port}, but {said}"
    # What it held is free again.
    assert check(listener("PLAINTEXT", broker.port, LIMIT), wait=10)["unreached"] == []


def test_a_node_says_who_it_is_on_each_kind_of_listener(broker: LoneBroker) -> None:
    asked = of(1, listener("PLAINTEXT", broker.port), listener("CONTROLLER", broker.port + 1, 3))
    found = check(*asked, wait=20)
    assert found["unreached"] == []
    assert [one["unidentified"] for one in found["answered"]] == ["", ""]


def test_another_node_at_the_address_is_named_and_not_waited_for(broker: LoneBroker) -> None:
    asked = of(2, listener("PLAINTEXT", broker.port), listener("CONTROLLER", broker.port + 1))
    found = check(*asked, wait=60)
    assert (found["answered"], found["looks"]) == ([], 1)
    assert [(one["listener"], one["stage"], one["why"]) for one in found["unreached"]] == [
        ("PLAINTEXT", "identity", "broker 1 answers there, not broker 2"),
        ("CONTROLLER", "identity", "controller 1 answers there, not controller 2"),
    ]


def test_the_same_id_in_another_cluster_is_another_node(broker: LoneBroker) -> None:
    asked = of(1, listener("PLAINTEXT", broker.port), listener("CONTROLLER", broker.port + 1), cluster_id="AnotherOne")
    found = check(*asked)["unreached"]
    other = f"of another cluster ({CLUSTER_ID}, not AnotherOne) answers there"
    assert [one["why"] for one in found] == [
        f"broker 1 {other}, not broker 1",
        f"controller 1 {other}, not controller 1",
    ]


def test_an_address_that_the_broker_does_not_listen_at(broker: LoneBroker) -> None:
    (one,) = check(listener("PLAINTEXT", broker.port, host="127.0.0.9"))["unreached"]
    assert (one["stage"], one["why"]) == ("connect", f"connection refused at 127.0.0.9:{broker.port}")


def test_a_broker_that_is_stopped_takes_connections_and_does_not_answer(broker: LoneBroker) -> None:
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        (one,) = check(listener("PLAINTEXT", broker.port), timeout=1)["unreached"]
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    assert one["stage"] == "answer"


def test_files_that_the_asking_host_lacks_fail_the_task(broker: LoneBroker) -> None:
    secured = {**listener("PLAINTEXT", broker.port), "protocol": "SSL"}
    options = {"listeners": [secured], "ssl_ca_location": "/missing/ca.pem", "wait": 20}
    result = run_module("streamops.kafka.listener_check", options)
    assert result["failed"]
    assert "the TLS files cannot be used" in result["msg"]
