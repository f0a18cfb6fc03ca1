# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the upgrade of a cluster, or the step to its features, by what was asked before; no remote call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils.inventory.reader import InventoryReader
from ..plugin_utils.preflight.rules.install import SUPPORTED
from ..plugin_utils.preflight.rules.properties import refused_by
from ..plugin_utils.specs import module_options
from ..plugin_utils.upgrade import finalize, plan
from ..plugin_utils.upgrade.checks import check_all
from ..plugin_utils.upgrade.model import ClusterFacts, given_levels
from ..plugin_utils.upgrade.read import cluster_facts


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Makes the plan of an upgrade, and applies all checks to it."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read the cluster of this host and what its nodes answered; return plan, refusal, and what is left."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        _checked, options = self.validate_argument_spec(argument_spec=dict(module_options("upgrade_plan")))
        reader = InventoryReader(self, known)
        nodes = reader.nodes()
        host = str(known["inventory_hostname"])
        facts = cluster_facts(host, nodes, reader.mirrors(nodes), reader.raw, SUPPORTED, refused_by)
        judged = _features(facts, options) if options["of"] == "features" else _nodes(facts, options["before"])
        return dict(result, changed=False, **judged)


def _nodes(facts: ClusterFacts, before: str) -> dict[str, Any]:
    """Judge the way of the nodes to their release."""
    made = plan.make_plan(facts, check_all(facts))
    return {
        "plan": plan.plan_lines(made),
        "refusal": plan.refusal_text(facts.name, facts.action, made.outcomes),
        "before": plan.release_before(facts),
        "left": plan.left_lines(made, before, facts.known),
    }


def _features(facts: ClusterFacts, options: Mapping[str, Any]) -> dict[str, Any]:
    """Judge the step to the features of the release."""
    by_hand, unclear = given_levels(options["levels"])
    # What a cluster says of other levels is no answer to those that were meant.
    raising = {} if unclear else options["raising"]
    outcomes = finalize.check_finalize(facts, raising, unclear)
    state, levels = finalize.wanted_levels(facts, by_hand)
    return {
        "plan": finalize.finalize_lines(facts, outcomes, raising),
        "refusal": plan.refusal_text(facts.name, facts.action, outcomes),
        "state": state,
        "levels": levels,
        "left": finalize.done_lines(facts, raising),
    }
