# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Applies all preflight rules to an inventory, or to what the hosts answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

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
