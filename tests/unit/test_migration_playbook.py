# SPDX-License-Identifier: GPL-3.0-or-later
"""What migrate_to_kraft.yml runs: it looks and shows, takes steps in order, and asks no ensemble in vain."""

from __future__ import annotations

import ast
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from jinja2.nativetypes import NativeEnvironment

from ansible_collections.streamops.kafka.plugins.action import migration_plan
from ansible_collections.streamops.kafka.plugins.action.migration_plan import ActionModule
from ansible_collections.streamops.kafka.plugins.module_utils._migration import model, phase, steps
from ansible_collections.streamops.kafka.plugins.module_utils._migration.judge import StepFacts
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.migration.read import chroot_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.action import ProgressAction
from tests.support.inventory_data import DataReader
from tests.support.playbooks import LOCK, PUBLIC, first, of_play, plays, read, takes_lock
from tests.unit.plugins.module_utils._migration import looks
from tests.unit.plugins.plugin_utils.migration.test_wait import reader_of

ROOT = Path(__file__).resolve().parents[2]
TASKS = yaml.safe_load((ROOT / "roles/_common/tasks/migration.yml").read_text())
STAGES = yaml.safe_load((ROOT / "roles/_common/tasks/stages.yml").read_text())
STAGES_READ = yaml.safe_load((ROOT / "roles/_common/tasks/stages_read.yml").read_text())
LOOK = yaml.safe_load((ROOT / "roles/_common/tasks/migration_look.yml").read_text())
#: All that it may call.
READS = {"assert", "debug", "include_tasks", "migration_info", "migration_plan"}


def test_every_task_of_the_screen_only_reads() -> None:
    called = {key.rpartition(".")[2] for task in (*TASKS, *LOOK) for key in task if "." in key}
    assert called == READS
    (screen,) = yaml.safe_load((ROOT / "playbooks/_migrate_look.yml").read_text())
    assert {step for step in of_play(screen, {}) if "/" not in step} == {"migration_info", "migration_plan"}


@pytest.mark.parametrize(
    ("given", "looks"),
    [({}, True), ({"kafka_migration": ""}, True), ({"kafka_migration": None}, True), ({"kafka_migration": " "}, True),
     ({"kafka_migration": "next"}, False), ({"kafka_migration": "back"}, False), ({"kafka_migration": "bak"}, True)],
)  # fmt: skip
def test_a_look_takes_no_lock_and_a_step_does(given: dict[str, Any], looks: bool) -> None:
    known = first("migrate_to_kraft")[1]
    for template in (known["_common_may_stay_sealed"], known["_common_plan_follows"]):
        assert NativeEnvironment().from_string(template).render(given) is looks
    # Whatever the inventory says: what is imported is known before it is read, and a look could not give a lock back.
    taken = [LOCK in of_play(play, known) for play, known in plays(ROOT / f"playbooks/_migrate_{_word(looks)}.yml")]
    assert (taken[0], any(taken)) == (not looks, not looks)
    assert takes_lock("migrate_to_kraft")
    assert "_lock.yml" not in [one.get("ansible.builtin.import_playbook") for one in read(PUBLIC["migrate_to_kraft"])]


def _word(looks: bool) -> str:
    return "look" if looks else "step"


@pytest.mark.parametrize(
    ("given", "file"),
    [({}, "look"), ({"kafka_migration": "next"}, "step"), ({"kafka_migration": " next"}, "step"),
     ({"kafka_migration": "back "}, "step"), ({"kafka_migration": "forth"}, "look")],
)  # fmt: skip
def test_a_step_is_a_playbook_of_its_own(given: dict[str, Any], file: str) -> None:
    imports = [one.get("ansible.builtin.import_playbook", "") for one in read(PUBLIC["migrate_to_kraft"])]
    (imported,) = (one for one in imports if "{{" in one)
    assert NativeEnvironment().from_string(imported).render(given) == f"_migrate_{file}.yml"


