# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a topic goes through several flows: by the topics of the inventory, then by the patterns. Pure.

Patterns are regular expressions of Java, which are not compared in full: of topics listed by name and of prefixes
(eu[.].*) it is known what they have in common, and any other pattern counts as one that may match every name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...module_utils._mirror.flows import OWN_TOPICS, SEPARATOR, TOPICS_EXCLUDED, Flow, matches

# A name, with dots escaped or in brackets; with .* behind it a prefix.
_PLAIN = re.compile(r"\^?((?:[A-Za-z0-9_-]|\\[._-]|\[[._-]\])*)(\.\*)?\$?")


@dataclass(frozen=True)
class Names:
    """The one name that is this text, or all names that begin with it."""

    text: str
    exact: bool = False

    def __str__(self) -> str:
        return repr(self.text) if self.exact else f"{self.text!r} and what follows" if self.text else "any"

    def hold(self, other: Names) -> bool:
        """Return whether all of the other names are among these."""
        return self == other or (not self.exact and other.text.startswith(self.text))


ANY = Names("")


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
    """Return a name that passes, or may pass, all these steps; None when it is certain that none does.

    topics -- the names that the inventory knows where the way begins.
    """
    passing = [name for name in topics if _passes(name, steps)]
    if passing:
        rest = f" and {len(passing) - 1} more" if len(passing) > 1 else ""
        return Overlap(f"topic {passing[0]}{rest} of kafka_topics", True)
    wanted = [_names_at_start(step) for step in steps]
    for names in sorted({one for listed in wanted for one in listed}, key=lambda one: (not one.exact, one.text)):
        if all(any(one.hold(names) for one in listed) for listed in wanted) and _may_pass(names, steps):
            return Overlap(f"patterns that may allow the names {names}", False)
    return None


def _names_at_start(step: Step) -> list[Names]:
    """The names at the beginning of the way that the flow of a step asks for."""
    found = []
    for names in (one for pattern in step.flow.topics for one in names_of(pattern) or [ANY]):
        if names.text.startswith(step.prefix):
            found.append(Names(names.text.removeprefix(step.prefix), names.exact))
        elif step.prefix.startswith(names.text) and not names.exact:
            found.append(ANY)
    return found


def _may_pass(names: Names, steps: Sequence[Step]) -> bool:
    if names.exact:
        return _passes(names.text, steps)
    return not any(
        excluded.hold(Names(step.prefix + names.text))
        for step in steps
        for pattern in (*TOPICS_EXCLUDED, *step.flow.topics_exclude)
        for excluded in names_of(pattern) or ()
    )


def _passes(name: str, steps: Sequence[Step]) -> bool:
    return all(matches(step.flow, step.prefix + name) for step in steps)


def names_of(pattern: str) -> list[Names] | None:
    """The names that a plain pattern matches; None for one that is more than names and prefixes."""
    alternatives = [pattern] if "(" in pattern else pattern.split("|")
    found = [_PLAIN.fullmatch(one) for one in alternatives]
    if not all(found):
        return None
    return [Names(re.sub(r"[\\\[\]]", "", one[1]), exact=one[2] is None) for one in found if one is not None]


def journey(flows: Sequence[Flow]) -> list[Step]:
    """The steps of a topic that goes from cluster to cluster by these flows, each once for each name it has there."""
    steps, prefix = {}, ""
    for flow in flows:
        steps[prefix, flow.pair, flow.engine] = Step(prefix, flow)
        prefix = prefix if flow.keeps_names else f"{flow.source}{SEPARATOR}{prefix}"
    return list(steps.values())


#: An alternative of a pattern whose matches all end as TOPICS_EXCLUDED has it, whatever stands before.
_ENDS_INTERNAL = re.compile(r"[^()]*(\[[.\\-]+\]|\\[.-]|-)internal|[^()]*(\[[.\\]+\]|\\\.)replica")


def only_internal(pattern: str) -> bool:
    """Return whether a pattern matches topics that are never mirrored, and no others."""
    if all(_ENDS_INTERNAL.fullmatch(part) for part in pattern.split("|")):
        return True
    never = [names for one in TOPICS_EXCLUDED for names in names_of(one) or ()]
    found = names_of(pattern)
    return found is not None and all(
        any(one.hold(names) for one in never) or (names.exact and OWN_TOPICS.fullmatch(names.text)) for names in found
    )
