# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What people did by hand to what we make in AWX: what a run brings back, what it leaves, what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import to_boolean
from ansible_collections.streamops.kafka.plugins.plugin_utils.awx import fields, steps

Objects = Sequence[Mapping[str, Any]]
_TITLES = {"job_templates": "job template", "workflow_job_templates": "workflow"}
_NODES = "workflow_job_template_nodes"


def awx_review(there: Mapping[str, Objects], described: Mapping[str, Any]) -> dict[str, Any]:
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
    flows = [one for one in described["workflows"] if one["name"] in described["names"]]
    ids = {one["name"]: one["id"] for one in there["workflow_job_templates"]}
    of = {
        one["name"]: [step for step in there[_NODES] if step["workflow_job_template"] == ids.get(one["name"])]
        for one in flows
    }
    held = [*_templates(there, described), *_steps(flows, of)]
    allowed = described["fields"]
    schedules = [(one, _schedule_there(one, there)) for one in described["schedules"]]
    return {
        "changes": [_change(kind, name, one, ours) for kind, name, one in held if (ours := _lost(allowed, kind, one))],
        "left": [
            *(f"{name}: {said}" for kind, name, one in held if (said := _left(kind, one, described))),
            *(f"workflow {one['name']}: step {steps.title(step)}" for one in flows for step in _added(one, of)),
            *(said for one, now in schedules if now and (said := _schedule_left(one, now, described))),
            *_schedules(there, described),
        ],
        "refused": [
            f"workflow {one['name']}: {said}"
            for one in flows
            for said in steps.refused(one, of[one["name"]], _changing(of[one["name"]], there, described))
        ],
        "narrowed": _narrowed(held, there, described),
        "workflows": [steps.with_added(one, of[one["name"]]) for one in flows],
        "schedules": [{**one, **_schedule_kept(one, now)} for one, now in schedules],
        "switched_on": [
            one["name"] for one, now in schedules if one["name"] in described["names"] and _switches_on(one, now)
        ],
    }


