# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of Alertmanager, judged by its own amtool: who is told, and what waits for others."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.routes import (
    CRITICAL,
    FOR_NOBODY,
    HEARTBEAT,
    NOBODY,
    alertmanager,
)
from tests.support.prometheus import tool

DOCUMENTED = Path(__file__).resolve().parents[5] / "docs" / "monitoring.md"
RECEIVERS = [{"name": name} for name in ("team", "eda", "heartbeat")]
DOWN = ["alertname=KafkaClusterDown", "severity=critical", "cluster=c"]
SLOW = ["alertname=KafkaProduceSlow", "severity=warning", "cluster=c"]
WATCHDOG = ["alertname=KafkaWatchdog", "severity=none"]
PLAIN = {"receiver": "team", "group_by": ["cluster"]}
EDA = {
    **PLAIN,
    "routes": [
        {"receiver": "eda", "matchers": ['alertname=~"Kafka.*"'], "group_by": ["cluster"], "continue": True},
        {"receiver": "team", "matchers": ['alertname=~".+"'], "group_by": ["cluster"]},
    ],
}
SWITCH = {**PLAIN, "routes": [{"receiver": "heartbeat", "matchers": ['alertname="KafkaWatchdog"']}]}
#: Only what is no watchdog goes to the centre.
OTHERS = {**PLAIN, "routes": [{"receiver": "eda", "matchers": ['alertname!="KafkaWatchdog"']}]}
#: As old inventories have it, and further down.
DEEP = {**PLAIN, "routes": [{"matchers": ['severity="none"'], "receiver": "eda", "routes": [
    {"receiver": "heartbeat", "match": {"alertname": "KafkaWatchdog"}}]}]}  # fmt: skip


def amtool(*words: str | Path) -> tuple[int, str]:
    """Run amtool; its exit status, and all that it printed."""
    done = subprocess.run([tool("amtool"), *map(str, words)], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def written(folder: Path, route: dict[str, Any]) -> Path:
    """Write the configuration of a route."""
    path = folder / "alertmanager.yml"
    path.write_text(json.dumps(alertmanager(route, RECEIVERS)))
    return path


@pytest.mark.parametrize(
    ("route", "alert", "receivers"),
    [
        (PLAIN, DOWN, "team"),
        (PLAIN, SLOW, "team"),
        (PLAIN, WATCHDOG, NOBODY),
        (EDA, DOWN, "eda,team"),
        (EDA, SLOW, "eda,team"),
        (EDA, WATCHDOG, NOBODY),
        (SWITCH, DOWN, "team"),
        (SWITCH, WATCHDOG, "heartbeat"),
        (DEEP, WATCHDOG, "heartbeat"),
        (OTHERS, DOWN, "eda"),
        (OTHERS, WATCHDOG, NOBODY),
    ],
)
def test_receivers_are_those_of_the_inventory_and_the_watchdog_bothers_nobody(
    tmp_path: Path, route: dict[str, Any], alert: list[str], receivers: str
) -> None:
    path = written(tmp_path, route)
    assert amtool("check-config", path)[0] == 0
    asked = ("config", "routes", "test", f"--config.file={path}", f"--verify.receivers={receivers}", *alert)
    status, said = amtool(*asked)
    assert (status, said.split()[0]) == (0, receivers), said


def leaves(route: dict[str, Any], severity: str, given: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return what holds at each route that an alert on Kafka of a severity ends in, as Alertmanager inherits it."""
    held = {**(given or {}), **{key: value for key, value in route.items() if key != "routes"}}
    taken: list[dict[str, Any]] = []
    for below in route.get("routes", []):
        matchers = "".join(below["matchers"])
        if "Watchdog" not in matchers and ("severity" not in matchers or f'"{severity}"' in matchers):
            taken += leaves(below, severity, held)
            if not below.get("continue"):
                break
    return taken or [held]


@pytest.mark.parametrize("route", [PLAIN, EDA, SWITCH])
def test_a_new_critical_alert_waits_for_no_other_one_wherever_it_goes(route: dict[str, Any]) -> None:
    made = alertmanager(route, RECEIVERS)["route"]
    for found in leaves(made, "critical"):
        assert found["group_by"] == ["cluster", "alertname"]
        assert (found["group_wait"], found["group_interval"]) == ("5s", "30s")
    assert all(found["group_by"] == ["cluster"] and "group_wait" not in found for found in leaves(made, "warning"))


def test_a_group_interval_of_the_inventory_holds() -> None:
    slow = {**PLAIN, "group_interval": "2m", "routes": [{"receiver": "eda", "matchers": ["a=b"]}]}
    made = alertmanager(slow, RECEIVERS)["route"]
    assert [route for route in made["routes"] if "group_interval" in route] == []
    assert alertmanager({**PLAIN, "group_interval": "2m"}, RECEIVERS)["route"]["routes"] == [FOR_NOBODY]
    own = {**PLAIN, "routes": [{"receiver": "eda", "matchers": ['severity="critical"'], "group_interval": "1m"}]}
    assert alertmanager(own, RECEIVERS)["route"]["routes"][1:] == [*own["routes"], CRITICAL]


def test_a_dead_mans_switch_is_told_each_minute_unless_its_route_says_otherwise() -> None:
    made = alertmanager(SWITCH, RECEIVERS)["route"]["routes"][0]
    assert made == {**SWITCH["routes"][0], **HEARTBEAT}
    # A group_interval above it is for people.
    (above,) = alertmanager({**DEEP, "group_interval": "2m"}, RECEIVERS)["route"]["routes"]
    assert above["routes"][0] == {**DEEP["routes"][0]["routes"][0], **HEARTBEAT}
    own = {**PLAIN, "routes": [{**SWITCH["routes"][0], "group_interval": "10s", "repeat_interval": "5s"}]}
    assert alertmanager(own, RECEIVERS)["route"]["routes"][0] == {**own["routes"][0], "group_wait": "0s"}


def test_what_the_inventory_gave_is_not_changed() -> None:
    before = json.dumps([EDA, RECEIVERS])
    alertmanager(EDA, RECEIVERS)
    assert json.dumps([EDA, RECEIVERS]) == before
    assert alertmanager(PLAIN, [*RECEIVERS, {"name": NOBODY}])["receivers"][-2:] == [RECEIVERS[-1], {"name": NOBODY}]


def test_those_with_an_alertmanager_of_their_own_are_given_the_same(tmp_path: Path) -> None:
    begin, end = "<!-- alertmanager: begin -->", "<!-- alertmanager: end -->"
    block = DOCUMENTED.read_text().split(begin)[1].split(end)[0]
    text = block.split("```yaml\n")[1].split("```")[0]
    path = tmp_path / "alertmanager.yml"
    path.write_text(text)
    status, said = amtool("check-config", path)
    assert status == 0, said
    given = yaml.safe_load(text)
    team, heartbeat = given["receivers"]
    route = {"receiver": "team", "group_by": ["cluster"], "routes": [given["route"]["routes"][0]]}
    assert (team["name"], heartbeat["name"]) == ("team", "heartbeat")
    assert given == alertmanager(route, given["receivers"])
