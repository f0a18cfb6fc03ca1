# SPDX-License-Identifier: GPL-3.0-or-later
"""A Prometheus with Alertmanager as monitoring.yml installs them under supervisor, for nodes that do not run."""

from __future__ import annotations

import contextlib
import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, until
from tests.support.prometheus import tool

PLAYBOOK = "playbooks/monitoring.yml"
SERVICES = ("prometheus", "prometheus-alertmanager")
PASSWORD = "planted-password-of-metrics"
#: Seconds until an alert has gone from a target that does not answer to Alertmanager; it takes a few.
ALERTED = 180


def get(url: str) -> Any:
    """The answer of an API."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


class Watch(Cluster):
    """The Prometheus and the Alertmanager of an inventory whose nodes do not run."""

    @property
    def config(self) -> Path:
        return self.directory / "config" / "streamops-kafka"

    def pids(self) -> dict[str, int]:
        return {name: int(self.supervisorctl("pid", name)) for name in SERVICES}

    def alerts(self) -> set[tuple[str, str]]:
        """Name and node of each alert that Alertmanager has."""
        found = get(f"http://127.0.0.1:{self.port_base + 61}/api/v2/alerts")
        return {(one["labels"]["alertname"], one["labels"].get("node", "")) for one in found}

    def rules(self) -> list[str]:
        """The alerts that Prometheus evaluates."""
        groups = get(f"http://127.0.0.1:{self.port_base + 60}/api/v1/rules")["data"]["groups"]
        return [rule["name"] for group in groups for rule in group["rules"]]

    def content(self) -> dict[str, tuple[int, str]]:
        """Mode and content of all files of the configuration."""
        return {
            str(path.relative_to(self.config)): (path.stat().st_mode & 0o777, path.read_text())
            for path in sorted(self.config.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    nodes = {f"kafka{n}": {"kafka_node_id": n, "kafka_rack": f"r{n}"} for n in (1, 2)}
    groups: dict[str, Any] = {"kraft_controllers": {"kafka1": nodes["kafka1"]}, "kafka_brokers": nodes}
    base = free_port_base()
    variables = {
        **local_variables(),
        "kafka_topics": [{"name": "orders", "partitions": 2, "replication_factor": 1}],
        "kafka_metrics_enabled": True,
        "kafka_metrics_password": PASSWORD,
        "kafka_monitoring_port": base + 60,
        "kafka_monitoring_alertmanager_port": base + 61,
        "kafka_monitoring_program_dir": os.path.dirname(tool("prometheus")),
        "kafka_monitoring_scrape_interval": 1,
        "kafka_monitoring_start_timeout": 300,
        "kafka_monitoring_alerts": {"KafkaNodeDown": {"for": "1s"}},
    }
    own = hosts_file(tmp_path / "inventory", {**groups, "prometheus": {"prom1": {}}}, variables)
    one = Watch(own, tmp_path / "run", base)
    try:
        yield one
    finally:
        with contextlib.suppress(OSError, ValueError):
            one.supervisorctl("stop", *SERVICES)
        one.destroy()


def silenced(watch: Watch) -> list[Any]:
    """The silences that the Alertmanager has or had."""
    found: list[Any] = get(f"http://127.0.0.1:{watch.port_base + 61}/api/v2/silences")
    return found


def test_an_alert_arrives_a_second_run_changes_nothing_and_runs_silence_what_they_cause(watch: Watch) -> None:
    made = watch.playbook(PLAYBOOK, "--diff").ok()
    assert "Prometheus reads 2 targets; 0 answer. No answer: kafka1 (job kafka, 127.0.0.1:" in flat(made.output)
    assert PASSWORD not in made.output
    arrived = {("KafkaNodeDown", "kafka1"), ("KafkaNodeDown", "kafka2"), ("KafkaWatchdog", "")}
    until(lambda: arrived <= watch.alerts(), "alerts", ALERTED)
    written = watch.content()
    assert written["secrets/local-password"] == (0o600, PASSWORD)
    assert [name for name, (_mode, text) in written.items() if PASSWORD in text] == ["secrets/local-password"]

    pids = watch.pids()
    again = watch.playbook(PLAYBOOK).ok()
    assert again.changed == 0, again.output
    assert watch.pids() == pids

    assert silenced(watch) == [], "a run that takes no lock causes nothing"
    assert "are not silenced" not in watch.playbook("playbooks/stop.yml").ok().output
    (silence,) = silenced(watch)
    assert silence["status"]["state"] == "expired", "it is lifted"
    cluster, alerts = sorted(silence["matchers"], key=lambda one: one["name"], reverse=True)
    assert (cluster["name"], cluster["value"], cluster["isRegex"]) == ("cluster", "local", False)
    named = set(alerts["value"].split("|"))
    assert (alerts["name"], alerts["isRegex"], "KafkaUnderReplicated" in named) == ("alertname", True, True)
    assert "KafkaNodeDown" not in named, "nothing that wakes a person is silenced"


@pytest.mark.full
def test_an_alertmanager_that_does_not_answer_hinders_no_run(watch: Watch) -> None:
    watch.playbook(PLAYBOOK).ok()
    watch.supervisorctl("stop", "prometheus-alertmanager")
    run = watch.playbook("playbooks/stop.yml").ok()
    assert "alerts of cluster local are not silenced at http://127.0.0.1:" in flat(run.output)


@pytest.mark.full
def test_a_run_that_fails_lifts_its_silence(watch: Watch) -> None:
    watch.playbook(PLAYBOOK).ok()
    run = watch.playbook("site.yml", kafka_jvm_options=["-XX:+UseFoo"])
    assert (run.rc, "UseFoo" in run.output) == (2, True), run.output[-3000:]
    assert [one["status"]["state"] for one in silenced(watch)] == ["expired"]


@pytest.mark.full
def test_other_rules_are_read_by_the_same_process_and_wrong_ones_change_nothing(watch: Watch) -> None:
    watch.playbook(PLAYBOOK).ok()
    pids = watch.pids()
    assert "KafkaElections" in watch.rules()
    changed = {"kafka_monitoring_alerts": {"KafkaElections": {"enabled": False}}}
    assert watch.playbook(PLAYBOOK, **changed).ok().changed > 0
    assert "KafkaElections" not in watch.rules()
    assert watch.pids() == pids

    # What cannot be is refused, whether by the role or by promtool, and nothing is touched.
    before = watch.content()
    for wrong, said in (
        ({"kafka_monitoring_alerts": {"KafkaElectons": {}}}, "there is no alert KafkaElectons"),
        ({"kafka_monitoring_scrape_configs": [{"job_name": "own", "scrape_intervall": "1s"}], **changed},
         "promtool does not take the configuration of Prometheus"),
    ):  # fmt: skip
        refused = watch.playbook(PLAYBOOK, **wrong)
        assert refused.rc != 0
        assert said in flat(refused.output)
        assert (watch.content(), watch.pids()) == (before, pids)


@pytest.mark.full
def test_other_arguments_restart_the_one_that_has_them(watch: Watch) -> None:
    looked = watch.playbook(PLAYBOOK, "--check", "--diff").ok()
    assert looked.changed > 0
    assert not watch.config.exists()
    watch.playbook(PLAYBOOK).ok()
    pids = watch.pids()
    assert watch.playbook(PLAYBOOK, kafka_monitoring_retention="7d").ok().changed > 0
    new = watch.pids()
    assert new["prometheus"] != pids["prometheus"]
    assert new["prometheus-alertmanager"] == pids["prometheus-alertmanager"]
    assert watch.playbook(PLAYBOOK, "--check", kafka_monitoring_retention="7d").ok().changed == 0


def flat(output: str) -> str:
    return " ".join(output.split())
