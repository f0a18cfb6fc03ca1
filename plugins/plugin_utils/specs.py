# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The argument specs of roles and modules, and the check of one entry of a list."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.parsing.plugin_docs import read_docstring

from ..module_utils._core.names import nearest

Spec = Mapping[str, Mapping[str, Any]]

MODULES = Path(__file__).resolve().parents[1] / "modules"
#: The argument specs of all roles without their prose, made by tools/make_specs: to parse a thousand lines of YAML
#: costs each process a tenth of a second.
SPECS = Path(__file__).with_name("specs.json")


@cache
def role_options(*roles: str) -> Spec:
    """By variable the option of the argument specs of these roles, of all entry points; without names of all roles."""
    specs = json.loads(SPECS.read_text())
    return {name: option for role in roles or specs for name, option in specs[role].items()}


@cache
def module_options(module: str) -> Spec:
    """The options of one of our modules, as its documentation has them."""
    documented = read_docstring(str(MODULES / f"{module}.py"))
    return _as_spec(documented["doc"]["options"])


def _as_spec(documented: Spec) -> dict[str, dict[str, Any]]:
    """Documented options as an argument spec, which has another word for the options of an option."""
    return {
        name: {**option, "options": _as_spec(option["suboptions"])} if "suboptions" in option else dict(option)
        for name, option in documented.items()
    }


def checked(entry: Mapping[str, Any], options: Spec) -> tuple[dict[str, Any], list[str]]:
    """An entry with its values converted and its defaults, and what Ansible says is wrong with it.

    Null is the same as left out; an empty text is missing where a value is required.
    """
    empty = (None, "")
    given = {
        key: value
        for key, value in entry.items()
        if value is not None and not (options.get(key, {}).get("required") and value in empty)
    }
    result = ArgumentSpecValidator(dict(options)).validate(given)
    return dict(result.validated_parameters), list(result.error_messages)


def unknown_keys(entry: Mapping[str, Any], options: Spec) -> Iterator[tuple[str, str]]:
    """The keys of an entry that no option has, each with the advice what to write."""
    known = [name for key, option in options.items() for name in (key, *option.get("aliases", ()))]
    for key in map(str, entry):
        if key not in known:
            yield key, advice(key, known)


def advice(name: str, known: Any, cutoff: float = 0.75) -> str:
    """The advice for an unknown name: the nearest known one, when one is near."""
    near = nearest(name, sorted(known), cutoff)
    return f"perhaps {near} is meant" if near else "correct it or remove it"
