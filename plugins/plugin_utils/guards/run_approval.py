# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Refuses a job of a workflow with an approval that starts without what an earlier step handed on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: The name of the workflow that a job is a step of, as AWX gives it to the job (awx_meta_vars of its jobs).
WORKFLOW = "awx_workflow_job_name"
#: How our workflows with an approval are named (awx/data/workflows.yml); AWX adds the time to the name of a copy.
_APPROVED = re.compile(r", approved( @ .*)?")
#: What plans hand on to the steps behind them: a digest, or where the plan is a status its verdict.
_HANDED_ON = ("streamops_plan_digest", "streamops_verdict")


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
