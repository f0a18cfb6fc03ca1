# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The state of an unclean election that is repeated: who is led by now, who is not, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._core.names import capped
from ...module_utils._core.progress import DONE, FAILED, GOING, Step

#: Partitions that a line of progress names.
_SHOWN = 10


class Elections:
    """Takes the result of each attempt of the module leader_election and sums them up."""

    def __init__(self, check: bool = False) -> None:
        self._check = check
        self._last: dict[str, Any] = {}
        self._elected: list[dict[str, Any]] = []
        self._diff: dict[str, dict[str, Any]] = {"before": {}, "after": {}}
        self._changed = False

    def step(self, found: Mapping[str, Any]) -> Step:
        """Take the result of one attempt."""
        self._last = dict(found)
        self._changed = self._changed or bool(found.get("changed"))
        self._elected += found.get("elected", ())
        for side, values in self._diff.items():
            values.update(found.get("diff", {}).get(side, {}))
        if found.get("failed"):
            return Step(FAILED, "leader_election: failed")
        waiting = found["not_elected"]
        if waiting:
            return Step(
                GOING,
                f"leader_election: no leader yet: {_reasons(waiting, _SHOWN)}",
                progress=str(len(self._elected) or ""),
            )
        if not self._elected:
            return Step(DONE, "leader_election: all listed partitions have a leader; no election needed")
        verb = "would elect any live replica as leader of" if self._check else "a live replica now leads"
        return Step(DONE, f"leader_election: {verb} {_names(self._elected, _SHOWN)}")

    def result(self) -> dict[str, Any]:
        """Return the module's result for all attempts together."""
        return {**self._last, "changed": self._changed, "elected": self._elected, "diff": self._diff}

    def failure(self, timeout: float) -> str:
        """Return the message of an election that did not end, which names each partition without a leader."""
        waiting = self._last["not_elected"]
        return (
            f"leader_election: {len(waiting)} partition(s) have no leader after {timeout:g} s: {_reasons(waiting)}. "
            "Kafka elects a replica only on a broker that is alive and whose disk is online. Start a broker that has "
            "a replica of them, see its log, and run again. "
            + (f"Elected were {_names(self._elected)}." if self._elected else "Nothing was changed.")
        )


def unproven(result: Mapping[str, Any]) -> list[str]:
    """Return lines on what a preferred election was to prove and could not, from the module's result."""
    lines = []
    if result.get("not_proven"):
        lines.append(f"leader_election: no record was written before the broker leads: {result['not_proven']}")
    if result.get("not_timed"):
        lines.append(f"leader_election: no change of metadata was timed: {result['not_timed']}")
    return lines


def _names(partitions: list[dict[str, Any]], shown: int | None = None) -> str:
    """Partitions by name, at most C(shown) of them where it is given."""
    return capped([f"{one['topic']}-{one['partition']}" for one in partitions], shown or len(partitions))


def _reasons(partitions: list[dict[str, Any]], shown: int | None = None) -> str:
    """Partitions by name with why they were not elected; those with one reason together."""
    alike: dict[str, list[dict[str, Any]]] = {}
    for one in partitions:
        alike.setdefault(one["why"].rstrip("."), []).append(one)
    return "; ".join(f"{_names(listed, shown)} ({why})" for why, listed in alike.items())
