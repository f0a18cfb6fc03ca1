# SPDX-License-Identifier: GPL-3.0-or-later
"""What adopt.yml runs: a look only reads, takes no lock and goes on without a host; the others hold the lock."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from jinja2.nativetypes import NativeEnvironment

from ansible_collections.streamops.kafka.plugins.action import adoption_info, adoption_plan
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.action import ProgressAction
from tests.support.playbooks import FREE, LOCK, PUBLIC, of_play, plays, read
from tests.unit.plugins.plugin_utils.adopt.machines import CLUSTER, FEATURES, info, machine, node, three

ROOT = Path(__file__).resolve().parents[2]
TASKS = yaml.safe_load((ROOT / "roles/_common/tasks/adopt.yml").read_text())
#: All that it may call.
READS = {"assert", "debug", "adoption_info", "adoption_plan"}


def test_a_look_only_reads_and_takes_no_lock() -> None:
    assert {key.rpartition(".")[2] for task in TASKS for key in task if "." in key} == READS
    (play,) = read(ROOT / "playbooks/_adopt_look.yml")
    assert {step for step in of_play(play, {}) if "/" not in step} == {"adoption_info", "adoption_plan"}


@pytest.mark.parametrize(
    ("given", "part"),
    [({}, "look"), ({"kafka_adopt": ""}, "look"), ({"kafka_adopt": None}, "look"), ({"kafka_adopt": "taken"}, "look"),
     ({"kafka_adopt": "take"}, "take"), ({"kafka_adopt": " back "}, "back"), ({"kafka_adopt": "finish"}, "finish")],
)  # fmt: skip
def test_each_word_is_a_playbook_of_its_own(given: dict[str, Any], part: str) -> None:
    (imported,) = (one["import_playbook"] for one in read(PUBLIC["adopt"]))
    assert NativeEnvironment().from_string(imported).render(given).strip() == f"_adopt_{part}.yml"


@pytest.mark.parametrize("part", ["take", "back", "finish"])
def test_what_changes_something_holds_the_lock_to_its_end(part: str) -> None:
    made = [of_play(play, given) for play, given in plays(ROOT / f"playbooks/_adopt_{part}.yml")]
    locked, freed = ([number for number, play in enumerate(made) if file in play] for file in (LOCK, FREE))
    writes = [number for number, play in enumerate(made) if "adopted_node" in play]
    assert writes
    assert locked[0] < min(writes)
    assert max(freed) >= max(writes)


def test_a_take_over_is_judged_on_all_hosts_before_anything_is_written() -> None:
    tasks = yaml.safe_load((ROOT / "roles/_common/tasks/adopt_take.yml").read_text())
    (judged,) = (task for task in tasks if "refusals" in str(task.get("ansible.builtin.assert", "")))
    assert judged["any_errors_fatal"]
    assert judged == tasks[-2]
    assert "streamops.kafka.adopted_node" in tasks[-1]


@pytest.mark.parametrize(
    ("known", "state"),
    [(None, "claimed"), ({"phase": "returned", "runs": "ours"}, "taken"),
     ({"phase": "returned", "runs": "old"}, "claimed"),
     ({"phase": "returned", "runs": "nobody"}, "claimed"), ({"phase": "claimed", "runs": "ours"}, "claimed")],
)  # fmt: skip
def test_a_node_that_ours_still_runs_need_not_be_claimed_again(known: dict[str, Any] | None, state: str) -> None:
    task = yaml.safe_load((ROOT / "roles/_common/tasks/adopt_take.yml").read_text())[-1]
    template = task["streamops.kafka.adopted_node"]["state"]
    assert NativeEnvironment().from_string(template).render(_common_before=known or {}) == state


def test_a_roll_gives_back_in_the_order_of_a_turn() -> None:
    turn = yaml.safe_load((ROOT / "roles/_common/tasks/roll/turn.yml").read_text())
    (restart,) = (task for task in turn if task["name"] == "Roll | Restart the node")
    (stop,) = (task for task in restart["block"] if task["name"] == "Roll | Stop the node")
    (back,) = (task for task in restart["block"] if task["name"] == "Roll | Bring the node back")
    rendered = partial(_file, seen={"stops_by": "adopted"})
    assert rendered(stop) == "service/adopted/stop.yml"
    assert _file(stop, {"stops_by": "systemd"}, _common_gives_back=True) == "service/systemd/out.yml"
    (start,) = (task for task in back["block"] if task["name"] == "Roll | Start the node")
    assert rendered(start, kafka_service_manager="systemd") == "service/systemd/start.yml"
    assert rendered(start, kafka_service_manager="systemd", _common_gives_back=True) == "service/adopted/start.yml"
    # Neither the files of ours are taken up nor proven for what goes back.
    for name in ("Roll | Switch to the new start files", "Roll | Confirm the start files of the node"):
        (task,) = (task for task in back["block"] if task["name"] == name)
        assert NativeEnvironment().compile_expression(task["when"])(_common_gives_back=True) is False
        assert NativeEnvironment().compile_expression(task["when"])() is True


def _file(task: dict[str, Any], seen: dict[str, str], **variables: Any) -> str:
    """Return which file a task includes."""
    text = NativeEnvironment().from_string(task["ansible.builtin.include_tasks"])
    return str(text.render(_model={"seen": seen}, **variables)).strip()


@pytest.mark.parametrize(
    ("given", "looks"), [({}, True), ({"kafka_adopt": " "}, True), ({"kafka_adopt": None}, True),
                         ({"kafka_adopt": "take"}, False), ({"kafka_adopt": "back"}, False)],
)  # fmt: skip
def test_anything_but_a_look_is_refused_before_a_host_is_asked(given: dict[str, Any], looks: bool) -> None:
    refusal = TASKS[0]
    condition = refusal["ansible.builtin.assert"]["that"]
    assert NativeEnvironment().compile_expression(condition)(**given) is looks
    assert refusal["any_errors_fatal"]


def test_a_host_that_does_not_answer_ends_nothing_and_is_waited_for_with_a_bound() -> None:
    look = next(task for task in TASKS if "streamops.kafka.adoption_info" in task)
    assert (look["ignore_unreachable"], look["ignore_errors"], look["timeout"]) == (True, True, 300)
    plan = next(task for task in TASKS if "streamops.kafka.adoption_plan" in task)
    template = plan["streamops.kafka.adoption_plan"]["machines"]
    hostvars = {host: {look["register"]: {"of": host}} for host in ("a", "b")}
    environment = NativeEnvironment()
    environment.globals["dict"] = dict
    environment.filters.update(zip=zip, extract=lambda host, known, name: known[host][name])
    told = environment.from_string(template).render(ansible_play_hosts_all=["a", "b"], hostvars=hostvars)
    assert told == {"a": {"of": "a"}, "b": {"of": "b"}}


def test_the_locks_of_all_releases_come_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adoption_info.ActionBase, "run", lambda self, tmp=None, task_vars=None: {})
    ran: list[dict[str, Any]] = []

    def execute(module_args: dict[str, Any], task_vars: object) -> dict[str, Any]:
        ran.append(module_args)
        return {"processes": [], "invocation": {"module_args": module_args}}

    for given in ({}, {"locks": []}):
        action: Any = object.__new__(adoption_info.ActionModule)
        action._task, action._execute_module = SimpleNamespace(args=given), execute
        assert action.run(task_vars={}) == {"processes": []}
    names = {(lock["name"], lock["version"]) for lock in ran[0]["locks"]}
    assert {("kafka", "3.9.2"), ("kafka", "4.3.1"), ("zookeeper", "3.8.6")} <= names
    assert {name for name, _version in names} == {"kafka", "zookeeper"}
    assert ran[1]["locks"] == []


class Asking(adoption_plan.ActionModule):
    """The action without Ansible; modules answer what they are given."""

    def __init__(self, answers: dict[str, dict[str, Any]], **options: Any) -> None:
        self._answers, self._options = answers, options
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def validate_argument_spec(self, argument_spec: dict[str, Any]) -> tuple[None, dict[str, Any]]:
        """Return the options with their defaults."""
        return None, {**{name: option.get("default") for name, option in argument_spec.items()}, **self._options}

    def call_here(self, name: str, arguments: Any, task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """Return the answer of a module."""
        self.asked.append((name.rpartition(".")[2], dict(arguments)))
        return self._answers[self.asked[-1][0]]


def plan(
    monkeypatch: pytest.MonkeyPatch, machines: dict[str, Any], answers: dict[str, Any], **options: Any
) -> tuple[dict[str, Any], Asking]:
    """Return the result of the action, and the action."""
    monkeypatch.setattr(ProgressAction, "run", lambda self, tmp=None, task_vars=None: {})
    action = Asking(answers, machines=machines, **options)
    action._task = SimpleNamespace(args={"machines": machines})
    hostvars = {host: {"ansible_host": f"10.0.0.{at}"} for at, host in enumerate(machines)}
    return action.run(task_vars={"hostvars": hostvars}), action


def test_a_cluster_is_asked_once_without_a_right_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    result, action = plan(monkeypatch, three(), {"cluster_info": info(), "features_info": FEATURES})
    assert [name for name, _options in action.asked] == ["cluster_info", "features_info"]
    assert action.asked[1][1]["ask_controller"] is False
    assert (result["changed"], result["refused"], result["findings"]) == (False, False, [])
    (cluster,) = result["clusters"]
    assert (cluster["cluster_id"], len(cluster["nodes"])) == (CLUSTER, 3)
    assert any(line.startswith("Asked ") for line in result["lines"])


def test_a_cluster_that_wants_a_login_is_not_asked_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    secured = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
    }
    machines = {"kafka1": machine(node(1, properties=secured))}
    result, action = plan(monkeypatch, machines, {}, user="admin")
    assert action.asked == []
    assert "was not asked: its listeners need a login (SASL_PLAINTEXT)" in result["findings"][0]["what"]
    answers = {"cluster_info": info((1,), (1,)), "features_info": FEATURES}
    result, action = plan(monkeypatch, machines, answers, user="admin", password="hunter2")
    assert [options["sasl_password"] for _name, options in action.asked] == ["hunter2"] * 2
    assert result["findings"] == []
    assert "hunter2" not in str(result)


def test_files_that_are_not_there_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ca.pem").touch()
    machines = {
        "kafka1": machine(node(1, properties={"listener.security.protocol.map": "PLAINTEXT:SSL,CONTROLLER:SSL"}))
    }
    files = {name: str(tmp_path / f"{name}.pem") for name in ("certificate_file", "key_file")}
    answers = {"cluster_info": {"failed": True, "msg": "refused"}}
    _result, action = plan(monkeypatch, machines, answers, ca_file=str(tmp_path / "ca.pem"), **files)
    ((_name, options),) = action.asked
    assert options["ssl_ca_location"] == str(tmp_path / "ca.pem")
    assert "ssl_certificate_location" not in options


@pytest.mark.parametrize(
    ("version", "runs", "old_version", "is_given_back"),
    [("4.3.1", "ours", "4.3.1", True), ("4.4.0", "ours", "4.3.1", False), ("4.4.0", "nobody", "4.3.1", False),
     (None, "nobody", "4.3.1", True), ("4.4.0", "old", "4.3.1", True), ("4.4.0", "ours", "", True)],
)  # fmt: skip
def test_an_upgraded_node_is_not_given_back(
    version: str | None, runs: str, old_version: str, is_given_back: bool
) -> None:
    tasks = yaml.safe_load((ROOT / "roles/_common/tasks/adopt_back.yml").read_text())
    (task,) = (task for task in tasks if "another release" in task["name"])
    look = {"version": version, "adopted": {"runs": runs, "version": old_version}}
    condition = NativeEnvironment().compile_expression(task["ansible.builtin.assert"]["that"])
    assert condition(__common_node_info=look) is is_given_back
    # Before anything is written.
    assert tasks.index(task) < next(at for at, one in enumerate(tasks) if "streamops.kafka.adopted_node" in one)
