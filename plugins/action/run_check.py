# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks on the control node how the run was started: strategy, --limit, hosts of the play, plan_only, clusters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import ansible.context
from ansible.errors import AnsibleError
from ansible.playbook import Playbook
from ansible.playbook.block import Block
from ansible.plugins.action import ActionBase

from ..module_utils._core.values import to_boolean
from ..plugin_utils.guards import run_validation
from ..plugin_utils.guards.run_files import unwritable
from ..plugin_utils.guards.run_start import RunStart, clusters, limits, refusals, strangers
from ..plugin_utils.guards.run_tasks import no_such_tags, passed_by, unknown_tags
from ..plugin_utils.guards.run_values import FACTORS, TOPIC, ill_named, missing, unclear, unknown, unread
from ..plugin_utils.inventory.model import GROUP_FIX
from ..plugin_utils.sealed import unopened
from ..plugin_utils.specs import role_options

#: What the full names of this collection's playbooks begin with.
OWN_PLAYBOOKS = "streamops.kafka."
SPEC = {
    "one_of": {"type": "list", "elements": "str", "default": []},
    "groups": {"type": "list", "elements": "str", "default": []},
    "alone": {"type": "list", "elements": "str", "default": []},
    "plans": {"type": "bool", "default": True},
    "plan_only": {"type": "bool", "default": False},
    "opens": {"type": "bool", "default": False},
    "known_by": {"type": "str", "default": ""},
    "named": {"type": "str", "default": ""},
    "written": {"type": "dict", "default": {}},
    "needed": {"type": "list", "elements": "str", "default": []},
    "roles": {"type": "list", "elements": "str", "default": ["preflight"]},
    "prefix": {"type": "str", "default": ""},
    "settings": {"type": "list", "elements": "str", "default": []},
}


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Refuses what would do nothing, or a part of its work."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fail with everything that is wrong with the start of the run."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        vars_ = task_vars or {}
        _checked, options = self.validate_argument_spec(argument_spec=SPEC)
        hostvars, groups = vars_["hostvars"], vars_["groups"]
        # First: what cannot be read cannot be judged either.
        wrong = missing(vars_, options["needed"]) + unclear(
            {
                host: _known(hostvars[host], role_options(*options["roles"]))
                for host in vars_.get("ansible_play_batch", ())
            },
            role_options(*options["roles"]),
        )
        wrong += ill_named(_known(vars_, (TOPIC, FACTORS)))
        wrong += _unfit(vars_, options["roles"])
        if options["opens"]:
            wrong += unopened(hostvars, vars_.get("ansible_play_batch", ()), role_options(*options["roles"]))
        extra = self._task.get_play()._variable_manager.extra_vars
        wrong += unread(extra, role_options())
        wrong += unknown(extra, options["settings"], options["prefix"]) if options["prefix"] else []
        wrong += unwritable(options["written"])
        wrong += passed_by(ansible.context.CLIARGS) + self._tags(vars_)
        if wrong:
            return _refused(result, wrong)
        hosts = dict.fromkeys(host for group in options["groups"] for host in groups.get(group, ()))
        judged = [host for host in hosts if not _partial(hostvars[host])]
        batch = vars_.get("ansible_play_batch", ())
        # A mirror is no part of the cluster that it has the name of.
        alone = {host for group in options["alone"] for host in groups.get(group, ())}
        touched = clusters((host for host in batch if host not in alone), hostvars)
        # Asked of few runs: it goes through all groups.
        meant = clusters(filter(hosts.__contains__, batch), hostvars) if options["named"] else {}
        found = refusals(
            RunStart(
                strategy=str(self._task.get_play().strategy),
                limit=vars_.get("ansible_limit"),
                batch=batch,
                planned=vars_.get("ansible_play_hosts_all", ()),
                members={name: of for name, of in clusters(judged, hostvars).items() if name in touched},
                known=[host for host in judged if options["known_by"] in hostvars[host]],
                plan_only=options["plan_only"],
                plans=options["plans"],
                named=options["named"],
                limits=limits(meant, groups),
                strangers=strangers(batch, options["one_of"], groups),
            )
        )
        if options["one_of"] and not any(groups.get(group) for group in options["one_of"]):
            found.append(f"The inventory has no host in the groups {', '.join(options['one_of'])}. fix: {GROUP_FIX}.")
        return _refused(result, found) if found else result

    def _tags(self, variables: Mapping[str, Any]) -> list[str]:
        """The refusal of tags that no task has; the user's own playbooks are read when this collection has not all."""
        asked = {*variables.get("ansible_run_tags", ()), *variables.get("ansible_skip_tags", ())}
        unknown = unknown_tags(asked)
        if unknown:
            own = self._own_tags()
            unknown = [] if own is None else unknown_tags(asked, own)
        return [no_such_tags(unknown)] if unknown else []

    def _own_tags(self) -> set[str] | None:
        """The tags that --list-tags shows for the playbooks of this run; None where that cannot be known."""
        found: set[str] = set()
        manager = self._task.get_play()._variable_manager
        for named in ansible.context.CLIARGS.get("args", ()):
            if named.startswith(OWN_PLAYBOOKS):
                continue
            if not Path(named).is_file():
                return None  # A playbook of another collection by its full name.
            try:
                plays = Playbook.load(named, variable_manager=manager, loader=self._loader).get_plays()
                for play in plays:
                    found.update(play.tags, *(_tags_of(block) for block in play.compile()))
            except AnsibleError:
                return None
        return found


def _tags_of(block: Block) -> set[str]:
    """The tags of all tasks of a block, those of blocks around them too."""
    tasks = (*block.block, *block.rescue, *block.always)
    return {
        tag for task in tasks for tag in (_tags_of(task) if isinstance(task, Block) else cast("list[str]", task.tags))
    }


def _refused(result: dict[str, Any], found: list[str]) -> dict[str, Any]:
    """The result of a run that is refused for these reasons."""
    why = " ".join([*found, "No cluster was asked, and nothing was changed."])
    return dict(result, failed=True, refusals=found, msg=why)


def _known(variables: Any, names: Iterable[str]) -> dict[str, Any]:
    """Those of these variables of a host that are set and can be templated; Ansible names the others at their use."""
    known = {}
    for name in names:
        with contextlib.suppress(AnsibleError):
            if name in variables:
                known[name] = variables[name]
    return known


def _unfit(variables: Mapping[str, Any], roles: list[str]) -> list[str]:
    """The refusals of values with which the Spark job of a run that has one cannot run."""
    if run_validation.ROLE not in roles:
        return []
    hostvars, batch = variables["hostvars"], variables.get("ansible_play_batch", ())
    members = clusters(filter(batch.__contains__, variables["groups"].get("kafka_brokers", ())), hostvars)
    names = role_options(run_validation.ROLE)
    return [
        refusal
        for hosts in members.values()
        for refusal in run_validation.unfit({host: _known(hostvars[host], names) for host in hosts}, len(hosts))
    ]


def _partial(variables: Any) -> bool:
    """Return whether the inventory allows a run on a part of the host's cluster."""
    return to_boolean(variables.get("preflight_allow_limit", False), "preflight_allow_limit")
