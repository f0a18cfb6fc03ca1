# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a preflight rule is: a decorated function that yields the problems it sees.

    @rule(variable="kafka_listeners", fix="give each listener its own port")
    def listener_port_twice(inventory):
        '''Two listeners of a node have the same port.'''
        ...
        yield Problem(node, "listeners A and B have the same port", found="9092")

The function's name is the rule's name, its docstring the line of docs/preflight.md; every file in the folder rules is
read, so a rule is listed nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from ...module_utils._core.names import capped

ERROR = "error"
WARNING = "warning"
#: An error in a cluster of the production profile, a warning in one for development.
BY_PROFILE = "error, in development a warning"
_HOSTS_SHOWN = 8


@dataclass(frozen=True)
class Problem:
    """One thing that a rule found wrong: where, and what. What it leaves out is that of its rule.

    where -- a node, a host, a cluster, or the names of hosts
    found, allowed -- the value, and what would be right; never a secret
    variable, fix, level -- instead of the rule's own
    """

    where: Any
    what: str
    found: Any = ""
    allowed: str | None = None
    fix: str | None = None
    variable: str | None = None
    level: str | None = None


@dataclass(frozen=True)
class Rule:
    """A rule: its name, and what its problems share.

    subject -- "inventory" or "hosts": whether it needs the answers of the hosts
    text -- what it refuses, as a sentence for docs/preflight.md
    acceptable -- whether preflight_accept may name it
    """

    name: str
    subject: str
    text: str
    fix: str
    variable: str
    allowed: str
    level: str
    acceptable: bool
    find: Callable[[Any], Iterable[Problem]]

    def violations(self, checked: Any) -> Iterator[Violation]:
        """The problems that the rule finds in an Inventory, or in a list of Host, with all that it says of each."""
        for problem in self.find(checked):
            yield Violation(
                name=self.name,
                level=problem.level or self.level,
                hosts=host_names(problem.where),
                variable=_first(problem.variable, self.variable),
                what=problem.what,
                found=str(problem.found),
                allowed=_first(problem.allowed, self.allowed),
                fix=_first(problem.fix, self.fix),
                acceptable=self.acceptable,
            )


#: All rules by name, filled by the decorators.
RULES: dict[str, Rule] = {}


def rule(
    *,
    fix: str,
    variable: str = "",
    allowed: str = "",
    level: str = ERROR,
    acceptable: bool = False,
    subject: str = "inventory",
) -> Callable[[Callable[[Any], Iterable[Problem]]], Callable[[Any], Iterable[Problem]]]:
    """Make a rule of a function that takes the Inventory; see Rule and Problem for the keywords."""

    def decorate(find: Callable[[Any], Iterable[Problem]]) -> Callable[[Any], Iterable[Problem]]:
        """Keep the rule under the function's name."""
        text = " ".join((find.__doc__ or "").split())
        known = RULES.setdefault(
            find.__name__, Rule(find.__name__, subject, text, fix, variable, allowed, level, acceptable, find)
        )
        if known.find is not find:
            raise ValueError(f"two rules have the name {find.__name__}")
        return find

    return decorate


#: The same for a function that takes the list of Host.
host_rule = partial(rule, subject="hosts")


@dataclass(frozen=True)
class Violation:
    """One breach of a rule; acceptable tells a rule of prudence from what cannot work."""

    name: str
    level: str
    hosts: tuple[str, ...]
    variable: str
    what: str
    found: str
    allowed: str
    fix: str
    acceptable: bool = False
    accepted: bool = False

    @property
    def where(self) -> str:
        """The hosts and the variable, a long list of hosts cut with the number of the rest."""
        hosts = capped(self.hosts, _HOSTS_SHOWN)
        return f"{hosts}: {self.variable}" if self.variable else hosts

    def sentence(self) -> str:
        """The breach as one plain sentence."""
        named = (("found", self.found), ("allowed", self.allowed))
        found = ", ".join(f"{name}: {value}" for name, value in named if value)
        accept = ""
        if self.accepted:
            accept = " (accepted by preflight_accept)"
        elif self.acceptable:
            accept = f", or accept it with preflight_accept: [{self.name}]"
        return f"{self.where}: {self.what}{f' ({found})' if found else ''}; fix: {self.fix}{accept}."

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


def host_names(where: Any) -> tuple[str, ...]:
    """The inventory names of a node, a host, a cluster, or of a sequence of those or of names."""
    if isinstance(where, str):
        return (where,)
    if isinstance(where, Iterable):
        return tuple(dict.fromkeys(name for one in where for name in host_names(one)))
    return where.hosts if hasattr(where, "hosts") else (where.name,)


def _first(own: str | None, common: str) -> str:
    return common if own is None else own
