# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters around Kafka properties and ids: to_properties, declared, directory_id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise AnsibleFilterError(f"{name} needs a dictionary of properties, found {type(value).__name__}")
    return value


def to_properties(value: Any) -> str:
    """Print a dictionary as the sorted text of a Java .properties file."""
    from ..module_utils._core import properties as _properties

    try:
        return _properties.to_text(_mapping("to_properties", value))
    except _properties.PropertiesError as problem:
        raise AnsibleFilterError(f"to_properties: property {problem}") from problem


def declared(value: Any) -> dict[str, str]:
    """Return a dictionary of properties as text, each secret replaced by a digest."""
    from ..module_utils._core.compared import declare
    from ..module_utils._core.properties import PropertiesError

    try:
        return declare(_mapping("declared", value))
    except PropertiesError as problem:
        raise AnsibleFilterError(f"declared: property {problem}") from problem


def node_directory_id(cluster_id: Any, node_id: Any) -> str:
    """Derive the directory id of a node from the id of its cluster."""
    from ..plugin_utils.inventory import directory_id

    try:
        return directory_id.directory_id(str(cluster_id), int(node_id))
    except (TypeError, ValueError) as problem:
        raise AnsibleFilterError(f"directory_id: {problem}") from problem


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name each filter."""
        return {"to_properties": to_properties, "declared": declared, "directory_id": node_directory_id}
