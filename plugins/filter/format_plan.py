# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter format_plan: which nodes of a cluster may be formatted; the rules are in plugin_utils/guards/format.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError


def format_plan(
    nodes: Sequence[Mapping[str, Any]],
    cluster_id: str | None = "",
    registered: Sequence[int] | None = None,
    drawn: str = "",
    replacing: str | None = "",
    joining: Sequence[str] = (),
    voters: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Plan the formatting of all nodes of one cluster."""
    from ..plugin_utils.guards import format as format_guard

    try:
        return format_guard.format_plan(
            nodes, str(cluster_id or ""), registered, str(drawn), str(replacing or ""), list(joining), voters
        )
    except (KeyError, TypeError, ValueError) as error:
        raise AnsibleFilterError(f"format_plan: {type(error).__name__}: {error}") from error


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name each filter."""
        return {"format_plan": format_plan}
