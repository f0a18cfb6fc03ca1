# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Features as a step of their own: which levels a cluster gets, what speaks against that, and its plan on one screen.

No node restarts, so replicas and moves do not matter. What the cluster itself says of the levels comes as what the
module features returned in check mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._features.levels import IN_ORDER, KRAFT, shown
from ...module_utils._release.releases import like
from ..findings import REFUSE, Finding, refused
from ..guards.versions import goes_back
from . import checks
from .model import LEVELS, ClusterFacts, Outcome, findings_of, names
from .path import KRAFT as KRAFT_MODE
from .path import mode_of
from .plan import lines_of, outcome_line

#: The start of a line that goes on.
_INDENT = " " * 13


def wanted_levels(facts: ClusterFacts, by_hand: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the state of the module features, and the levels: those that are named, else those of a new cluster.

    A level that is named holds as it is. A new cluster's is the least one, and kraft.version has none: it is raised for
    a dynamic quorum, not after an upgrade.
    """
    if by_hand:
        return "present", dict(by_hand)
    known = like(facts.target)
    new = known.new_cluster if known else {}
    ordered = [*IN_ORDER, *(name for name in new if name not in IN_ORDER)]
    return "at_least", {name: new[name] for name in ordered if name != KRAFT and new.get(name)}


def check_finalize(facts: ClusterFacts, raising: Mapping[str, Any], unclear: str = "") -> list[Outcome]:
    """Apply every rule that matters to features.

    raising -- what the module features returned, or empty; unclear -- why the levels by hand cannot be read, or empty
    """
    if mode_of(facts.mode) != KRAFT_MODE:
        return [_zookeeper_mode(facts)]
    levels = _levels(facts, raising, unclear)
    return [_nodes(facts), _releases(facts), checks.quorum(facts), checks.registrations(facts), levels]


def finalize_lines(facts: ClusterFacts, outcomes: Sequence[Outcome], raising: Mapping[str, Any]) -> list[str]:
    """Return the plan on one screen: each feature from where to where, what that brings, and the way back."""
    refusals = refused(findings_of(outcomes))
    nodes = f"{len(facts.kafka)} node{'s' * (len(facts.kafka) != 1)}"
    return [
        f"Finalize     {facts.name}: Kafka {' and '.join(facts.running) or 'unknown'} on {nodes}",
        *_raised(raising),
        *([] if refusals or raising.get("changes") else [f"Raise -      {_nothing_left(raising)}"]),
        *_kept(facts, raising),
        *map(outcome_line, outcomes),
        *lines_of(outcomes),
    ]


def done_lines(facts: ClusterFacts, done: Mapping[str, Any]) -> list[str]:
    """Return what was raised, by what the module features returned."""
    changes = [f"{_INDENT}{_step(one)}" for one in done.get("changes") or ()]
    if not changes:
        return [f"Finalised    {facts.name}: {_nothing_left(done)}"]
    count = f"{len(changes)} feature{'s' * (len(changes) != 1)}"
    return [f"Finalised    {facts.name}: {count} raised, no node restarted", *changes]


def _zookeeper_mode(facts: ClusterFacts) -> Outcome:
    if any("controller" in node.roles for node in facts.kafka):
        # Kafka supports no change of metadata.version or inter.broker.protocol.version during a migration, and warns
        # that it may break the cluster (its page of the migration, "Limitations").
        what = "the cluster is on its way from ZooKeeper to KRaft, where Kafka supports no change of metadata.version"
        fix = "finish the migration by migrate_to_kraft.yml, set kafka_mode to kraft_isolated, then raise the features"
        return Outcome("Mode", "KRaft", (Finding(REFUSE, what, fix),))
    what = "the cluster is in ZooKeeper mode, which finalises no features"
    fix = (
        "set inter.broker.protocol.version in kafka_config to the release that all brokers run "
        f"({'.'.join(facts.target.split('.')[:2])}), and run playbook site, which restarts them one by one"
    )
    return Outcome("Mode", "KRaft", (Finding(REFUSE, what, fix),))


def _nodes(facts: ClusterFacts) -> Outcome:
    """Refuse nodes that did not answer, that nothing was ever installed on, or that are stopped."""

    def found() -> Iterator[Finding]:
        yield from refused(checks.machines(facts).findings)
        if stopped := [node for node in facts.kafka if node.runs and not node.running and not node.silence]:
            yield Finding(REFUSE, f"{names(stopped)} is stopped", "start it by playbook site")

    return Outcome("Nodes", f"all {len(facts.nodes)} run", tuple(found()))


def _releases(facts: ClusterFacts) -> Outcome:
    """Refuse nodes on another release than the one whose features are wanted."""

    def found() -> Iterator[Finding]:
        if like(facts.target) is None:
            what = f"this collection does not have Kafka {facts.target}"
            yield Finding(REFUSE, what, f"set kafka_version to one of {', '.join(facts.known)}")
        for runs in facts.running:
            if runs == facts.target:
                continue
            what = f"{names(node for node in facts.kafka if node.runs == runs)} runs Kafka {runs}, and kafka_version is"
            older = goes_back(facts.target, runs)
            fix = "bring it there by playbook upgrade first" if older else f"set kafka_version to {runs} first"
            yield Finding(REFUSE, f"{what} {facts.target}", fix)

    return Outcome("Releases", f"{facts.target} on all nodes", tuple(found()))


def _levels(facts: ClusterFacts, raising: Mapping[str, Any], unclear: str) -> Outcome:
    """Refuse levels that cannot be read, and those that the nodes or the controller refuse."""
    if unclear:
        fix = f'name each feature with its level: -e \'{{"{LEVELS}": {{"metadata.version": "4.0"}}}}\', or leave it out'
        return Outcome("Levels", "not known", (Finding(REFUSE, unclear, fix),))
    # What a cluster that does not answer says of it was said already.
    silent = facts.info is None or "changes" in raising or not raising
    failure = raising.get("failure") or {}
    reasons: Iterable[str] = [] if silent else failure.get("violations") or [_one_line(raising.get("msg"))]
    fine = "all taken by the cluster" if "changes" in raising else "not known"
    return Outcome("Levels", fine, tuple(Finding(REFUSE, one) for one in reasons))


def _raised(raising: Mapping[str, Any]) -> Iterator[str]:
    for place, one in enumerate(raising.get("changes") or (), start=1):
        yield f"Raise {f'{place}.':<7}{_step(one)}"
        yield f"{_INDENT}{one['brings']}"
        yield f"{_INDENT}{one['way_back']}"


def _step(change: Mapping[str, Any]) -> str:
    name = change["feature"]
    return f"{name} {shown(name, change['from'])} -> {shown(name, change['to'])}"


def _kept(facts: ClusterFacts, raising: Mapping[str, Any]) -> Iterator[str]:
    """Name the finalised features that stay as they are."""
    moved = {one["feature"] for one in raising.get("changes") or ()}
    stay = {
        name: level for name, level in sorted(((facts.info or {}).get("features") or {}).items()) if name not in moved
    }
    if stay:
        yield f"Stays        {', '.join(f'{name} {level}' for name, level in stay.items())}"


def _nothing_left(result: Mapping[str, Any]) -> str:
    return f"nothing is left to raise ({', '.join(result.get('unchanged') or ()) or 'no feature'} as wanted)"


def _one_line(text: Any) -> str:
    return " ".join(str(text or "the cluster did not say what it takes").split())
