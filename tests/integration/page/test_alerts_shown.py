# SPDX-License-Identifier: GPL-3.0-or-later
"""The service beside a real Alertmanager: what fires, is silenced or inhibited there is on the page of its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.alertmanager import Alertmanager
from tests.support.cluster import free_port_base
from tests.support.page import Page

#: As the collection's own: a warning is muted while the critical one of its cluster fires.
CONFIG = {
    "route": {"receiver": "none", "group_by": ["cluster"]},
    "receivers": [{"name": "none"}],
    "inhibit_rules": [
        {
            "source_matchers": ['alertname="KafkaNodeDown"'],
            "target_matchers": ['alertname="KafkaUnderReplicated"', 'severity="warning"'],
            "equal": ["cluster"],
        }
    ],
}


@pytest.fixture
def alertmanager(tmp_path: Path) -> Iterator[Alertmanager]:
    """One without an alert."""
    (tmp_path / "alertmanager").mkdir()
    one = Alertmanager(tmp_path / "alertmanager", CONFIG)
    one.start()
    try:
        yield one
    finally:
        one.stop()


def test_what_alertmanager_has_is_on_the_page_of_its_cluster(alertmanager: Alertmanager, tmp_path: Path) -> None:
    servers = [f"127.0.0.1:{free_port_base()}"]
    clusters = {name: {"bootstrap_servers": servers, "request_timeout": 2} for name in ("orders", "stock")}
    settings = {"clusters": clusters, "interval": 1, "alertmanager": {"url": alertmanager.url}}
    with Page(tmp_path, settings) as page:

        def known(cluster: str = "orders") -> dict[str, str]:
            """The alerts about a cluster by name, each with its state."""
            found = (page.get(f"clusters/{cluster}?format=json").json() or {}).get("alerts") or {"alerts": []}
            return {one["name"]: one["state"] for one in found["alerts"]}

        alertmanager.alerts(
            ("KafkaNodeDown", "critical", "orders"),
            ("KafkaUnderReplicated", "warning", "orders"),
            ("KafkaDiskLow", "critical", "stock"),
            ("KafkaWatcherDown", "warning", None),
            ("KafkaWatchdog", "none", None),
        )
        wanted = {"KafkaNodeDown": "firing", "KafkaUnderReplicated": "inhibited"}
        page.wait_until(lambda: known() == wanted, "the alerts of orders")
        assert known("stock") == {"KafkaDiskLow": "firing"}
        first = page.get("?format=json").json()
        assert [one["name"] for one in first["alerts"]["alerts"]] == ["KafkaWatcherDown"]
        assert 'href="https://runbooks.example/KafkaNodeDown"' in page.get("clusters/orders").text

        alertmanager.post(
            "silences",
            {
                "matchers": [{"name": "cluster", "value": "orders", "isRegex": False}],
                "startsAt": "2020-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z", "createdBy": "x", "comment": "x",
            },
        )  # fmt: skip
        page.wait_until(lambda: set(known().values()) == {"silenced"}, "the silence")

        alertmanager.stop()
        page.wait_until(lambda: "Alerts are not known" in page.get("clusters/stock").text, "that it is gone")
        assert known("stock") == {"KafkaDiskLow": "firing"}, "nobody said that it has ended"
        assert "Connection refused" in page.log
        alertmanager.start()
        page.wait_until(lambda: "Alerts are not known" not in page.get("clusters/stock").text, "that it is back")
