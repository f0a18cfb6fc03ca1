# SPDX-License-Identifier: GPL-3.0-or-later
"""The release of a node: its name and what the module kafka_archive is given."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._release import layout
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.release import FILES, product_of
from tests.support.inventory_data import view

SHA512 = "ab" * 64


def test_a_mirror_runs_from_a_release_of_kafka() -> None:
    assert [product_of({"roles": [role]}) for role in ("broker", "controller", "mirror", "zookeeper")] == [
        "kafka",
        "kafka",
        "kafka",
        "zookeeper",
    ]


def test_a_release_of_pinned_jars_is_made_of_the_files_of_this_collection() -> None:
    made = view({"a": {"kafka_node_id": 1, "kafka_version": "4.3.1"}}, brokers=["a"])["release"]
    assert {name: made[name] for name in ("version", "src", "sha512")} == {
        "version": "4.3.1",
        "src": None,
        "sha512": None,
    }
    assert Path(made["launcher"]) == FILES / "launcher"
    assert Path(made["lock"]) == FILES / "kafka-4.3.1.lock.json"
    assert made["name"].startswith("kafka-4.3.1-")
    assert made["dir"] == f"/opt/kafka/releases/{made['name']}"


def test_a_server_of_zookeeper_has_another_launcher_and_lock() -> None:
    made = view({"z": {"zookeeper_id": 1}}, zookeepers=["z"])["release"]
    assert Path(made["launcher"]).is_file()
    assert Path(made["launcher"]).name == "zookeeper-launcher"
    assert Path(made["lock"]).name == f"zookeeper-{made['version']}.lock.json"


def test_a_release_of_an_archive_is_named_by_its_sha512() -> None:
    archive = {"kafka_install_source": "archive", "kafka_archive_src": "/a.tgz", "kafka_archive_sha512": SHA512}
    made = view({"a": {"kafka_node_id": 1, "kafka_version": "4.2.0"}}, brokers=["a"], **archive)["release"]
    launcher = hashlib.sha256((FILES / "launcher").read_bytes()).hexdigest()
    assert made["name"] == layout.name_from_archive("4.2.0", SHA512, launcher)
    assert (made["lock"], made["src"], made["sha512"]) == (None, "/a.tgz", SHA512)


def test_a_version_without_a_lock_file_has_no_release_of_pinned_jars() -> None:
    with pytest.raises(FileNotFoundError, match=r"kafka-9\.9\.9\.lock\.json"):
        view({"a": {"kafka_node_id": 1, "kafka_version": "9.9.9"}}, brokers=["a"])["release"]


def test_an_archive_without_a_sha512_has_no_name() -> None:
    with pytest.raises(StreamopsError, match="is not a SHA-512"):
        view({"a": {"kafka_node_id": 1}}, brokers=["a"], kafka_install_source="archive")["release"]
