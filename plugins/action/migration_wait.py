# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until a controller has the end of a step of the migration in its log, or the ensemble that of the way back."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..module_utils._core.progress import DONE, FAILED, GOING, Step
from ..module_utils._migration.back import hands_over
from ..module_utils._migration.troubles import BACK
from ..plugin_utils.inventory.reader import InventoryReader
from ..plugin_utils.migration.back import back_progress_facts
from ..plugin_utils.migration.read import ask_ensemble, chroot_of, cluster_look
from ..plugin_utils.migration.stage import progress_facts, seen_by
from ..plugin_utils.progress.action import ZOOKEEPER, ClusterAction
from ..plugin_utils.specs import module_options

MODULE = "streamops.kafka.migration_info"
#: Options of the wait itself; the others are those of the module that it repeats.
OWN = ("before", "way", "timeout", "interval")


class ActionModule(ClusterAction):
    """Repeats migration_info on the controller or, where the controllers have stopped, zookeeper_info; shows each."""

    _requires_connection = True
    named_by = ZOOKEEPER
    module = "streamops.kafka.zookeeper_info"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; in check mode one look, which fails nothing."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        options = self.own_options(module_options("migration_wait"))
        arguments = {name: options[name] for name in options if name not in OWN}
        reader, host = InventoryReader(self, known), str(known["inventory_hostname"])
        nodes, found = reader.nodes(), dict[str, Any]()
        before, is_back = options["before"], options["way"] == BACK
        judge = back_progress_facts if is_back else progress_facts

        def look(elapsed: float) -> Step:
            """Ask this controller, or the ensemble, once."""
            found.clear()
            if is_back and hands_over(before):
                # A server that does not answer is waited for, as a broker without a session is.
                asked = ask_ensemble(partial(self.call, known), chroot_of(host, nodes))
                progress = judge(cluster_look(host, nodes, reader.raw, asked), before)
            else:
                found.update(self._execute_module(MODULE, arguments, task_vars=known))
                if found.get("failed"):
                    return Step(FAILED, f"migration_wait: {found.get('msg', 'the look failed')}")
                # The ensemble has no part in a step that controllers end.
                progress = judge(seen_by(cluster_look(host, nodes, reader.raw, {}, fresh=found), host), before)
            state = DONE if progress["reached"] else GOING
            done = f"done {progress['done']}" if progress["done"] else ""
            return Step(state, f"migration_wait: {progress['text']}", progress, done)

        checking = bool(self._task.check_mode)
        followed = self.follow(look, known, 0.0 if checking else float(options["timeout"]), options["interval"])
        if found.get("failed"):
            return dict(result, **found)
        reached = followed.last.state == DONE
        result.update(changed=False, reached=reached, progress=followed.last.facts, **followed.as_result())
        if not reached and not checking:
            text = followed.last.facts["text"]
            result.update(failed=True, msg=f"{host}: not reached within {followed.elapsed:.0f} s: {text}. {_FIX}")
        return result


_FIX = (
    "No node was stopped meanwhile. fix: look into the logs of the nodes, and run migrate_to_kraft.yml without "
    "kafka_migration, which names what hinders; then take the step again: it goes on where it ended."
)
