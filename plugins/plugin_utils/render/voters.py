# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows for the voters of a cluster from its inventory and from what the quorum answered.

What cluster_info returned is C(__common_registered) of the cluster's first host, what features said of
kraft.version 1 is C(__common_voters_raising) there, results of node_info are C(__common_node_info), and those of
restart_gate C(__common_voters_gate).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.registered import ACCEPT, accepted_ids
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.properties import effective, written
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import as_bool, names
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.parts import Parts, Results
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters import dynamic, plan, restarts
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.checks import check, unanswered
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.model import ClusterFacts
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.read import (
    AUTO_JOIN,
    read_facts,
    read_gate,
    read_nodes,
)


class Voters(Parts):
    """The key C(voters) of the model; docs/development/house.md lists its own keys."""

    def __init__(self, model: Mapping[str, Any], results: Results) -> None:
        def facts() -> ClusterFacts:
            """The controllers as they were just looked at, and the quorum as it just answered."""
            settings = model["settings"]
            found = read_facts(
                str(settings["kafka_cluster_name"]),
                model["nodes"],
                results.of(model["first_host"], "__common_registered"),
                lambda host: results.of(host, "__common_node_info"),
                names(settings["kafka_controllers_leaving"]),
                any(_joins_itself(node, results) for node in model["nodes"]),
                accepted_ids(settings[ACCEPT]),
            )
            return replace(
                found,
                goes_dynamic=settings[dynamic.ASKED_BY],
                nodes=read_nodes(model["nodes"], lambda host: results.of(host, "__common_node_info")),
                version=str(settings["kafka_version"]),
                raising=results.of(model["first_host"], "__common_voters_raising"),
                gates=tuple(
                    read_gate(node["host"], asked)
                    for node in model["nodes"]
                    if (asked := results.of(node["host"], "__common_voters_gate"))
                ),
            )

        super().__init__(
            {
                "facts": facts,
                "steps": lambda: plan.make_steps(self["facts"]),
                "findings": lambda: check(self["facts"], self["steps"]),
                "restarting": lambda: restarts.restarting(self["facts"], self["steps"]),
                "registered": lambda: restarts.registered(self["facts"]),
                "lines": lambda: plan.plan_lines(self["facts"], self["steps"], self["findings"]),
                "refusal": lambda: plan.refusal_text(self["findings"]),
                "is_static": lambda: self["facts"].is_static,
                "goes_dynamic": lambda: self["facts"].is_static and self["facts"].goes_dynamic,
                "joining": lambda: [one.host for one in self["facts"].joining],
                "leaving": lambda: [one.host for one in self["facts"].leaving],
                "going": lambda: plan.going(self["facts"]),
                "silent": lambda: plan.silent(self["facts"]),
                "unanswered": lambda: unanswered(self["facts"]),
                "gone": lambda: plan.gone(self["facts"]),
                "left": lambda: plan.left_lines(self["facts"]),
            }
        )


def _joins_itself(node: Mapping[str, Any], results: Results) -> bool:
    """Whether a controller makes itself a voter, by its own variables: they may differ from those of the others."""
    own = effective(written(node["roles"], lambda variable: results.of(node["host"], variable)))
    return "controller" in node["roles"] and AUTO_JOIN in own and as_bool(own[AUTO_JOIN].value)
