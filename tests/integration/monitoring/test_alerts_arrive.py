# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Alertmanager with the route of the role kafka_monitoring, and a receiver that keeps what it is told."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.routes import alertmanager
from tests.support.alertmanager import Alertmanager, Receiver
from tests.support.cluster import until

#: The group_interval of critical alerts, and what a slow machine needs besides; by default it were 300 seconds.
WITHIN = 30 + 20


@contextlib.contextmanager
def running(directory: Path, receiver: Receiver) -> Iterator[Alertmanager]:
    """An Alertmanager with the route that an inventory has by default, and one receiver."""
    team = {"name": "team", "webhook_configs": [{"url": receiver.url}]}
    manager = Alertmanager(directory, alertmanager({"receiver": "team", "group_by": ["cluster"]}, [team]))
    manager.start()
    try:
        yield manager
    finally:
        manager.stop()
        receiver.end()


def fire(manager: Alertmanager, *some: tuple[str, str], **labels: str) -> None:
    """Let alerts of the cluster orders fire, each a name and a severity."""
    manager.post("alerts", [{"labels": {"alertname": name, "severity": of, **labels}} for name, of in some])


def test_a_new_critical_alert_arrives_while_others_fire(tmp_path: Path) -> None:
    receiver = Receiver()
    with running(tmp_path, receiver) as manager:
        fire(manager, ("KafkaWatchdog", "none"))
        for topic in ("a", "b"):
            fire(manager, ("KafkaGroupStopped", "critical"), cluster="orders", topic=topic)
        until(lambda: receiver.topics() == {"a", "b"}, "the first alerts", WITHIN)

        began = time.monotonic()
        fire(manager, ("KafkaClusterDown", "critical"), cluster="orders")
        fire(manager, ("KafkaNodeDown", "critical"), cluster="orders", job="kafka")
        fire(manager, ("KafkaNodeDown", "critical"), cluster="orders", job="mirror")
        fire(manager, ("KafkaGroupStopped", "critical"), cluster="orders", topic="c")
        until(lambda: receiver.knows("KafkaClusterDown", "KafkaNodeDown"), "what is new", WITHIN)
        assert time.monotonic() - began < WITHIN
        until(lambda: receiver.topics() == {"a", "b", "c"}, "what joined its group", WITHIN)
        nodes = {one["labels"]["job"] for one in receiver.told if one["labels"]["alertname"] == "KafkaNodeDown"}
        assert nodes == {"kafka", "mirror"}
        assert not receiver.knows("KafkaWatchdog")


def test_a_receiver_that_refuses_is_counted_as_its_alert_asks(tmp_path: Path) -> None:
    receiver = Receiver(500)
    with running(tmp_path, receiver) as manager:
        assert manager.failed("webhook") == 0
        fire(manager, ("KafkaClusterDown", "critical"), cluster="orders")
        until(lambda: manager.failed("webhook") >= 1, "a failure", 2 * WITHIN)
