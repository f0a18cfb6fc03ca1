# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a topic goes through several flows: by the topics of the inventory, then by comparing the patterns. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    OWN_TOPICS,
    SEPARATOR,
    TOPICS_EXCLUDED,
    Flow,
    matches,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_patterns import (
    Unreadable,
    Wanted,
    common_name,
)

# What MirrorMaker leaves out whatever the patterns of a flow say.
NEVER = (*TOPICS_EXCLUDED, OWN_TOPICS.pattern)
# A pattern that is the name of one topic; a dot would stand for any character.
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Step:
    """One flow on the way of a topic, whose name has this prefix by then."""

    prefix: str
    flow: Flow


@dataclass(frozen=True)
class Overlap:
    """That names pass every step; words -- what was found; known -- whether a topic of the inventory is among them."""

    words: str
    known: bool


def overlap(steps: Sequence[Step], topics: Iterable[str]) -> Overlap | None:
    """Whether a name passes all these steps; None when it is certain that none does.

    topics -- the names that the inventory knows where the way begins.
    """
    passing = [name for name in topics if _passes(name, steps)]
    if passing:
        rest = f" and {len(passing) - 1} more" if len(passing) > 1 else ""
        return Overlap(f"topic {passing[0]}{rest} of kafka_topics", True)
    try:
        name = common_name([_wanted(step) for step in steps])
    except Unreadable as why:
        listed = _listed(steps)
        if listed is None:
            return Overlap(f"patterns that cannot be compared: {why}", False)
        name = next((one for one in listed if _passes(one, steps)), None)
    return None if name is None else Overlap(f"patterns that allow names such as {name!r}", False)


def _passes(name: str, steps: Sequence[Step]) -> bool:
    return all(matches(step.flow, step.prefix + name) for step in steps)


def _listed(steps: Sequence[Step]) -> list[str] | None:
    """All names that may pass, where a step lists topics by their names; None where each has a pattern."""
    for step in steps:
        if all(_PLAIN.fullmatch(topic) for topic in step.flow.topics):
            return [topic.removeprefix(step.prefix) for topic in step.flow.topics]
    return None


def _wanted(step: Step) -> Wanted:
    """What `matches` asks, in patterns alone."""
    flow = step.flow
    back = () if flow.keeps_names else (rf"(.*\.)?{re.escape(flow.target)}\..*",)
    return Wanted(step.prefix, flow.topics, (*NEVER, *flow.topics_exclude, *back))


def journey(flows: Sequence[Flow]) -> list[Step]:
    """The steps of a topic that goes from cluster to cluster by these flows, each once for each name it has there."""
    steps, prefix = {}, ""
    for flow in flows:
        steps[prefix, flow.pair, flow.engine] = Step(prefix, flow)
        prefix = prefix if flow.keeps_names else f"{flow.source}{SEPARATOR}{prefix}"
    return list(steps.values())


def only_internal(pattern: str) -> bool:
    """Whether a pattern matches topics that are never mirrored, and no others."""
    try:
        some = common_name([Wanted("", (pattern,))])
        return some is not None and common_name([Wanted("", (pattern,), NEVER)]) is None
    except Unreadable:
        return False
