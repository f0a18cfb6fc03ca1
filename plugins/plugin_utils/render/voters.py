# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows for the voters of a cluster from its inventory and from what the quorum answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..findings import Finding
from ..guards.registered import ACCEPT, accepted_ids
from ..inventory.properties import effective, written
from ..inventory.variables import as_bool, names
from ..run.results import Results
from ..voters import dynamic, plan, restarts
from ..voters.checks import check, unanswered
from ..voters.model import ClusterFacts, Step
from ..voters.read import AUTO_JOIN, read_facts, read_gate, read_nodes
from .parts import Parts, key, keys_of


class Voters(Parts):
    """The key C(voters) of the model; docs/development/house.md lists its own keys."""

    def __init__(self, model: Mapping[str, Any], results: Results) -> None:
        self._model, self._results = model, results
        super().__init__(keys_of(self))

    @key
    def facts(self) -> ClusterFacts:
        """The controllers as they were just looked at, and the quorum as it just answered."""
        model, results, settings = self._model, self._results, self._model["settings"]
        found = read_facts(
            str(settings["kafka_cluster_name"]),
            model["nodes"],
            results.of(model["first_host"]).registered,
            lambda host: results.of(host).look,
            names(settings["kafka_controllers_leaving"]),
            any(_joins_itself(node, results) for node in model["nodes"]),
            accepted_ids(settings[ACCEPT]),
        )
        return replace(
            found,
            goes_dynamic=settings[dynamic.ASKED_BY],
            nodes=read_nodes(model["nodes"], lambda host: results.of(host).look),
            version=str(settings["kafka_version"]),
            raising=results.of(model["first_host"]).voters_raising,
            gates=tuple(
                read_gate(node["host"], asked)
                for node in model["nodes"]
                if (asked := results.of(node["host"]).voters_gate)
            ),
        )

    @cached_property
    def _steps(self) -> list[Step]:
        return plan.make_steps(self.facts)

    @cached_property
    def _findings(self) -> list[Finding]:
        return check(self.facts, self._steps)

    @key
    def restarting(self) -> list[str]:
        """The hosts of the brokers that restart behind the change."""
        return restarts.restarting(self.facts, self._steps)

    @key
    def registered(self) -> list[int]:
        """The ids of the brokers of the inventory that the cluster has."""
        return restarts.registered(self.facts)

    @key
    def lines(self) -> list[str]:
        """The plan for people."""
        return plan.plan_lines(self.facts, self._steps, self._findings)

    @key
    def refusal(self) -> str:
        """Say why the change is refused; empty where it is not."""
        return plan.refusal_text(self._findings)

    @key
    def is_static(self) -> bool:
        """Return whether the quorum is static."""
        return self.facts.is_static

    @key
    def goes_dynamic(self) -> bool:
        """Return whether it is static and the run makes it dynamic."""
        return self.facts.is_static and self.facts.goes_dynamic

    @key
    def joining(self) -> list[str]:
        """The hosts that become voters."""
        return [one.host for one in self.facts.joining]

    @key
    def leaving(self) -> list[str]:
        """The hosts that leave."""
        return [one.host for one in self.facts.leaving]

    @key
    def going(self) -> list[int]:
        """The ids that are taken out, in their order."""
        return plan.going(self.facts)

    @key
    def silent(self) -> list[int]:
        """Those of them that do not answer."""
        return plan.silent(self.facts)

    @key
    def unanswered(self) -> str:
        """Say why it is not known who votes."""
        return unanswered(self.facts)

    @key
    def gone(self) -> list[str]:
        """The hosts of those that left."""
        return plan.gone(self.facts)

    @key
    def left(self) -> list[str]:
        """Return what is left to do, for people."""
        return plan.left_lines(self.facts)


def _joins_itself(node: Mapping[str, Any], results: Results) -> bool:
    """Say whether a controller makes itself a voter, by its own variables: they may differ from those of the others."""
    own = effective(written(node["roles"], results.of(node["host"]).read))
    return "controller" in node["roles"] and AUTO_JOIN in own and as_bool(own[AUTO_JOIN].value)
