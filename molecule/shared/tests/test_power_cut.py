"""All machines end at once, under traffic, and start again. The page cache stays, so records are not lost here."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.support.machines import Machine, docker, eventually
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

TOPIC = "molecule_power"


def test_services_and_records_come_back_by_themselves(
    nodes: list[Machine], administrator: dict[str, Any], settings: dict[str, Any], note: Callable[[str], None]
) -> None:
    topic = {"name": TOPIC, "partitions": 6, "replication_factor": 3}
    made = run_module("streamops.kafka.topics", {**administrator, "topics": [topic]})
    assert not made["failed"], made
    servers = administrator["bootstrap_servers"]
    names = sorted({machine.machine for machine in nodes})
    with producing(servers, TOPIC, rate=500, settings=settings) as ledger:
        eventually(lambda: len(ledger.acknowledged) >= 500, "500 acknowledged records", 60)
        docker("kill", *names)
        before = len(ledger.acknowledged)
        docker("start", *names)
        began = time.monotonic()
        # The writer was told nothing of all this; it goes on when the cluster does.
        eventually(lambda: len(ledger.acknowledged) >= before + 500, "500 more records after the power cut", 180)
        note(f"power cut: the first records {time.monotonic() - began:.0f} s after the machines had power again")
    for machine in nodes:
        assert machine.run("systemctl", "is-active", machine.service) == "active"
    assert ledger.lost(read_all(servers, TOPIC, timeout=120, settings=settings)) == []
    note(f"power cut: {len(ledger.acknowledged)} acknowledged records, none lost")
    healthy = run_module("streamops.kafka.isr_wait", {**administrator, "scope": "cluster", "timeout": 120})
    assert not healthy["failed"], healthy
