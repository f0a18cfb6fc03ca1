# SPDX-License-Identifier: GPL-3.0-or-later
"""A running server of ZooKeeper is neither secured nor opened, and keeps directories that are its own already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2.nativetypes import NativeEnvironment

ROLE = Path(__file__).resolve().parents[3] / "roles" / "zookeeper_ensemble"


def task(file: str, words: str) -> dict[str, Any]:
    """Return the task of a file whose name has these words."""
    (found,) = (one for one in yaml.safe_load((ROLE / "tasks" / file).read_text()) if words in one["name"])
    return dict(found)


@pytest.mark.parametrize(
    ("name", "before", "after", "passes"),
    [
        ("sslQuorum", None, "true", False),
        ("sslQuorum", "true", None, False),
        ("sslQuorum", "false", "true", False),
        # Off by default, and said to be.
        ("sslQuorum", "false", None, True),
        ("enforce.auth.enabled", None, "true", False),
        ("enforce.auth.enabled", None, "false", True),
        ("tickTime", "2000", "3000", True),
    ],
)
def test_security_changes_where_one_side_has_it_and_the_other_has_not(
    name: str, before: str | None, after: str | None, passes: bool
) -> None:
    refusal = task("members.yml", "secure a running ensemble")
    once = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())["_zookeeper_ensemble_once"]
    info = {"restart_reasons": [{"name": name, "kind": "property", "from": before, "to": after}]}
    environment = NativeEnvironment()
    environment.tests["in"] = lambda value, known: value in known
    template = environment.from_string(refusal["vars"]["_zookeeper_ensemble_changes"])
    changes = template.render(__common_node_info=info, _zookeeper_ensemble_once=once)
    condition = environment.compile_expression(refusal["ansible.builtin.assert"]["that"])
    assert condition(_zookeeper_ensemble_changes=changes) is passes


@pytest.mark.parametrize(("myid", "writes"), [(None, True), ("1", False)])
def test_directories_of_a_server_that_has_its_id_are_left_alone(myid: str | None, writes: bool) -> None:
    create = task("identity.yml", "Create")
    condition = NativeEnvironment().compile_expression(create["when"])
    assert condition(__common_node_info={"disks": [{"myid": myid}]}) is writes
    filled = {"myid": myid, "path": "/d", "empty": False}
    assert condition(__common_node_info={"disks": [filled, {"path": "/l", "empty": False}]}) is writes
    assert condition(__common_node_info={"disks": [filled, {"path": "/l", "empty": True}]}) is True


@pytest.mark.parametrize(("lacks_myid", "paths"), [(True, ["/d", "/l"]), (False, ["/l"])])
def test_another_directory_for_the_transaction_log_is_created(lacks_myid: bool, paths: list[str]) -> None:
    create = task("identity.yml", "Create")
    environment = NativeEnvironment()
    environment.tests["in"] = lambda value, known: value in known
    disks = [{"path": "/d", "empty": False}, {"path": "/l", "empty": True}]
    filled = environment.from_string(create["vars"]["_zookeeper_ensemble_filled"])
    template = environment.from_string(create["streamops.kafka.node_files"]["directories"])
    directories: Any = template.render(
        _model={"manifest": {"data_directories": [{"path": "/d"}, {"path": "/l"}]}},
        _zookeeper_ensemble_lacks_myid=lacks_myid,
        _zookeeper_ensemble_filled=filled.render(__common_node_info={"disks": disks}),
    )
    assert [directory["path"] for directory in directories] == paths
