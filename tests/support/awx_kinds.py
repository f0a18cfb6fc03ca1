"""What the stub of AWX's API (awx_stub.py) knows of each kind of object, and AWX's rules for surveys and schedules.

Fields, references and messages are those of AWX 24.6.1 as far as awx.awx and awxkit ask for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """One field of a kind: its type as OPTIONS names it, and what it may be."""

    type: str = "string"
    required: bool = False
    default: Any = ""
    choices: tuple[Any, ...] = ()
    to: str = ""


@dataclass(frozen=True)
class Kind:
    """One kind of object: its type, fields, what makes it one of its kind, and the lists that belong to it."""

    type: str
    fields: Mapping[str, Field]
    unique: tuple[str, ...] = ("organization", "name")
    lists: tuple[str, ...] = ()


def text(**more: Any) -> Field:
    return Field(**more)


def flag(default: bool = False) -> Field:
    return Field("boolean", default=default)


def ref(to: str, required: bool = False) -> Field:
    return Field("id", required=required, default=None, to=to)


def number(default: int | None = 0) -> Field:
    return Field("integer", default=default)


def asking(*names: str) -> dict[str, Field]:
    """Flags that have AWX ask for something on launch."""
    return {f"ask_{name}_on_launch": flag() for name in names}


#: What a step of a workflow may be given where the template asks for it.
_PROMPTED = {name: text(default=None) for name in ("scm_branch", "job_type", "job_tags", "skip_tags", "limit")}
NAMED = {"name": text(required=True), "description": text()}
_NOTIFIED = tuple(f"notification_templates_{on}" for on in ("started", "success", "error"))
KINDS: Mapping[str, Kind] = {
    "organizations": Kind(
        "organization",
        {**NAMED, "default_environment": ref("execution_environments")},
        ("name",),
        (*_NOTIFIED, "notification_templates_approvals", "galaxy_credentials"),
    ),
    "execution_environments": Kind(
        "execution_environment",
        {
            **NAMED,
            "organization": ref("organizations"),
            "image": text(required=True),
            "pull": text(choices=("", "always", "missing", "never")),
        },
        ("name",),
    ),
    "credential_types": Kind(
        "credential_type",
        {
            **NAMED,
            "kind": text(required=True, choices=("cloud", "net", "ssh", "vault", "galaxy")),
            "inputs": Field("json", default={}),
            "injectors": Field("json", default={}),
            "managed": flag(),
            # Of AWX's own types alone, whose names releases change.
            "namespace": text(default=None),
        },
        ("name", "kind"),
    ),
    "credentials": Kind(
        "credential",
        {
            **NAMED,
            "organization": ref("organizations"),
            "credential_type": ref("credential_types", True),
            "inputs": Field("json", default={}),
        },
        ("organization", "name", "credential_type"),
    ),
    "notification_templates": Kind("notification_template", {**NAMED, "organization": ref("organizations")}),
    "teams": Kind("team", {**NAMED, "organization": ref("organizations", True)}),
    "labels": Kind("label", {"name": text(required=True), "organization": ref("organizations", True)}),
    "projects": Kind(
        "project",
        {
            **NAMED,
            "organization": ref("organizations"),
            "scm_type": text(choices=("", "git", "svn", "insights", "archive")),
            "scm_url": text(),
            "scm_branch": text(),
            "local_path": text(),
            "scm_update_on_launch": flag(),
            "scm_update_cache_timeout": Field("integer", default=0),
        },
        lists=_NOTIFIED,
    ),
    "inventories": Kind(
        "inventory",
        {
            **NAMED,
            "organization": ref("organizations", True),
            "kind": text(choices=("", "smart", "constructed")),
            "host_filter": text(default=None),
            "variables": text(),
        },
    ),
    "inventory_sources": Kind(
        "inventory_source",
        {
            **NAMED,
            "inventory": ref("inventories", True),
            "source": text(required=True, choices=("scm", "ec2", "gce", "file")),
            "source_project": ref("projects"),
            "source_path": text(),
            "overwrite": flag(),
            "overwrite_vars": flag(),
            "update_on_launch": flag(),
            "update_cache_timeout": Field("integer", default=0),
        },
        ("inventory", "name"),
        _NOTIFIED,
    ),
    "job_templates": Kind(
        "job_template",
        {
            **NAMED,
            "organization": ref("organizations"),
            "job_type": text(choices=("run", "check"), default="run"),
            "inventory": ref("inventories"),
            "project": ref("projects"),
            "execution_environment": ref("execution_environments"),
            "playbook": text(),
            "job_tags": text(),
            "extra_vars": text(),
            "become_enabled": flag(),
            "diff_mode": flag(),
            "allow_simultaneous": flag(),
            "survey_enabled": flag(),
            **{name: text() for name in ("limit", "skip_tags", "start_at_task", "scm_branch", "host_config_key")},
            "webhook_service": text(choices=("", "github", "gitlab")),
            **{name: number() for name in ("timeout", "forks", "verbosity")},
            "job_slice_count": number(1),
            **{name: flag() for name in ("force_handlers", "use_fact_cache", "prevent_instance_group_fallback")},
            **asking("scm_branch", "diff_mode", "variables", "limit", "tags", "skip_tags", "job_type", "inventory"),
            **asking("credential", "execution_environment", "job_slice_count", "timeout"),
            **asking("verbosity", "forks", "labels", "instance_groups"),
        },
        lists=(*_NOTIFIED, "credentials", "labels"),
    ),
    "workflow_job_templates": Kind(
        "workflow_job_template",
        {
            **NAMED,
            "organization": ref("organizations"),
            "extra_vars": text(),
            "allow_simultaneous": flag(),
            "survey_enabled": flag(),
            "inventory": ref("inventories"),
            **{name: text(default=None) for name in ("limit", "job_tags", "skip_tags", "scm_branch")},
            "webhook_service": text(choices=("", "github", "gitlab")),
            **asking("variables", "limit", "tags", "skip_tags", "inventory", "scm_branch", "labels"),
        },
        lists=(*_NOTIFIED, "notification_templates_approvals", "labels", "workflow_nodes"),
    ),
    "workflow_job_template_nodes": Kind(
        "workflow_job_template_node",
        {
            "identifier": text(required=True),
            "workflow_job_template": ref("workflow_job_templates", True),
            "unified_job_template": ref("unified_job_templates"),
            "all_parents_must_converge": flag(),
            "extra_data": Field("json", default={}),
            "inventory": ref("inventories"),
            "execution_environment": ref("execution_environments"),
            **_PROMPTED,
            "diff_mode": Field("boolean", default=None),
            **{name: number(None) for name in ("timeout", "job_slice_count", "forks", "verbosity")},
        },
        ("workflow_job_template", "identifier"),
        ("success_nodes", "failure_nodes", "always_nodes", "credentials"),
    ),
    "workflow_approval_templates": Kind(
        "workflow_approval_template", {**NAMED, "timeout": Field("integer", default=0)}, ()
    ),
    "schedules": Kind(
        "schedule",
        {
            **NAMED,
            "unified_job_template": ref("unified_job_templates", True),
            "rrule": text(required=True),
            "enabled": flag(True),
            "extra_data": Field("json", default={}),
        },
        ("unified_job_template", "name"),
    ),
}
#: What workflows and schedules may start.
STARTED = ("job_templates", "workflow_job_templates", "projects", "inventory_sources", "workflow_approval_templates")

_ANSWERS = {
    **dict.fromkeys(("text", "textarea", "password", "multiplechoice", "multiselect"), str),
    "integer": int,
    "float": (float, int),
}


def survey_error(spec: Mapping[str, Any]) -> str | None:
    """What AWX finds wrong with a survey (JobTemplateSurveySpec._validate_spec_data), None for nothing."""
    for field, kind in (("name", str), ("description", str), ("spec", list)):
        if not isinstance(spec.get(field), kind):
            return f"Field '{field}' is missing from survey spec."
    if not spec["spec"]:
        return "'spec' doesn't contain any items."
    names = [one.get("variable") for one in spec["spec"]]
    if len(set(names)) < len(names):
        return "'variable' duplicated in survey question."
    return next((found for one in spec["spec"] if (found := question_error(one))), None)


def question_error(asked: Mapping[str, Any]) -> str | None:
    """What AWX finds wrong with one question, its default included."""
    where = f"survey question {asked.get('variable')}"
    for field, kind in (("type", str), ("question_name", str), ("variable", str), ("required", bool)):
        if not isinstance(asked.get(field), kind):
            return f"'{field}' missing from {where}, or of another type"
    if asked["type"] not in _ANSWERS:
        return f"{asked['type']} in {where} is not one of the allowed question types."
    if any(asked.get(limit) is not None and not isinstance(asked[limit], int) for limit in ("min", "max")):
        return f"A limit in {where} expected to be integer."
    if asked["type"].startswith("multi") and "choices" not in asked:
        return f"{where} must specify choices."
    default = asked.get("default", "")
    if isinstance(default, str) and default.startswith("$encrypted$"):
        return f"$encrypted$ is a reserved keyword, {where}"
    return answer_error(asked, default) if default != "" else None


def answer_error(asked: Mapping[str, Any], answer: Any) -> str | None:
    """What AWX finds wrong with an answer (SurveyJobTemplateMixin._survey_element_validation), None for nothing."""
    name, kind = asked["variable"], _ANSWERS[asked["type"]]
    if isinstance(answer, bool) or not isinstance(answer, kind):  # type: ignore[arg-type]
        return f"Value {answer} for '{name}' expected to be a {asked['type']}."
    if asked["type"].startswith("multi"):
        listed = asked["choices"].split("\n")
        wrong = [one for one in answer.split("\n") if one not in listed]
        return f"Value {wrong[0]} for '{name}' expected to be one of {listed}." if wrong else None
    size, least, most = len(answer) if isinstance(answer, str) else answer, asked.get("min"), asked.get("max")
    if least is not None and size < least:
        return f"'{name}' value {answer} is too small (must be at least {least})."
    if most is not None and size > most:
        return f"'{name}' value {answer} is too large (must be no more than {most})."
    return None


def rule_error(rule: str) -> str | None:
    """What AWX finds wrong with the rule of a schedule, None for nothing."""
    if not re.match(r"DTSTART(;TZID=[\w/]+)?:\d{8}T\d{6}Z? RRULE:", rule):
        return "Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ"
    if "INTERVAL" not in rule:
        return "INTERVAL required in rrule."
    return "SECONDLY is not supported." if "FREQ=SECONDLY" in rule else None


def credential_type_error(inputs: Mapping[str, Any], injectors: Mapping[str, Any]) -> str | None:
    """What AWX finds wrong with a credential type: fields that are missing or that no injector may use."""
    known = {one["id"] for one in inputs.get("fields", [])}
    if not set(inputs.get("required", ())) <= known:
        return "Required fields must be fields of inputs."
    if set(injectors) - {"file", "env", "extra_vars"}:
        return "Injectors are file, env and extra_vars."
    files = {name.partition(".")[2] for name in injectors.get("file", {})}
    known |= {f"tower.filename.{name}" for name in files}
    for place in injectors.values():
        for value in place.values():
            used = re.findall(r"{{\s*([\w.]+)\s*}}", value)
            if unknown := [one for one in used if one not in known]:
                return f"{unknown[0]} uses an undefined field"
    return None
