# SPDX-License-Identifier: GPL-3.0-or-later
"""What adopt.yml runs: a look only reads, takes no lock and goes on without a host; the others hold the lock."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from posixpath import dirname
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from jinja2.nativetypes import NativeEnvironment

from ansible_collections.streamops.kafka.plugins.action import adoption_info, adoption_plan
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.action import ProgressAction
from tests.support.playbooks import FREE, LOCK, PUBLIC, of_play, plays, read
from tests.unit.plugins.plugin_utils.adopt.machines import CLUSTER, FEATURES, info, machine, node, three
from tests.unit.plugins.plugin_utils.adopt.test_described import held
from tests.unit.plugins.plugin_utils.adopt.test_inventory import CLUSTER_ID, COMBINED, told

ROOT = Path(__file__).resolve().parents[2]


def steps(name: str) -> list[dict[str, Any]]:
    """Return the tasks of a file, in place of an import those of the file that it imports."""
    tasks: list[dict[str, Any]] = yaml.safe_load((ROOT / "roles/_common/tasks" / name).read_text())
    imported = ((task, task.get("ansible.builtin.import_tasks")) for task in tasks)
    return [step for task, file in imported for step in (steps(file) if file else [task])]


TASKS = steps("adopt.yml")
OF_INVENTORY = steps("adopt_inventory.yml")
#: All that a look may call.
READS = {"assert", "debug", "adoption_info", "adoption_plan"}


def calls(tasks: list[dict[str, Any]]) -> list[str]:
    """Return the modules that tasks call."""
    return [key.rpartition(".")[2] for task in tasks for key in task if "." in key]


def test_an_inventory_is_written_on_the_control_node_alone_and_shown_before_the_run_fails_for_it() -> None:
    assert calls(OF_INVENTORY) == ["assert", "adoption_info", "adoption_plan", "node_files", "debug", "assert"]
    write, _show, refusal = OF_INVENTORY[-3:]
    assert write["delegate_to"] == "localhost"
    assert write["vars"]["ansible_become"] is False
    for task in (OF_INVENTORY[0], write, refusal):
        assert (task["run_once"], task["any_errors_fatal"]) == (True, True)
    (play,) = read(ROOT / "playbooks/_adopt_inventory.yml")
    assert {step for step in of_play(play, {}) if "/" not in step} == {"adoption_info", "adoption_plan", "node_files"}


@pytest.mark.parametrize(
    ("given", "goes_on"),
    [({}, False), ({"kafka_adopt_inventory": " "}, False), ({"kafka_adopt_inventory": None}, False),
     ({"kafka_adopt_inventory": "/srv/prod"}, True)],
)  # fmt: skip
def test_an_inventory_needs_a_directory(given: dict[str, Any], goes_on: bool) -> None:
    condition = OF_INVENTORY[0]["ansible.builtin.assert"]["that"]
    assert NativeEnvironment().compile_expression(condition)(**given) is goes_on


def test_a_look_only_reads_and_takes_no_lock() -> None:
    assert set(calls(TASKS)) == READS
    (play,) = read(ROOT / "playbooks/_adopt_look.yml")
    assert {step for step in of_play(play, {}) if "/" not in step} == {"adoption_info", "adoption_plan"}


@pytest.mark.parametrize(
    ("given", "part"),
    [({}, "look"), ({"kafka_adopt": ""}, "look"), ({"kafka_adopt": None}, "look"), ({"kafka_adopt": "taken"}, "look"),
     ({"kafka_adopt": "take"}, "take"), ({"kafka_adopt": " back "}, "back"), ({"kafka_adopt": "finish"}, "finish"),
     ({"kafka_adopt": "inventory "}, "inventory")],
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
    assert judged == tasks[-1]
    assert "adopted_node" not in str(tasks)
    # What the preflight refuses leaves nothing behind: who runs a node is written in the play behind it.
    made = read(ROOT / "playbooks/_adopt_take.yml")
    checks, writes = (
        next(at for at, play in enumerate(made) if f"'tasks_from': '{file}'" in str(play))
        for file in ("guards.yml", "adopt_claim")
    )
    assert checks < writes < len(made) - 1
    claim = yaml.safe_load((ROOT / "roles/_common/tasks/adopt_claim.yml").read_text())[0]
    when = NativeEnvironment().compile_expression(claim["when"])
    assert [when(_model={"take_over": {"claim": claim}}) for claim in ({}, {"manager": "none"})] == [False, True]


@pytest.mark.parametrize(
    ("given", "again"), [({}, True), ({"kafka_adopt": ""}, True), ({"kafka_adopt": "back"}, True),
                         ({"kafka_adopt": " take"}, False)],
)  # fmt: skip
def test_the_rest_of_a_take_over_is_not_checked_twice(given: dict[str, str], again: bool) -> None:
    site = read(ROOT / "playbooks/site.yml")[0]
    (task,) = site["tasks"][0]["block"]
    assert NativeEnvironment().from_string(task["vars"]["_preflight_again"]).render(given) is again


@pytest.mark.parametrize(
    ("known", "state"),
    [(None, ""), ({"phase": "returned", "runs": "ours"}, "taken"), ({"phase": "returned", "runs": "nobody"}, "claimed"),
     ({"phase": "claimed", "runs": "ours"}, "")],
)  # fmt: skip
def test_a_node_that_was_to_be_given_back_need_not_be_claimed_again(known: dict[str, Any] | None, state: str) -> None:
    taken_back = yaml.safe_load((ROOT / "roles/_common/tasks/adopt_claim.yml").read_text())[-1]
    written, looked_at_anew = taken_back["block"]
    given = {"_common_before": known or {}, "_model": {"take_over": {"claim": {}}}}
    assert NativeEnvironment().compile_expression(taken_back["when"])(**given) is bool(state)
    template = written["streamops.kafka.adopted_node"]["state"]
    assert not state or NativeEnvironment().from_string(template).render(given) == state
    # What follows asks who runs the node: of one that is claimed, ours is not enabled yet.
    assert looked_at_anew["ansible.builtin.include_tasks"]["file"] == "node_info.yml"
    claimed = {**given, "_model": {"take_over": {"claim": {"manager": "none"}}}}
    assert NativeEnvironment().compile_expression(taken_back["when"])(**claimed) is False


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


def test_a_broker_is_asked_for_its_properties_before_it_stops_and_again_before_its_old_service_loses_it() -> None:
    of_roll = ROOT / "roles/_common/tasks/roll"
    turn = yaml.safe_load((of_roll / "turn.yml").read_text())
    (restart,) = (task for task in turn if task["name"] == "Roll | Restart the node")
    names = [task["name"] for task in restart["block"]]
    (read_first,) = (task for task in restart["block"] if "streamops.kafka.broker_properties" in task)
    assert names.index(read_first["name"]) < names.index("Roll | Stop the node")
    when = NativeEnvironment().compile_expression(read_first["when"])
    claimed = {"is_claimed": True, "stops_by": "adopted"}
    assert when(_model={"seen": claimed}, _kafka_is_broker=True) is True
    for seen in ({**claimed, "stops_by": "systemd"}, {**claimed, "is_claimed": False}):
        assert when(_model={"seen": seen}, _kafka_is_broker=True) is False
    assert when(_model={"seen": claimed}, _kafka_is_broker=False) is False
    compares = yaml.safe_load((of_roll / "proven.yml").read_text())[0]
    assert compares["ansible.builtin.include_tasks"] == "roll/properties.yml"
    (compared,) = (
        task
        for task in yaml.safe_load((of_roll / "properties.yml").read_text())
        if "streamops.kafka.broker_properties" in task
    )
    reasons = [{"kind": "record", "name": "process"}, {"kind": "property", "name": "num.io.threads"}]
    planned = NativeEnvironment().from_string(compared["streamops.kafka.broker_properties"]["planned"])
    assert planned.render(__common_node_info={"restart_reasons": reasons}) == ["num.io.threads"]


def _file(task: dict[str, Any], seen: dict[str, str], **variables: Any) -> str:
    """Return which file a task includes."""
    text = NativeEnvironment().from_string(task["ansible.builtin.include_tasks"])
    return str(text.render(_model={"seen": seen}, **variables)).strip()


@pytest.mark.parametrize(
    ("given", "looks"), [({}, True), ({"kafka_adopt": " "}, True), ({"kafka_adopt": None}, True),
                         ({"kafka_adopt": "take"}, False), ({"kafka_adopt": "back"}, False),
                         ({"kafka_adopt": "inventory"}, False)],
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
    monkeypatch: pytest.MonkeyPatch,
    machines: dict[str, Any],
    answers: dict[str, Any],
    connection: str | None = "local",
    is_check: bool = False,
    **options: Any,
) -> tuple[dict[str, Any], Asking]:
    """Return the result of the action, and the action; connection -- of the hosts, None where they do not say it."""
    monkeypatch.setattr(ProgressAction, "run", lambda self, tmp=None, task_vars=None: {})
    action = Asking(answers, machines=machines, **options)
    action._task = SimpleNamespace(args={"machines": machines}, check_mode=is_check)
    reached = {"ansible_connection": connection} if connection else {}
    hostvars = {host: {"ansible_host": f"10.0.0.{at}", **reached} for at, host in enumerate(machines)}
    return action.run(task_vars={"hostvars": hostvars}), action


def test_a_cluster_is_asked_once_without_a_right_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    result, action = plan(monkeypatch, three(), {"cluster_info": info(), "features_info": FEATURES})
    assert [name for name, _options in action.asked] == ["cluster_info", "features_info"]
    assert action.asked[1][1]["ask_controller"] is False
    assert (result["changed"], result["refused"], result["findings"]) == (False, False, [])
    (cluster,) = result["clusters"]
    assert (cluster["cluster_id"], len(cluster["nodes"])) == (CLUSTER, 3)
    assert any(line.startswith("Asked ") for line in result["lines"])


@pytest.mark.parametrize(("given", "is_asked"), [("local", True), ("ssh", False), (None, False)])
def test_a_cluster_on_loopback_is_asked_where_the_command_line_says_that_its_host_is_here(
    monkeypatch: pytest.MonkeyPatch, given: str | None, is_asked: bool
) -> None:
    monkeypatch.setattr("ansible.context.CLIARGS", {"connection": given} if given else {})
    loopback = {"listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093", "advertised.listeners": None}
    answers = {"cluster_info": info((1,), (1,)), "features_info": FEATURES}
    _result, action = plan(monkeypatch, {"kafka1": machine(node(1, properties=loopback))}, answers, connection=None)
    assert bool(action.asked) is is_asked


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


def machine_of_others() -> dict[str, Any]:
    """Return a machine with a combined node of which all is known that an inventory needs."""
    process = told(COMBINED.replace("/tmp/kraft-combined-logs", "/var/lib/kafka"), ports=[])
    return {"kafka0": {"processes": [process], "unread": []}}


def test_an_inventory_is_made_of_what_the_cluster_told_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {
        "cluster_info": {**info((1,), (1,)), "cluster_id": CLUSTER_ID}, "features_info": FEATURES,
        "resources_info": held(),
    }  # fmt: skip
    directory = tmp_path / "prod"
    result, action = plan(monkeypatch, machine_of_others(), answers, directory=str(directory))
    assert [name for name, _options in action.asked] == ["cluster_info", "features_info", "resources_info"]
    assert action.asked[2][1]["bootstrap_servers"] == ["localhost:9092"]
    made = result["inventory"]
    assert (result["refused"], made["is_refused"], directory.exists()) == (False, False, False)
    assert f"{directory}/group_vars/all/resources.yml" in [entry["path"] for entry in made["files"]]
    assert "kafka_cluster_name: prod" in "".join(entry["content"] for entry in made["files"])
    assert result["lines"][-1].endswith("-e kafka_adopt=take --check --diff")
    # Where the files are there, nothing is left to write; one that differs refuses all of them.
    for entry in made["files"]:
        Path(entry["path"]).parent.mkdir(parents=True, exist_ok=True)
        Path(entry["path"]).write_text(entry["content"])
    again, _action = plan(monkeypatch, machine_of_others(), answers, directory=str(directory))
    assert again["inventory"] == {"directories": [], "files": [], "is_refused": False}
    (directory / "hosts.yml").write_text("all: {}\n")
    other, _action = plan(monkeypatch, machine_of_others(), answers, directory=str(directory))
    assert other["inventory"] == {"directories": [], "files": [], "is_refused": True}
    assert "has an inventory with other content (hosts.yml)" in other["lines"][-2]
    assert other["lines"][-1].startswith("Next step    clear what is refused")


def test_the_command_of_the_next_step_can_be_pasted_where_a_path_has_blanks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {
        "cluster_info": {**info((1,), (1,)), "cluster_id": CLUSTER_ID}, "features_info": FEATURES,
        "resources_info": held(),
    }  # fmt: skip
    result, _action = plan(monkeypatch, machine_of_others(), answers, directory=str(tmp_path / "my prod"))
    words = shlex.split(result["lines"][-1])
    assert words[words.index("-i") + 1] == f"{tmp_path}/my prod/hosts.yml"


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "cluster_info": {**info((1,), (1,)), "cluster_id": CLUSTER_ID}, "features_info": FEATURES,
        "resources_info": held(),
    }  # fmt: skip
    (tmp_path / "prod").touch()
    result, _action = plan(monkeypatch, machine_of_others(), answers, directory=str(tmp_path / "prod"))
    assert result["inventory"] == {"directories": [], "files": [], "is_refused": True}
    assert f"{tmp_path}/prod on the control node cannot be read: Not a directory" in result["lines"][-2]


@pytest.mark.parametrize("is_check", [True, False])
@pytest.mark.parametrize(
    ("there", "stays"), [("shut", "shut"), ("shut/prod", "shut"), ("file/prod", "file"), ("open/prod/new", "")]
)
def test_a_place_where_nothing_can_be_written_is_refused_by_a_check_too(
    there: str, stays: str, is_check: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {
        "cluster_info": {**info((1,), (1,)), "cluster_id": CLUSTER_ID}, "features_info": FEATURES,
        "resources_info": held(),
    }  # fmt: skip
    for name in ("shut", "open"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    # For root no mode keeps it out.
    monkeypatch.setattr(adoption_plan.os, "access", lambda path, _mode: Path(path).name != "shut")
    result, _action = plan(
        monkeypatch, machine_of_others(), answers, is_check=is_check, directory=str(tmp_path / there)
    )
    assert result["inventory"]["is_refused"] is bool(stays)
    refused = f"{tmp_path}/{stays} on the control node is no directory that this user may write into"
    assert any(refused in line for line in result["lines"]) is bool(stays)


def test_no_inventory_is_made_of_a_cluster_that_was_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"cluster_info": {"failed": True, "msg": "no broker answers"}}
    result, action = plan(monkeypatch, machine_of_others(), answers, directory=str(tmp_path / "prod"))
    assert [name for name, _options in action.asked] == ["cluster_info"]
    assert result["inventory"] == {"directories": [], "files": [], "is_refused": True}
    assert result["refused"]


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
    words = NativeEnvironment().from_string(task["vars"]["_common_told_apart_by"])
    assert condition(__common_node_info=look, _common_told_apart_by=words.render()) is is_given_back
    # Patches of a line of ZooKeeper read each other's data.
    patched = {**look, "version": "3.8.6", "adopted": {"runs": "ours", "version": "3.8.4"}}
    apart = words.render(_common_is_zookeeper=True)
    assert condition(__common_node_info=patched, _common_told_apart_by=apart) is True
    upgraded = {**patched, "version": "3.9.5"}
    assert condition(__common_node_info=upgraded, _common_told_apart_by=apart) is False
    # Before anything is written.
    assert tasks.index(task) < next(at for at, one in enumerate(tasks) if "streamops.kafka.adopted_node" in one)


@pytest.mark.parametrize(
    ("adopted", "passes"), [({"a": None, "b": None}, False), ({"a": None, "b": {"runs": "ours"}}, True)]
)
def test_what_this_collection_installed_stays_and_something_must_go_back(adopted: dict[str, Any], passes: bool) -> None:
    tasks = yaml.safe_load((ROOT / "roles/_common/tasks/adopt_back.yml").read_text())
    (refusal,) = (task for task in tasks if "nothing else ran any node" in task["name"])
    environment = NativeEnvironment()
    environment.filters.update(extract=lambda host, known, name: known[host][name])
    template = environment.from_string(refusal["vars"]["_common_were_adopted"])
    hostvars = {host: {"__common_node_info": {"adopted": told}} for host, told in adopted.items()}
    adopted_nodes = template.render(ansible_play_hosts_all=list(adopted), hostvars=hostvars)
    condition = environment.compile_expression(refusal["ansible.builtin.assert"]["that"])
    assert condition(_common_were_adopted=adopted_nodes) is passes
    # Everything behind it is for nodes that something else ran.
    after = [task for task in tasks[tasks.index(refusal) + 1 :] if "approved.yml" not in str(task)]
    words = [str(task["when"]) for task in after]
    assert all("__common_node_info.adopted" in condition for condition in words)
    given = {"__common_node_info": {"adopted": None}, "ansible_check_mode": False}
    assert [environment.compile_expression(word)(**given) for word in words] == [True, *[False] * (len(after) - 1)]


def test_mirrors_go_back_behind_all_nodes_by_the_roll_of_every_run() -> None:
    names = [play.get("import_playbook", play.get("ansible.builtin.import_playbook", ""))
             for play in read(ROOT / "playbooks/_adopt_back.yml")]  # fmt: skip
    assert names.index("_roll.yml") < names.index("_mirrors_roll.yml") < names.index("_unlock.yml")
    step = [play.get("ansible.builtin.import_playbook", "") for play in read(ROOT / "playbooks/_mirrors_step.yml")]
    assert "_mirrors_roll.yml" in step


def test_nodes_go_back_by_the_plan_that_was_approved() -> None:
    tasks = yaml.safe_load((ROOT / "roles/_common/tasks/adopt_back.yml").read_text())
    (compared,) = (at for at, task in enumerate(tasks) if "approved.yml" in str(task))
    assert tasks[compared]["vars"] == {"_common_gives_back": True}
    # After all that is looked at, and before anything is written.
    assert compared > max(at for at, task in enumerate(tasks) if "ansible.builtin.assert" in task)
    assert compared < next(at for at, task in enumerate(tasks) if "streamops.kafka.adopted_node" in task)
    made = [(play, of_play(play, given)) for play, given in plays(ROOT / "playbooks/_adopt_back.yml")]
    (handed_on,) = (play for play, steps in made if "roles/_common/tasks/planned.yml" in steps)
    hosts = NativeEnvironment().from_string(handed_on["hosts"])
    groups = {"kafka_brokers": ["kafka1"]}
    assert hosts.render(groups=groups, ansible_check_mode=True) == ["kafka_brokers"]
    assert hosts.render(groups=groups, ansible_check_mode=False) == []
    (include,) = (task["ansible.builtin.include_role"] for task in handed_on["tasks"])
    assert handed_on["tasks"][0]["vars"] == {"_common_gives_back": True}
    assert include["tasks_from"] == "planned.yml"


@pytest.mark.parametrize(
    ("waits_for_old", "logs_dir", "files"),
    [(False, "/old", ["/log/k/server.log", "/log/k/console.log"]), (True, "/old", ["/old/server.log"]), (True, "", [])],
)
def test_the_logs_that_are_read_are_those_of_who_is_waited_for(
    waits_for_old: bool, logs_dir: str, files: list[str]
) -> None:
    known = yaml.safe_load((ROOT / "roles/_common/vars/main/cluster.yml").read_text())["_common_awaited_logs"]
    given = {"_model": {"paths": {"log": "/log/k"}}, "__common_node_info": {"adopted": {"logs_dir": logs_dir}}}
    logs: Any = NativeEnvironment().from_string(known).render(_common_waits_for_old=waits_for_old, **given)
    assert logs == files
    for name in ("listening.yml", "steady.yml"):
        (task,) = yaml.safe_load((ROOT / "roles/_common/tasks/roll" / name).read_text())
        assert task["streamops.kafka.node_wait"]["log_files"] == "{{ _common_awaited_logs }}"
    (errors,) = yaml.safe_load((ROOT / "roles/mirror_maker/tasks/errors.yml").read_text())
    environment = NativeEnvironment()
    environment.filters["dirname"] = dirname
    path = environment.from_string(errors["ansible.builtin.command"]["argv"][-1])
    known_of_mirror: dict[str, Any] = {**given, "_common_awaited_logs": logs, "inventory_hostname": "m1"}
    assert path.render(**known_of_mirror, item="m1") == (files[0] if files else "/dev/null")
    assert path.render(**known_of_mirror, item="m2") == "/log/m2/server.log"


@pytest.mark.parametrize(
    ("given", "words"),
    [({}, "other. Nothing was changed."), ({"kafka_adopt": "back"}, "other. Nothing was changed."),
     ({"kafka_adopt": "take"}, "other. No node was touched. Who runs each was written down (adopted.json)")],
)  # fmt: skip
def test_a_take_over_by_another_plan_says_what_it_has_written(given: dict[str, str], words: str) -> None:
    (block,) = yaml.safe_load((ROOT / "roles/_common/tasks/approved.yml").read_text())
    refusal = block["block"][0]["ansible.builtin.assert"]["fail_msg"]
    said = NativeEnvironment().from_string(refusal).render(_model={"reports": {"approval_refusal": "other"}}, **given)
    assert said.startswith(words)