def _templates(there: Mapping[str, Objects], described: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for kind, wanted in (("job_templates", "templates"), ("workflow_job_templates", "workflows")):
        ours = {one["name"] for one in described[wanted]} & set(described["names"])
        for one in there[kind]:
            if one["name"] in ours:
                yield kind, f"{_TITLES[kind]} {one['name']}", one


def _steps(flows: Objects, of: Mapping[str, Objects]) -> Iterator[tuple[str, str, Any]]:
    for flow in flows:
        ours = {one["identifier"] for one in flow["simplified_workflow_nodes"]}
        for step in of[flow["name"]]:
            if step["identifier"] in ours:
                yield _NODES, f"workflow {flow['name']}, step {step['identifier']}", step


def _lost(allowed: Mapping[str, Any], kind: str, one: Mapping[str, Any]) -> dict[str, Any]:
    return fields.differing(one, allowed[kind]["ours"])


def _change(kind: str, name: str, one: Mapping[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    return {"url": one["url"], "body": ours, "said": f"{name}: {fields.told(one, ours)}"}


def _left(kind: str, one: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    """Say what stays of one object: fields, labels, credentials."""
    said = [fields.told(one, fields.differing(one, described["fields"][kind]["theirs"]))]
    shown = one.get("summary_fields", {})
    attached = {"label": shown.get("labels", {}).get("results", []), "credential": shown.get("credentials", [])}
    for title, many in attached.items():
        said.extend(f"{title} {each['name']}" for each in many if each["name"] not in described[f"{title}s"])
    return ", ".join(filter(None, said))


def _added(flow: Mapping[str, Any], of: Mapping[str, Objects]) -> list[Mapping[str, Any]]:
    return steps.added(flow, of[flow["name"]])


def _schedules(there: Mapping[str, Objects], described: Mapping[str, Any]) -> list[str]:
    ours = {one["name"] for one in described["schedules"]} | _dropped(described)
    names = {one["id"]: name for _kind, name, one in _templates(there, described)}
    found = [one for one in there["schedules"] if one["unified_job_template"] in names and one["name"] not in ours]
    return [f"{names[one['unified_job_template']]}: schedule {one['name']}" for one in found]


def _schedule_there(ours: Mapping[str, Any], there: Mapping[str, Objects]) -> Mapping[str, Any]:
    """Return what AWX has of a schedule of ours, empty where it is not there; others may have its name elsewhere."""
    names = {one["id"]: one["name"] for kind in _TITLES for one in there[kind]}
    return next(
        (
            one
            for one in there["schedules"]
            if one["name"] == ours["name"] and names.get(one["unified_job_template"]) == ours["unified_job_template"]
        ),
        {},
    )


def _is_on(schedule: Mapping[str, Any]) -> bool:
    """Tell whether a schedule is switched on; awx_schedules_enabled may be text."""
    return to_boolean(schedule.get("enabled", False), "awx_schedules_enabled")


def _switches_on(ours: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return bool(now) and _is_on(ours) and not _is_on(now)


def _schedule_kept(ours: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return what people set on a schedule of ours: when it runs, and that it runs at all.

    awx_schedules_enabled switches on what is off; its default says how schedules are made, and switches none off.
    """
    return {"rrule": now["rrule"], "enabled": _is_on(ours) or _is_on(now)} if now else {}


def _schedule_left(ours: Mapping[str, Any], now: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    """Say what a schedule of ours has that is not as we describe it, empty where nothing is."""
    kept = _schedule_kept(ours, now)
    other = {
        **({"rrule": kept["rrule"]} if kept["rrule"].split() != ours["rrule"].split() else {}),
        **({"enabled": True} if kept["enabled"] and not _is_on(ours) else {}),
    }
    named = ours["name"] in described["names"]
    return f"schedule {ours['name']}: {fields.told(kept, other)}" if named and other else ""


def _dropped(described: Mapping[str, Any]) -> set[str]:
    """Return the names of schedules that a release dropped, and this run removes."""
    return {
        one["name"] for one in described["dropped"] if one["kind"] == "schedules" and one["name"] in described["names"]
    }


def _narrowed(
    held: Sequence[tuple[str, str, Any]], there: Mapping[str, Objects], described: Mapping[str, Any]
) -> list[str]:
    """Say which schedules and steps give a value that AWX would ignore once the template no longer asks for it."""
    ours, gone = {one["id"] for kind, _name, one in held if kind == _NODES}, _dropped(described)
    flows = {one["id"]: one["name"] for one in there["workflow_job_templates"]}
    users = [
        *((f"schedule {one['name']}", one) for one in there["schedules"] if one["name"] not in gone),
        *(
            (f"workflow {_flow(one, flows)}: step {steps.title(one)}", one)
            for one in there[_NODES]
            if one["id"] not in ours
        ),
    ]
    found = []
    for kind, name, template in held:
        if kind == _NODES:
            continue
        lost = fields.prompted(_lost(described["fields"], kind, template))
        asked = _asked(template["name"], described)
        for title, one in users:
            if one["unified_job_template"] == template["id"] and (void := fields.ignored(one, lost, asked)):
                found.append(f"{title} gives {fields.told(one, void)} to {name}")
    return found


def _flow(step: Mapping[str, Any], flows: Mapping[int, str]) -> str:
    """Name the workflow of a step, which may be of another organization."""
    shown = step.get("summary_fields", {}).get("workflow_job_template", {})
    return flows.get(step["workflow_job_template"]) or str(shown.get("name", step["workflow_job_template"]))


def _asked(name: str, described: Mapping[str, Any]) -> set[str]:
    """Return the variables that the survey of one of our templates asks for."""
    surveys = {one["name"]: one.get("survey") for wanted in ("templates", "workflows") for one in described[wanted]}
    spec = described["surveys"].get(surveys[name], {}).get("spec", [])
    return {one["variable"] for one in spec}


def _changing(of: Objects, there: Mapping[str, Objects], described: Mapping[str, Any]) -> set[str]:
    """Return the steps that may change clusters.

    These run a job template of our project that is none of our looks, so a copy of one too, or a workflow that is none
    of ours, whose steps are not looked at.
    """
    looks = {one["name"] for one in described["templates"] if not one.get("changes")}
    known = _known(there["workflow_job_templates"], {one["name"] for one in described["workflows"]})
    jobs = {
        one["id"]
        for one in there["job_templates"]
        if _project(one) == described["project"] and one["name"] not in looks
    }
    return {
        step["identifier"]
        for step in of
        if step["unified_job_template"] in jobs
        or (steps.runs(step, "workflow_job_templates") and step["unified_job_template"] not in known)
    }


def _known(objects: Objects, names: Iterable[str]) -> set[int]:
    wanted = set(names)
    return {one["id"] for one in objects if one["name"] in wanted}


def _project(one: Mapping[str, Any]) -> str:
    return str(one.get("summary_fields", {}).get("project", {}).get("name", ""))
