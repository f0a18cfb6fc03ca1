# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Features of a cluster (KIP-584, KIP-1022), the deciding half: what all nodes could run, and what changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._core.names import capped, near
from .._release.releases import metadata_changes_between
from .levels import CONTROLLERS_REGISTER, IN_ORDER, KRAFT, METADATA, brings, level_name, level_of, shown

UPGRADE, SAFE_DOWNGRADE = "upgrade", "safe_downgrade"
BROKER, CONTROLLER = "broker", "controller"
#: The range of a feature that a node does not announce (QuorumFeatures.DISABLED of Kafka).
_DISABLED = (0, 0)


@dataclass(frozen=True)
class Node:
    """A node and the levels that it announces by feature, each as (lowest, highest).

    C(ranges) is None where it did not tell, and C(why) says why. C(fenced): the broker is registered and takes no part.
    """

    id: int
    kind: str
    ranges: Mapping[str, tuple[int, int]] | None
    fenced: bool = False
    why: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    def range_of(self, feature: str) -> tuple[int, int]:
        """Return the lowest and the highest level that it supports."""
        return (self.ranges or {}).get(feature, _DISABLED)

    def as_dict(self) -> dict[str, Any]:
        """Return the node as the module returns it."""
        ranges = self.ranges
        supported = None if ranges is None else {name: {"min": a, "max": b} for name, (a, b) in sorted(ranges.items())}
        return {"id": self.id, "kind": self.kind, "fenced": self.fenced, "supported": supported, "why": self.why}


@dataclass(frozen=True)
class State:
    """The features of a cluster: the levels that are finalized, and what each node announces.

    C(epoch) is None where nothing is finalized: in ZooKeeper mode.
    """

    finalized: Mapping[str, int]
    epoch: int | None
    nodes: tuple[Node, ...]

    @property
    def known(self) -> list[Node]:
        """Return the nodes that told what they support."""
        return [node for node in self.nodes if node.ranges is not None]

    @property
    def silent(self) -> list[Node]:
        """Return the nodes that did not tell what they support."""
        return [node for node in self.nodes if node.ranges is None]

    def names(self) -> list[str]:
        """Return the names of all features, in the order in which they are raised."""
        announced = {name for node in self.known for name in node.ranges or ()}
        return sorted(announced | set(self.finalized), key=_rank)

    def level(self, feature: str) -> int:
        """Return the level that is finalized, 0 where none is."""
        return self.finalized.get(feature, 0)

    def common(self, feature: str) -> tuple[int, int]:
        """Return the lowest and the highest level that all nodes support which told; the lowest may be above."""
        ranges = [node.range_of(feature) for node in self.known] or [_DISABLED]
        return max(low for low, _high in ranges), min(high for _low, high in ranges)

    def held_by(self, feature: str) -> list[Node]:
        """Return the nodes that support only a lower level than others do."""
        highest = max((node.range_of(feature)[1] for node in self.known), default=0)
        return [node for node in self.known if node.range_of(feature)[1] < highest]

    def below(self) -> list[str]:
        """Return the features that are finalized below what all nodes support; none in ZooKeeper mode."""
        if self.epoch is None:
            return []
        return [name for name in self.names() if self.level(name) < self.common(name)[1]]


@dataclass(frozen=True)
class Step:
    """One feature and the change of its level."""

    feature: str
    before: int
    after: int

    def __str__(self) -> str:
        return f"{self.feature} {shown(self.feature, self.before)} -> {shown(self.feature, self.after)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the step as the module returns it."""
        can, sentence = way_back(self.feature, self.before, self.after)
        return {
            "feature": self.feature,
            "from": self.before,
            "to": self.after,
            "from_name": level_name(self.feature, self.before),
            "to_name": level_name(self.feature, self.after),
            "can_be_taken_back": can,
            "way_back": sentence,
            "brings": brings(self.feature, self.before, self.after)
            if self.after > self.before
            else brings(self.feature, self.after, self.before).replace("It brings", "It takes away", 1),
        }


@dataclass
class Plan:
    """The steps in their order, the features that stay, and why not, where something speaks against it."""

    steps: list[Step] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


