# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/awx.yml with the real modules of awx.awx, and the export with the real `awx import`, against a stub of AWX.

The plain form imports the export; the long one runs the playbook, for one workflow and for everything.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.awx_project import shown
from tests.support.awx_stub import ORGANIZATION_TOKEN, TOKEN, Awx, described, stub
from tests.support.awx_words import words
from tests.support.cluster import ROOT

PLAYBOOKS = shown(ROOT, [f"playbooks/{path.name}" for path in (ROOT / "playbooks").glob("*.yml")])
#: The objects of one workflow.
SOME = [
    *("Kafka", "Kafka looks", "Kafka changes", "Kafka administrator certificate"),
    *("Kafka status", "Kafka stop", "Kafka look after a failure", "Kafka stop, approved"),
]
TEAMS = {"looker": "kafka-lookers", "operator": "kafka-operators", "approver": "kafka-approvers"}


def apply(
    address: str,
    *arguments: str,
    only: list[str] | None = None,
    settings: dict[str, Any] | None = None,
    **environment: str,
) -> tuple[int, str]:
    """Runs the playbook; its exit status and output."""
    given = ["-e", json.dumps({"awx_only": only or [], **(settings or {})})]
    return run(address, "streamops.kafka.awx", *given, *arguments, **environment)


def run(address: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Runs a playbook with what AWX is reached by; its exit status and output."""
    reached = {"CONTROLLER_HOST": address, "CONTROLLER_OAUTH_TOKEN": TOKEN}
    return play(ROOT, ["-i", "localhost,", *arguments], {**reached, **environment})


def play(directory: Path, words: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Runs ansible-playbook in a directory; its exit status and output."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "ansible-playbook"), *words],
        cwd=directory,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def import_export(address: str) -> None:
    """What a person does without Ansible: awx import < awx/export.json."""
    program = str(Path(sys.executable).parent / "awx")
    with (ROOT / "awx" / "export.json").open() as export:
        subprocess.run(
            [program, "import"],
            stdin=export,
            env={**os.environ, "TOWER_HOST": address, "TOWER_OAUTH_TOKEN": TOKEN},
            check=True,
            capture_output=True,
            timeout=600,
        )


def is_unchanged(awx: Awx, written: int, output: str) -> bool:
    return "changed=0 " in output and len(awx.writes) == written


def of(awx: Awx, kind: str, name: str) -> dict[str, Any]:
    """Return the object of a name, or the step of an identifier."""
    (found,) = (one for one in awx.objects[kind].values() if name in (one.get("name"), one.get("identifier")))
    return found


def added(awx: Awx, identifier: str, template: str) -> int:
    """Add a step to the one workflow, as the visualizer does."""
    flow, runs = of(awx, "workflow_job_templates", "Kafka stop, approved"), of(awx, "job_templates", template)
    given = {"identifier": identifier, "workflow_job_template": flow["id"], "unified_job_template": runs["id"]}
    return int(awx.create("workflow_job_template_nodes", given)["id"])


def mess_up(awx: Awx) -> None:
    """Set what people set in AWX: fields that are ours, fields that are theirs, and a step behind our last one."""
    of(awx, "job_templates", "Kafka stop").update(
        {"playbook": "playbooks/status.yml", "timeout": 5, "limit": "kafka1", "ask_limit_on_launch": True, "forks": 20}
    )
    of(awx, "workflow_job_templates", "Kafka stop, approved").update(
        {"skip_tags": "kafka_service", "extra_vars": "a: 1"}
    )
    of(awx, "workflow_job_template_nodes", "apply")["extra_data"] = {"status_strict": True}
    (own,) = awx.objects["organizations"]
    chat, label = added(awx, "chat", "Kafka status"), awx.create("labels", {"name": "night", "organization": own})
    awx.attach(of(awx, "workflow_job_template_nodes", "look")["id"], "always_nodes", {"id": chat})
    # Round the approval: the order of our own steps is ours.
    awx.attach(
        of(awx, "workflow_job_template_nodes", "plan")["id"],
        "always_nodes",
        {"id": of(awx, "workflow_job_template_nodes", "apply")["id"]},
    )
    awx.attach(of(awx, "job_templates", "Kafka stop")["id"], "labels", label)


def assert_brought_back(awx: Awx, made: dict[str, Any], said: str) -> None:
    """Compare with what was made: ours is as it was, theirs is as it was set, and both were said."""
    again = described(awx)
    theirs = {"forks": 20, "labels": ["Kafka changes", "night"]}
    assert again["job_templates"]["Kafka stop"] == {**made["job_templates"]["Kafka stop"], **theirs}
    flow = again["workflow_job_templates"]["Kafka stop, approved"]
    assert (flow["skip_tags"], flow["extra_vars"]) == (None, "{}")
    steps = again["workflow_job_template_nodes"]
    del steps["Kafka stop, approved: chat"]
    look = "Kafka stop, approved: look"
    assert steps[look]["always_nodes"] == ["Kafka stop, approved: chat"]
    assert {**steps, look: {**steps[look], "always_nodes": []}} == made["workflow_job_template_nodes"]
    assert "Are brought back to ours" in said
    assert "job template Kafka stop: limit kafka1, timeout 5, ask_limit_on_launch True" in said
    assert (
        "Left as you set them: job template Kafka stop: forks 20, label night; workflow Kafka stop, approved:" in said
    )


def galaxy(awx: Awx, *names: str) -> list[int]:
    """Make Galaxy credentials as AWX has its own: of no organization."""
    kind = awx.create("credential_types", {"name": "Ansible Galaxy/Automation Hub API Token", "kind": "galaxy"})["id"]
    return [int(awx.create("credentials", {"name": name, "credential_type": kind})["id"]) for name in names]


def play_of(tasks: str, directory: Path) -> Path:
    """Write a play of task files of awx.yml, which is reached as that playbook reaches AWX."""
    play = directory / "play.yml"
    places = {"TASKS": ROOT / "playbooks" / "tasks" / "awx", "VARS": ROOT / "playbooks" / "vars"}
    play.write_text(re.sub("|".join(places), lambda one: str(places[one[0]]), PLAY + tasks))
    return play


PLAY = """
- hosts: localhost
  connection: local
  gather_facts: false
  vars: {ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  vars_files: [VARS/reached.yml]
  tasks:
"""
#: Two task files, with a task between them.
BRINGS_BACK = """
    - ansible.builtin.include_tasks: TASKS/brought_back.yml
    - ansible.builtin.debug: {msg: what follows is applied}
    - ansible.builtin.include_tasks: TASKS/ended.yml
"""


@pytest.mark.parametrize("callback", ["ansible.builtin.default", "ansible.posix.debug"])
def test_where_awx_does_not_take_a_change_the_fields_are_named_and_the_token_is_not_shown(
    tmp_path: Path, callback: str
) -> None:
    play = play_of(BRINGS_BACK, tmp_path)
    with stub(PLAYBOOKS) as (address, awx):
        (taken, not_taken) = (
            awx.create("job_templates", {"name": name, "playbook": "playbooks/stop.yml", "limit": "kafka1"})["id"]
            for name in ("Kafka stop", "Kafka site")
        )
        awx.unchangeable.add(not_taken)
        changes = [
            {"url": f"/api/v2/job_templates/{one}/", "said": f"job template {one}: limit", "body": {"limit": ""}}
            for one in (taken, not_taken)
        ]
        review = {"__awx_review": {"changes": changes, "left": ["forks 20"], "switched_on": []}}
        status, output = run(address, str(play), "-e", json.dumps(review), ANSIBLE_STDOUT_CALLBACK=callback)
        said = " ".join(output.split())
        assert (status != 0, awx.objects["job_templates"][taken]["limit"]) == (True, ""), output
        assert TOKEN not in output
        assert "what follows is applied" in said
        assert "Left as you set them: forks 20." in said
        assert f"job template {not_taken}: limit, Status code was 400" in said
        assert f"job template {taken}: limit, Status" not in said


@pytest.mark.full
def test_the_playbook_makes_one_workflow_once_and_puts_back_what_was_changed_by_hand() -> None:
    with stub(PLAYBOOKS) as (address, awx):
        settings = {
            "awx_teams": TEAMS,
            "awx_galaxy_credentials": ["Ansible Galaxy"],
            "awx_organization_environment": "Kafka",
        }
        given: dict[str, Any] = {"only": [*SOME, *TEAMS.values()], "settings": settings}
        _, hub = galaxy(awx, "Ansible Galaxy", "Hub")
        status, output = apply(address, "--check", **given)
        assert (status, awx.writes) == (0, []), output
        status, output = apply(address, **given)
        assert status == 0, output
        (own,) = awx.objects["organizations"]
        awx.attach(own, "galaxy_credentials", {"id": hub})
        made = described(awx)
        mess_up(awx)
        written = len(awx.writes)
        status, output = apply(address, "--check", **given)
        assert (status, len(awx.writes)) == (0, written), output
        assert "Would be brought back to ours, as they can change or cut short" in " ".join(output.split())
        status, output = apply(address, **given)
        assert status == 0, output
        # Tasks: the playbook of the template, the order of the steps, and the fields that no module brings back.
        assert "changed=3 " in output
        assert_brought_back(awx, made, " ".join(output.split()))
        written = len(awx.writes)
        status, output = apply(address, **given)
        assert is_unchanged(awx, written, output), output
        again = described(awx)
        assert again["job_templates"]["Kafka stop"]["playbook"] == "playbooks/stop.yml"
        assert again["job_templates"]["Kafka stop"]["become_enabled"] is True
        nodes = again["workflow_job_template_nodes"]
        assert nodes["Kafka stop, approved: approve"]["success_nodes"] == ["Kafka stop, approved: apply"]
        assert nodes["Kafka stop, approved: apply"]["failure_nodes"] == ["Kafka stop, approved: look"]
        assert again["organizations"]["Kafka"]["galaxy_credentials"] == ["Ansible Galaxy", "Hub"]
        assert again["organizations"]["Kafka"]["default_environment"] == "Kafka"
        assert set(again["teams"]) == set(TEAMS.values())
        lookers, operators, approvers = TEAMS.values()
        templates, flow = again["job_templates"], again["workflow_job_templates"]["Kafka stop, approved"]
        assert flow["roles"] == {"execute": [operators], "read": [lookers], "approval": [approvers]}
        assert templates["Kafka status"]["roles"] == {"execute": [lookers, operators], "read": [approvers]}
        assert templates["Kafka stop"]["roles"] == {"read": [approvers, operators]}
        # A root that would stop the cluster without approval.
        added(awx, "mine", "Kafka stop")
        written = len(awx.writes)
        status, output = apply(address, only=SOME)
        assert (status != 0, len(awx.writes)) == (True, written), output
        said = " ".join(output.split())
        assert "workflow Kafka stop, approved: Kafka stop (identifier mine) comes after no step, so it starts" in said


def by_hand(awx: Awx) -> tuple[dict[str, int], int]:
    """Make what people make in AWX; the ids of credentials and notifications by name, and that of the one template."""
    (own,) = awx.objects["organizations"]
    other = awx.create("organizations", {"name": "Other"})["id"]
    kinds = {"Machine": "ssh", "Vault": "vault", "Store": "cloud"}
    types = {name: awx.create("credential_types", {"name": name, "kind": kind})["id"] for name, kind in kinds.items()}

    def credential(name: str, kind: str, organization: int = own, **inputs: str) -> int:
        given = {"name": name, "organization": organization, "credential_type": types[kind], "inputs": inputs}
        return int(awx.create("credentials", given)["id"])

    def told(name: str, organization: int = own) -> int:
        return int(awx.create("notification_templates", {"name": name, "organization": organization})["id"])

    credential("Machines", "Machine", other), credential("Vault of prod", "Vault", other), told("Pager", other)
    made = {
        "named": credential("Machines", "Machine"),
        "namesake": credential("Machines", "Store"),
        "vault": credential("Vault of prod", "Vault", vault_id="prod"),
        "other vault": credential("Vault of test", "Vault", vault_id="test"),
        "store": credential("Buckets", "Store"),
        "old": credential("Old machines", "Machine"),
        "pager": told("Pager"),
        "mail": told("Mail"),
    }
    (template,) = awx.objects["job_templates"]
    return made, template


WATCH = ["Kafka", "Kafka looks", "Kafka watch"]
#: What a release is taken to have dropped: each name stands for what is made below.
DROPPED: list[dict[str, str]] = [
    {"kind": "schedules", "name": "Kafka watch every minute", "unified_job_template": "Kafka watch"},
    {"kind": "workflow_job_templates", "name": "Kafka gone, approved"},
    *({"kind": "job_templates", "name": f"Kafka {name}"} for name in ("gone", "started", "unmarked", "never made")),
]


def plant(awx: Awx) -> None:
    """Make what older releases have made, and what people have made of it and beside it."""
    (own,) = awx.objects["organizations"]
    (label,) = (one["id"] for one in awx.objects["labels"].values() if one["name"] == "Kafka looks")
    (watch,) = awx.objects["job_templates"]
    other = awx.create("organizations", {"name": "Of others"})["id"]

    def made(kind: str, name: str, organization: int = own, **more: Any) -> int:
        given = {"name": name, "organization": organization, "playbook": "playbooks/status.yml", **more}
        return int(awx.create(kind, given)["id"])

    for name in ("gone", "started"):
        awx.attach(made("job_templates", f"Kafka {name}"), "labels", {"id": label})
    made("job_templates", "Kafka unmarked")
    awx.attach(made("job_templates", "Kafka gone", other), "labels", {"id": label})
    gone, started = list(awx.objects["job_templates"])[1:3]
    awx.attach(made("workflow_job_templates", "Kafka gone, approved"), "labels", {"id": label})
    made("workflow_job_templates", "By hand")
    for flow, starts in zip(awx.objects["workflow_job_templates"], (gone, started), strict=True):
        given = {"identifier": "only", "workflow_job_template": flow, "unified_job_template": starts}
        awx.create("workflow_job_template_nodes", given)
    for name in ("Kafka watch every minute", "Watch by hand"):
        rule = "DTSTART:20260101T000500Z RRULE:FREQ=HOURLY;INTERVAL=1"
        made("schedules", name, unified_job_template=watch, rrule=rule)


@pytest.mark.full
def test_the_drill_of_each_month_is_scheduled_behind_its_workflow_and_keeps_further_answers() -> None:
    drill = "Kafka mirror failover drill"
    monthly = f"{drill} every month, dc_a->dc_b"
    only = ["Kafka", "Kafka looks", "Kafka changes", f"{drill}, plan", drill, "Kafka look after a failure"]
    only += [f"{drill}, approved", monthly]
    settings = {"awx_drill_flows": "dc_a->dc_b"}
    with stub(PLAYBOOKS) as (address, awx):
        status, output = apply(address, only=only, settings=settings)
        assert status == 0, output
        schedule = of(awx, "schedules", monthly)
        assert schedule["unified_job_template"] == of(awx, "workflow_job_templates", f"{drill}, approved")["id"]
        assert (schedule["enabled"], schedule["extra_data"]) == (False, {"kafka_failover": "dc_a->dc_b"})
        schedule["extra_data"] = {**schedule["extra_data"], "kafka_failover_operator": "alice"}
        written = len(awx.writes)
        status, output = apply(address, only=only, settings=settings)
        assert (status, is_unchanged(awx, written, output)) == (0, True), output
        assert f"Left as you set them: schedule {monthly}: extra_data." in " ".join(output.split())


@pytest.mark.full
def test_the_whole_audit_of_each_week_is_scheduled_where_a_setting_says_so() -> None:
    template, weekly = "Kafka validate, whole audit", "Kafka validate with a whole audit every week"
    only = ["Kafka", "Kafka proofs", template, weekly]
    settings = {"awx_whole_audit_weekly": "true"}
    with stub(PLAYBOOKS) as (address, awx):
        status, output = apply(address, only=only, settings=settings)
        assert status == 0, output
        whole, schedule = of(awx, "job_templates", template), of(awx, "schedules", weekly)
        assert (schedule["unified_job_template"], schedule["enabled"]) == (whole["id"], False)
        assert json.loads(whole["extra_vars"]) == {"mirror_audit_incremental": False}
        assert described(awx)["job_templates"][template]["labels"] == ["Kafka proofs"]
        written = len(awx.writes)
        status, output = apply(address, only=only, settings=settings)
        assert (status, is_unchanged(awx, written, output)) == (0, True), output


@pytest.mark.full
def test_when_a_schedule_runs_stays_as_it_was_set_by_hand_and_a_setting_switches_it_on() -> None:
    hourly = "Kafka watch every hour"
    rule = "DTSTART:20260101T000500Z RRULE:FREQ=MINUTELY;INTERVAL=15"
    with stub(PLAYBOOKS) as (address, awx):
        status, output = apply(address, only=[*WATCH, hourly])
        assert status == 0, output
        schedule = of(awx, "schedules", hourly)
        assert schedule["enabled"] is False
        schedule.update({"enabled": True, "rrule": rule})
        written = len(awx.writes)
        status, output = apply(address, only=[*WATCH, hourly])
        assert (status, is_unchanged(awx, written, output)) == (0, True), output
        assert (schedule["enabled"], schedule["rrule"]) == (True, rule)
        assert f"Left as you set them: schedule {hourly}: rrule {rule}, enabled True." in " ".join(output.split())
        schedule["enabled"] = False
        status, output = apply(address, only=[*WATCH, hourly], settings={"awx_schedules_enabled": "true"})
        assert status == 0, output
        assert (schedule["enabled"], schedule["rrule"]) == (True, rule)
        assert f"awx_schedules_enabled switched on what was off: {hourly}." in " ".join(output.split())


@pytest.mark.full
def test_what_was_attached_by_hand_stays_and_names_are_those_of_the_organization_and_the_type() -> None:
    machines = {"name": "Machines", "type": "Machine"}
    settings = {"awx_credentials": [machines, "Vault of prod"], "awx_notification_templates": ["Pager"]}
    with stub(PLAYBOOKS) as (address, awx):
        status, output = apply(address, only=WATCH)
        assert status == 0, output
        made, template = by_hand(awx)
        for name in ("store", "other vault", "old"):
            awx.attach(template, "credentials", {"id": made[name]})
        awx.attach(template, "notification_templates_error", {"id": made["mail"]})
        before = awx.members(template, "credentials").copy()
        status, output = apply(address, only=WATCH)
        assert (status, awx.members(template, "credentials")) == (0, before), output
        written = len(awx.writes)
        status, output = apply(address, only=WATCH, settings={"awx_credentials": ["Machines"]})
        assert status != 0
        assert "2 were found in the organization Kafka (Machine, Store)" in " ".join(output.split())
        assert len(awx.writes) == written
        status, output = apply(address, only=WATCH, settings=settings)
        assert status == 0, output
        attached = {made[name] for name in ("named", "vault", "store", "other vault")}
        assert set(awx.members(template, "credentials")) == attached
        assert set(awx.members(template, "notification_templates_error")) == {made["pager"], made["mail"]}
        written = len(awx.writes)
        status, output = apply(address, only=WATCH, settings=settings)
        assert is_unchanged(awx, written, output), output


@pytest.mark.full
def test_what_a_release_dropped_is_removed_and_what_others_use_or_made_stays() -> None:
    given: dict[str, Any] = {
        "only": [*WATCH, *(one["name"] for one in DROPPED)],
        "settings": {"controller_dropped": DROPPED},
    }
    with stub(PLAYBOOKS) as (address, awx):
        status, output = apply(address, **given)
        assert status == 0, output
        assert "The organization Kafka has no Galaxy credential, so AWX skips" in output
        plant(awx)
        written = len(awx.writes)
        status, output = apply(address, "--check", **given)
        assert (status, len(awx.writes)) == (0, written), output
        assert "changed=3 " in output
        for changes in (3, 0):
            status, output = apply(address, **given)
            assert status == 0, output
            assert f"changed={changes} " in output
            assert len(awx.writes) == written + 3
        said = " ".join(output.split())
        assert (
            "Kafka started (job_templates) is no longer described, and stays: the workflow By hand starts it." in said
        )
        assert "Kafka unmarked (job_templates) is no longer described, and stays: it has none of our labels" in said
        made = described(awx)
        left = [one["name"] for one in awx.objects["job_templates"].values()]
        assert sorted(left) == ["Kafka gone", "Kafka started", "Kafka unmarked", "Kafka watch"]
        assert made["job_templates"]["Kafka gone"]["organization"] == "Of others"
        assert (set(made["workflow_job_templates"]), set(made["schedules"])) == ({"By hand"}, {"Watch by hand"})


@pytest.mark.full
def test_a_dropped_workflow_that_stays_keeps_the_dropped_job_templates_that_it_starts() -> None:
    """Two dropped names: the workflow has a schedule by hand, so AWX must not empty its step."""
    kept, gone = (
        {"kind": kind, "name": name}
        for kind, name in (("workflow_job_templates", "Kafka kept, approved"), ("job_templates", "Kafka gone"))
    )
    names = ["Kafka", "Kafka looks", kept["name"], gone["name"]]
    with stub(PLAYBOOKS) as (address, awx):
        own = awx.create("organizations", {"name": "Kafka"})["id"]
        label = awx.create("labels", {"name": "Kafka looks", "organization": own})
        given = {"name": gone["name"], "organization": own, "playbook": "playbooks/status.yml"}
        job = awx.create("job_templates", given)["id"]
        flow = awx.create("workflow_job_templates", {"name": kept["name"], "organization": own})["id"]
        awx.attach(job, "labels", label), awx.attach(flow, "labels", label)
        given = {"identifier": "apply", "workflow_job_template": flow, "unified_job_template": job}
        step = awx.create("workflow_job_template_nodes", given)
        rule = "DTSTART:20260101T000500Z RRULE:FREQ=HOURLY;INTERVAL=1"
        awx.create("schedules", {"name": "by hand", "unified_job_template": flow, "rrule": rule})
        status, output = apply(address, only=names, settings={"controller_dropped": [kept, gone]})
        assert status == 0, output
        assert (step["unified_job_template"], set(awx.objects["workflow_job_templates"])) == (job, {flow})
        said = " ".join(output.split())
        assert "Kafka gone (job_templates) is no longer described, and stays: the workflow Kafka kept, approved" in said


@pytest.mark.full
def test_a_name_that_nothing_has_and_a_missing_token_are_refused_before_any_call() -> None:
    with stub(PLAYBOOKS) as (address, awx):
        status, output = apply(address, only=["Kafka statsu"])
        assert status != 0
        assert "awx_only names Kafka statsu" in output
        status, output = apply(address, CONTROLLER_OAUTH_TOKEN="")
        assert status != 0
        assert "CONTROLLER_OAUTH_TOKEN is not set" in output
        status, output = apply(address, settings={"awx_prefx": "Orders", "awx_job_id": 7})
        assert status != 0
        assert "nothing reads the extra variable awx_prefx. fix: perhaps awx_prefix is meant." in output
        status, output = apply(address, settings={"awx_teams": {"lookers": "kafka-lookers"}})
        assert status != 0
        assert "must give one team each to some of looker, operator, approver." in " ".join(output.split())
        for setting, name in (("awx_notification_templates", "Pager"), ("awx_galaxy_credentials", "Nowhere")):
            status, output = apply(address, settings={setting: [name]})
            assert status != 0
            said = " ".join(output.split())
            assert f'"{name}" of awx_credentials, awx_notification_templates or awx_galaxy_credentials' in said
            assert "and 0 were found in the organization Kafka. fix: make it there" in said
        status, output = apply(address, settings={"awx_organization_environment": "Nowhere"})
        assert status != 0
        assert "awx_organization_environment is Nowhere, and AWX has no execution environment" in output
        assert awx.writes == []


#: What stands in an organization and asks for no system administrator.
OWNED = ["Kafka looks", "Kafka administrator", "Kafka status"]


@pytest.mark.full
def test_an_administrator_of_an_organization_hears_who_is_needed_before_the_first_change() -> None:
    with stub(PLAYBOOKS) as (address, awx):
        mine = {"CONTROLLER_OAUTH_TOKEN": ORGANIZATION_TOKEN}
        status, output = apply(address, only=["Kafka", *OWNED], **mine)
        assert (status != 0, awx.writes) == (True, []), output
        said = " ".join(output.split())
        assert "The token is of olga, and only a system administrator may make or change" in said
        assert "the organization Kafka, the credential type Kafka administrator. fix:" in said
        awx.create("organizations", {"name": "Kafka", "description": "All of our streams"})
        awx.administered.add("Kafka")
        status, output = apply(address, only=["Kafka", *OWNED], **mine)
        assert (status != 0, awx.writes) == (True, []), output
        assert "may make or change the credential type Kafka administrator. fix:" in " ".join(output.split())
        status, output = apply(address, only=["Kafka administrator"])
        assert status == 0, output
        status, output = apply(address, only=["Kafka", *OWNED], **mine)
        assert status == 0, output
        assert described(awx)["organizations"]["Kafka"]["description"] == "All of our streams"
        (kind,) = awx.objects["credential_types"].values()
        kind["description"] = "As our security wants it"
        written = len(awx.writes)
        status, output = apply(address, only=["Kafka", *OWNED], **mine)
        assert (status != 0, len(awx.writes)) == (True, written), output
        given = {"awx_make_credential_types": False}
        status, output = apply(address, only=["Kafka", "Kafka looks", "Kafka status"], settings=given, **mine)
        assert is_unchanged(awx, written, output), output


@pytest.mark.full
def test_a_team_alone_gets_its_roles_on_what_is_there() -> None:
    with stub(PLAYBOOKS) as (address, awx):
        own = awx.create("organizations", {"name": "Kafka"})["id"]
        other = awx.create("organizations", {"name": "Other"})["id"]
        for name, organization in (("Kafka status", own), ("Kafka stop", own), ("Kafka groups", other)):
            awx.create("job_templates", {"name": name, "organization": organization, "playbook": "playbooks/stop.yml"})
        awx.create("workflow_job_templates", {"name": "Kafka stop, approved", "organization": own})
        given: dict[str, Any] = {"only": ["kafka-operators"], "settings": {"awx_teams": TEAMS}}
        status, output = apply(address, **given)
        assert status == 0, output
        made = described(awx)
        assert set(made["teams"]) == {"kafka-operators"}
        assert made["job_templates"]["Kafka status"]["roles"] == {"execute": ["kafka-operators"]}
        assert made["job_templates"]["Kafka stop"]["roles"] == {"read": ["kafka-operators"]}
        assert made["job_templates"]["Kafka groups"]["roles"] == {}
        assert made["workflow_job_templates"]["Kafka stop, approved"]["roles"] == {"execute": ["kafka-operators"]}
        written = len(awx.writes)
        status, output = apply(address, **given)
        assert is_unchanged(awx, written, output), output


def test_a_galaxy_credential_that_the_token_may_not_see_is_said_with_the_right_that_is_missing() -> None:
    with stub(PLAYBOOKS) as (address, awx):
        mine = {"CONTROLLER_OAUTH_TOKEN": ORGANIZATION_TOKEN}
        own = awx.create("organizations", {"name": "Kafka"})["id"]
        awx.administered.add("Kafka")
        _shared, hub = galaxy(awx, "Ansible Galaxy", "Hub")
        awx.objects["credentials"][hub]["organization"] = own
        only = ["Kafka", "Kafka looks"]
        given: dict[str, Any] = {"only": only, "settings": {"awx_galaxy_credentials": ["Ansible Galaxy", "Hub"]}}
        status, output = apply(address, **given, **mine)
        said = " ".join(output.split())
        assert (status != 0, awx.writes) == (True, []), output
        assert "awx_galaxy_credentials names Ansible Galaxy, and the token is of olga, who sees no Galaxy" in said
        assert "needs the right to read" in said
        assert "run once with a token of a system administrator" in said
        assert "do not have permission" not in said


def test_where_awx_does_not_attach_a_galaxy_credential_that_is_said_and_the_token_is_not_shown(tmp_path: Path) -> None:
    play = play_of("    - ansible.builtin.include_tasks: TASKS/galaxy_credentials.yml\n", tmp_path)
    with stub(PLAYBOOKS) as (address, awx):
        own = awx.create("organizations", {"name": "Kafka"})["id"]
        (hub,) = galaxy(awx, "Hub")
        kind = awx.create("credential_types", {"name": "Machine", "kind": "ssh"})["id"]
        machine = awx.create("credentials", {"name": "Machines", "credential_type": kind})["id"]
        named = [{"id": machine, "name": "Machines"}, {"id": hub, "name": "Hub"}]
        given = {"awx_organization": "Kafka", "__awx_galaxy_found": named}
        status, output = run(address, str(play), "-e", json.dumps(given))
        said = " ".join(output.split())
        assert (status != 0, awx.members(own, "galaxy_credentials")) == (True, [hub]), output
        assert TOKEN not in output
        assert "the organization Kafka the Galaxy credentials Machines, Status code was 400" in said
        assert "must be a Galaxy credential, not Machine." in said
        assert "Hub, Status" not in said


@pytest.mark.full
def test_a_galaxy_credential_is_added_where_the_token_may_not_see_the_one_that_is_attached() -> None:
    with stub(PLAYBOOKS) as (address, awx):
        mine = {"CONTROLLER_OAUTH_TOKEN": ORGANIZATION_TOKEN}
        own = awx.create("organizations", {"name": "Kafka"})["id"]
        awx.administered.add("Kafka")
        shared, hub = galaxy(awx, "Ansible Galaxy", "Hub")
        awx.objects["credentials"][hub]["organization"] = own
        awx.attach(own, "galaxy_credentials", {"id": shared})
        given: dict[str, Any] = {
            "only": ["Kafka", "Kafka looks"],
            "settings": {"awx_galaxy_credentials": ["Ansible Galaxy", "Hub"]},
        }
        status, output = apply(address, "--check", **given, **mine)
        assert (status, awx.writes) == (0, []), output
        assert "Would attach to the organization Kafka the Galaxy credentials Hub." in " ".join(output.split())
        status, output = apply(address, **given, **mine)
        assert (status, awx.members(own, "galaxy_credentials")) == (0, [shared, hub]), output
        assert ORGANIZATION_TOKEN not in output
        written = len(awx.writes)
        status, output = apply(address, **given, **mine)
        assert is_unchanged(awx, written, output), output


@pytest.mark.full
def test_a_second_organization_with_the_same_prefix_gets_an_execution_environment_of_its_own() -> None:
    second = {"awx_organization": "Operators"}
    names = ["Operators", "Operators Kafka", "Kafka", "Kafka from the project", *OWNED]
    with stub(PLAYBOOKS) as (address, awx):
        status, output = apply(address, only=["Kafka", "Kafka from the project", *OWNED])
        assert status == 0, output
        status, output = apply(address, only=names, settings=second)
        assert status == 0, output
        environments = described(awx)["execution_environments"]
        owners = {name: one["organization"] for name, one in environments.items()}
        assert owners == {"Kafka": "Kafka", "Operators Kafka": "Operators"}
        written = len(awx.writes)
        status, output = apply(address, only=names, settings=second)
        assert is_unchanged(awx, written, output), output
        status, output = apply(address, settings={**second, "awx_execution_environment": "Kafka"})
        assert (status != 0, len(awx.writes)) == (True, written), output
        said = " ".join(output.split())
        assert "The execution environment Kafka is there already, and belongs to Kafka" in said


OWN = ["Kafka AWX content, plan", "Kafka AWX content", "Kafka AWX content, approved"]
#: What runs and jobs apply here: all would take minutes.
OF_OWN = ["Kafka", "Kafka looks", "Kafka changes", *OWN]
URL = "ssh://git@git.example/kafka.git"


def reaching(awx: Awx, organization: str) -> int:
    """Make the organization with two credentials of one name, and return the one that jobs may reach AWX with."""
    own = awx.create("organizations", {"name": organization})["id"]
    given = {"namespace": "controller", "kind": "cloud", "managed": True}
    kinds = [
        awx.create("credential_types", {"name": "Red Hat Ansible Automation Platform", **given}),
        awx.create("credential_types", {"name": "Machine", "kind": "ssh"}),
    ]
    made = [
        awx.create("credentials", {"name": name, "organization": own, "credential_type": kind["id"]})["id"]
        for kind, name in ((kinds[0], "Ours"), (kinds[1], "Ours"), (kinds[1], "Machines"))
    ]
    return int(made[0])


def as_job(awx: Awx, address: str, name: str, directory: Path) -> tuple[int, str]:
    """Runs an own template as AWX does: the project, its inventory, the template's words and variables, its credential.

    Fields of the credential that are empty are given too, and one that is not ticked is false.
    """
    template = of(awx, "job_templates", name)
    project = Path(shutil.copytree(ROOT / "awx" / "project", directory / name))
    extra = {**json.loads(template["extra_vars"]), "awx_job_id": 7, "awx_project_revision": "0", "awx_only": OF_OWN}
    given = {"HOST": address, "OAUTH_TOKEN": TOKEN, "USERNAME": "", "PASSWORD": "", "VERIFY_SSL": "False"}
    environment = {f"{kind}_{field}": value for kind in ("CONTROLLER", "TOWER") for field, value in given.items()}
    environment["ANSIBLE_COLLECTIONS_PATH"] = str(ROOT / "collections")
    asked = [*words(template, None), "-i", "inventory/hosts", "-e", json.dumps(extra), template["playbook"]]
    return play(project, asked, environment)


@pytest.mark.full
def test_a_job_inside_awx_repeats_the_run_that_made_it_and_changes_nothing(tmp_path: Path) -> None:
    settings = {
        "awx_own_credential": "Ours",
        "awx_credentials": ["Machines"],
        "awx_project_scm_url": URL,
        "awx_update_cache_timeout": "30",
        "awx_schedules_enabled": "false",
    }
    refused = {
        'awx_own_credential is "Machines", and the organization Kafka has no': {"awx_own_credential": "Machines"},
        'awx_own_credential is ["Ours"], and must be the name of one': {"awx_own_credential": ["Ours"]},
        "awx_project_scm_url holds an address with": {"awx_project_scm_url": URL.replace("ssh://git", "https://t0ken")},
        "perhaps awx_own_credential is meant": {"awx_own_credentials": "Ours"},
    }
    with stub(PLAYBOOKS) as (address, awx):
        credential = reaching(awx, "Kafka")
        for why, wrong in refused.items():
            status, output = apply(address, only=OF_OWN, settings={**settings, **wrong})
            assert (status != 0, awx.writes) == (True, []), output
            assert why in " ".join(output.split())
        status, output = apply(address, only=OF_OWN, settings={**settings, "kafka_admin_password": "planted"})
        assert status == 0, output
        made = described(awx)
        assert set(made["job_templates"]) == set(OWN[:2])
        plan, change = (of(awx, "job_templates", name) for name in OWN[:2])
        assert (plan["job_type"], plan["playbook"], plan["become_enabled"]) == ("check", "playbooks/awx.yml", False)
        for one in (plan, change):
            assert json.loads(one["extra_vars"]) == settings
            assert awx.members(one["id"], "credentials") == [credential]
        nodes = made["workflow_job_template_nodes"]
        assert nodes["Kafka AWX content, approved: approve"]["success_nodes"] == ["Kafka AWX content, approved: apply"]
        assert nodes["Kafka AWX content, approved: apply"]["failure_nodes"] == []
        written = len(awx.writes)
        status, output = as_job(awx, address, "Kafka AWX content", tmp_path)
        assert (status, is_unchanged(awx, written, output)) == (0, True), output
        assert "Left as you set them" not in output
        change["timeout"] = 5
        status, output = as_job(awx, address, "Kafka AWX content, plan", tmp_path)
        assert (status, len(awx.writes)) == (0, written), output
        assert "Would be brought back to ours" in output


def test_awx_takes_the_export() -> None:
    with stub(PLAYBOOKS) as (address, awx):
        import_export(address)
        made = described(awx)
        assert len(made["job_templates"]) == len(json.loads((ROOT / "awx/export.json").read_text())["job_templates"])
        assert made["schedules"]["Kafka watch every hour"]["enabled"] is False
        nodes = made["workflow_job_template_nodes"]
        assert nodes["Kafka site, approved: approve"]["success_nodes"] == ["Kafka site, approved: apply"]


def comparable(awx: Awx) -> dict[str, Any]:
    """All objects without labels, which awxkit does not bring over (tools/make_awx)."""
    made = described(awx)
    del made["labels"]
    for kind in ("job_templates", "workflow_job_templates"):
        for one in made[kind].values():
            del one["labels"], one["extra_vars"]
    return made


@pytest.mark.full
def test_all_of_it_is_made_once_and_is_what_the_export_makes() -> None:
    with stub(PLAYBOOKS) as (address, awx), stub(PLAYBOOKS) as (other, imported):
        status, output = apply(address)
        assert status == 0, output
        written = len(awx.writes)
        status, output = apply(address)
        assert status == 0, output
        assert is_unchanged(awx, written, output)
        import_export(other)
        assert comparable(awx) == comparable(imported)
