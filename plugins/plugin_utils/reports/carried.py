# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run hands to the next node of a workflow (ansible.builtin.set_stats): short texts without secrets. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .move_lines import move_lines
from .planned import ClusterPlan
from .planned import lines as change_lines

#: Most characters of a plan that is carried. A workflow passes it to every later node as a variable, where a shell may
#: be given all of them at once (MAX_ARG_STRLEN of Linux: 131072 bytes for one argument).
MOST = 4000
#: From the best to the worst; the verdict of a run is the worst of its proofs.
VERDICTS = ("pass", "inconclusive", "fail", "error")


def plans_text(moves: Mapping[str, Mapping[str, Any]], changes: Iterable[ClusterPlan] = (), then: str = "") -> str:
    """The plans of a run as one text of at most MOST characters: what changes, what moves, by cluster name.

    ``then`` is what follows once the moves of a cluster have ended.
    """
    by_name = {plan.name: plan for plan in changes}
    lines: list[str] = []
    for cluster in sorted({*moves, *by_name}):
        told = change_lines(by_name[cluster]) if cluster in by_name else []
        told += [*move_lines(moves[cluster]), *([f"then: {then}"] if then else [])] if cluster in moves else []
        lines += [f"{cluster}:", *(f"  {line}" for line in told)]
    return shortened(lines)


def shortened(lines: Sequence[str], most: int = MOST) -> str:
    """Join lines, with those that do not fit into C(most) characters counted in place of shown."""
    text = "\n".join(lines)
    if len(text) <= most:
        return text
    kept, used = 0, len(f"({len(lines)} lines more; see the output of the job)")
    while kept < len(lines) and used + len(lines[kept]) + 1 <= most:
        used += len(lines[kept]) + 1
        kept += 1
    return "\n".join([*lines[:kept], f"({len(lines) - kept} lines more; see the output of the job)"])


def joined_digests(plans: Mapping[str, Mapping[str, Any]]) -> str:
    """Join the digests of these plans with commas, as kafka_plan_digest takes them.

    A plan that changes nothing has one too: without it, a run would carry out whatever there is to do by then.
    """
    return ",".join(str(plan["plan_digest"]) for _name, plan in sorted(plans.items()) if plan["plan_digest"])


#: What of a plan is kept as a file: what it does, why, and how it is undone. Its options stay out.
_PLAN = (
    "plan_digest",
    "moves",
    "deletions",
    "bytes",
    "leader_changes",
    "changes",
    "schedule",
    "reassignment",
    "rollback",
)


def plan_file(plan: Mapping[str, Any]) -> str:
    """Write a plan as the JSON of the file plan.json, as far as there is one; reassignment and rollback are files that
    kafka-reassign-partitions takes."""
    return json.dumps({name: plan[name] for name in _PLAN if name in plan}, indent=1) + "\n"


@dataclass(frozen=True)
class Left:
    """What the tasks of a run left on one host: its Spark jobs (verdict, report), the verdict of its status, and the
    report of its moves; empty where there was none."""

    proofs: Sequence[Mapping[str, str]] = ()
    status: str = ""
    report: str = ""


def outcome(found: Iterable[Left], before: str = "") -> dict[str, Any]:
    """The statistics streamops_verdict (where anything was proved) and streamops_reports of a run.

    ``before`` is the verdict that an earlier node of the workflow handed on. It is never improved: the look after a
    failed proof finds a cluster that serves, and the workflow has failed all the same.
    """
    verdicts: list[str] = []
    reports: list[str] = []
    for one in found:
        verdicts += [proof["verdict"] for proof in one.proofs] + [one.status]
        reports += [proof["report"] for proof in one.proofs] + [one.report]
    whole = worst(filter(None, verdicts))
    # Hosts of one cluster may have the same path, and order must not depend on who was first.
    paths = sorted(set(filter(None, reports)))
    return {
        **({"streamops_verdict": worst(filter(None, [before, whole]))} if whole else {}),
        "streamops_reports": paths,
    }


def worst(verdicts: Iterable[str]) -> str:
    """The worst of these verdicts, empty where there is none; one that is not known counts as error."""
    found = [VERDICTS.index(one) if one in VERDICTS else len(VERDICTS) - 1 for one in verdicts]
    return VERDICTS[max(found)] if found else ""
