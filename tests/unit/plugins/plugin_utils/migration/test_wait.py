# SPDX-License-Identifier: GPL-3.0-or-later
"""streamops.kafka.migration_wait: a controller waits for the end of a step in its own log, with lines and in bounds.

Behind a half step back that stopped the controllers, one host waits for the ensemble in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.action import migration_wait
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import ClusterLook
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import MIGRATING, ZOOKEEPER
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.action import ProgressAction
from tests.support.inventory_data import DataReader
from tests.unit.plugins.module_utils._migration import looks
from tests.unit.plugins.plugin_utils.migration.test_read import ensemble_answer, node_answer

Answers = list[dict[str, Any]]


class Waiting(migration_wait.ActionModule):
    """The action on controller1, with the answers of its machine one after the other; the last one goes on."""

    def __init__(self, answers: Answers, check: bool = False, **options: Any) -> None:
        own = {"state_dir": "/run/c1", "metadata_dir": "/d", "before": "controllers_ready", **options}
        self._task = SimpleNamespace(
            args={**own, "timeout": 1, "interval": 0.01}, action="streamops.kafka.migration_wait", check_mode=check
        )
        self._answers = list(answers)
        self.lines: list[str] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def _execute_module(self, name: str, arguments: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        self.asked.append((name, arguments))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def call(self, task_vars: dict[str, Any] | None, **overrides: Any) -> dict[str, Any]:
        """Return the next answer of the ensemble, once it is asked below the path of the cluster."""
        if not overrides:
            return self._answers[0]
        return self._execute_module(self.module, overrides, task_vars)

    def show(self, line: str, task_vars: dict[str, Any] | None) -> None:
        """Keep a line."""
        self.lines.append(line)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, Any], Waiting]]:
    """Run the action on a cluster whose brokers have restarted with the flag; its controllers told before that."""
    before = looks.controllers_ready()
    brokers = [replace(node, started=looks.STARTED[MIGRATING]) for node in before.brokers]
    look = replace(before, nodes=(*before.controllers, *brokers))
    reader = reader_of(look)
    monkeypatch.setattr(migration_wait, "InventoryReader", lambda action, known: reader)
    monkeypatch.setattr(ProgressAction, "run", lambda self, tmp=None, task_vars=None: {})

    def runs(answers: Answers, check: bool = False) -> tuple[dict[str, Any], Waiting]:
        action = Waiting(answers, check)
        return action.run(task_vars={"inventory_hostname": "controller1"}), action

    return runs


def reader_of(look: ClusterLook) -> Any:
    """Return a reader whose hosts have told what a cluster has."""
    hosts = {node.host: {"kafka_node_id": node.id, "__common_migration_node": node_answer(node)} for node in look.nodes}
    groups = {
        "kafka_brokers": [node.host for node in look.brokers],
        "kraft_controllers": [node.host for node in look.controllers],
    }
    data = DataReader(hosts, groups, kafka_cluster_name=look.name, kafka_mode="zookeeper")
    nodes = build_inventory(data.read, data.groups).nodes
    return SimpleNamespace(nodes=lambda: list(nodes), raw=data.read)


def answer(state: str, registered: int) -> dict[str, Any]:
    """Return what migration_info tells on controller1: the state, and how many brokers are registered."""
    one = looks.controllers_ready().controllers[0]
    assert one.log is not None
    brokers = dict.fromkeys(range(1, registered + 1), True)
    return node_answer(replace(one, log=replace(one.log, state=state, brokers=brokers, end=one.log.end + registered)))


def test_it_waits_until_the_log_has_the_end_and_shows_how_far_it_is(run: Any) -> None:
    result, action = run([answer("PRE_MIGRATION", 1), answer("PRE_MIGRATION", 3), answer("MIGRATION", 3)])
    assert (result["reached"], result["changed"], result["looks"], "failed" in result) == (True, False, 3, False)
    assert [line.partition(", elapsed")[0] for line in action.lines] == [
        "migration_wait: 1 of 3 brokers are registered in migration mode; waits for broker2 (id 2), broker3 (id 3)",
        "migration_wait: 3 of 3 brokers are registered in migration mode; the controllers copy the metadata",
        "migration_wait: 3 of 3 brokers are registered in migration mode",
    ]
    options = {"state_dir": "/run/c1", "config_file": "", "metadata_dir": "/d"}
    assert action.asked == [("streamops.kafka.migration_info", options)] * 3


def test_a_wait_in_vain_fails_and_says_for_whom(run: Any) -> None:
    result, _action = run([answer("PRE_MIGRATION", 2)])
    assert (result["failed"], result["reached"]) == (True, False)
    assert "controller1: not reached within" in result["msg"]
    assert "waits for broker3 (id 3)" in result["msg"]
    assert "fix: " in result["msg"]


def test_check_mode_looks_once_and_fails_nothing(run: Any) -> None:
    result, action = run([answer("PRE_MIGRATION", 2)], check=True)
    assert (result["reached"], result["looks"], "failed" in result) == (False, 1, False)
    assert len(action.asked) == 1


def test_a_look_that_fails_ends_the_wait(run: Any) -> None:
    result, action = run([{"failed": True, "msg": "no such directory"}])
    assert (result["failed"], result["msg"], len(action.asked)) == (True, "no such directory", 1)


def waits_back(
    monkeypatch: pytest.MonkeyPatch, look: ClusterLook, answers: Answers, before: str
) -> tuple[dict[str, Any], Waiting]:
    """Run the wait behind a half step back from a phase; look -- what nodes told behind the last restart."""
    reader = reader_of(look)
    monkeypatch.setattr(migration_wait, "InventoryReader", lambda action, known: reader)
    monkeypatch.setattr(ProgressAction, "run", lambda self, tmp=None, task_vars=None: {})
    action = Waiting(answers, before=before, way="back")
    return action.run(task_vars={"inventory_hostname": "controller1"}), action


def given_back(controller: int | None, *sessions: int) -> dict[str, Any]:
    """Return what the ensemble says behind the hand-over: who is in charge, and which brokers have a session."""
    look = looks.with_znodes(looks.copied(), controller=controller, kraft_epoch=-1, migration=None)
    assert look.ensemble.znodes
    znodes = replace(look.ensemble.znodes, brokers=frozenset(sessions))
    return ensemble_answer(replace(look.ensemble, znodes=znodes))


def handed_over() -> ClusterLook:
    """Return a cluster whose brokers have restarted without the flag, and whose controllers are stopped."""
    look = looks.with_controllers(looks.copied(), running=False, log=None, epoch=0)
    for broker in look.brokers:
        look = looks.with_node(look, broker.host, started=looks.STARTED[ZOOKEEPER])
    return look


def test_behind_a_hand_over_the_ensemble_is_asked_until_brokers_are_in_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [given_back(None, 1), given_back(1, 1, 2), given_back(1, 1, 2, 3)]
    result, action = waits_back(monkeypatch, handed_over(), answers, "copied")
    assert (result["reached"], result["looks"], "failed" in result) == (True, 3, False)
    assert action.lines[0].startswith(
        "migration_wait: 1 of 3 brokers are registered in ZooKeeper mode; no broker is the controller; "
    )
    assert {name for name, _options in action.asked} == {"streamops.kafka.zookeeper_info"}


def test_an_ensemble_without_a_leader_is_waited_for_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _action = waits_back(monkeypatch, handed_over(), [{"leader_id": None, "servers": []}], "copied")
    assert (result["failed"], result["reached"]) == (True, False)
    assert "the znodes are not known" in result["msg"]


def test_behind_the_return_of_the_brokers_a_controller_waits_for_its_own_log(monkeypatch: pytest.MonkeyPatch) -> None:
    returned = looks.copied()
    node = returned.controllers[0]
    assert node.log is not None
    early = replace(node.log, brokers={1: True, 2: False, 3: True})
    answers = [node_answer(replace(node, log=early)), node_answer(node)]
    result, action = waits_back(monkeypatch, returned, answers, "dual_write_kraft")
    assert (result["reached"], result["looks"]) == (True, 2)
    assert "waits for broker2 (id 2)" in action.lines[0]
    assert {name for name, _options in action.asked} == {"streamops.kafka.migration_info"}
