# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions, words, archive, heap and directories, by table."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.install import SUPPORTED
from tests.support.preflight_inventories import combined, expect, isolated

ARCHIVE = {"kafka_install_source": "archive", "kafka_archive_src": "/x.tgz", "kafka_archive_sha512": "aB" * 64}

GOOD = [
    combined(kafka_version="3.9.2"),
    combined(**ARCHIVE),
    combined(kafka_heap_size="6G"),
    combined(kafka_heap_size="524288k"),
    combined(kafka_heap_size=536870912),
    combined(kafka_heap_size="64m", kafka_jvm_options=["-Xms1g", "-Xmx64m", "-XX:MaxHeapSize=1g"]),
    combined(hosts={"kafka1": {"kafka_log_dirs": ["/data/1", "/data/2"]}}),
    # The same path on other machines is another directory.
    combined(kafka_log_dirs=["/data/kafka"]),
]

BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"kafka_version": "4.9.0"}, "unsupported_version", ["found: '4.9.0'", f"one of {', '.join(SUPPORTED)}"]),
    ({"kafka_version": "2.8.1"}, "unsupported_version", ["3.9.2 first (the bridge to 4.x)"]),
    ({"kafka_version": "latest"}, "unsupported_version", [f"write a full version such as {SUPPORTED[0]}"]),
    ({"kafka_profile": 5}, "unknown_word", ["kafka_profile", "found: '5'"]),
    ({"kafka_tls_protocols": ["TLSv1.3", "SSLv3"]}, "unknown_word", ["kafka_tls_protocols", "found: 'SSLv3'"]),
    ({"kafka_profile": "prod"}, "unknown_word", ["kafka_profile", "found: 'prod'", "one of production, development"]),
    ({"kafka_service_manager": "docker"}, "unknown_word", ["one of systemd, supervisor"]),
    ({"kafka_install_source": "tarball"}, "unknown_word", ["one of maven, archive"]),
    ({**ARCHIVE, "kafka_archive_src": ""}, "no_archive", ["kafka_archive_src", "has no archive"]),
    (
        {**ARCHIVE, "kafka_archive_sha512": ""},
        "no_archive_digest",
        ["kafka_archive_sha512", "found: nothing", "128 hexadecimal digits"],
    ),
    ({**ARCHIVE, "kafka_archive_sha512": "ab"}, "no_archive_digest", ["found: 2 characters"]),
    ({**ARCHIVE, "kafka_archive_sha512": "g" * 128}, "no_archive_digest", ["no usable SHA-512"]),
    ({"kafka_heap_size": "1gb"}, "bad_heap_size", ["kafka_heap_size", "found: '1gb'"]),
    ({"kafka_heap_size": "-1g"}, "bad_heap_size", ["found: '-1g'"]),
    ({"kafka_jvm_options": ["-Xmx1gb"]}, "bad_heap_size", ["kafka_jvm_options", "found: '1gb'"]),
    ({"kafka_heap_size": 512}, "heap_cannot_start", ["found: '512', which is bytes", "192m or more"]),
    ({"kafka_heap_size": "512k"}, "heap_cannot_start", ["kafka_heap_size", "found: '512k'"]),
    ({"kafka_heap_size": "160m"}, "heap_cannot_start", ["found: '160m'", "192m or more"]),
    ({"kafka_heap_size": "152M", "kafka_version": "3.9.2"}, "heap_cannot_start", ["160m or more"]),
    (
        {"kafka_heap_size": "1g", "kafka_jvm_options": ["-Xms64m -Xmx64m"]},
        "heap_cannot_start",
        ["kafka_jvm_options", "found: '64m'"],
    ),
    (
        {"kafka_heap_size": "1g", "kafka_jvm_options": ["-Xmx512m"]},
        "initial_heap_above_maximum",
        ["kafka_jvm_options", "found: -Xms1g -Xmx512m"],
    ),
    (
        {"kafka_heap_size": "1g", "kafka_jvm_options": ["-Xss1m", "-XX:InitialHeapSize=2g"]},
        "initial_heap_above_maximum",
        ["found: -Xms2g -Xmx1g"],
    ),
    ({"kafka_data_dir": "data"}, "bad_directory", ["kafka_data_dir", "found: data", "absolute"]),
    ({"kafka_data_dir": " ", "kafka_log_dirs": [" /kafka1"]}, "bad_directory", ["kafka_data_dir", "found: ' '"]),
    ({"kafka_data_dir": "data", "kafka_log_dirs": ["data/kafka1"]}, "bad_directory", ["kafka_data_dir", "found: data"]),
    ({"kafka_log_dirs": ["/", "/a"]}, "bad_directory", ["kafka_log_dirs", "found: /"]),
    ({"kafka_run_dir": ""}, "bad_directory", ["kafka_run_dir", "found: ''"]),
    ({"kafka_run_dir": "/"}, "bad_directory", ["kafka_run_dir", "found: /"]),
    ({"kafka_log_dirs": ["/a", "b"]}, "bad_directory", ["kafka_log_dirs", "found: b"]),
    ({"kafka_log_dirs": ["/a", "/données"]}, "bad_directory", ["kafka_log_dirs", "found: '/données'", "ASCII"]),
    ({"kafka_config_dir": "/etc/кафка"}, "bad_directory", ["kafka_config_dir", "Java cannot open", "ASCII"]),
    ({"kafka_log_dirs": ["/a", "/a/"]}, "shared_directory", ["used twice", "found: /a"]),
    ({"kafka_log_dirs": ["/a", "/a/b"]}, "shared_directory", ["used twice", "/a and /a/b"]),
]


@pytest.mark.parametrize("inventory", GOOD)
def test_good_installations_break_no_row(inventory: Inventory) -> None:
    assert check_inventory(inventory) == []


@pytest.mark.parametrize(("variables", "rule", "parts"), BAD)
def test_each_bad_installation_is_named_alone(variables: dict[str, Any], rule: str, parts: list[str]) -> None:
    expect(combined(**variables), rule, *parts)


def test_a_tiny_heap_is_a_warning() -> None:
    expect(combined(kafka_heap_size="192m"), "small_heap", "too small", "256m or more", level="warning")
    old = combined(kafka_heap_size="160m", kafka_version="3.9.2")
    expect(old, "small_heap", "too small", "256m or more", level="warning")


def test_a_controller_starts_with_less_than_a_broker() -> None:
    small = {f"controller{number}": {"kafka_heap_size": "24m"} for number in (1, 2, 3)}
    expect(isolated(hosts=small), "heap_cannot_start", "controller1, controller2, controller3", "32m or more")
    enough = {f"controller{number}": {"kafka_heap_size": "32m"} for number in (1, 2, 3)}
    expect(isolated(hosts=enough), "small_heap", "controller1, controller2, controller3", level="warning")


def test_nodes_of_one_machine_need_data_directories_of_their_own() -> None:
    ports = [
        {f: (v + 100 if f == "port" else v) for f, v in entry.items()}
        for entry in combined().nodes[0].variables["kafka_listeners"]
    ]
    hosts: dict[str, dict[str, Any]] = {
        "kafka1": {"ansible_host": "m", "kafka_log_dirs": ["/data/kafka"]},
        "kafka2": {"ansible_host": "m", "kafka_log_dirs": ["/data/kafka"], "kafka_listeners": ports},
    }
    expect(
        combined(hosts=hosts),
        "shared_directory",
        "kafka1, kafka2: kafka_log_dirs",
        "used twice on one machine",
        "/data/kafka",
    )
