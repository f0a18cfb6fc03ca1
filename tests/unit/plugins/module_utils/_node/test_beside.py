# SPDX-License-Identifier: GPL-3.0-or-later
"""What other nodes have left beside a node: notes, services and data, one level deep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.beside import beside, installed_as

WHO = "streamops.kafka node: product=kafka id=4 cluster=blue"
META = "version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAQ\nnode.id=4\n"


def look(root: Path) -> list[dict[str, Any]]:
    config = root / "config" / "brk4"
    return beside([str(root / "data" / "brk4")], str(config / "has-data"), str(root / "units" / "kafka-brk4.service"))


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_on_a_new_machine_there_is_nothing(tmp_path: Path) -> None:
    assert look(tmp_path) == []
    assert beside([], "", "") == []


@pytest.mark.parametrize("line", ["ExecStart={}/start", "command = {}/start"])
def test_the_note_the_service_and_the_data_of_another_name_are_found(line: str, tmp_path: Path) -> None:
    old = tmp_path / "config" / "broker4"
    note = put(old / "has-data", f"# {WHO}\n# Written by Ansible\n")
    sign = ";" if "command" in line else "#"
    service = put(tmp_path / "units" / "kafka-broker4.service", f"{sign} {WHO}\n[Unit]\n{line.format(old)}\n")
    data = put(tmp_path / "data" / "broker4" / "meta.properties", META).parent
    found = look(tmp_path)
    assert [(one["kind"], one["path"], one["name"], one["product"], one["node_id"]) for one in found] == [
        (kind, str(path), "broker4", "kafka", "4")
        for kind, path in (("note", note), ("service", service), ("data", data))
    ]
    assert [one["cluster"] for one in found] == ["blue", "blue", None]
    assert found[2]["cluster_id"] == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert [one["config_dir"] for one in found] == [str(old), str(old), None]


def test_what_is_the_nodes_own_is_passed_over_also_by_another_path(tmp_path: Path) -> None:
    put(tmp_path / "data" / "broker4" / "meta.properties", META)
    put(tmp_path / "config" / "broker4" / "has-data", f"# {WHO}\n")
    put(tmp_path / "units" / "kafka-brk4.service", "ExecStart=/etc/kafka/brk4/start\n")
    for folder in ("data", "config"):
        (tmp_path / folder / "brk4").symlink_to("broker4")
    assert look(tmp_path) == []


def test_a_node_is_who_its_note_says_else_its_service(tmp_path: Path) -> None:
    paths = str(tmp_path / "config" / "brk4" / "has-data"), str(tmp_path / "units" / "kafka-brk4.service")
    assert installed_as(*paths) is None
    put(Path(paths[1]), f"; {WHO.replace('blue', 'green')}\n")
    assert installed_as(*paths) == {"path": paths[1], "product": "kafka", "node_id": "4", "cluster": "green"}
    # The note of an older release says nothing of it.
    put(Path(paths[0]), "# Written by Ansible\n")
    assert (installed_as(*paths) or {})["cluster"] == "green"
    put(Path(paths[0]), f"# {WHO}\n")
    assert (installed_as(*paths) or {})["cluster"] == "blue"


def test_a_server_of_zookeeper_is_known_by_its_myid(tmp_path: Path) -> None:
    put(tmp_path / "data" / "zk1" / "myid", "1\n")
    assert [(one["product"], one["node_id"]) for one in look(tmp_path)] == [("zookeeper", "1")]


def test_what_is_no_nodes_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "data" / "broken" / "meta.properties", "\0\0")
    put(tmp_path / "data" / "odd" / "myid", "many")
    put(tmp_path / "data" / "file", "x")
    put(tmp_path / "config" / "supervisor" / "supervisord.conf", "[supervisord]\n")
    put(tmp_path / "units" / "kafka-broker4.service.bak", "ExecStart=/etc/kafka/broker4/start\n")
    put(tmp_path / "units" / "other.service", "ExecStart=/usr/bin/other\n")
    assert look(tmp_path) == []


def test_a_note_of_an_older_release_says_nothing_of_its_node(tmp_path: Path) -> None:
    put(tmp_path / "config" / "broker4" / "has-data", "# Written by Ansible when this node had started.\n")
    assert [(one["name"], one["node_id"], one["cluster"]) for one in look(tmp_path)] == [("broker4", None, None)]
