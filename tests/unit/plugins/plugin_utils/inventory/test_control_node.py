# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a control node is thrown away, and whether a development CA would be lost with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory import control_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.control_node import (
    dies,
    thrown_away,
    unkept_cas,
)

AWX = {"AWX_HOST": "https://awx.example.com"}
RUNNER = {"AWX_ISOLATED_DATA_DIR": "/runner/artifacts/7"}


@pytest.mark.parametrize(
    ("said", "environment", "why"),
    [
        (None, {}, ""),
        ("", {"HOME": "/root"}, ""),
        (None, AWX, "AWX_HOST is set"),
        (None, {"AWX_HOST": ""}, ""),
        (None, RUNNER, "AWX_ISOLATED_DATA_DIR is /runner/artifacts/7"),
        # ansible-runner without a container, and a name that only begins alike.
        (None, {"AWX_ISOLATED_DATA_DIR": "/srv/job/artifacts/7"}, ""),
        (None, {"AWX_ISOLATED_DATA_DIR": "/runner2/artifacts"}, ""),
        (True, AWX, ""),
        ("yes", RUNNER, ""),
        (False, {}, "streamops_control_node_is_kept is false"),
        ("no", {}, "streamops_control_node_is_kept is false"),
    ],
)
def test_the_environment_of_a_job_tells_it_and_the_user_knows_better(
    said: Any, environment: dict[str, str], why: str
) -> None:
    found = thrown_away(said, environment)
    assert found.startswith(why)
    assert bool(found) == bool(why)


MOUNTS = ["/", "/proc", "/tmp", "/runner", "/runner/project", "/mnt/kept", "/mnt/with blank"]


@pytest.mark.parametrize(
    ("directory", "lost"),
    [
        ("/root/.local/share/ca", True),
        ("/runner/.local/share/ca", True),
        ("/runner/project/ca", True),
        ("/tmp/ca", True),
        ("/mnt/kept", False),
        ("/mnt/kept/east/ca", False),
        ("/mnt/kept2/ca", True),
        ("/mnt/with blank/ca", False),
    ],
)
def test_only_a_mount_of_its_own_outlives_a_container(directory: str, lost: bool) -> None:
    assert dies(directory, MOUNTS) is lost


def test_where_mounts_are_not_known_nothing_outlives_it() -> None:
    assert dies("/mnt/kept", [])


def node(directory: str, source: str = "development_ca", **variables: Any) -> Any:
    """A broker with a CA in this directory."""
    given = {"kafka_tls_source": source, "kafka_tls_ca_dir": directory, "kafka_cluster_name": "east", **variables}
    return build_node("k", controller=False, broker=True, variables=given, undefined={})


def test_a_ca_that_would_be_made_where_it_is_lost_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_node, "_mount_points", lambda: ["/"])
    directory = str(tmp_path / "ca")
    found = unkept_cas([node(directory)], AWX)
    assert found == {"k": (directory, "AWX_HOST is set, as AWX does in a job")}
    assert unkept_cas([node(directory)], {}) == {}
    assert unkept_cas([node(directory, source="files"), node(directory, source="")], AWX) == {}
    assert unkept_cas([node(directory, streamops_control_node_is_kept=True)], AWX) == {}
    monkeypatch.setattr(control_node, "_mount_points", lambda: ["/", str(tmp_path)])
    assert unkept_cas([node(directory)], AWX) == {}


def test_a_ca_that_is_there_is_only_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_node, "_mount_points", lambda: ["/"])
    (tmp_path / "ca.pem").write_text("x")
    assert unkept_cas([node(str(tmp_path))], AWX) == {}


def test_this_machine_has_a_root_among_its_mounts() -> None:
    assert "/" in control_node._mount_points()
