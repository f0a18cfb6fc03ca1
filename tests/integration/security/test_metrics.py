"""Metrics of nodes that have certificates, read by who knows the password."""

from __future__ import annotations

import urllib.error

import pytest

from tests.support.cluster import Cluster
from tests.support.metrics import missing, scrape
from tests.support.secured import METRICS_LOGIN, ca_file

#: The port for Prometheus, counted from the first of a node.
METRICS = 3


def scraped(secured: Cluster, node: str = "kafka1") -> str:
    return scrape(secured.port(node, METRICS), ca_file(secured), METRICS_LOGIN)


def test_every_name_of_kafka_in_alerts_and_dashboards_is_served_and_nothing_by_topic(secured: Cluster) -> None:
    texts = [scraped(secured, node) for node in secured.nodes]
    assert missing("kafka", texts) == set()
    assert not [line for line in texts[0].splitlines() if "topic=" in line or "partition=" in line]


@pytest.mark.parametrize("login", [(), (METRICS_LOGIN[0], "wrong"), ("stranger", METRICS_LOGIN[1])])
def test_without_the_right_login_there_is_nothing_to_read(secured: Cluster, login: tuple[str, ...]) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        scrape(secured.port("kafka1", METRICS), ca_file(secured), login)
    assert refused.value.code == 401


def test_plain_http_is_not_answered(secured: Cluster) -> None:
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        scrape(secured.port("kafka1", METRICS), None, METRICS_LOGIN)


def test_the_password_is_in_no_file_of_the_node(secured: Cluster) -> None:
    files = [path for path in (secured.directory / "config").rglob("*") if path.is_file()]
    assert [path for path in files if path.name == "metrics.yml"]
    assert not [path for path in files if METRICS_LOGIN[1].encode() in path.read_bytes()]


@pytest.mark.full
def test_another_login_is_a_reason_to_restart(secured: Cluster) -> None:
    run = secured.playbook("site.yml", "--check", kafka_metrics_user="other").ok()
    assert "metrics-access.json" in run.output
    assert METRICS_LOGIN[1] not in run.output


@pytest.mark.full
def test_a_node_whose_agent_is_damaged_is_not_stopped(secured: Cluster) -> None:
    before = secured.pids()
    jar = next((secured.directory / "install" / "agents").iterdir())
    whole = jar.read_bytes()
    try:
        jar.write_bytes(b"damaged")
        run = secured.playbook("site.yml", "--skip-tags", "kafka_install", kafka_restart_force=True)
        assert run.rc != 0
        assert "was not stopped and runs as before" in run.output
        assert "missing or not the pinned jar" in run.output
        assert secured.pids() == before
    finally:
        jar.write_bytes(whole)
