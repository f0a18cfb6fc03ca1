"""Read JSON so that nothing of it is lost or made up, and write it again. Pure.

A number keeps its digits, and what Python would read in its own way is no JSON here: an object that has a name twice,
NaN, or nesting that is deeper than anyone reads.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: Deepest nesting that is read.
DEEPEST = 64
_INDENT = "  "
#: Made once, since json.dumps makes an encoder for each value.
_encoded = json.JSONEncoder(ensure_ascii=False).encode


class Number(str):
    """A number as it is written."""

    __slots__ = ()


class NoTreeError(ValueError):
    """A text that is no JSON object or list, or none that is shown as one."""


def tree_of(text: str) -> Any:
    """Return the object or list in a text, with numbers as C(Number). Raises NoTreeError."""
    # What may stand before it (a mark of the order of bytes among it) is no part of it.
    bare = text.lstrip("\ufeff \t\r\n")
    if not bare.startswith(("{", "[")):
        raise NoTreeError
    try:
        found = json.loads(bare, object_pairs_hook=_once, parse_int=Number, parse_float=Number, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise NoTreeError from None
    if _is_deeper(found, DEEPEST):
        raise NoTreeError
    return found


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise NoTreeError
        found[name] = value
    return found


def _refused(_word: str) -> Any:
    raise NoTreeError


def _is_deeper(tree: Any, most: int) -> bool:
    level = [tree]
    for _depth in range(most):
        level = [one for many in level for one in _within(many)]
        if not level:
            return False
    return True


def _within(value: Any) -> Iterable[Any]:
    inner: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (one for one in inner if isinstance(one, dict | list))


def compact(tree: Any) -> str:
    """Return a tree as one line."""
    parts: list[str] = []
    _put(tree, parts.append)
    return "".join(parts)


def _put(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, dict) and value:
        for at, (name, one) in enumerate(value.items()):
            put(("," if at else "{") + _encoded(name) + ":")
            _put(one, put)
        put("}")
    elif isinstance(value, list) and value:
        for at, one in enumerate(value):
            put("," if at else "[")
            _put(one, put)
        put("]")
    else:
        put(_leaf(value))


def _leaf(value: Any) -> str:
    return str(value) if isinstance(value, Number) else _encoded(value)


def pretty(tree: Any, most: int) -> tuple[str, bool]:
    """Return a tree over several lines, of at most C(most) characters, and whether it was cut.

    Spaces before lines could make a thousand bytes of brackets a hundred thousand, so it ends while it is written.
    """
    parts: list[str] = []
    length = 0
    for part in _written(tree, 0):
        parts.append(part)
        length += len(part)
        if length > most:
            return "".join(parts)[:most], True
    return "".join(parts), False


def _written(value: Any, depth: int) -> Iterator[str]:
    if not isinstance(value, dict | list) or not value:
        yield _leaf(value)
        return
    is_object = isinstance(value, dict)
    start, end = ("\n" + _INDENT * one for one in (depth + 1, depth))
    yield "{" if is_object else "["
    for at, one in enumerate(value):
        yield ("," if at else "") + start
        if is_object:
            yield _encoded(one) + ": "
        yield from _written(value[one] if is_object else one, depth + 1)
    yield end + ("}" if is_object else "]")
