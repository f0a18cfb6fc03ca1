"""Compares what can be read: topics that lose records meanwhile are taken off, and the others are compared. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Callable

from spark_validation.mirror.seen import Compared, Scope

# Comparisons that are begun at most: topics whose retention works all the time would hold the others up for ever.
ATTEMPTS = 5


def undisturbed(
    scopes: list[Scope],
    compare: Callable[[list[Scope]], tuple[Compared | None, str]],
    changed: Callable[[list[Scope]], dict[str, str]],
) -> tuple[Compared, list[Scope], dict[str, str]]:
    """Return the comparison, the scopes that it is of, and why the others could not be read, by topic.

    compare -- compares scopes; None with the message of the error where records were gone when they were read
    changed -- what happened to the topics of scopes since they were frozen, by topic of either side
    """
    rest, gone = scopes, dict[str, str]()
    for _attempt in range(ATTEMPTS):
        seen, why = compare(rest)
        if seen is not None:
            return seen, rest, gone
        lost = changed(rest) or _named(rest, why)
        gone |= lost or {scope.source: f"records were gone when they were read: {why}" for scope in rest}
        rest = [scope for scope in rest if scope.source not in gone and scope.target not in gone]
    given_up = f"others lost records in each of {ATTEMPTS} comparisons"
    return Compared(), [], gone | {scope.source: given_up for scope in rest}


def _named(scopes: list[Scope], why: str) -> dict[str, str]:
    """Return the topics of which the message names a partition."""
    names = {
        f"{name}-{span.partition}": name
        for scope in scopes
        for name in (scope.source, scope.target)
        for span in scope.spans
    }
    # A name of a topic has these characters; a longer one that ends alike is another topic.
    words = {word.rstrip(".") for word in re.findall(r"[A-Za-z0-9._-]+", why)}
    return {name: "records were gone when they were read" for place, name in names.items() if place in words}
