# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that derive the firewall of a machine from the inventory; the rules are made in module_utils/_firewall.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.module_utils import _firewall


def _explained(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        """The filter itself, with its mistakes as a template error."""
        try:
            return function(*args, **kwargs)
        except (KeyError, TypeError, ValueError) as error:
            raise AnsibleFilterError(f"firewall: {error}") from error

    return call


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "firewall_names": _explained(_firewall.unresolved),
            "firewall_places": _explained(_firewall.places),
            "firewall_rules": _explained(_firewall.rules),
        }
