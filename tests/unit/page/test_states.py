"""One verdict: status.yml, the page, its /health, its metric and the alerts say the same of the same facts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring import rules
from page.alerts.told import Alerts, told
from page.known.freshness import health
from page.known.poller import Seen
from page.shown.sheet import State, state_of
from tests.support.prometheus import promtool
from tests.support.states import NOW, STALE_AFTER, Made, Row, alerts_of, table

ROWS = table()
SEVERITIES = {alert.name: alert.severity for alert in rules.table()}


@pytest.fixture(scope="module")
def firing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """By row the alerts that Prometheus raises after 45 minutes, all rows at once, each as a cluster of its own."""
    folder = tmp_path_factory.mktemp("rules")
    written = rules.rules(rules.chosen(rules.table(), {}))
    names = [rule["alert"] for group in written["groups"] for rule in group["rules"] if "alert" in rule]
    for group in written["groups"]:
        for rule in group["rules"]:
            rule["annotations"] = {}
    (folder / "rules.yml").write_text(yaml.safe_dump(written))
    series = [
        {"series": name, "values": values} for row in ROWS.values() for name, values in Made(row).series().items()
    ]
    never = [{"exp_labels": {"none": "x"}}]
    steps = [{"eval_time": f"{NOW}s", "alertname": name, "exp_alerts": never} for name in names]
    one = {"interval": "1m", "input_series": series, "alert_rule_test": steps}
    case = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [one]}
    (folder / "case.yml").write_text(yaml.safe_dump(case))
    _status, said = promtool("test", "rules", folder / "case.yml")
    return alerts_of(ROWS, said)


def page_of(row: Row, names: Iterable[str]) -> State:
    """The cluster as its page shows it while these alerts fire."""
    made = Made(row)
    some = [{"labels": {"alertname": name, "severity": SEVERITIES[name], "cluster": row.cluster}} for name in names]
    alerts: Alerts = told(json.dumps(some).encode(), NOW - 5.0).about(row.cluster)
    return state_of(row.cluster, Seen(made.polls, made.picture()), NOW, STALE_AFTER, False, alerts)


def kinds(found: Any) -> list[str]:
    """The kinds of findings of a cluster."""
    return sorted(one["kind"] for one in found.get("findings", ()))


@pytest.mark.parametrize("name", ROWS)
def test_each_of_the_five_says_what_the_table_says(name: str, firing: dict[str, Counter[str]]) -> None:
    row = ROWS[name]
    made, state = Made(row), page_of(row, firing[name])
    status = made.status()
    found = health({row.cluster: (made.polls, made.picture())}, NOW, STALE_AFTER)
    told_metric = [line for line in made.exposition().splitlines()
                   if line.startswith("streamops_page_cluster_status") and line.endswith(" 1")]  # fmt: skip
    assert {
        "status": status["status"],
        "page": state.word,
        "health": f"{200 if found['status'] == 'ok' else 503} {found['status']}",
        "metric": told_metric[0].partition('status="')[2].partition('"')[0],
    } == row.says
    assert len(told_metric) == 1
    assert kinds(status) == sorted([*row.kinds, *row.status_kinds])
    if made.poll == "ok":
        assert kinds(state.cluster) == sorted([*row.kinds, *row.page_kinds])
    assert set(firing[name]) == row.alerts


@pytest.mark.parametrize("name", ROWS)
def test_none_of_the_five_says_better_than_another(name: str) -> None:
    row = ROWS[name]
    says, critical = row.says, {one for one in row.alerts if SEVERITIES[one] == "critical"}
    well = Made(row).poll == "ok" and not row.page_kinds
    if well and not row.status_kinds:
        # With a fresh picture of the same facts, the metric is the status, and so is the headline but for alerts.
        assert says["metric"] == says["status"]
        assert says["page"] == ("ALERT" if says["status"] == "OK" and critical else says["status"])
    assert says["page"] != "OK" or not critical, "a person is woken and the page says that all is well"
    if well and says["metric"] != "OK":
        assert row.alerts, "what the page finds is told to nobody who does not read it"
    assert (says["metric"] == "DOWN") <= ("KafkaClusterDown" in row.alerts)
    assert ("KafkaClusterDown" in row.alerts) <= (says["status"] == says["page"] == "DOWN")
    assert says["page"] != "OK" or says["health"] == "200 ok"
    assert (says["health"] == "200 ok") == (Made(row).poll == "ok" and says["metric"] != "DOWN")
    assert (says["health"] == "503 down") == (says["metric"] == "DOWN")
    assert says["metric"] != "OK" or Made(row).poll == "ok", "a stale picture is never told as OK"


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.alerts == {"KafkaGhostNode"}])
def test_a_node_that_the_inventory_lacks_is_told_once(name: str, firing: dict[str, Counter[str]]) -> None:
    assert firing[name].total() == 1


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.facts.get("poll") in ("failed", "old")])
def test_nothing_that_the_last_good_poll_saw_is_told_once_it_is_stale(name: str) -> None:
    names = {line.partition("{")[0] for line in Made(ROWS[name]).exposition().splitlines() if not line.startswith("#")}
    assert names == {
        "kafka_lag_last_poll_timestamp_seconds",
        "kafka_lag_picture_age_seconds",
        "kafka_lag_poll_failures_total",
        "kafka_lag_polls_total",
        "streamops_page_cluster_status",
    }


def test_the_table_has_all_kinds_of_states() -> None:
    assert len(ROWS) >= 20
    assert {one.says["page"] for one in ROWS.values()} == {"OK", "DEGRADED", "DOWN", "STALE", "LOADING", "ALERT"}
    assert len({one.cluster for one in ROWS.values()}) == len(ROWS)
    assert {name for one in ROWS.values() for name in one.alerts} <= SEVERITIES.keys()
