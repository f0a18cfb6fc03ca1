# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One breach of a preflight rule, and how a list of them is merged and written for a person."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

ERROR = "error"
WARNING = "warning"
_HOSTS_SHOWN = 8
_WIDTH = 110


@dataclass(frozen=True)
class Violation:
    """What, where (hosts and variable), found, allowed, way out of one breach.

    policy tells a rule of prudence, which preflight_accept may override by name, from something that cannot work.
    """

    rule: str
    level: str
    hosts: tuple[str, ...]
    variable: str
    what: str
    found: str
    allowed: str
    way_out: str
    policy: bool = False

    @property
    def where(self) -> str:
        """The hosts and the variable, a long list of hosts cut with the number of the rest."""
        shown = ", ".join(self.hosts[:_HOSTS_SHOWN])
        rest = len(self.hosts) - _HOSTS_SHOWN
        hosts = f"{shown} and {rest} more" if rest > 0 else shown
        return f"{hosts}: {self.variable}" if self.variable else hosts

    def sentence(self) -> str:
        """The breach as one plain sentence."""
        allowed = f", allowed: {self.allowed}" if self.allowed else ""
        return f"{self.where}: {self.what} (found: {self.found}{allowed}); way out: {self.way_out}."

    def result(self) -> dict[str, Any]:
        """The breach as a dict for a task's result."""
        return {**asdict(self), "hosts": list(self.hosts), "where": self.where}


def merge(violations: Iterable[Violation]) -> list[Violation]:
    """The violations with those that differ in their hosts only made one, errors before warnings, in rule order."""
    hosts: dict[Violation, list[str]] = {}
    for violation in violations:
        named = hosts.setdefault(replace(violation, hosts=()), [])
        named.extend(host for host in violation.hosts if host not in named)
    merged = [replace(violation, hosts=tuple(named)) for violation, named in hosts.items()]
    return sorted(merged, key=lambda violation: violation.level != ERROR)


def accept(violation: Violation, accepted: Sequence[str]) -> Violation:
    """The violation as a warning when it is a matter of policy and its row is accepted by name."""
    if violation.level == ERROR and violation.policy and violation.rule in accepted:
        return replace(violation, level=WARNING, what=f"{violation.what} (accepted by preflight_accept)")
    return violation


def message(violations: Sequence[Violation], titles: dict[str, str]) -> str:
    """All violations as one readable text: a count, then one paragraph for each row of the table."""
    errors = sum(violation.level == ERROR for violation in violations)
    warnings = len(violations) - errors
    count = f"{errors} error{'s' * (errors != 1)}"
    if warnings:
        count += f" and {warnings} warning{'s' * (warnings != 1)}"
    parts = [f"{count} found before any change; nothing was touched."]
    for level in (ERROR, WARNING):
        of_level = [violation for violation in violations if violation.level == level]
        for rule in dict.fromkeys(violation.rule for violation in of_level):
            lines = [_item(violation) for violation in of_level if violation.rule == rule]
            parts.append("\n".join([f"{level.upper()} {rule}, {titles[rule]}:", *lines]))
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
