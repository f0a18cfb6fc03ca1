# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The base of action plugins that wait and show one live line per interval (a module itself cannot stream)."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase

from ...module_utils._core.progress import Followed, Step, duration, follow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: Seconds after which a module that still runs is shown as such, again and again.
QUIET_SECONDS = 30.0


class ProgressAction(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Runs a module again and again, judges what it returns and tells people how far it is."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_diff = True

    def own_options(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return the task's values for the options in ``spec``, typed, with defaults.

        The module gets all of the task's options and judges them in full; these are the ones the loop needs itself.
        """
        names = set(spec).union(*(option.get("aliases", ()) for option in spec.values()))
        given = {name: value for name, value in self._task.args.items() if name in names}
        checked = ArgumentSpecValidator(dict(spec)).validate(given)
        options = dict(checked.validated_parameters)
        wrong = checked.error_messages or meaningless(options, spec)
        if wrong:
            raise AnsibleActionFail(f"{self._task.action}: {'; '.join(wrong)}")
        return options

    def call(self, task_vars: dict[str, Any] | None, **overrides: Any) -> dict[str, Any]:
        """Run the module of this action's own name once with the task's options and return its result."""
        arguments = dict(self._task.args, **overrides)
        return dict(self._execute_module(self._task.resolved_action, arguments, task_vars=task_vars))

    def follow(
        self,
        look: Callable[[float], Step],
        task_vars: dict[str, Any] | None,
        timeout: float,
        interval: float,
        quiet: bool = False,
    ) -> Followed:
        """Repeat ``look`` (see _core/progress.py) on the real clock, showing its lines with the host's name.

        ``quiet`` is for one look that nobody waits for: its result says all.
        """
        return follow(
            look,
            show=lambda line: None if quiet else self.show(line, task_vars),
            clock=time.monotonic,
            sleep=time.sleep,
            timeout=timeout,
            interval=interval,
        )

    def show(self, line: str, task_vars: dict[str, Any] | None) -> None:
        """Show a line with the host's name."""
        host = (task_vars or {}).get("inventory_hostname", "localhost")
        self._display.display(f"[{host}] {line}")

    @contextlib.contextmanager
    def heartbeat(self, line: str, task_vars: dict[str, Any] | None, every: float = QUIET_SECONDS) -> Iterator[None]:
        """Show a line each C(every) seconds while a module runs that cannot tell how far it is."""
        began, ended = time.monotonic(), threading.Event()

        def beat() -> None:
            """Show it until the module has ended."""
            while not ended.wait(every):
                self.show(f"{line}, elapsed {duration(time.monotonic() - began)}", task_vars)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def meaningless(options: Mapping[str, Any], spec: Mapping[str, Any]) -> list[str]:
    """Return what a wait cannot mean: a number below zero, and nothing to wait for where something must be named."""
    return [
        *(
            f"{name} is {value}. Set a number from 0 on."
            for name, value in options.items()
            if isinstance(value, (int, float)) and value < 0
        ),
        *(
            f"{name} is empty. Name at least one, or leave the task out."
            for name, option in spec.items()
            if option.get("required") and option.get("type") == "list" and not options.get(name)
        ),
    ]
