"""The proof submitted from a host of its own: package and jars go there, result and report come back."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, hosts_file


@pytest.mark.full
def test_a_gateway_gets_package_and_jars_and_its_report_comes_back(combined: Cluster, tmp_path: Path) -> None:
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
