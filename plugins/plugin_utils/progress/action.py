# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The bases of action plugins that act on a cluster, and of those that show one live line per interval."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from functools import cached_property
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


#: The option that names a cluster or an ensemble, and the variable of the roles with all options that reach it.
KAFKA = ("bootstrap_servers", "_kafka_connection")
ZOOKEEPER = ("servers", "_zookeeper_access")


class ClusterAction(ProgressAction):
    """Adds the connection to the module's options where the task has none."""

    named_by = KAFKA
    #: The module that is run, where it is not that of the task.
    module = ""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Find the connection of the role, if the task needs it; plugins that wait go on from here."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        option, variable = self.named_by
        known = task_vars or {}
        self._of_role: dict[str, Any] = {}
        if option not in self._task.args and variable in known:
            self._of_role = dict(self._templar.template(known[variable]))
        return result

    def call(self, task_vars: dict[str, Any] | None, **overrides: Any) -> dict[str, Any]:
        """Run the module once, on the control node when the task names no cluster, and return its result."""
        # The options of a task are those of its own module.
        arguments = {**self._of_role, **({} if self.module else self._task.args), **overrides}
        name = self.module or self._task.resolved_action
        if self._of_role and not self._task.delegate_to and not self._task.async_val:
            return self.call_here(name, arguments, task_vars)
        detached = self._task.async_val and not self._connection.has_native_async
        return dict(self._execute_module(name, arguments, task_vars=task_vars, wrap_async=detached))

    def call_here(self, name: str, arguments: Mapping[str, Any], task_vars: dict[str, Any] | None) -> dict[str, Any]:
        """Run a module once on the control node and return its result."""
        self._connection = self._local
        here = {**(task_vars or {}), "ansible_python_interpreter": sys.executable}
        return dict(self._execute_module(name, dict(arguments), task_vars=here))

    @cached_property
    def _local(self) -> Any:
        """A connection to the control node, without the become of the host."""
        local = self._shared_loader_obj.connection_loader.get("ansible.builtin.local", self._play_context)
        local.set_options()
        return local
