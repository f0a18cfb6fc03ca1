"""What AWX makes of a job template at a launch: the words of ansible-playbook, answers to prompts, extra variables.

Words and prompts are those of awx/main/tasks/jobs.py (RunJob.build_args, build_passwords, get_password_prompts), extra
variables those of awx/main/models/mixins.py (SurveyJobTemplateMixin) and of awx_meta_vars.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.awx_kinds import answer_error

Template = Mapping[str, Any]


@dataclass(frozen=True)
class Login:
    """A machine credential; the key goes to the job's agent, not to its words."""

    username: str = ""
    become_method: str = ""
    become_username: str = ""
    become_password: str = ""


@dataclass(frozen=True)
class Vault:
    """A vault credential."""

    password: str
    vault_id: str = ""


def words(template: Template, login: Login | None, vaults: tuple[Vault, ...] = ()) -> list[str]:
    """Return the arguments of ansible-playbook, in AWX's order."""
    login = login or Login()
    found = ["--check"] if template.get("job_type") == "check" else []
    found += ["-u", login.username or "root"]
    found += [
        f"--{name}" for name, field in (("become", "become_enabled"), ("diff", "diff_mode")) if template.get(field)
    ]
    found += ["--become-method", login.become_method] if login.become_method else []
    found += ["--become-user", login.become_username] if login.become_username else []
    found += ["--ask-become-pass"] if login.become_password else []
    for vault in vaults:
        found += ["--vault-id", f"{vault.vault_id}@prompt"] if vault.vault_id else ["--ask-vault-pass"]
    found += [f"--forks={template['forks']}"] if template.get("forks") else []
    found += ["--force-handlers"] if template.get("force_handlers") else []
    found += ["-l", template["limit"]] if template.get("limit") else []
    found += ["-" + "v" * min(5, template["verbosity"])] if template.get("verbosity") else []
    found += ["-t", template["job_tags"]] if template.get("job_tags") else []
    found += [f"--skip-tags={template['skip_tags']}"] if template.get("skip_tags") else []
    return found + ([f"--start-at-task={template['start_at_task']}"] if template.get("start_at_task") else [])


def prompts(login: Login | None, vaults: tuple[Vault, ...] = ()) -> dict[str, str]:
    """Return what is typed at which prompt."""
    found = {r"BECOME password.*:\s*?$": login.become_password} if login and login.become_password else {}
    for vault in vaults:
        found[rf"Vault password \({vault.vault_id}\):\s*?$" if vault.vault_id else r"Vault password:\s*?$"] = (
            vault.password
        )
    return found


def variables(template: Template, answers: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the extra variables of a job: those of the template, of its survey, of the person, and AWX's own.

    A question that nobody answers gives its default, an empty one too, unless its own rule refuses that.
    """
    survey = (
        template.get("related", {}).get("survey_spec", {"spec": []})["spec"] if template.get("survey_enabled") else []
    )
    defaults = {
        one["variable"]: one["default"]
        for one in survey
        if one.get("default") is not None and answer_error(one, one["default"]) is None
    }
    meta: dict[str, Any] = {}
    for name in ("awx", "tower"):
        meta |= {f"{name}_job_id": number, f"{name}_job_launch_type": "manual", f"{name}_user_name": "anna"}
        meta |= {f"{name}_job_template_name": template["name"], f"{name}_inventory_name": "Kafka"}
        meta[f"{name}_project_revision"] = "0"
    given = template.get("extra_vars") or {}
    given = json.loads(given) if isinstance(given, str) else given
    return {**given, **defaults, **answers, **meta}
