# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The argument specs of roles and modules, read from where they stand, and the check of one entry of a list."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.yaml import yaml_load
from ansible.parsing.plugin_docs import read_docstring

Spec = Mapping[str, Mapping[str, Any]]

ROOT = Path(__file__).resolve().parents[2]


@cache
def role_options(*roles: str) -> Spec:
    """By variable the option of the argument specs of these roles, of all entry points; without names of all roles."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted((ROOT / "roles").glob("*/meta/argument_specs.yml")):
        if not roles or path.parts[-3] in roles:
            for entry in yaml_load(path.read_text())["argument_specs"].values():
                found.update(entry.get("options") or {})
    return found


@cache
def module_options(module: str) -> Spec:
    """The options of one of our modules, as its documentation has them."""
    documented = read_docstring(str(ROOT / "plugins" / "modules" / f"{module}.py"))
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
            yield key, nearest(key, known)


def nearest(name: str, known: Any, cutoff: float = 0.75) -> str:
    """The advice for an unknown name: the nearest known one, when one is near."""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=cutoff)
    return f"perhaps {near[0]} is meant" if near else "correct it or remove it"
