# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Applies all preflight rules to an inventory, or to what the hosts answered, and makes the result of the task."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ..inventory.model import Inventory
from .host import Host
from .mirror_flows import production
from .rule import BY_PROFILE, ERROR, RULES, WARNING, Violation, merge

for _file in sorted((Path(__file__).parent / "rules").glob("*.py")):
    import_module(f"{__package__}.rules.{_file.stem}")


@dataclass(frozen=True)
class Policy:
    """What the cluster of a host says about its rules: the profile, and preflight_accept."""

    production: bool
    accepted: Sequence[str]


def check_inventory(inventory: Inventory) -> list[Violation]:
    """All that is wrong with an inventory, errors first."""
    return _check("inventory", inventory, policies_of(inventory))


def check_hosts(hosts: Sequence[Host]) -> list[Violation]:
    """All that is wrong with what the hosts answered, errors first."""
    return _check("hosts", hosts, {host.name: Policy(host.production, host.accepted) for host in hosts})


def policies_of(inventory: Inventory) -> dict[str, Policy]:
    """By host the policy of its cluster; a mirror has its own list, and the profile of the cluster that it fills."""
    found = {
        name: Policy(cluster.production, cluster.accepted())
        for cluster in inventory.clusters()
        for name in cluster.hosts
    }
    mirrors = {
        mirror.name: Policy(production(inventory, [mirror.cluster]), mirror.names("preflight_accept"))
        for mirror in inventory.mirrors
    }
    return {**found, **mirrors}


def _check(subject: str, checked: object, policies: Mapping[str, Policy]) -> list[Violation]:
    rules = [one for one in RULES.values() if one.subject == subject]
    judged = (_judged(violation, policies) for one in rules for violation in one.violations(checked))
    return merge(violation for violation in judged if violation is not None)


def _judged(violation: Violation, policies: Mapping[str, Policy]) -> Violation | None:
    """The violation with its level in these clusters: what they accept is a warning, an accepted warning is silent."""
    known = [policies.get(host) for host in violation.hosts]
    level = violation.level
    if level == BY_PROFILE:
        level = ERROR if any(one is None or one.production for one in known) else WARNING
    accepted = known and all(one is not None and violation.name in one.accepted for one in known)
    if not (violation.acceptable and accepted):
        return replace(violation, level=level)
    return replace(violation, level=WARNING, accepted=True) if level == ERROR else None


def failed(violations: Iterable[Violation]) -> bool:
    """True when there is an error among them."""
    return any(violation.level == ERROR for violation in violations)


_WIDTH = 110


def preflight_result(violations: Sequence[Violation], registered: bool) -> dict[str, Any]:
    """The keys of the task's result; with an error the message has the warnings too, else each is shown by itself.

    registered -- whether the task registers its result. A failed task prints all of its result, and the same once
    more as data would hide the message, so the list is left out where nothing can read it.
    """
    found: dict[str, Any] = {"violations": [violation.result() for violation in violations]}
    if failed(violations):
        return dict(found if registered else {}, changed=False, failed=True, msg=message(violations))
    warnings = [f"{one.name}: {one.sentence()}" for one in violations if one.level == WARNING]
    return dict(found, changed=False, warnings=warnings, msg=f"All checks passed, {len(warnings)} warnings.")


def message(violations: Sequence[Violation]) -> str:
    """All violations as one readable text: a count, then one paragraph for each rule."""
    errors = sum(violation.level == ERROR for violation in violations)
    warnings = len(violations) - errors
    count = f"{errors} error{'s' * (errors != 1)}"
    if warnings:
        count += f" and {warnings} warning{'s' * (warnings != 1)}"
    parts = [f"{count} found before any change; nothing was touched."]
    for level in (ERROR, WARNING):
        of_level = [violation for violation in violations if violation.level == level]
        for name in dict.fromkeys(one.name for one in of_level):
            lines = [_item(violation) for violation in of_level if violation.name == name]
            parts.append("\n".join([f"{level.upper()} {name}:", *lines]))
    return "\n\n".join(parts)


def _item(violation: Violation) -> str:
    return textwrap.fill(
        violation.sentence(),
        _WIDTH,
        initial_indent="  - ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
