"""Launches of the stub of AWX (awx_stub.py): what is started is noted, and no playbook runs.

A job ends well at once. A workflow job runs on, as one that waits for its approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]
#: By kind of template the kind of what it starts.
JOBS = {"job_templates": "jobs", "workflow_job_templates": "workflow_jobs"}
_STATUS = {"jobs": "successful", "workflow_jobs": "running"}


def asked(template: Object) -> Object:
    """Return what AWX shows of a template to those who launch it: its survey, and what its flags say."""
    prompts = dict.fromkeys((f"ask_{of}_on_launch" for of in ("limit", "labels", "inventory", "variables")), False)
    return {**prompts, **template}


def launched(root: str, kind: str, template: Object, given: Mapping[str, Any], number: int) -> Object:
    """Return the job of a launch; `given` are the fields that were sent with it."""
    jobs = JOBS[kind]
    return {
        "id": number,
        "url": f"{root}{jobs}/{number}/",
        "name": template["name"],
        "status": _STATUS[jobs],
        "created": "2026-01-01T00:00:00Z",
        "artifacts": {},
        "given": dict(given),
    }


def unanswered(survey: Object, given: Mapping[str, Any]) -> list[str]:
    """Return the variables of a survey that must be answered and were not."""
    answers = given.get("extra_vars") or {}
    return [one["variable"] for one in survey.get("spec", []) if one["required"] and one["variable"] not in answers]


def chosen(jobs: Mapping[int, Object], query: Mapping[str, str]) -> list[Object]:
    """Return the jobs that a query asks for, all without one."""
    wanted = query.get("id__in")
    return [one for number, one in jobs.items() if wanted is None or str(number) in wanted.split(",")]
