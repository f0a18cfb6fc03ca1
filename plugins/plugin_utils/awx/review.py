# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What people did by hand to fields of AWX's objects: what a run brings back, what it leaves, what it refuses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._core.values import to_boolean
from . import steps

#: Their values may be secrets, so none is shown.
_UNSAID = ("host_config_key", "extra_vars", "extra_data")
_PROMPT = re.compile(r"ask_(.+)_on_launch")
#: What a schedule or a step gives, where AWX calls it otherwise than the flag that asks for it.
_GIVEN = {"tags": "job_tags", "variables": "extra_data"}
#: How AWX stores that nothing is set, by field and by how it was saved.
_NOTHING: tuple[Any, ...] = (None, "", "{}", "---", "null", {})


def is_same(now: Any, wanted: Any) -> bool:
    """Tell whether two values of a field mean the same: nothing has several forms, but 0 and false are values."""
    plain = now.strip() if isinstance(now, str) else now
    if plain in _NOTHING or wanted in _NOTHING:
        return plain in _NOTHING and wanted in _NOTHING
    return bool(plain == wanted)


def differing(one: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an object that are not as given, with the given values; what this AWX lacks is left out."""
    return {name: value for name, value in fields.items() if name in one and not is_same(one[name], value)}


def prompted(flags: Iterable[str]) -> list[str]:
    """Return the fields of schedules and steps that flags of a template (ask_limit_on_launch...) have AWX take."""
    words = [found[1] for flag in flags if (found := _PROMPT.fullmatch(flag))]
    return [_GIVEN.get(word, word) for word in words]


def ignored(one: Mapping[str, Any], lost: Iterable[str], asked: Collection[str]) -> dict[str, Any]:
    """Return what a schedule or a step gives in these fields; of answers those that the survey does not ask for."""
    given = {name: one[name] for name in lost if name in one and not is_same(one[name], None)}
    if not set(given.get("extra_data", ())) - set(asked):
        given.pop("extra_data", None)
    return given


def told(one: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """Name fields with the values that they have, such as C(forks 20, verbosity 2)."""
    return ", ".join(name if name in _UNSAID else f"{name} {one[name]}" for name in names)


#: An object as AWX shows it, or as awx/data has it.
Object = Mapping[str, Any]
Objects = Sequence[Object]
#: What awx_review is given beside the objects of AWX.
Described = Mapping[str, Any]
_TITLES = {"job_templates": "job template", "workflow_job_templates": "workflow"}
_NODES = "workflow_job_template_nodes"


def awx_review(there: Mapping[str, Objects], described: Described) -> dict[str, Any]:
    """Compare what AWX has with what we describe.

    Args:
        there: by kind the objects of our organization as AWX shows them: job_templates, workflow_job_templates,
            workflow_job_template_nodes, schedules.
        described: C(fields) as awx/data/fields.yml has them; C(templates), C(workflows) and C(schedules) as in
            awx/data; C(dropped), which this run removes; C(surveys) by their names; C(names) of the objects to
            compare; C(project), C(labels) and C(credentials) by name.

    Returns:
        C(changes): what is brought back, each with C(url), C(body), and C(said) for people. C(left): what stays, said.
        C(refused): steps that must not stay, said. C(narrowed): schedules and steps that would lose a value, said.
        C(workflows): as described, with the steps that stay. C(schedules): as described, with what people set on those
        that are there. C(switched_on): the names of those that are off, and that awx_schedules_enabled switches on.
    """
    flows = [flow for flow in described["workflows"] if flow["name"] in described["names"]]
    ids = {workflow["name"]: workflow["id"] for workflow in there["workflow_job_templates"]}
    of = {
        flow["name"]: [step for step in there[_NODES] if step["workflow_job_template"] == ids.get(flow["name"])]
        for flow in flows
    }
    held = [*_templates(there, described), *_steps(flows, of)]
    allowed = described["fields"]
    schedules = [(schedule, _schedule_there(schedule, there)) for schedule in described["schedules"]]
    return {
        "changes": [
            _change(kind, name, item, ours) for kind, name, item in held if (ours := _lost(allowed, kind, item))
        ],
        "left": [
            *(f"{name}: {said}" for kind, name, item in held if (said := _left(kind, item, described))),
            *(f"workflow {flow['name']}: step {steps.title(step)}" for flow in flows for step in _added(flow, of)),
            *(said for schedule, now in schedules if now and (said := _schedule_left(schedule, now, described))),
            *_schedules(there, described),
        ],
        "refused": [
            f"workflow {flow['name']}: {said}"
            for flow in flows
            for said in steps.refused(flow, of[flow["name"]], _changing(of[flow["name"]], there, described))
        ],
        "narrowed": _narrowed(held, there, described),
        "workflows": [steps.with_added(flow, of[flow["name"]]) for flow in flows],
        "schedules": [{**schedule, **_schedule_kept(schedule, now)} for schedule, now in schedules],
        "switched_on": [
            schedule["name"]
            for schedule, now in schedules
            if schedule["name"] in described["names"] and _switches_on(schedule, now)
        ],
    }


def _templates(there: Mapping[str, Objects], described: Described) -> Iterator[tuple[str, str, Any]]:
    for kind, wanted in (("job_templates", "templates"), ("workflow_job_templates", "workflows")):
        ours = {template["name"] for template in described[wanted]} & set(described["names"])
        for template in there[kind]:
            if template["name"] in ours:
                yield kind, f"{_TITLES[kind]} {template['name']}", template


def _steps(flows: Objects, of: Mapping[str, Objects]) -> Iterator[tuple[str, str, Any]]:
    for flow in flows:
        ours = {step["identifier"] for step in flow["simplified_workflow_nodes"]}
        for step in of[flow["name"]]:
            if step["identifier"] in ours:
                yield _NODES, f"workflow {flow['name']}, step {step['identifier']}", step


def _lost(allowed: Mapping[str, Any], kind: str, item: Object) -> dict[str, Any]:
    return differing(item, allowed[kind]["ours"])


def _change(kind: str, name: str, item: Object, ours: dict[str, Any]) -> dict[str, Any]:
    return {"url": item["url"], "body": ours, "said": f"{name}: {told(item, ours)}"}


def _left(kind: str, item: Object, described: Described) -> str:
    """Say what stays of one object: fields, labels, credentials."""
    said = [told(item, differing(item, described["fields"][kind]["theirs"]))]
    shown = item.get("summary_fields", {})
    attached = {"label": shown.get("labels", {}).get("results", []), "credential": shown.get("credentials", [])}
    for title, many in attached.items():
        said.extend(f"{title} {each['name']}" for each in many if each["name"] not in described[f"{title}s"])
    return ", ".join(filter(None, said))


def _added(flow: Object, of: Mapping[str, Objects]) -> list[Object]:
    return steps.added(flow, of[flow["name"]])


def _schedules(there: Mapping[str, Objects], described: Described) -> list[str]:
    ours = {schedule["name"] for schedule in described["schedules"]} | _dropped(described)
    names = {template["id"]: name for _kind, name, template in _templates(there, described)}
    added = [
        schedule
        for schedule in there["schedules"]
        if schedule["unified_job_template"] in names and schedule["name"] not in ours
    ]
    return [f"{names[schedule['unified_job_template']]}: schedule {schedule['name']}" for schedule in added]


def _schedule_there(ours: Object, there: Mapping[str, Objects]) -> Object:
    """Return what AWX has of a schedule of ours, empty where it is not there; others may have its name elsewhere."""
    names = {template["id"]: template["name"] for kind in _TITLES for template in there[kind]}
    return next(
        (
            schedule
            for schedule in there["schedules"]
            if schedule["name"] == ours["name"]
            and names.get(schedule["unified_job_template"]) == ours["unified_job_template"]
        ),
        {},
    )


def _is_on(schedule: Object) -> bool:
    """Tell whether a schedule is switched on; awx_schedules_enabled may be text."""
    return to_boolean(schedule.get("enabled", False), "awx_schedules_enabled")


def _switches_on(ours: Object, now: Object) -> bool:
    return bool(now) and _is_on(ours) and not _is_on(now)


def _schedule_kept(ours: Object, now: Object) -> dict[str, Any]:
    """Return what people set on a schedule of ours: when it runs, that it runs at all, and answers beside ours.

    awx_schedules_enabled switches on what is off; its default says how schedules are made, and switches none off.
    """
    if not now:
        return {}
    answers = {"extra_data": {**(now.get("extra_data") or {}), **ours["extra_data"]}} if "extra_data" in ours else {}
    return {"rrule": now["rrule"], "enabled": _is_on(ours) or _is_on(now), **answers}


def _schedule_left(ours: Object, now: Object, described: Described) -> str:
    """Say what a schedule of ours has that is not as we describe it, empty where nothing is."""
    kept = _schedule_kept(ours, now)
    other = {
        **({"rrule": kept["rrule"]} if kept["rrule"].split() != ours["rrule"].split() else {}),
        **({"enabled": True} if kept["enabled"] and not _is_on(ours) else {}),
        **({"extra_data": {}} if kept.get("extra_data") != ours.get("extra_data") else {}),
    }
    named = ours["name"] in described["names"]
    return f"schedule {ours['name']}: {told(kept, other)}" if named and other else ""


def _dropped(described: Described) -> set[str]:
    """Return the names of schedules that a release dropped, and this run removes."""
    return {
        gone["name"]
        for gone in described["dropped"]
        if gone["kind"] == "schedules" and gone["name"] in described["names"]
    }


def _narrowed(held: Sequence[tuple[str, str, Any]], there: Mapping[str, Objects], described: Described) -> list[str]:
    """Say which schedules and steps give a value that AWX would ignore once the template no longer asks for it."""
    ours, gone = {step["id"] for kind, _name, step in held if kind == _NODES}, _dropped(described)
    flows = {flow["id"]: flow["name"] for flow in there["workflow_job_templates"]}
    users = [
        *(
            (f"schedule {schedule['name']}", schedule)
            for schedule in there["schedules"]
            if schedule["name"] not in gone
        ),
        *(
            (f"workflow {_flow(step, flows)}: step {steps.title(step)}", step)
            for step in there[_NODES]
            if step["id"] not in ours
        ),
    ]
    narrowed = []
    for kind, name, template in held:
        if kind == _NODES:
            continue
        lost = prompted(_lost(described["fields"], kind, template))
        asked = _asked(template["name"], described)
        for title, user in users:
            if user["unified_job_template"] == template["id"] and (void := ignored(user, lost, asked)):
                narrowed.append(f"{title} gives {told(user, void)} to {name}")
    return narrowed


def _flow(step: Object, flows: Mapping[int, str]) -> str:
    """Name the workflow of a step, which may be of another organization."""
    shown = step.get("summary_fields", {}).get("workflow_job_template", {})
    return flows.get(step["workflow_job_template"]) or str(shown.get("name", step["workflow_job_template"]))


def _asked(name: str, described: Described) -> set[str]:
    """Return the variables that the survey of one of our templates asks for."""
    surveys = {
        template["name"]: template.get("survey")
        for wanted in ("templates", "workflows")
        for template in described[wanted]
    }
    spec = described["surveys"].get(surveys[name], {}).get("spec", [])
    return {question["variable"] for question in spec}


def _changing(of: Objects, there: Mapping[str, Objects], described: Described) -> set[str]:
    """Return the steps that may change clusters.

    These run a job template of our project that is none of our looks and proofs, so a copy of one too, or a workflow
    that is none of ours, whose steps are not looked at.
    """
    harmless = {template["name"] for template in described["templates"] if template["label"] != "changes"}
    known = _known(there["workflow_job_templates"], {flow["name"] for flow in described["workflows"]})
    jobs = {
        template["id"]
        for template in there["job_templates"]
        if _project(template) == described["project"] and template["name"] not in harmless
    }
    return {
        step["identifier"]
        for step in of
        if step["unified_job_template"] in jobs
        or (steps.runs(step, "workflow_job_templates") and step["unified_job_template"] not in known)
    }


def _known(objects: Objects, names: Iterable[str]) -> set[int]:
    wanted = set(names)
    return {item["id"] for item in objects if item["name"] in wanted}


def _project(template: Object) -> str:
    return str(template.get("summary_fields", {}).get("project", {}).get("name", ""))
