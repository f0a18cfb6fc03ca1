"""adoption_info on real processes: nodes of ours, by their names, and a JVM that somebody started by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.support import other_jvm
from tests.support.cluster import Cluster
from tests.support.modules import REPOSITORY, run_module

SECRET = "hunter2-of-somebody"


def adoption_info(**options: Any) -> dict[str, Any]:
    result = run_module("streamops.kafka.adoption_info", options)
    assert not result.get("failed"), result
    assert not result["changed"]
    return result


def test_a_jvm_that_somebody_started_is_read_and_nothing_is_changed(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text(f"node.id=7\nlog.dirs={tmp_path}/data\nssl.keystore.password={SECRET}\n")
    argv = ["java", f"-Djavax.net.ssl.keyStorePassword={SECRET}", *["-Dfiller=" + "x" * 100], "-cp", "libs/*"]
    before = properties.stat().st_mtime_ns
    with other_jvm.start([*argv, "kafka.Kafka", "server.properties"], tmp_path, {"KAFKA_OPTS": "-Da=b"}) as process:
        looked = adoption_info()
        process.kill()
    entry = next(one for one in looked["processes"] if one["pid"] == process.pid)
    assert (entry["product"], entry["ours"], entry["properties"]["node.id"]) == ("kafka", None, "7")
    assert entry["environment"][0]["value"] == "-Da=b"
    assert SECRET not in json.dumps(looked)
    assert properties.stat().st_mtime_ns == before
    assert not (tmp_path / "data").exists()


def test_nodes_of_ours_are_named_with_their_release(combined: Cluster) -> None:
    locks = [json.loads(path.read_text()) for path in (REPOSITORY / "roles/_common/files").glob("kafka-*.lock.json")]
    looked = adoption_info(locks=locks)
    by_pid = {entry["pid"]: entry for entry in looked["processes"]}
    for node in combined.nodes:
        entry = by_pid[combined.pid(node)]
        assert entry["ours"]["product"] == "kafka"
        assert entry["ours"]["node_id"] == entry["properties"]["node.id"]
        assert entry["service"]["manager"] == "supervisor"
        assert (entry["release"]["vendor"], entry["release"]["compared"]) == ("apache", True)
        assert (entry["release"]["differing"], entry["release"]["missing"]) == ([], [])
        assert set(entry["ports"]) >= {combined.port(node)}
        assert entry["java"]["version"] >= 17
        assert entry["limits"]["nofile"]["soft"] > 0
        assert [one["meta_properties"]["node.id"] for one in entry["dirs"]] == [entry["properties"]["node.id"]]
        assert entry["cwd"] == os.path.realpath(entry["cwd"])
