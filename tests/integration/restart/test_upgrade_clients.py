"""What a broker of 3.9 counted of clients that are too old for 4.x is read out of its process, without a JMX port."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import free_port_base
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.old_client import ask_as_of_old


@pytest.fixture(scope="module")
def broker(kafka_release: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoneBroker]:
    """One node of Kafka 3.9.2."""
    broker = LoneBroker(kafka_release("3.9.2"), tmp_path_factory.mktemp("clients"), free_port_base())
    broker.format("b2xkLWNsaWVudHMtYS1iLQ")
    broker.start()
    yield broker
    broker.kill()


def record(broker: LoneBroker) -> Path:
    """The state directory of the node, with the start record that its start script would have written."""
    state = broker.directory / "state"
    started = state / "started"
    started.mkdir(parents=True, exist_ok=True)
    ticks = Path(f"/proc/{broker.pid}/stat").read_text().rpartition(")")[2].split()[19]
    (started / "pid").write_text(str(broker.pid))
    (started / "start_time").write_text(ticks)
    (started / "jvm.options").write_text(f"-cp\n{broker.release}/libs/*\n")
    return state


def read(broker: LoneBroker, **options: Any) -> dict[str, Any]:
    return run_module("streamops.kafka.deprecated_requests", {"state_dir": str(record(broker)), **options})


def test_a_really_old_request_is_told_and_nothing_else(broker: LoneBroker) -> None:
    none = read(broker)
    assert (none["requests"], none["unread"]) == ([], "")
    assert ask_as_of_old(broker.port), "3.9 answers it"
    found = read(broker)
    client = {"software": "unknown", "software_version": "unknown"}
    assert found["requests"] == [{**client, "api": "ListOffsets", "api_version": 0, "count": 1}]
    assert found["since"] == none["since"]
    assert broker.alive
    assert "Full thread dump" not in broker.log(), "the JVM took the signal for what it was meant for"


def test_without_a_java_it_says_why_and_does_not_fail(broker: LoneBroker) -> None:
    found = read(broker, java="/no/java")
    assert (found["failed"], found["requests"]) == (False, [])
    assert "/no/java" in found["unread"]
