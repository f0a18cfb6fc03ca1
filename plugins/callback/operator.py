# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator wants to see of a run: changes, restarts, progress, warnings, failures, the last summary."""

from __future__ import annotations

DOCUMENTATION = r"""
name: operator
type: stdout
short_description: Only what changes, restarts, waits or fails
description:
  - Shows tasks that change something or fail, what tasks report, warnings, and the progress of long waits. Leaves out
    tasks that find nothing to do, skipped ones, included files, and plays without a host or without a word.
  - With C(-v) it is the default callback.
extends_documentation_fragment:
  - default_callback
  - result_format_callback
requirements:
  - Set as C(stdout_callback) in ansible.cfg, or in the environment as E(ANSIBLE_STDOUT_CALLBACK).
"""

from typing import Any

from ansible.playbook.task_include import TaskInclude
from ansible.plugins.callback.default import CallbackModule as Default


class CallbackModule(Default):  # type: ignore[misc]  # Ansible ships no types
    """The default callback without what says nothing."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "streamops.kafka.operator"

    def __init__(self) -> None:
        super().__init__()
        self._unshown: Any = None

    def set_options(self, task_keys: Any = None, var_options: Any = None, direct: Any = None) -> None:
        """Leave out hosts that are ok or skipped; a task's name then comes with its first line."""
        super().set_options(task_keys=task_keys, var_options=var_options, direct=direct)
        if self._is_short():
            self.set_option("display_ok_hosts", False)
            self.set_option("display_skipped_hosts", False)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Keep the name of the play until one of its tasks has something to show."""
        self._unshown = play
        self._play = play
        if not self._is_short():
            self._show_play()

    def v2_playbook_on_no_hosts_matched(self) -> None:
        """Say nothing of a play that a cluster does not need."""
        if not self._is_short():
            super().v2_playbook_on_no_hosts_matched()

    def v2_playbook_on_include(self, included_file: Any) -> None:
        """Leave out files of roles."""
        if not self._is_short():
            super().v2_playbook_on_include(included_file)

    def v2_runner_on_ok(self, result: Any) -> None:
        """Show a change as always, a report as its lines, and of other tasks only their warnings."""
        if not self._is_short():
            super().v2_runner_on_ok(result)
        elif isinstance(result.task, TaskInclude):
            return
        elif result.result.get("changed", False):
            super().v2_runner_on_ok(result)
        else:
            self._handle_warnings_and_exception(result)
            # Those of a loop were shown item by item.
            if result.task.action in {"debug", "ansible.builtin.debug"} and "results" not in result.result:
                self._report(result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """Show what a report says of an item."""
        if self._is_short() and result.task.action in {"debug", "ansible.builtin.debug"}:
            self._report(result)
        else:
            super().v2_runner_item_on_ok(result)

    def _report(self, result: Any) -> None:
        """Print each line of a message behind the name of its host."""
        self._show_play()
        said = result.result.get("msg", [])
        for line in said if isinstance(said, list) else str(said).splitlines():
            self._display.display(f"[{result.host.get_name()}] {line}")

    def _print_task_banner(self, task: Any) -> None:
        self._show_play()
        super()._print_task_banner(task)

    def _show_play(self) -> None:
        play, self._unshown = self._unshown, None
        if play is not None:
            super().v2_playbook_on_play_start(play)

    def _is_short(self) -> bool:
        return bool(self._display.verbosity == 0)
