"""Metrics of every node, read over TLS by a machine of the group prometheus that knows the login."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support import certificates
from tests.support.machines import Ask, Machine
from tests.support.metrics import missing


def request(node: Machine, ca: certificates.Issued, user: str, password: str) -> dict[str, Any]:
    """A scrape of a node with a login."""
    place = {"address": node.address, "port": node.ports["metrics"], "ca": ca.pem().decode()}
    login = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {**place, "method": "GET", "path": "/metrics", "headers": {"Authorization": f"Basic {login}"}}


def test_every_node_serves_what_alerts_and_dashboards_ask_for(
    machines: dict[str, Machine], nodes: list[Machine], ca: certificates.Issued, ask: Ask
) -> None:
    texts = []
    for node in nodes:
        login = node.variables["kafka_metrics_user"], node.variables["kafka_metrics_password"]
        status, _, text = ask(machines["client"], "request.py", {**request(node, ca, *login), "show": True}).partition(
            "\n"
        )
        assert status == "200", node.name
        assert "jvm_" in text, node.name
        texts.append(text)
    assert missing("kafka", texts) == set()


@pytest.mark.parametrize("password", ["wrong", ""])
def test_no_node_tells_anything_without_the_right_password(
    password: str, machines: dict[str, Machine], nodes: list[Machine], ca: certificates.Issued, ask: Ask
) -> None:
    for node in nodes:
        asked = request(node, ca, node.variables["kafka_metrics_user"], password)
        assert ask(machines["client"], "request.py", asked) == "401", node.name