def test_stages_are_read_once_in_a_run_and_a_step_has_those_of_its_judgement() -> None:
    (task,) = (task for task in yaml.safe_load((ROOT / "roles/preflight/tasks/main.yml").read_text())
               if "ansible.builtin.include_role" in task)  # fmt: skip
    assert task["ansible.builtin.include_role"]["tasks_from"] == "stages.yml"
    stages = STAGES[0]
    assert "hostvars[_kafka_cluster_first].__common_migration_plan is not defined" in stages["when"]
    assert stages["ansible.builtin.include_tasks"]["file"] == "stages_read.yml"
    assert STAGES_READ[-1]["streamops.kafka.migration_plan"] == {"wish": "stay"}


@pytest.mark.parametrize(
    ("known", "goes_on"),
    [({"hostvars": {"c1": {"__common_migration_plan": {}}}}, True), ({"hostvars": {"c1": {}}}, False),
     ({"hostvars": {"c1": {}}, "_common_may_stay_sealed": True}, True)],
)  # fmt: skip
def test_nodes_whose_stages_no_host_of_the_run_can_tell_are_not_changed(known: dict[str, Any], goes_on: bool) -> None:
    """Each host has its stage from the first host of its cluster. Without one a broker of KRaft would get the files of
    ZooKeeper, so a part of the cluster without that host (preflight_allow_limit) is refused."""
    task = STAGES[-1]
    assert "__common_migration_plan" not in str(task["when"]), "Ansible asks this after the plan was made"
    that = NativeEnvironment().compile_expression(task["ansible.builtin.assert"]["that"])
    assert bool(that(_kafka_cluster_first="c1", **known)) is goes_on


PLAN = {"step": {"stages": {"b1": "migrating"}}}
HOSTVARS = {"c1": {"__common_migration_plan": PLAN}}


@pytest.mark.parametrize(
    ("known", "stage"),
    [({"groups": {"kraft_controllers": ["c1"]}}, ""),
     ({"kafka_mode": "kraft_isolated", "groups": {"kraft_controllers": ["c1"]}}, ""),
     ({"kafka_mode": "zookeeper", "groups": {}}, ""),
     ({"kafka_mode": "zookeeper", "groups": {"kraft_controllers": ["c1"]}, "hostvars": {"c1": {}}}, ""),
     ({"kafka_mode": "zookeeper", "groups": {"kraft_controllers": ["c1"]}, "hostvars": HOSTVARS}, "migrating")],
)  # fmt: skip
def test_a_stage_is_looked_for_only_where_a_cluster_can_migrate(known: dict[str, Any], stage: str) -> None:
    """It is read for every host of the inventory before each run, and each time through the whole inventory."""
    known_vars = yaml.safe_load((ROOT / "roles/_common/vars/main/cluster.yml").read_text())
    # A variable is rendered where it is asked for.
    step = known_vars["_common_migration_step"].strip().removeprefix("{{").removesuffix("}}")
    expression = known_vars["_kafka_stage"].replace("_common_migration_step", f"({step})")
    given = {"inventory_hostname": "b1", "_kafka_cluster_first": "c1", **known}
    assert NativeEnvironment().from_string(expression).render(given) == stage


def test_the_screen_is_shown_where_no_stage_follows() -> None:
    assert first("migrate_to_kraft")[1]["_common_stages_follow"] is True


STEP = {"_common_takes_step": True}


@pytest.mark.parametrize(
    ("given", "goes_on"),
    [({}, True), ({"kafka_migration": ""}, True), ({"kafka_migration": None}, True),
     ({"kafka_migration": "next"}, False), ({"kafka_migration": "back"}, False), ({"kafka_migration": True}, False),
     ({"kafka_migration": "next", **STEP}, True), ({"kafka_migration": "back", **STEP}, True), (STEP, False)],
)  # fmt: skip
def test_a_step_is_refused_by_its_name_and_before_anything_else(given: dict[str, Any], goes_on: bool) -> None:
    task = TASKS[0]["ansible.builtin.assert"]
    environment = NativeEnvironment()
    assert environment.compile_expression(task["that"])(**given) is goes_on
    # Ansible renders it also where nothing is refused.
    message = environment.from_string(task["fail_msg"]).render(given)
    if not goes_on:
        assert message.startswith(f"kafka_migration={given.get('kafka_migration', '')} is no step")
        assert "give one of them on the command line" in message


