# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What C(kafka_config) must say so that a node goes on with the properties that it had.

Three texts are held against each other: what the node was started with (theirs), what this collection would write for
it without a word in C(kafka_config) (ours), and what it runs with, Kafka's own defaults too (effective, by
DescribeConfigs).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ...module_utils._configs.values import without_listener
from ...module_utils._core.compared import same
from ...module_utils._core.properties import is_secret

#: Why a property is written down.
THEIRS = "theirs"
KAFKAS = "kafka's default"


@dataclass(frozen=True)
class Kept:
    """A property that kafka_config has to say. value -- None for a secret, which nobody writes down.

    why -- THEIRS, or KAFKAS where the node has no such property and ours would change what holds. ours -- what this
    collection would write; None where it writes none.
    """

    key: str
    value: str | None
    why: str
    ours: str | None


@dataclass(frozen=True)
class Difference:
    """kept -- by key; unknown -- properties of ours of which nobody tells what holds now, sorted."""

    kept: tuple[Kept, ...]
    unknown: tuple[str, ...]


def difference(
    ours: Mapping[str, str], theirs: Mapping[str, str], effective: Mapping[str, str | None], said: Collection[str]
) -> Difference:
    """Return what a node must keep.

    effective -- the value of each property that the running node tells; None for one that it holds empty. said --
    properties that other variables say (who the node is, where it listens, its directories): they are left out.
    """
    kept: list[Kept] = []
    unknown: list[str] = []
    for key in sorted((ours.keys() | theirs.keys()) - set(said)):
        own = ours.get(key)
        if key in theirs:
            if own is None or not same(key, theirs[key], own):
                kept.append(Kept(key, None if is_secret(key) else theirs[key], THEIRS, own))
        elif is_secret(key) or (holding := _holding(key, theirs, effective)) is None:
            # Of a secret nobody tells whether it is set.
            unknown.append(key)
        elif not same(key, holding, own):
            kept.append(Kept(key, holding, KAFKAS, own))
    return Difference(tuple(kept), tuple(unknown))


def _holding(key: str, theirs: Mapping[str, str], effective: Mapping[str, str | None]) -> str | None:
    """Return what holds of a property that the node does not have; None where nobody tells.

    A listener without a property of its own takes that of all (AbstractConfig.valuesWithPrefixOverride), and
    DescribeConfigs names those of listeners only where they are set.
    """
    for name in dict.fromkeys([key, without_listener(key)]):
        if name in theirs:
            return theirs[name]
        if name in effective:
            return effective[name] or ""
    return None
