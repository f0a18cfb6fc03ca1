# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which fields of AWX's objects differ from ours, and which are their users' (awx/data/fields.yml)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Their values may be secrets, so none is shown.
_UNSAID = ("host_config_key", "extra_vars", "extra_data")
#: How AWX stores that nothing is set, by field and by how it was saved.
_NOTHING: tuple[Any, ...] = (None, "", "{}", "---", "null", {})


def is_same(now: Any, wanted: Any) -> bool:
    """Tell whether two values of a field mean the same: nothing has several forms, but 0 and false are values."""
    plain = now.strip() if isinstance(now, str) else now
    if plain in _NOTHING or wanted in _NOTHING:
        return plain in _NOTHING and wanted in _NOTHING
    return bool(plain == wanted)


def differing(one: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an object that are not as given, with the given values; what this AWX lacks is left out."""
    return {name: value for name, value in fields.items() if name in one and not is_same(one[name], value)}


def told(one: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """Name fields with the values that they have, such as C(forks 20, verbosity 2)."""
    return ", ".join(name if name in _UNSAID else f"{name} {one[name]}" for name in names)
