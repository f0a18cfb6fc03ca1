# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Filters whose mistakes are errors of the template that calls them, and whose code waits for its first call.

Ansible looks through all files of filters of a collection to find one, in each process, which is to say for each task
on each host, and compiles what they import from its source. Importing all of it took an eighth of the processor time
of an unchanged run; most tasks call three or four filters.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ansible.errors import AnsibleFilterError


def explained(function: Callable[..., Any] | str, name: str = "", secret: bool = False) -> Callable[..., Any]:
    """The same function; what it cannot use ends as a template error that begins with C(name), or its own name.

    function -- itself, or C(room.file.function), imported when the filter is first called; rooms of module_utils
    begin with an underscore, those of plugin_utils do not
    secret -- it is about passwords: the error has no cause, whose traceback would show values
    """
    title = name or (function.rpartition(".")[2] if isinstance(function, str) else function.__name__)

    def call(*args: Any, **kwargs: Any) -> Any:
        """The filter itself, with its mistakes as a template error."""
        try:
            return (_found(function) if isinstance(function, str) else function)(*args, **kwargs)
        except (KeyError, TypeError, ValueError) as error:
            if secret:
                raise AnsibleFilterError(f"{title}: {type(error).__name__} {error}") from None
            raise AnsibleFilterError(f"{title}: {error}") from error

    return call


def _found(path: str) -> Callable[..., Any]:
    file, _dot, function = path.rpartition(".")
    folder = "module_utils" if file.startswith("_") else "plugin_utils"
    module = import_module(f"ansible_collections.streamops.kafka.plugins.{folder}.{file}")
    return getattr(module, function)  # type: ignore[no-any-return]  # tests/lint sees that it is there
