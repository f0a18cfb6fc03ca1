# SPDX-License-Identifier: GPL-3.0-or-later
"""The directories and files of a node that no template makes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.files import certificates, keystore
from tests.support.inventory_data import view

READS = {"owner": "root", "group": "kafka"}
WRITES = {"owner": "kafka", "group": "kafka"}


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, Any]:
    """The variables of a node whose certificate is on the control node."""
    for name in ("ca.pem", "a.pem", "a.key"):
        (tmp_path / name).write_bytes(f"{name} line\r\nlast\n\n".encode())
    return {
        "kafka_tls_source": "files",
        "kafka_tls_ca_file": str(tmp_path / "ca.pem"),
        "kafka_tls_certificate_file": str(tmp_path / "a.pem"),
        "kafka_tls_key_file": str(tmp_path / "a.key"),
    }


def seen(role: str, key: str = "files", **variables: Any) -> Any:
    """A part of the model of host a, alone in a group of this name."""
    groups: dict[str, Any] = {role: ["a"]}
    own = {"kafka_node_id": 1, "zookeeper_id": 1, "kafka_log_dirs": ["/d"], **variables}
    return view({"a": own}, **groups)[key]


def test_a_plain_node_has_four_directories_and_no_files() -> None:
    found = seen("brokers")
    assert found["directories"] == [
        {"path": "/etc/kafka/a", "mode": "0750", **READS},
        {"path": "/var/log/kafka/a", "mode": "0750", **WRITES},
        {"path": "/var/log/kafka/a/heap-dumps", "mode": "0700", **WRITES},
        {"path": "/run/kafka/a", "mode": "0750", **WRITES},
    ]
    assert (found["plain"], found["secret"]) == ([], [])


def test_stores_are_written_when_all_files_of_the_certificate_are_there(tls: dict[str, Any]) -> None:
    found = seen("brokers", **tls)
    assert found["directories"][-1] == {"path": "/etc/kafka/a/tls", "mode": "0750", **READS}
    truststore = {
        "path": "/etc/kafka/a/tls/truststore.pem",
        "content": "ca.pem line\r\nlast\n",
        "mode": "0440",
        **READS,
    }
    assert found["plain"] == [truststore]
    (store,) = found["secret"]
    assert (store["path"], store["mode"]) == ("/etc/kafka/a/tls/keystore.pem", "0440")
    assert store["content"] == "a.key line\r\nlast\na.pem line\r\nlast\n"
    assert store["content"] == seen("mirrors", "keystore", **tls)


@pytest.mark.parametrize("missing", ["kafka_tls_ca_file", "kafka_tls_certificate_file", "kafka_tls_key_file"])
def test_a_certificate_of_which_a_file_is_missing_is_none(tls: dict[str, Any], missing: str) -> None:
    assert sorted(certificates(tls)) == ["certificate", "key", "truststore"]
    assert certificates({**tls, "kafka_tls_source": ""}) == {}
    assert certificates({**tls, missing: "/nonexistent"}) == {}


def test_a_home_directory_is_that_of_the_control_node(tls: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path(tls["kafka_tls_ca_file"]).parent))
    assert certificates({**tls, "kafka_tls_ca_file": "~/ca.pem"}) == certificates(tls)


def test_a_keystore_ends_with_an_end_of_line() -> None:
    assert keystore({"key": "k", "certificate": "c", "truststore": "t"}) == "k\nc\n"


def test_the_login_at_zookeeper_is_secret() -> None:
    found = seen("zookeepers", zookeeper_password="p")
    (jaas,) = found["secret"]
    assert {**jaas, "content": ""} == {
        "path": "/etc/kafka/a/zookeeper_jaas.conf",
        "content": "",
        "mode": "0440",
        **READS,
    }
    assert 'user_kafka="p"' in jaas["content"]


def test_logs_of_the_state_say_that_a_node_of_kafka_had_data() -> None:
    assert seen("zookeepers")["traces"] == ["/etc/kafka/a/has-data"]
    assert seen("brokers")["traces"] == [
        "/etc/kafka/a/has-data",
        "/var/log/kafka/a/controller.log",
        "/var/log/kafka/a/state-change.log",
    ]
    (note,) = seen("brokers")["note"]
    assert (note["path"], note["mode"]) == ("/etc/kafka/a/has-data", "0644")
    assert note["content"].startswith("# Written by Ansible when this node had started.\n")
    assert re.fullmatch(r"# streamops.kafka node: product=kafka id=\d+ cluster=\S+", note["content"].splitlines()[-1])


def test_without_systemd_no_owner_is_changed() -> None:
    found = seen("brokers", kafka_service_manager="supervisor")
    assert {one["owner"] for one in (*found["directories"], *found["note"])} == {None}
