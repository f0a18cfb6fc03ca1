# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Filters whose mistakes are told as errors of the template that calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError


def explained(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """The same function; what it cannot use ends as a template error that begins with C(name), or its own name."""

    def call(*args: Any, **kwargs: Any) -> Any:
        """The filter itself, with its mistakes as a template error."""
        try:
            return function(*args, **kwargs)
        except (KeyError, TypeError, ValueError) as error:
            raise AnsibleFilterError(f"{name or function.__name__}: {error}") from error

    return call
