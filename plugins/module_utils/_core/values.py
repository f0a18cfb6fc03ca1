# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a boolean, a number or a text of the inventory means: roles, filters and preflight rules ask here.

A survey, an INI inventory and C(-e key=value) give text, of which Jinja and Python take every word for true, C(false)
too. The words are those that Ansible's own modules take; what is none of them is refused, never guessed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from ansible.module_utils.common.validation import check_type_bool, check_type_float

if TYPE_CHECKING:
    from typing import TypeAlias


#: What each type of an argument spec takes, in words.
ALLOWED = {
    "bool": "true or false (or yes and no, on and off, 1 and 0)",
    "int": "a whole number in digits",
    "float": "a number in digits",
}
_KINDS = {"bool": "neither true nor false", "int": "no whole number", "float": "no number"}
#: The least and the most of a number; None: there is none.
Limits: TypeAlias = Sequence[Optional[float]]
NO_LIMITS: Limits = (None, None)
# With an exponent too, as JSON and YAML write floats.
_FLOAT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


class UnclearValueError(ValueError):
    """A value that is not what its variable holds: C(name), C(found) and C(allowed) say which, and what would be."""

    def __init__(self, name: str, kind: str, value: Any, limits: Limits = NO_LIMITS, *, is_far: bool = False) -> None:
        wrong, self.name = "out of its range" if is_far else _KINDS[kind], name
        self.what, self.allowed = f"the value is {wrong}", ALLOWED[kind] + _range(limits)
        self.found = "null" if value is None else repr(str(value)) if isinstance(value, str) else str(value)
        super().__init__(f"{name} is {wrong} (found: {self.found}, allowed: {self.allowed})")


def _range(limits: Limits) -> str:
    least, most = limits
    if most is None:
        return "" if least is None else f", {least} or more"
    return f", from {least} to {most}"


def to_boolean(value: Any, name: str) -> bool:
    """True or false, from itself or from text; UnclearValueError, which names the variable, for anything else."""
    return bool(_converted(check_type_bool, value, name, "bool"))


def to_integer(value: Any, name: str, limits: Limits = NO_LIMITS) -> int:
    """A whole number, from itself or from text; UnclearValueError, which names the variable, for anything else."""
    return int(_converted(_whole, value, name, "int", limits))


def to_number(value: Any, name: str, limits: Limits = NO_LIMITS) -> float:
    """A number, from itself or from text; UnclearValueError, which names the variable, for anything else."""
    return float(_converted(_finite, value, name, "float", limits))


#: By the type in an argument spec, what converts a value of it.
CONVERSIONS: Mapping[str, Callable[..., Any]] = {"bool": to_boolean, "int": to_integer, "float": to_number}


def typed(
    value: Any, option: Mapping[str, Any], name: str, unknown: Any = None
) -> tuple[Any, tuple[UnclearValueError, ...]]:
    """The value with each boolean and number in it converted, and what in it is unclear, which stays as it is.

    option -- what an argument spec says of the variable; entries of lists and dicts are converted as its C(options)
    say, where null is the same as left out. Its C(range), which no spec of Ansible has, is the least and the most
    unknown -- stands for a value that nobody knows yet: it stays
    """
    kind = option.get("type", "str")
    if value is unknown and value is not None:
        return value, ()
    if kind in CONVERSIONS:
        try:
            return CONVERSIONS[kind](value, name, **({"limits": option["range"]} if "range" in option else {})), ()
        except UnclearValueError as unclear:
            return value, (unclear,)
    if kind == "list" and isinstance(value, (list, tuple)):
        element = {"type": option.get("elements", "raw"), "options": option.get("options", {})}
        parts = [typed(part, element, f"{name}[{index}]", unknown) for index, part in enumerate(value)]
        return [part for part, _unclear in parts], tuple(one for _part, found in parts for one in found)
    if kind == "dict" and isinstance(value, Mapping):
        fields = {key: part for key, part in (option.get("options") or {}).items() if value.get(key) is not None}
        inner = {key: typed(value[key], part, f"{name}.{key}", unknown) for key, part in fields.items()}
        known = {key: part for key, (part, _unclear) in inner.items()}
        return {**value, **known}, tuple(one for _part, found in inner.values() for one in found)
    return value, ()


def all_typed(
    variables: Mapping[str, Any], options: Mapping[str, Mapping[str, Any]], unknown: Any = None
) -> tuple[dict[str, Any], tuple[UnclearValueError, ...]]:
    """All variables of a host as `typed` makes them of the argument specs, and all that is unclear in them."""
    read = {
        name: typed(variables[name], option, name, unknown) for name, option in options.items() if name in variables
    }
    known = {name: value for name, (value, _unclear) in read.items()}
    return {**variables, **known}, tuple(one for _value, found in read.values() for one in found)


def _whole(value: Any) -> int:
    """As check_type_int, which takes 1e999999999 too and then computes its digits for hours."""
    if isinstance(value, str) and not re.fullmatch(r"[+-]?[0-9]+(\.0*)?", value):
        raise ValueError(value)
    number = int(value.partition(".")[0] if isinstance(value, str) else value)
    if isinstance(value, float) and number != value:
        raise ValueError(value)
    return number


def _finite(value: Any) -> float:
    """As check_type_float, which takes what Python reads: "1_000", the digits of other scripts, and no number (nan)."""
    if isinstance(value, str) and not _FLOAT.fullmatch(value):
        raise ValueError(value)
    number = float(check_type_float(value))
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _converted(convert: Callable[[Any], Any], value: Any, name: str, kind: str, limits: Limits = NO_LIMITS) -> Any:
    if value is None or (isinstance(value, bool) and kind != "bool"):
        raise UnclearValueError(name, kind, value, limits)
    try:
        known = convert(value.strip() if isinstance(value, str) else value)
    except (TypeError, ValueError, ArithmeticError):
        raise UnclearValueError(name, kind, value, limits) from None
    least, most = limits
    if (least is not None and known < least) or (most is not None and known > most):
        raise UnclearValueError(name, kind, value, limits, is_far=True)
    return known