def plan_levels(state: State, wanted: Mapping[str, object], upgrade_type: str) -> Plan:
    """Plan the way to these levels: a number, or for metadata.version its name or a release too."""
    plan = _begun(state, wanted)
    levels: dict[str, int] = {}
    for name, value in wanted.items():
        if name not in state.names():
            continue
        level = level_of(name, value)
        if level is None:
            plan.violations.append(_no_level(name, value))
        else:
            levels[name] = level
    return _planned(state, levels, upgrade_type, plan)


def plan_least(state: State, wanted: Mapping[str, object]) -> Plan:
    """Plan the way of these features to at least these levels: what is higher stays."""

    def least(name: str, value: object) -> object:
        level = level_of(name, value)
        return value if level is None else max(level, state.level(name))

    return plan_levels(state, {name: least(name, value) for name, value in wanted.items()}, UPGRADE)


def plan_newest(state: State, names: Iterable[str]) -> Plan:
    """Plan the way of these features to the highest level that all nodes support."""
    listed = list(dict.fromkeys(names))
    plan = _begun(state, listed)
    levels = {name: max(state.common(name)[1], state.level(name)) for name in listed if name in state.names()}
    return _planned(state, levels, UPGRADE, plan)


def way_back(feature: str, before: int, after: int) -> tuple[bool, str]:
    """Say whether a change can be taken back, and how or why not."""
    if after < before:
        return True, f"It can be raised to {shown(feature, before)} again."
    if feature == KRAFT:
        return False, "Kafka never takes kraft.version back."
    changing = metadata_changes_between(before, after) if feature == METADATA else []
    if changing:
        least = changing[-1]
        return False, f"It cannot be taken back below {least}, which changes what the metadata log holds."
    return True, f"It can be taken back to {shown(feature, before)} by a safe downgrade."


def refused_steps(plan: Plan, state: State, refused: Mapping[str, tuple[str, str] | None]) -> list[str]:
    """Say of each step that the controller refused why, and which registrations may be behind it."""
    found = []
    for step in plan.steps:
        error = refused.get(step.feature)
        if error is not None:
            code, why = error
            found.append(f"{step}: the controller refuses it: {why} ({code}){_suspects(state)}")
    return found


def described(state: State, refusals: Mapping[str, str | None], unasked: str | None = None) -> dict[str, Any]:
    """Describe the features for a module's result; C(refusals) is the controller's word about those below.

    C(unasked) says why it could not be asked for that.
    """
    return {
        "epoch": state.epoch,
        "features": [_feature(state, name, refusals) for name in state.names()],
        "below": state.below(),
        "nodes": [node.as_dict() for node in state.nodes],
        "ghosts": [str(node) for node in state.nodes if node.fenced],
        "unknown": [str(node) for node in state.silent],
        "unasked": unasked,
        "lines": [
            *lines(state, refusals),
            *([f"the controller could not be asked what it would refuse: {unasked}"] if unasked else []),
        ],
    }


def lines(state: State, refusals: Mapping[str, str | None]) -> list[str]:
    """Say for people which features are below what all nodes could run, and what keeps features down."""
    said = []
    for name in state.below():
        line = f"{name} is {shown(name, state.level(name))} although all nodes could run "
        line += shown(name, state.common(name)[1])
        why = refusals.get(name)
        said.append(f"{line}; the controller would refuse it: {why}" if why else line)
    for name in state.names():
        held = state.held_by(name)
        if held:
            highest = shown(name, state.common(name)[1])
            said.append(f"{name} cannot be raised above {highest}, the highest level of {_listed(held)}")
    said += [
        f"{node} is registered and fenced: it counts when a feature is raised" for node in state.nodes if node.fenced
    ]
    said += [f"{node} did not tell what it supports: {node.why}" for node in state.silent if not node.fenced]
    return said


def _feature(state: State, name: str, refusals: Mapping[str, str | None]) -> dict[str, Any]:
    level, (low, high) = state.level(name), state.common(name)
    return {
        "name": name,
        "finalized": level,
        "finalized_name": level_name(name, level),
        "min": low,
        "max": high,
        "max_name": level_name(name, high),
        "below": name in state.below(),
        "held_by": [str(node) for node in state.held_by(name)],
        "refusal": refusals.get(name),
    }


def _begun(state: State, names: Iterable[str]) -> Plan:
    """Begin a plan with what speaks against these features whatever their level."""
    listed = list(names)
    if state.epoch is None:
        return Plan(
            violations=[
                "the cluster has no finalized features: it is in ZooKeeper mode, where inter.broker.protocol.version "
                "takes their place; migrate it to KRaft first"
            ]
        )
    known = state.names()
    return Plan(
        violations=[
            f"{name}: no node knows a feature of this name{near(name, known)}; known: {', '.join(known)}"
            for name in listed
            if name not in known
        ]
    )