@pytest.mark.parametrize(
    ("run", "skipped", "goes_on"),
    [(["all"], [], True), (["kafka_configure"], [], False), (["preflight"], [], False),
     (["all"], ["kafka_service"], False), (["all"], ["spark_validation"], True)],
)  # fmt: skip
def test_a_step_is_taken_whole(run: list[str], skipped: list[str], goes_on: bool) -> None:
    """Of a part of it nodes would have files of the next stage that no restart takes up, and a wait that cannot end."""
    environment = NativeEnvironment()
    environment.filters["intersect"] = lambda one, other: [value for value in one if value in other]
    that = environment.compile_expression(TASKS[1]["ansible.builtin.assert"]["that"])
    known = {"ansible_run_tags": run, "ansible_skip_tags": skipped}
    assert bool(that(**known, **STEP)) is goes_on
    assert that(**known), "the screen is for every run"


class Asking(ActionModule):
    """The action with the answers of the module that it runs, one after the other."""

    def __init__(self, servers: list[int], *answers: dict[str, Any]) -> None:
        self._of_role = {"servers": servers}
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def call(self, task_vars: dict[str, Any] | None, **overrides: Any) -> dict[str, Any]:
        """Return the next answer."""
        self.asked.append(overrides)
        return self._answers.pop(0)


#: What the look behind a step wishes, and the phase before.
BEHIND = ("", "not_begun")


def test_a_cluster_without_servers_asks_none() -> None:
    action = Asking([])
    assert (action._ensemble("/blue", *BEHIND, {}), action.asked) == ({}, [])


def test_a_session_is_opened_below_the_path_of_the_cluster_where_a_server_leads() -> None:
    answer = {"leader_id": 1, "znodes": {}}
    action = Asking([1, 2, 3], {"leader_id": 1}, answer)
    assert action._ensemble("/blue", *BEHIND, {}) == answer
    assert action.asked == [{}, {"chroot": "/blue"}]


@pytest.mark.parametrize(
    ("wish", "before", "is_tried"),
    [
        ("next", "", True),
        ("back", "", True),
        ("", "", True),
        ("stay", "", False),
        ("", "copied", False),
        ("back", "copied", False),
    ],
)
def test_the_login_is_tried_before_a_step_and_for_the_screen(wish: str, before: str, is_tried: bool) -> None:
    action = Asking([1, 2, 3], {"leader_id": 1}, {"leader_id": 1, "znodes": {}, "denied": []})
    action._ensemble("/blue", wish, before, {})
    assert action.asked[1].get("rights", False) is is_tried


def test_no_session_is_waited_for_where_no_server_leads() -> None:
    words = {"leader_id": None, "servers": [{"id": 1, "state": "unreachable"}]}
    action = Asking([1, 2, 3], words)
    assert (action._ensemble("/blue", *BEHIND, {}), action.asked) == (words, [{}])


def test_a_session_that_fails_leaves_what_the_servers_said_and_why() -> None:
    words = {"leader_id": 1, "servers": [{"id": 1, "state": "leader"}]}
    action = Asking([1, 2, 3], words, {"failed": True, "msg": "AuthFailedError"})
    assert action._ensemble("/blue", *BEHIND, {}) == {**words, "msg": "AuthFailedError"}


