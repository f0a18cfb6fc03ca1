# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the preflight says of an inventory that is not written yet.

What runs today is no mistake of tomorrow: a rule that may be accepted is accepted by its name, for what is really
there, beside what would mend it. A rule that nobody can accept is a limit of this collection, which refuses the
adoption before anybody relies on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ...module_utils._core.names import capped
from ...module_utils._core.values import UnclearValueError
from ..findings import REFUSE, Finding
from ..inventory.build import build_inventory
from ..inventory.model import PLACEHOLDER, Inventory
from ..inventory.variables import UNDEFINED, HostVariables
from ..specs import role_options
from .ours import GivenReader
from .written import Secret, Text, Value

ACCEPT = "preflight_accept"
#: What stands for a value that people fill in, and for a secret.
_FILLED_IN = "filled-in"
_ADMIN_USER = "kafka_admin_user"
_HOSTS_SHOWN = 8


class Ruling(Protocol):
    """What a rule of preflight says (Violation of preflight/rule.py, which only actions import)."""

    @property
    def name(self) -> str:
        """The rule."""

    @property
    def level(self) -> str:
        """Return error or warning."""

    @property
    def hosts(self) -> Sequence[str]:
        """Return of which hosts it is said."""

    @property
    def what(self) -> str:
        """Return what is wrong."""

    @property
    def found(self) -> str:
        """Return the value."""

    @property
    def fix(self) -> str:
        """Return what mends it."""

    @property
    def acceptable(self) -> bool:
        """Return whether preflight_accept may name the rule."""


Check = Callable[[Inventory], Iterable[Ruling]]


def model(hosts: Mapping[str, Mapping[str, Value]], groups: Mapping[str, Sequence[str]]) -> Inventory:
    """Return the model of hosts by their variables, when people have filled in what only they know."""
    given = {name: _filled_in(variables) for name, variables in hosts.items()}
    reader = GivenReader(given, groups, "", Templar(loader=DataLoader()))
    read = build_inventory(lambda host: _known(reader.read(host)), groups)
    return replace(read, known_variables=tuple(sorted(role_options())))


def _filled_in(variables: Mapping[str, Value]) -> dict[str, Value]:
    """Return variables as they are when people have filled them in; the administrator is a super user, if there are."""
    given = {name: _text(value) for name, value in variables.items()}
    super_users = given.get("kafka_super_users")
    if variables.get(_ADMIN_USER) == PLACEHOLDER and isinstance(super_users, Sequence) and super_users:
        given[_ADMIN_USER] = super_users[-1]
    return given


def _text(value: Value) -> Value:
    if isinstance(value, Secret):
        return _FILLED_IN
    if isinstance(value, Text):
        return "".join(part if isinstance(part, str) else _FILLED_IN for part in value.parts)
    if isinstance(value, str):
        return value.replace(PLACEHOLDER, _FILLED_IN)
    if isinstance(value, Mapping):
        return {key: _text(part) for key, part in value.items()}
    return [_text(part) for part in value] if isinstance(value, Sequence) else value


def _known(variables: HostVariables) -> dict[str, object]:
    """Return variables as rules read them, which pass over what cannot be templated or typed."""
    known: dict[str, object] = {}
    for name in variables:
        try:
            known[name] = variables[name]
        except (AnsibleError, UnclearValueError):
            known[name] = UNDEFINED
    return known


def accepted(rulings: Iterable[Ruling]) -> tuple[dict[str, list[str]], list[Finding]]:
    """Return by name the rules to accept, each with lines that say what and what would mend it, and what refuses."""
    names: dict[str, list[str]] = {}
    findings: list[Finding] = []
    for ruling in rulings:
        if ruling.level != "error":
            continue
        what = f"{capped(ruling.hosts, _HOSTS_SHOWN)}: {ruling.what}{f' ({ruling.found})' if ruling.found else ''}"
        if ruling.acceptable:
            lines = names.setdefault(ruling.name, [f"{ruling.name}, until somebody does this: {ruling.fix}"])
            lines.append(f"  {what}")
        else:
            findings.append(
                Finding(REFUSE, f"preflight would refuse what runs, {what} (rule {ruling.name})", ruling.fix)
            )
    return names, findings