def _planned(state: State, levels: Mapping[str, int], upgrade_type: str, plan: Plan) -> Plan:
    """Add the steps to these levels to a plan, in their order, with what speaks against each."""
    if state.epoch is None:
        return plan
    for name in sorted(levels, key=_rank, reverse=upgrade_type == SAFE_DOWNGRADE):
        step = Step(name, state.level(name), levels[name])
        if step.before == step.after:
            plan.unchanged.append(name)
            continue
        found = _range_violations(state, step) or _direction_violations(state, step, upgrade_type)
        plan.violations += found
        plan.steps.append(step)
    return plan


def _range_violations(state: State, step: Step) -> list[str]:
    """Say which nodes do not support a level."""
    name, level = step.feature, step.after
    by_range: dict[tuple[int, int], list[Node]] = {}
    for node in state.known:
        low, high = node.range_of(name)
        if not low <= level <= high:
            by_range.setdefault((low, high), []).append(node)
    if not by_range:
        return []
    who = "; ".join(f"{_listed(nodes)}: {low} to {high}" for (low, high), nodes in sorted(by_range.items()))
    low, high = state.common(name)
    allowed = f"ask for a level from {low} to {high}" if low <= high else "no level is supported by all nodes"
    install = ", or have a release that supports it on these nodes first" if level > high else ""
    return [f"{name}: level {shown(name, level)} is not supported by all nodes ({who}); {allowed}{install}"]


def _direction_violations(state: State, step: Step, upgrade_type: str) -> list[str]:
    """Say why a step cannot go where it goes."""
    raised = step.after > step.before
    if raised and upgrade_type == SAFE_DOWNGRADE:
        return [f"{step}: is no downgrade; give upgrade_type upgrade to raise it"]
    if raised:
        return _unregistered(state, step)
    if upgrade_type == UPGRADE:
        return [
            f"{step}: is a downgrade; give upgrade_type safe_downgrade to take it back, or a level from {step.before}"
        ]
    if step.feature == KRAFT:
        return [f"{step}: Kafka never takes kraft.version back; leave it out"]
    changing = metadata_changes_between(step.after, step.before) if step.feature == METADATA else []
    if changing:
        return [
            f"{step}: what the metadata log holds changed with {', '.join(changing)}, so Kafka has no safe way back; "
            f"the lowest level that can be had is {changing[-1]}. This module never asks for an unsafe downgrade"
        ]
    return []


def _unregistered(state: State, step: Step) -> list[str]:
    """Say which controllers nothing is known of: below 3.7-IV0 the cluster itself does not know what they support."""
    blind = [node for node in state.silent if node.kind == CONTROLLER]
    if not blind or state.level(METADATA) >= CONTROLLERS_REGISTER:
        return []
    why = "; ".join(f"{node}: {node.why}" for node in blind)
    return [
        f"{step}: the levels of {_listed(blind)} are unknown: controllers register them from metadata.version 3.7-IV0 "
        f"on, and the question to their listener failed ({why}); let this host reach it, and see "
        "controller_protocol"
    ]


def _suspects(state: State) -> str:
    """Name the registrations that nothing is known of, for the end of a sentence."""
    fenced = [node for node in state.nodes if node.fenced]
    if not fenced:
        return ""
    return (
        f"; registered and fenced, so that they count all the same: {_listed(fenced)}; start those that are to stay "
        "with the new release, and unregister those that are gone for good (module broker_registration)"
    )


def _no_level(name: str, value: object) -> str:
    """Say what a level may be."""
    names = ", or its name or release, such as 4.3-IV0 or 4.3" if name == METADATA else ""
    hint = " (write a release in quotes: YAML reads 4.10 as 4.1)" if isinstance(value, float) else ""
    return f"{name}: {value!r} is no level of it; give a whole number from 0 on{names}{hint}"


def _listed(nodes: Sequence[Node]) -> str:
    return capped([str(node) for node in nodes])


def _rank(name: str) -> tuple[bool, int, str]:
    """Order features: first metadata.version, on which others depend, last kraft.version."""
    return name == KRAFT, IN_ORDER.index(name) if name in IN_ORDER else len(IN_ORDER), name