def test_the_action_runs_the_module_of_the_ensemble_by_its_own_login() -> None:
    assert (ActionModule.module, ActionModule.named_by) == (
        "streamops.kafka.zookeeper_info",
        ("servers", "_zookeeper_access"),
    )
    ran: list[tuple[str, dict[str, Any]]] = []

    def execute(name: str, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        ran.append((name, arguments))
        return task_vars

    action: Any = SimpleNamespace(
        module=ActionModule.module,
        _of_role={"servers": [1]},
        # The options of the task are its own, and none of the module that it runs.
        _task=SimpleNamespace(
            args={"wish": "stay"}, resolved_action="streamops.kafka.migration_plan", delegate_to=None, async_val=0
        ),
        _local=None,
        _execute_module=execute,
    )
    action.call_here = partial(ActionModule.call_here, action)
    ActionModule.call(action, {}, chroot="/blue")
    assert ran == [("streamops.kafka.zookeeper_info", {"servers": [1], "chroot": "/blue"})]


def test_a_phase_without_stages_fails_by_its_result_so_that_a_run_that_only_looks_may_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ansible asks failed_when of a result alone, and never of an exception."""
    assert "_common_may_stay_sealed" in STAGES_READ[-1]["failed_when"]
    reader = reader_of(looks.with_controllers(looks.copied(), silence="timed out", log=None))
    monkeypatch.setattr(migration_plan, "InventoryReader", lambda action, known: reader)
    monkeypatch.setattr(ProgressAction, "run", lambda self, tmp=None, task_vars=None: {})
    action: Any = Asking([])
    action._task = SimpleNamespace(args={"wish": "stay"}, action="streamops.kafka.migration_plan")
    result = action.run(task_vars={"inventory_hostname": "broker1"})
    assert (result["failed"], result["phase"], "step" in result) == (True, phase.UNKNOWN, False)
    assert "what was seen fits no phase" in result["msg"]


def test_the_documented_phases_are_those_of_the_table() -> None:
    text = (ROOT / "plugins/modules/migration_plan.py").read_text()
    assigned = next(node for node in ast.parse(text).body if isinstance(node, ast.Assign)
                    and ast.unparse(node.targets[0]) == "RETURN")  # fmt: skip
    documented = str(yaml.safe_load(ast.literal_eval(assigned.value))["phase"]["description"])
    assert [name for name in steps.STEPS if f"V({name})" not in documented] == []
    assert set(phase.WAY) < set(steps.STEPS)
    modes = str(yaml.safe_load(ast.literal_eval(assigned.value))["modes"]["description"])
    assert [mode for mode in (model.ZOOKEEPER, model.MIGRATING, model.KRAFT) if f"V({mode})" not in modes] == []


HAND_OVER = yaml.safe_load((ROOT / "roles/_common/tasks/migration_hand_over.yml").read_text())


def called(tasks: list[dict[str, Any]]) -> list[str]:
    """Return the modules of tasks by their short names, of files that they include the names of these."""
    names = []
    for task in tasks:
        module = next(key for key in task if "." in key)
        file = task[module].get("file", "") if isinstance(task[module], dict) else task[module]
        names.append(file if module.endswith(".include_tasks") else module.rpartition(".")[2])
    return names


def test_a_hand_over_stops_judges_and_changes_in_this_order() -> None:
    stops, gives, report = HAND_OVER
    assert called(stops["block"]) == ["stop.yml", "migration_look.yml", "migration_plan", "assert"]
    assert called(gives["block"]) == ["migration_znodes", "set_aside.yml"]
    assert called([report]) == ["debug"]
    # With the phase before it does not try the login anew, which reads each znode.
    judged = stops["block"][2]["streamops.kafka.migration_plan"]
    assert judged == {"wish": "back", "before": "{{ _common_migration_step.phase }}", "way": "back"}
    # Nobody is in charge meanwhile: the znodes change right behind the judgement that all controllers are stopped.
    assert stops["block"][-1]["ansible.builtin.assert"]["that"] == ("__common_migration_plan.step.controllers_stopped")
    znodes = gives["block"][0]["streamops.kafka.migration_znodes"]
    assert znodes["controllers_stopped"] == "{{ _common_migration_step.controllers_stopped }}"


def test_a_hand_over_that_fails_ends_the_run_on_each_host_with_the_command_that_goes_on() -> None:
    for part in HAND_OVER[:2]:
        (report,) = part["rescue"]
        # A host that only had another one fail would be rescued, and go on to the restart of the brokers.
        assert report["run_once"] is True
        assert "when" not in report
        message = report["ansible.builtin.fail"]["msg"]
        for words in ("Done:", "Not done:", "fix: ", "kafka_migration=back again: it goes on where it ended"):
            assert words in message
    assert not {"when", "ignore_errors"} & {key for part in HAND_OVER[:2] for key in part}


@pytest.mark.parametrize(
    ("step", "is_check", "is_taken"),
    [({}, False, False), ({"hands_over": False}, False, False), ({"hands_over": True}, False, True),
     ({"hands_over": True}, True, False)],
)  # fmt: skip
def test_only_a_half_step_that_hands_over_stops_the_controllers(
    step: dict[str, Any], is_check: bool, is_taken: bool
) -> None:
    (task,) = yaml.safe_load((ROOT / "roles/_common/tasks/migration_step.yml").read_text())
    condition = NativeEnvironment().compile_expression(task["when"])
    assert condition(_common_migration_step=step, ansible_check_mode=is_check) is is_taken


@pytest.mark.parametrize("given", ["/blue", "blue/", "", " /a/b ", "/"])
def test_the_znodes_are_those_below_the_path_of_the_cluster(given: str) -> None:
    template = HAND_OVER[1]["block"][0]["streamops.kafka.migration_znodes"]["chroot"]
    environment = NativeEnvironment()
    reader = DataReader({"b1": {"kafka_node_id": 1}}, {"kafka_brokers": ["b1"]}, zookeeper_chroot=given)
    expected = chroot_of("b1", build_inventory(reader.read, reader.groups).nodes)
    assert environment.from_string(template).render(zookeeper_chroot=given) == expected


@pytest.mark.parametrize(
    ("step", "is_set_aside"),
    [({}, False), ({"aside": {}}, False), ({"aside": {"broker2": {}}}, False), ({"aside": {"broker1": {}}}, True)],
)
def test_a_broker_sets_its_log_aside_between_stop_and_start(step: dict[str, Any], is_set_aside: bool) -> None:
    turn = yaml.safe_load((ROOT / "roles/_common/tasks/roll/turn.yml").read_text())
    restart = next(task for task in turn if task["name"] == "Roll | Restart the node")["block"]
    comes_back = restart[-1]["block"]
    assert called(restart[:-1])[-1].startswith("service/")
    names = called(comes_back)
    assert names[:2] == ["roll/take_up.yml", "set_aside.yml"]
    assert names[2].startswith("service/")
    assert names[2].endswith("/start.yml")
    condition = NativeEnvironment().compile_expression(comes_back[1]["when"])
    known = {"inventory_hostname": "broker1", "_common_migration_step": step}
    assert condition(_common_kind="kafka", **known) is is_set_aside
    assert condition(_common_kind="mirror", inventory_hostname="mirror1") is False


def test_a_broker_that_a_cut_run_left_stopped_sets_its_log_aside_too() -> None:
    (start,) = yaml.safe_load((ROOT / "roles/_common/tasks/start.yml").read_text())
    names = called(start["block"])
    assert names.index("set_aside.yml") < names.index("service/{{ kafka_service_manager }}/start.yml")


def test_a_log_is_set_aside_once() -> None:
    (task,) = yaml.safe_load((ROOT / "roles/_common/tasks/set_aside.yml").read_text())
    command = task["ansible.builtin.command"]
    assert command["argv"] == ["mv", command["removes"], command["creates"]]


class Judging(Asking):
    """The action that counts how often it asks the brokers; they answer nothing."""

    def __init__(self) -> None:
        super().__init__([])
        self.facts = 0

    def _facts(self, confirmed: str, known: dict[str, Any]) -> StepFacts:
        self.facts += 1
        return StepFacts(unasked="nobody answers")


def judged(look: model.ClusterLook, **options: Any) -> tuple[dict[str, Any], Judging]:
    """Return what the action finds for the options of a task."""
    action = Judging()
    given = {"wish": "", "confirmed": "", "before": "", "way": "forward", **options}
    return action._asked_for(look, given, reader_of(look).nodes(), {}), action


def test_brokers_are_asked_for_the_way_back_only_where_somebody_is_in_charge() -> None:
    found, action = judged(looks.copied(), wish="back")
    assert action.facts == 1
    assert [trouble["name"] for trouble in found["step"]["troubles"]] == ["reassignments_unread"]
    stopped = looks.with_controllers(looks.copied(), running=False)
    found, action = judged(stopped, wish="back")
    assert action.facts == 0
    assert (found["step"]["troubles"], found["step"]["controllers_stopped"]) == ([], True)
    assert list(found["step"]["aside"]) == ["controller1", "controller2", "controller3"]


@pytest.mark.parametrize(("way", "text"), [("forward", "KRaft mode"), ("back", "ZooKeeper mode")])
def test_how_far_a_step_is_depends_on_its_direction(way: str, text: str) -> None:
    found, action = judged(looks.copied(), before="copied", way=way)
    assert text in found["progress"]["text"]
    assert not found["progress"]["reached"]
    assert ("step" in found, action.facts) == (False, 0)


STAGES_FILE, MOVE = "roles/_common/tasks/stages.yml", "roles/kafka_resources/tasks/move.yml"


def test_a_cluster_stops_whatever_its_nodes_tell_of_their_stages() -> None:
    """Where controllers do not answer the phase is unknown, and an emergency is when they do not."""
    entered = [of_play(play, given) for play, given in plays(PUBLIC["stop"]) if not _is_skipped(play, given)]
    assert not any(STAGES_FILE in steps for steps in entered)
    # The gate judges a single node, and reads them as far as they can be told.
    entered = [one for one in plays(PUBLIC["stop_node"]) if not _is_skipped(*one) and STAGES_FILE in of_play(*one)]
    ((play, _given),) = entered
    (reading,) = (task for task in play["tasks"] if "ansible.builtin.include_role" in task)
    assert reading["vars"] == {"_common_may_stay_sealed": True}


def _is_skipped(play: dict[str, Any], given: Any) -> bool:
    """Tell whether a play of _start.yml has no host, by what it is given."""
    return "_common_stages_follow" in str(play["hosts"]) and given.get("_common_stages_follow") is True


def condition(path: str, name: str) -> Any:
    """Return what the assertion of a task wants, as one expression; name -- of the task."""
    tasks = yaml.safe_load((ROOT / path).read_text())
    (task,) = (one for one in (*tasks, *tasks[0].get("block", ())) if one["name"] == name)
    that = task["ansible.builtin.assert"]["that"]
    environment = NativeEnvironment()
    environment.filters["intersect"] = lambda one, other: [value for value in one if value in other]
    parts = [that] if isinstance(that, str) else that
    return environment.compile_expression(" and ".join(f"({part})" for part in parts))


@pytest.mark.parametrize(
    ("plan", "stops"),
    [({"phase": "copied", "troubles": []}, True), ({"phase": "copied", "troubles": ["epoch_above"]}, True),
     ({"phase": "copied", "troubles": ["controller_down"]}, False),
     ({"phase": "copied", "troubles": ["controller_silent"]}, False),
     ({"phase": "brokers_moving", "troubles": ["controller_missing"]}, False),
     ({"phase": "controllers_ready", "troubles": ["controller_down"]}, True),
     ({"phase": "dual_write_kraft", "troubles": ["controller_down"]}, True),
     ({"phase": "unknown", "troubles": ["controller_silent"]}, False), ({}, False)],
)  # fmt: skip
def test_a_controller_is_stopped_only_beside_others_that_run(plan: dict[str, Any], stops: bool) -> None:
    """Brokers in ZooKeeper mode tell nothing of the quorum. In KRaft mode the gate asks it, and before the copy a lost
    majority harms nobody."""
    name = "Out | Refuse a controller beside another that is not seen running"
    allowed = condition("roles/_common/tasks/out.yml", name)
    named = {"troubles": [{"name": trouble} for trouble in plan["troubles"]]} if plan else {}
    assert bool(allowed(_common_out_plan={**plan, **named})) is stops


@pytest.mark.parametrize(
    ("phase_name", "moves", "goes_on"),
    [("copied", {"drain": [4]}, False), ("copied", {"replace": {"4": 5}}, False), ("copied", {"rebalance": True}, True),
     ("dual_write_kraft", {"drain": [4]}, True), ("controllers_ready", {"drain": [4]}, True),
     ("brokers_moving", {"rebalance": True}, False), ("", {"drain": [4]}, True)],
)  # fmt: skip
def test_no_broker_leaves_whose_registration_would_stay_in_kraft(
    phase_name: str, moves: dict[str, Any], goes_on: bool
) -> None:
    name = "Move | Refuse another plan than the approved one, and moves within a step from ZooKeeper to KRaft"
    allowed = condition(MOVE, name)
    hostvars = {"c1": {"__common_migration_plan": {"phase": phase_name}} if phase_name else {}}
    known = {"_model": {"reports": {"plan_refusal": ""}}, "_kafka_resources_asked_move": moves}
    (phase_of_run,) = re.findall(r"_kafka_resources_phase: >-\s+(.+)", (ROOT / MOVE).read_text())
    told = NativeEnvironment().from_string(phase_of_run).render(_kafka_cluster_first="c1", hostvars=hostvars)
    assert bool(allowed(_kafka_resources_phase=told or "", **known)) is goes_on


@pytest.mark.parametrize(
    ("mode", "is_controller", "goes_on"),
    [("zookeeper", True, False), ("zookeeper", False, True), ("kraft_isolated", True, True)],
)
def test_a_controller_of_a_static_quorum_is_not_replaced(mode: str, is_controller: bool, goes_on: bool) -> None:
    name = "Replace | Refuse a controller of a cluster between ZooKeeper and KRaft"
    allowed = condition("roles/_common/tasks/disks/replace.yml", name)
    assert bool(allowed(kafka_mode=mode, _kafka_is_controller=is_controller, _common_is_zookeeper=False)) is goes_on


# -- who creates the administrator -------------------------------------------------------------------------------------


def creates_the_administrator(host: str, mode: str = "zookeeper", **changes: Any) -> bool:
    """Tell whether a host writes the credentials of the administrator to ZooKeeper; changes -- in what it knows."""
    tasks = yaml.safe_load((ROOT / "roles/_common/tasks/node.yml").read_text())
    task = next(task for task in tasks if "administrator" in task["name"])
    environment = NativeEnvironment()
    environment.tests["in"] = lambda value, values: value in values
    known = {
        "kafka_mode": mode,
        "inventory_hostname": host,
        "_kafka_stage": "zookeeper" if host.startswith("broker") else "left_alone",
        "_kafka_has_sasl": True,
        "_kafka_brokers": [{"host": "broker1"}, {"host": "broker2"}],
        "ansible_check_mode": False,
        "ansible_play_hosts": ["controller1", "broker1", "broker2"],
        **changes,
    }
    return all(environment.compile_expression(condition)(**known) for condition in task["when"])


def test_the_first_broker_creates_the_administrator_with_controllers_in_the_inventory_too() -> None:
    hosts = [host for host in ("controller1", "broker1", "broker2") if creates_the_administrator(host)]
    assert hosts == ["broker1"]
    assert creates_the_administrator("broker1", _kafka_stage="", ansible_play_hosts=["broker1", "broker2"])
    assert creates_the_administrator("broker2", ansible_play_hosts=["broker2"])


@pytest.mark.parametrize("stage", ["migrating", "kraft", "left_alone"])
def test_nobody_writes_users_to_zookeeper_once_the_controllers_may_have_them(stage: str) -> None:
    assert not creates_the_administrator("broker1", _kafka_stage=stage)


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "kraft_isolated", "_kafka_stage": ""},
        {"_kafka_has_sasl": False},
        {"ansible_check_mode": True},
        # An ensemble alone.
        {"_kafka_brokers": []},
    ],
)
def test_other_clusters_have_no_administrator_in_zookeeper(changes: dict[str, Any]) -> None:
    assert not creates_the_administrator("broker1", **changes)
