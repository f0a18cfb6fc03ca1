# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells where a cluster stands between ZooKeeper and KRaft, by what its nodes told and its ensemble tells."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..module_utils._migration.back import is_led
from ..module_utils._migration.judge import StepFacts
from ..module_utils._migration.model import ClusterLook
from ..module_utils._migration.shown import outlook_of, result_of
from ..module_utils._migration.stages import NEXT, STAY, UnclearStageError
from ..module_utils._migration.troubles import BACK
from ..plugin_utils.inventory.model import Node
from ..plugin_utils.inventory.reader import InventoryReader
from ..plugin_utils.migration.back import back_facts, back_plan, back_progress_facts
from ..plugin_utils.migration.read import ask_ensemble, chroot_of, cluster_look, metadata_dirs, moving_partitions
from ..plugin_utils.migration.stage import plan_lines, progress_facts, step_facts, step_plan
from ..plugin_utils.progress.action import KAFKA, ZOOKEEPER, ClusterAction
from ..plugin_utils.specs import module_options


class ActionModule(ClusterAction):
    """Asks the ensemble, and judges."""

    named_by = ZOOKEEPER
    module = "streamops.kafka.zookeeper_info"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read the cluster of this host and what its nodes answered; return phase, troubles and what follows."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        _checked, options = self.validate_argument_spec(argument_spec=dict(module_options("migration_plan")))
        reader = InventoryReader(self, known)
        host, nodes = str(known["inventory_hostname"]), reader.nodes()
        ensemble = self._ensemble(chroot_of(host, nodes), options["wish"], options["before"], known)
        look = cluster_look(host, nodes, reader.raw, ensemble)
        result.update(changed=False, **result_of(look, outlook_of(look)))
        try:
            return {**result, **self._asked_for(look, options, nodes, known)}
        except UnclearStageError as error:
            # Returned, since Ansible asks failed_when of no exception: a run that only looks goes on (stages.yml).
            return {**result, "failed": True, "msg": f"cluster {look.name}: {error}. This task changed nothing."}

    def _asked_for(
        self, look: ClusterLook, options: Mapping[str, Any], nodes: list[Node], known: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what a run does with each host, and how far a step is, as far as the task asks for it."""
        found: dict[str, Any] = {}
        if options["wish"] == BACK:
            # Where nobody is in charge the brokers would be waited for, and what they say of moves is not needed.
            facts = self._facts("", known) if is_led(look) else StepFacts()
            found["step"] = back_facts(back_plan(look, facts, metadata_dirs(nodes), int(time.time())))
        elif options["wish"]:
            asked = self._facts(options["confirmed"], known) if options["wish"] == NEXT else None
            plan = step_plan(look, options["wish"], asked)
            found["step"] = {**step_facts(plan), "lines": plan_lines(plan)}
        if options["before"]:
            progress = back_progress_facts if options["way"] == BACK else progress_facts
            found["progress"] = progress(look, options["before"])
        return found

    def _facts(self, confirmed: str, known: dict[str, Any]) -> StepFacts:
        """Ask the brokers what a step needs to know beside the look."""
        connection = dict(self._templar.template(known[KAFKA[1]]))
        # Sizes come with the moves under way; brokers of ZooKeeper tell nothing of a quorum.
        wanted = {**connection, "sizes": True, "include_quorum": False}
        moving, unasked = moving_partitions(self.call_here("streamops.kafka.cluster_info", wanted, known))
        return StepFacts(moving, unasked, confirmed.strip())

    def _ensemble(self, chroot: str, wish: str, before: str, known: dict[str, Any]) -> dict[str, Any]:
        """Return what the ensemble says; empty without servers.

        Rights are tried for what may come: not where nodes stay as they are, and not once a step has begun.
        """
        rights = wish != STAY and not before
        return ask_ensemble(partial(self.call, known), chroot, rights) if self._of_role.get("servers") else {}
