# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Why a run is refused as it was started: strategy, --limit, hosts, serial, plan_only, its clusters, no approval."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils._core.names import capped
from ..inventory.model import GROUP_FIX, GROUP_NAMES

#: With these every host goes on by itself (ansible.builtin.free, ansible.builtin.host_pinned).
_APART = ("free", "host_pinned")
#: How many hosts a message names.
_SHOWN = 10


@dataclass(frozen=True)
class RunStart:
    """How a run was started.

    ``strategy`` is that of the play, ``limit`` the text of --limit, ``batch`` the hosts that the play works on now and
    ``planned`` all that it will. ``members`` are the hosts that must take part, by the name of their cluster; hosts in
    ``known`` were looked at by a play before. ``plan_only`` is what the user asked for, and ``plans`` whether there is
    a plan to show. ``named`` is what the user named that only one cluster can mean (``kafka_grow_topic=orders``), and
    ``limits`` what to give --limit for each cluster that the run has. ``strangers`` are hosts of the play
    that are in no group of this collection.
    """

    strategy: str = "linear"
    limit: str | None = None
    batch: Sequence[str] = ()
    planned: Sequence[str] = ()
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    known: Sequence[str] = ()
    plan_only: bool = False
    plans: bool = True
    named: str = ""
    limits: Mapping[str, str] = field(default_factory=dict)
    strangers: Sequence[str] = ()


def clusters(hosts: Iterable[str], hostvars: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the hosts of each cluster by its name."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        found.setdefault(str(hostvars[host].get("kafka_cluster_name", "kafka")), []).append(host)
    return found


def strangers(hosts: Iterable[str], known: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the hosts that are in none of these groups; none where no group has a host, which is told once."""
    members = {host for group in known for host in groups.get(group, ())}
    return [host for host in hosts if host not in members] if members else []


def limits(members: Mapping[str, Sequence[str]], groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what to give --limit for each cluster: its smallest group without hosts of another one, or its hosts."""
    return {name: _limit(name, members, groups) for name in members}


def _limit(name: str, members: Mapping[str, Sequence[str]], groups: Mapping[str, Sequence[str]]) -> str:
    others = {host for other, hosts in members.items() if other != name for host in hosts}
    fitting = [
        group for group, hosts in groups.items() if set(members[name]) <= set(hosts) and not others.intersection(hosts)
    ]
    return min(fitting, key=lambda group: (len(groups[group]), group), default=",".join(members[name]))


def refusals(run: RunStart) -> list[str]:
    """Return one sentence for each thing that is wrong with the start of a run; none when it may go on."""
    found = []
    if run.strategy.rpartition(".")[2] in _APART:
        found.append(
            f"strategy {run.strategy} is refused: cluster tasks need strategy linear, because nodes wait for each "
            "other. fix: use the strategy linear (in the play, in ansible.cfg or in ANSIBLE_STRATEGY)."
        )
    if run.plan_only and not run.plans:
        found.append(
            f"plan_only={run.plan_only} is refused: this playbook has no plan to show, and would carry everything out. "
            "Look with --check (and --diff) instead, and run it without plan_only to carry it out."
        )
    if run.named and len(run.limits) > 1:
        meant = ", or ".join(f"--limit {limit} for {name}" for name, limit in run.limits.items())
        found.append(
            f"{run.named} is about one cluster, and the run has {', '.join(run.limits)}, where the same topic or id "
            f"may mean another. fix: choose the cluster by {meant}."
        )
    if run.strangers:
        found.append(
            f"{capped(run.strangers, _SHOWN)} {'is' if len(run.strangers) == 1 else 'are'} in none of the groups "
            f"{GROUP_NAMES}, from which the roles know what a host runs. fix: {GROUP_FIX}, or leave it out of hosts of "
            "the play."
        )
    found += [_left_out(run, name, hosts) for name, hosts in run.members.items() if _missing(run, hosts)]
    return found


def _missing(run: RunStart, hosts: Sequence[str]) -> list[str]:
    taking = {*run.batch, *run.known}
    return [host for host in hosts if host not in taking]


def _left_out(run: RunStart, name: str, hosts: Sequence[str]) -> str:
    missing = _missing(run, hosts)
    if set(missing) <= set(run.planned):
        what, fix = "serial takes the hosts of the play in turns and", "remove serial from the play"
    elif run.limit:
        what, fix = f"--limit {run.limit}", "run without --limit, or name all hosts of the cluster in it"
    else:
        what, fix = "the play", "name all groups of the cluster in hosts of the play, or run the role preflight on them"
    return (
        f"{what} leaves out {capped(missing, _SHOWN)} of cluster {name}, which must take part as a whole. fix: {fix}."
    )


#: The name of the workflow that a job is a step of, as AWX gives it to the job (awx_meta_vars of its jobs).
WORKFLOW = "awx_workflow_job_name"
#: How our workflows with an approval are named (awx/data/workflows.yml); AWX adds the time to the name of a copy.
_APPROVED = re.compile(r", approved( @ .*)?")
#: What plans hand on to the steps behind them: a digest, the stage of a failover, or of a status its verdict.
_HANDED_ON = ("streamops_plan_digest", "kafka_failover_stage", "streamops_verdict")


def unapproved(extra: Mapping[str, Any]) -> str:
    """Return why a job must not change a cluster, empty where it may.

    AWX starts each step that has no step before it at once, and gives a step what all steps before it handed on. So an
    apply that was given nothing has no plan and no approval before it: somebody deleted the approval. An empty digest
    is what an apply leaves, and the steps behind it are approved.

    Args:
        extra: the extra variables of the run.
    """
    workflow = str(extra.get(WORKFLOW, ""))
    if not _APPROVED.search(workflow) or any(name in extra for name in _HANDED_ON):
        return ""
    return (
        f"This job is a step of the workflow {workflow}, and no step before it handed on a plan: the steps plan and "
        "approve do not stand before it. Nothing was changed by this step. fix: run playbooks/awx.yml, which brings "
        "them back (docs/awx.md), then start the workflow again."
    )
