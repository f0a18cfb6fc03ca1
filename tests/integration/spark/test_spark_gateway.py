"""The proof submitted from a host of its own: package and jars go there, result and report come back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import Cluster, hosts_file
from tests.support.stats import show_stats, stats_of


@pytest.mark.full
def test_a_gateway_gets_package_and_jars_and_its_report_comes_back(
    combined: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_stats(monkeypatch)
    gateway = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    inventory = hosts_file(tmp_path, {"spark_gateway": {"gateway1": gateway}}, {})
    there, here = tmp_path / "there", tmp_path / "here"
    run = combined.playbook(
        "playbooks/validate.yml",
        "-i",
        str(inventory),
        spark_validation_enabled=True,
        spark_validation_records=2000,
        spark_validation_live_seconds=0,
        spark_validation_output_dir=str(there),
        spark_validation_fetched_dir=str(here),
    ).ok()
    assert "verdict pass" in run.output
    assert len(list((there / "jars").glob("*.jar"))) == 4
    (report,) = here.glob("*/*/report.html")
    assert f"report {report}" in run.output
    assert json.loads((report.parent / "result.json").read_text())["verdict"] == "pass"
    assert report.read_bytes() == (there / report.relative_to(here)).read_bytes()
    assert stats_of(run.output) == {"streamops_verdict": "pass", "streamops_reports": [str(report)]}


@pytest.mark.full
def test_what_a_job_leaves_is_kept_among_the_artifacts_and_its_verdict_is_handed_on_when_it_fails(
    combined: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_stats(monkeypatch)
    words: dict[str, Any] = {
        "spark_validation_enabled": True,
        "spark_validation_records": 2000,
        "spark_validation_live_seconds": 0,
        "spark_validation_output_dir": str(tmp_path / "work"),
        "streamops_artifacts": str(tmp_path / "kept"),
    }
    # No append is as fast as that: the job ends with the verdict fail.
    failed = combined.playbook("playbooks/validate.yml", spark_validation_max_latency_p99_ms=0.001, **words)
    (report,) = (tmp_path / "kept").glob("*/*-validation/report.html")
    assert failed.rc == 2
    assert stats_of(failed.output) == {"streamops_verdict": "fail", "streamops_reports": [str(report)]}
    assert json.loads((report.parent / "result.json").read_text())["verdict"] == "fail"
    died = combined.playbook("playbooks/validate.yml", spark_validation_spark_submit="/bin/false", **words)
    assert (died.rc, stats_of(died.output)["streamops_verdict"]) == (2, "error")
