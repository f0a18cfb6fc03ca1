# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads `mirror_flows` as inventories and modules have it, where text may stand for what is true and for numbers. Pure.

What flows mean is in _mirror/flows.py, which needs no Ansible, so that the page can use it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._core.errors import StreamopsError
from .._core.values import UnclearValueError, to_boolean, to_integer
from .flows import (
    BOOLEANS,
    KEYS,
    LEGACY,
    LEGACY_ONLY,
    LISTS,
    MIRROR_MAKER_2,
    REQUIRED,
    Flow,
    problems_between,
    value_complaints,
)
from .status import ALIVE, HEARTBEATS


class OptionsError(StreamopsError):
    """Options that do not go together."""


def read_flows(raw: Sequence[Mapping[str, Any]] | None) -> list[Flow]:
    """The flows of a list as an inventory has it (null: none); ValueError with everything that is wrong with it."""
    raw = [] if raw is None else raw
    problems = flow_problems(raw)
    if problems:
        raise ValueError("; ".join(f"{path}: {complaint}" for path, complaint in problems))
    return [Flow(**_values(item)) for item in raw]


def flow_of(params: Mapping[str, Any]) -> Flow:
    """The flow that a module's parameters describe; OptionsError with everything that is wrong with it."""
    try:
        flow = read_flows([{key: params[key] for key in KEYS if params.get(key) is not None}])[0]
    except ValueError as error:
        raise OptionsError(f"mirror: {str(error).replace('mirror_flows[0].', '')}. Nothing was looked at.") from error
    asked = next((f"{name} is {params[name]}" for name in HEARTBEATS if params.get(name)), "")
    if flow.engine == LEGACY and (asked or params.get("state") == ALIVE):
        raise OptionsError(
            f"mirror {flow.pair}: {asked or 'state is alive'}, but the engine legacy sends no heartbeats; leave "
            f"{' and '.join(HEARTBEATS)} at 0, and take another state. Nothing was looked at."
        )
    if params.get("state") == ALIVE and not asked:
        raise OptionsError(
            f"mirror {flow.pair}: state is alive, but nothing says how young a heartbeat must be; set one of "
            f"{', '.join(HEARTBEATS)}. Nothing was looked at."
        )
    return flow


def flow_problems(raw: Any) -> list[tuple[str, str]]:
    """Everything that one can see is wrong with mirror_flows by itself: (where, what was found and is allowed)."""
    if not isinstance(raw, Sequence) or isinstance(raw, str):
        return [("mirror_flows", f"is a list of flows, found {type(raw).__name__}")]
    found = [problem for number, item in enumerate(raw) for problem in _item_problems(f"mirror_flows[{number}]", item)]
    return found or list(problems_between(raw))


def is_enabled(item: Mapping[str, Any]) -> bool:
    """Return whether an entry of mirror_flows is to run, also where something else is wrong with it."""
    try:
        return item.get("enabled") is None or to_boolean(item["enabled"], "enabled")
    except UnclearValueError:
        return True


def _values(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _value(key, value) for key, value in item.items() if value is not None}


def _value(key: str, value: Any) -> Any:
    if key in LISTS:
        return tuple(value)
    if key in BOOLEANS:
        return to_boolean(value, key)
    return to_integer(value, key) if key == "streams" else value


def _item_problems(path: str, item: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(item, Mapping):
        yield path, f"is a mapping with {', '.join(REQUIRED)}, found {type(item).__name__}"
        return
    for key in sorted(map(str, set(item) - set(KEYS))):
        yield f"{path}.{key}", f"is not known; known are {', '.join(KEYS)}"
    for key in REQUIRED:
        if not item.get(key):
            yield f"{path}.{key}", "is required"
    for key in KEYS:
        if item.get(key) is not None:
            yield from ((f"{path}.{key}", complaint) for complaint in _value_complaints(key, item[key]))
    if item.get("engine", MIRROR_MAKER_2) != LEGACY:
        for key in LEGACY_ONLY:
            if key in item:
                yield f"{path}.{key}", "belongs to engine legacy; MirrorMaker 2 takes native properties in config"
    elif item.get("config"):
        yield f"{path}.config", "belongs to MirrorMaker 2; engine legacy takes consumer_config and producer_config"


def _value_complaints(key: str, value: Any) -> Iterator[str]:
    if key in BOOLEANS and is_unclear(key, value):
        yield f"is true or false, found {value!r}"
    elif key == "streams" and is_unclear(key, value):
        yield f"is a number of 1 or more, found {value!r}"
    else:
        yield from value_complaints(key, value)


def is_unclear(key: str, value: Any) -> bool:
    """Return whether the value of a key that is true or false, or a number from 1, is none of these."""
    if key not in (*BOOLEANS, "streams"):
        return False
    try:
        read = to_boolean(value, key) if key in BOOLEANS else to_integer(value, key)
    except UnclearValueError:
        return True
    return key == "streams" and read < 1
