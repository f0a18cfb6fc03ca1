# SPDX-License-Identifier: GPL-3.0-or-later
"""The rulebooks in the real ansible-rulebook, with alerts as Alertmanager sends them, against the stub of AWX."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import table
from tests.support.awx_stub import Awx, stub
from tests.support.cluster import ROOT, free_port_base
from tests.support.rulebook import alert, listening, send

EXPORT = json.loads((ROOT / "awx" / "export.json").read_text())
LOOK, PROPOSE = "streamops.kafka.look", "streamops.kafka.look_and_propose"


def made(awx: Awx) -> None:
    """Make the templates and workflows of the export, with their surveys, in an organization of their own."""
    organization = awx.create("organizations", {"name": "Kafka"})["id"]
    for kind in ("job_templates", "workflow_job_templates"):
        for one in EXPORT[kind]:
            given = {key: one[key] for key in ("name", "playbook") if key in one}
            template = awx.create(kind, {**given, "organization": organization})
            if survey := one["related"].get("survey_spec"):
                awx.surveys[template["id"]] = survey


class Listening:
    """A rulebook that runs, and the jobs that it has started."""

    def __init__(self, awx: Awx, port: int, said: Path) -> None:
        self.awx, self.port, self.said = awx, port, said

    def started(self) -> list[str]:
        """Return the names of what was started, as AWX sorts them: by number."""
        jobs = {number: job["name"] for kind in self.awx.jobs.values() for number, job in kind.items()}
        return [jobs[number] for number in sorted(jobs)]

    def send(self, *alerts: dict[str, Any]) -> None:
        """Send alerts in one message."""
        assert send(alerts, self.port) == 200

    def starts(self, *wanted: str) -> None:
        """Wait until exactly these were started, in any order."""
        end = time.monotonic() + 120
        while len(self.started()) < len(wanted) and time.monotonic() < end:
            time.sleep(0.1)
        assert sorted(self.started()) == sorted(wanted), self.said.read_text()


Listen = Callable[..., Any]


@pytest.fixture
def listen(tmp_path: Path) -> Listen:
    """Run a rulebook with an AWX that has the templates."""

    @contextmanager
    def run(rulebook: str, **settings: Any) -> Iterator[Listening]:
        port = free_port_base()
        playbooks = [one["playbook"] for one in EXPORT["job_templates"]]
        with stub(playbooks) as (address, awx):
            made(awx)
            with listening(rulebook, address, port, tmp_path, settings) as said:
                yield Listening(awx, port, said)

    return run


@pytest.mark.full
def test_an_alert_starts_one_look_however_often_it_is_sent_and_nothing_when_it_rests(listen: Listen) -> None:
    with listen(LOOK) as eda:
        down = alert("KafkaNodeDown", "orders")
        assert send([down], eda.port, token="another") == 401
        eda.send(down)
        eda.starts("Kafka status")
        eda.send(down)
        eda.send(alert("KafkaNodeDown", "orders", status="resolved"))
        # Others of the same cluster, one that is resolved, one that no runbook gives a look, and one of another tool.
        eda.send(alert("KafkaNodeDown", "orders", instance="k2"), alert("KafkaUnderMinIsr", "orders"))
        eda.send(alert("KafkaClusterDown", "stocks", status="resolved"))
        eda.send(alert("KafkaClockOff", "stocks"), alert("HostDown", "stocks"))
        # What is sent last is started last, so nothing before it was.
        eda.send(alert("KafkaNodeDown", "payments"))
        eda.starts("Kafka status", "Kafka status")
        eda.send(alert("KafkaGroupStopped", "orders"))
        eda.starts("Kafka status", "Kafka status", "Kafka groups")
        for job in eda.awx.jobs["jobs"].values():
            assert job["given"] == {"limit": "", "extra_vars": {}}
        assert "token-of-alertmanager" not in eda.said.read_text()


def test_each_alert_alone_starts_its_look_and_its_workflow(listen: Listen) -> None:
    """One alert a message and a cluster, so that no other alert starts what this one should."""
    proposing = [one for one in table() if one.proposes]
    assert proposing
    wanted: list[str] = []
    with listen(PROPOSE) as eda:
        for one in proposing:
            eda.send(alert(one.name, f"cluster-of-{one.name}"))
            wanted += [f"Kafka {one.looks}", f"Kafka {one.proposes}, approved"]
            eda.starts(*wanted)


@pytest.mark.full
def test_a_workflow_is_proposed_once_and_others_do_not_wait_for_its_approval(listen: Listen) -> None:
    with listen(PROPOSE) as eda:
        eda.send(alert("KafkaNodeDown", "orders"), alert("KafkaPartitionsOffline", "orders"))
        eda.starts("Kafka status", "Kafka site, approved")
        eda.send(alert("KafkaNodeDown", "orders"), alert("KafkaNodeDown", "orders", start="21:00"))
        eda.send(alert("KafkaLeadersOutOfPlace", "payments"))
        eda.starts("Kafka status", "Kafka site, approved", "Kafka status", "Kafka rebalance, approved")
        assert [one["status"] for one in eda.awx.jobs["workflow_jobs"].values()] == ["running", "running"]
        assert {one["name"] for one in eda.awx.jobs["jobs"].values()} == {"Kafka status"}


@pytest.mark.full
def test_an_alert_that_fires_on_starts_nothing_more_when_its_cluster_may_be_looked_at_again(
    listen: Listen, tmp_path: Path
) -> None:
    shipped = (ROOT / "extensions" / "eda" / "rulebooks" / "look.yml").read_text()
    short = tmp_path / "short.yml"
    # Events are forgotten before the second look, and what was started is not.
    short.write_text(
        shipped.replace("once_within: 10 minutes", "once_within: 3 seconds").replace(
            "  sources:", "  default_events_ttl: 1 seconds\n  sources:"
        )
    )
    with listen(str(short)) as eda:
        eda.send(alert("KafkaNodeDown", "orders"))
        eda.starts("Kafka status")
        time.sleep(5)
        eda.send(alert("KafkaNodeDown", "orders"))
        eda.send(alert("KafkaNodeDown", "payments"))
        eda.starts("Kafka status", "Kafka status")
        eda.send(alert("KafkaNodeDown", "orders", start="21:00"))
        eda.starts("Kafka status", "Kafka status", "Kafka status")


@pytest.mark.full
@pytest.mark.parametrize("settings", [{"kafka_eda_prefix": "Other"}, {"kafka_eda_organization": "Other"}], ids=str)
def test_a_template_that_awx_does_not_have_is_told_and_the_next_alert_heard(
    listen: Listen, settings: dict[str, str]
) -> None:
    with listen(LOOK, **settings) as eda:
        eda.send(alert("KafkaNodeDown", "orders"))
        wait_for(eda.said, ["does not exist"])
        assert eda.started() == []
        assert send([alert("KafkaNodeDown", "payments")], eda.port) == 200


def wait_for(said: Path, words: Sequence[str]) -> None:
    """Wait until a file has these words."""
    end = time.monotonic() + 120
    while not all(word in said.read_text() for word in words) and time.monotonic() < end:
        time.sleep(0.1)
    assert all(word in said.read_text() for word in words), said.read_text()
