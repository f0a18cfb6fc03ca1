# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/monitoring_files.yml on the shipped inventories: no node runs, and none is asked anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring import dashboards
from tests.support.cluster import ROOT, Cluster, Run, free_port_base
from tests.support.prometheus import promtool

PLAYBOOK = "playbooks/monitoring_files.yml"
#: By inventory the jobs of its hosts, and how many targets all of them have.
SHIPPED = {
    "local": ({"kafka"}, 3),
    "local_isolated": ({"kafka"}, 6),
    "local_zookeeper": ({"kafka", "zookeeper"}, 6),
    "local_mirror": ({"kafka", "mirror"}, 7),
}
PASSWORD = "planted-password-of-metrics"


def cluster(name: str, folder: Path, **variables: Any) -> tuple[Cluster, Path]:
    """An inventory of which nothing runs, and where its files are written."""
    files = folder / "files"
    own = {"kafka_metrics_enabled": True, "kafka_monitoring_files_dir": str(files), **variables}
    return Cluster(ROOT / "inventories" / name, folder / "run", free_port_base(), own), files


def written(files: Path) -> list[str]:
    return sorted(str(path.relative_to(files)) for path in files.rglob("*") if path.is_file())


def targets(files: Path) -> list[tuple[str, dict[str, str]]]:
    """Address and labels of every target."""
    read = yaml.safe_load((files / "scrape" / "streamops-kafka.yml").read_text())["scrape_configs"]
    return [(one["targets"][0], one["labels"]) for config in read for one in config["static_configs"]]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "local" else [pytest.mark.full]) for name in SHIPPED]
)
def test_what_prometheus_needs_is_written_once(name: str, tmp_path: Path) -> None:
    one, files = cluster(name, tmp_path)
    looked = one.playbook(PLAYBOOK, "--check", "--diff").ok()
    assert looked.changed > 0
    assert "+  - alert: KafkaNodeDown" in looked.output
    assert not files.exists()
    assert one.playbook(PLAYBOOK).ok().changed == looked.changed
    assert one.playbook(PLAYBOOK).ok().changed == 0
    jobs, count = SHIPPED[name]
    found = targets(files)
    assert ({labels["job"] for _address, labels in found}, len(found)) == (jobs, count)
    assert all(labels["cluster"] and labels["node"] for _address, labels in found)
    assert promtool("check", "rules", files / "rules" / "streamops-kafka.yml")[0] == 0
    boards = [json.loads((files / path).read_text()) for path in written(files) if path.startswith("dashboards/")]
    assert {one["uid"] for one in boards} == {entry["uid"] for entry in dashboards.table()}
    status, said = promtool("check", "config", files / "scrape" / "streamops-kafka.yml")
    assert status == 0, said


@pytest.mark.full
def test_passwords_are_in_no_file_and_prometheus_is_told_where_they_are(tmp_path: Path) -> None:
    one, files = cluster("local", tmp_path, kafka_metrics_password=PASSWORD, kafka_tls_source="development_ca")
    run = one.playbook(PLAYBOOK, "--diff").ok()
    assert PASSWORD not in run.output
    assert not [path for path in written(files) if PASSWORD in (files / path).read_text()]
    (read,) = yaml.safe_load((files / "scrape" / "streamops-kafka.yml").read_text())["scrape_configs"]
    assert read["basic_auth"] == {"username": "prometheus", "password_file": "/etc/prometheus/local-password"}
    assert (read["scheme"], read["tls_config"]) == ("https", {"ca_file": "/etc/prometheus/local-ca.pem"})


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"kafka_metrics_enabled": False}, "no metrics are served by kafka1, kafka2, kafka3"),
        pytest.param(
            {"kafka_monitoring_alerts": {"KafkaDiscLow": {}}}, "there is no alert KafkaDiscLow", marks=pytest.mark.full
        ),
        pytest.param(
            {"kafka_metrics_port": 9404}, "kafka1 and kafka2 are both read at 127.0.0.1", marks=pytest.mark.full
        ),
    ],
)
def test_what_cannot_be_is_refused_and_no_file_is_written(variables: dict[str, Any], said: str, tmp_path: Path) -> None:
    one, files = cluster("local", tmp_path, **variables)
    run = one.playbook(PLAYBOOK)
    assert run.rc != 0
    assert said in _flat(run)
    assert not files.exists()


def _flat(run: Run) -> str:
    return " ".join(run.output.split())
