# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which fields of AWX's objects differ from ours, and which are their users' (awx/data/fields.yml)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

#: Their values may be secrets, so none is shown.
_UNSAID = ("host_config_key", "extra_vars", "extra_data")
_PROMPT = re.compile(r"ask_(.+)_on_launch")
#: What a schedule or a step gives, where AWX calls it otherwise than the flag that asks for it.
_GIVEN = {"tags": "job_tags", "variables": "extra_data"}
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


def prompted(flags: Iterable[str]) -> list[str]:
    """Return the fields of schedules and steps that flags of a template (ask_limit_on_launch...) have AWX take."""
    words = [found[1] for flag in flags if (found := _PROMPT.fullmatch(flag))]
    return [_GIVEN.get(word, word) for word in words]


def ignored(one: Mapping[str, Any], lost: Iterable[str], asked: Collection[str]) -> dict[str, Any]:
    """Return what a schedule or a step gives in these fields; of answers those that the survey does not ask for."""
    given = {name: one[name] for name in lost if name in one and not is_same(one[name], None)}
    if not set(given.get("extra_data", ())) - set(asked):
        given.pop("extra_data", None)
    return given


def told(one: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """Name fields with the values that they have, such as C(forks 20, verbosity 2)."""
    return ", ".join(name if name in _UNSAID else f"{name} {one[name]}" for name in names)
