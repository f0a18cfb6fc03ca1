# SPDX-License-Identifier: GPL-3.0-or-later
"""Where everything of a node is on its machine, and who owns it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.paths import SOCKET_LENGTH, owners
from tests.support.inventory_data import view

# Its default is a template.
DIRS = {"kafka_log_dirs": ["/disk1/a", "/disk2/a"], "zookeeper_data_log_dir": "/txlog"}


def seen(role: str, **variables: Any) -> dict[str, Any]:
    """The paths of one host in a group of this name."""
    groups: dict[str, Any] = {role: ["a"]}
    own = {"kafka_node_id": 1, "zookeeper_id": 1, **DIRS, **variables}
    return dict(view({"a": own}, **groups)["paths"])


def test_each_node_has_directories_of_its_own() -> None:
    found = seen("brokers", kafka_config_dir="/c", kafka_log_dir="/l", kafka_run_dir="/r")
    assert (found["config"], found["log"], found["state"]) == ("/c/a", "/l/a", "/r/a")
    assert found["heap_dumps"] == "/l/a/heap-dumps"
    assert (found["truststore"], found["keystore"]) == ("/c/a/tls/truststore.pem", "/c/a/tls/keystore.pem")
    assert (found["jaas"], found["has_data"]) == ("/c/a/zookeeper_jaas.conf", "/c/a/has-data")
    assert found["supervisor"] == "/c/supervisor"


@pytest.mark.parametrize(
    ("role", "variables", "log_dirs", "metadata", "data"),
    [
        ("brokers", {}, ["/disk1/a", "/disk2/a"], "/disk1/a", ["/disk1/a", "/disk2/a"]),
        ("brokers", {"kafka_log_dirs": "/x/a, /y/a"}, ["/x/a", "/y/a"], "/x/a", ["/x/a", "/y/a"]),
        (
            "brokers",
            {"kafka_metadata_log_dir": "/meta"},
            ["/disk1/a", "/disk2/a"],
            "/meta",
            ["/disk1/a", "/disk2/a", "/meta"],
        ),
        (
            "zookeepers",
            {"kafka_metadata_log_dir": "/meta"},
            ["/var/lib/kafka/a", "/txlog"],
            "/var/lib/kafka/a",
            ["/var/lib/kafka/a", "/txlog"],
        ),
        ("zookeepers", {"zookeeper_data_dir": "/zk"}, ["/zk", "/txlog"], "/zk", ["/zk", "/txlog"]),
        ("zookeepers", {"zookeeper_data_dir": "/txlog"}, ["/txlog"], "/txlog", ["/txlog"]),
        ("mirrors", {"kafka_metadata_log_dir": "/meta"}, [], "", []),
    ],
)
def test_the_directories_of_data(
    role: str, variables: dict[str, Any], log_dirs: list[str], metadata: str, data: list[str]
) -> None:
    found = seen(role, **variables)
    assert (found["log_dirs"], found["metadata"], found["data"]) == (log_dirs, metadata, data)


@pytest.mark.parametrize(
    ("run_dir", "runtime"),
    [("/run/kafka", "kafka/a"), ("/var/run/kafka", "kafka/a"), ("/srv/run/kafka", ""), ("/running", "")],
)
def test_systemd_makes_the_state_directory_below_run(run_dir: str, runtime: str) -> None:
    found = seen("brokers", kafka_run_dir=run_dir)
    assert found["runtime"] == runtime
    own = [] if runtime else [f"{run_dir}/a"]
    assert found["writable"] == ["/disk1/a", "/disk2/a", "/var/log/kafka/a", *own]


def test_logs_of_the_state_say_that_a_node_of_kafka_had_data() -> None:
    assert seen("zookeepers")["traces"] == ["/etc/kafka/a/has-data"]
    assert seen("brokers")["traces"] == [
        "/etc/kafka/a/has-data",
        "/var/log/kafka/a/controller.log",
        "/var/log/kafka/a/state-change.log",
    ]


def test_java_is_found_on_the_path_unless_its_home_is_named() -> None:
    assert seen("brokers")["java"] == ""
    assert seen("brokers", kafka_java_home="/opt/java")["java"] == "/opt/java/bin/java"


def test_a_socket_whose_path_is_too_long_is_elsewhere() -> None:
    longest = "/" + "d" * (SOCKET_LENGTH - len("//supervisor.sock") - 1)
    assert seen("brokers", kafka_run_dir=longest)["supervisor_socket"] == f"{longest}/supervisor.sock"
    far = seen("brokers", kafka_run_dir=f"{longest}d")["supervisor_socket"]
    assert far.startswith("/tmp/streamops-")
    assert far != seen("brokers", kafka_run_dir=f"{longest}e")["supervisor_socket"]


def test_only_systemd_changes_owners() -> None:
    names = {"kafka_user": "k", "kafka_group": "g"}
    assert owners({"kafka_service_manager": "systemd", **names}) == {"root": "root", "node": "k", "group": "g"}
    assert owners({"kafka_service_manager": "supervisor", **names}) == {"root": None, "node": None, "group": None}
