# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Why a run is refused as it was started: its strategy, --limit, hosts or serial of its play, plan_only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped

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
    a plan to show.
    """

    strategy: str = "linear"
    limit: str | None = None
    batch: Sequence[str] = ()
    planned: Sequence[str] = ()
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    known: Sequence[str] = ()
    plan_only: bool = False
    plans: bool = True


def clusters(hosts: Iterable[str], hostvars: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the hosts of each cluster by its name."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        found.setdefault(str(hostvars[host].get("kafka_cluster_name", "kafka")), []).append(host)
    return found


def refusals(run: RunStart) -> list[str]:
    """Return one sentence for each thing that is wrong with the start of a run; none when it may go on."""
    found = []
    if run.strategy.rpartition(".")[2] in _APART:
        found.append(
            f"strategy {run.strategy} is refused: the nodes of a cluster wait for each other at every step. fix: use "
            "the strategy linear (in the play, in ansible.cfg or in ANSIBLE_STRATEGY)."
        )
    if run.plan_only and not run.plans:
        found.append(
            f"plan_only={run.plan_only} is refused: this playbook has no plan to show, and would carry everything out. "
            "Look with --check (and --diff) instead, and run it without plan_only to carry it out."
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
