"""Jobs on more than one machine: workers and containers that see none of the files of the host that submits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import ROOT, Cluster
from tests.support.hadoop import HadoopCluster
from tests.support.secured import PASSWORD
from tests.support.spark import connector_jars
from tests.support.spark_cluster import ON_LOOPBACK, SparkCluster

#: A part of PASSWORD that no escape changes.
_TELLING = "Gr3at, [secret] "
assert _TELLING in PASSWORD


@pytest.fixture
def hidden(secured: Cluster, tmp_path: Path) -> list[Path]:
    """What only the host that submits has: the directories of jobs, package, jars and the certificate of the CA."""
    output = tmp_path / "output"
    output.mkdir()
    return [output, ROOT / "spark_validation", Path(connector_jars()[0]).parent, secured.directory / "ca"]


@pytest.fixture
def spark_cluster(tmp_path: Path, hidden: Sequence[Path]) -> Iterator[SparkCluster]:
    """A standalone cluster whose workers share no directory with the host that submits."""
    (tmp_path / "spark").mkdir()
    cluster = SparkCluster(tmp_path / "spark", hidden)
    try:
        yield cluster.start()
    finally:
        cluster.stop()


@pytest.fixture
def hadoop(tmp_path: Path, hidden: Sequence[Path]) -> Iterator[HadoopCluster]:
    """YARN and HDFS; containers share no directory with the host that submits."""
    (tmp_path / "hadoop").mkdir()
    cluster = HadoopCluster(tmp_path / "hadoop", hidden)
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def validate(cluster: Cluster, output: Path, **variables: Any) -> tuple[str, dict[str, Any]]:
    """Prove the cluster; returns what the run printed and the result that lies on this host."""
    words: dict[str, Any] = {
        "spark_validation_enabled": True,
        "spark_validation_records": 2000,
        "spark_validation_live_seconds": 1,
        "spark_validation_output_dir": str(output),
        **variables,
    }
    run = cluster.playbook("playbooks/validate.yml", **words)
    (latest,) = output.glob("*/latest")
    log = (latest / "spark.log").read_text(errors="replace")
    assert run.rc == 0, run.output + log[-4000:]
    assert not [path.name for path in latest.iterdir() if path.name.startswith(("carried", "arg"))]
    return run.output + log, json.loads((latest / "result.json").read_text())


@pytest.mark.full
def test_a_standalone_cluster_without_a_shared_directory_proves_a_secured_cluster(
    secured: Cluster, spark_cluster: SparkCluster, hidden: Sequence[Path]
) -> None:
    printed, result = validate(
        secured, hidden[0], spark_validation_master=spark_cluster.master, spark_validation_conf=ON_LOOPBACK
    )
    assert (result["verdict"], result["figures"]["total"]["records"]) == ("pass", 2000)
    assert spark_cluster.executors() == 2
    assert result["settings"]["kafka"]["ssl.truststore.location"] == "carried-0-ca.pem"
    assert _TELLING not in printed


@pytest.mark.full
@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_yarn_proves_a_secured_cluster_and_sees_no_secret(
    secured: Cluster, hadoop: HadoopCluster, hidden: Sequence[Path], mode: str
) -> None:
    events = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"{hadoop.files}/events",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    printed, result = validate(
        secured,
        hidden[0],
        spark_validation_master="yarn",
        spark_validation_deploy_mode=mode,
        spark_validation_shared_dir=f"{hadoop.files}/proofs",
        spark_validation_hadoop_conf_dir=str(hadoop.conf),
        spark_validation_conf={**hadoop.spark_conf(), **events},
    )
    assert (result["verdict"], result["figures"]["total"]["records"]) == ("pass", 2000)
    assert hadoop.applications() == [("FINISHED", "SUCCEEDED")]
    # The directory of the run is gone, and so is what was uploaded.
    kept = hadoop.listing("/")
    assert not [path for path in kept.splitlines() if "streamops-" in path or "arguments.json" in path]
    told = hadoop.content("/events/*")
    assert "SparkListenerEnvironmentUpdate" in told
    for text in (printed, hadoop.printed(), told):
        assert _TELLING not in text
