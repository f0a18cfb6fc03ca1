# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How long it makes sense to wait before a gate, and what to say when it stays shut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...module_utils._cluster.attribution import CATCHING_UP, STARTING
from ...module_utils._core.progress import DONE, FAILED, GOING, Advance, Hold, Step
from ...module_utils._gate.stop import QUORUM_UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: So often a gate that was open may shut again before its time is not extended any more.
FLAPS = 3
#: Kinds of attributions whose followers copy.
_COPYING = frozenset((CATCHING_UP, STARTING))
#: The least request_timeout of a look in seconds, and what a look takes besides.
LEAST_SECONDS, LOOK_SECONDS = 3, 3


class Opening:
    """Follows the looks of a gate: one good look does not open it, since what flaps is good now and then."""

    def __init__(self, nodes: Sequence[int], hold: Hold) -> None:
        self._nodes, self._hold = nodes, hold
        self._copied: int | None = None
        self._advance = Advance()

    def step(self, result: Mapping[str, Any], answered_before: bool, elapsed: float) -> Step:
        """Judge one module result at C(elapsed) seconds since the wait began.

        A fenced node that is corrected serves nothing that could be waited for. One that is said to be cut off is only
        so if what its followers have does not grow.
        """
        seen = step(self._nodes, result, answered_before)
        if seen.state == DONE and self._grows(result):
            self._hold.bad(elapsed, "its followers copy from it")
            text = f"restart_gate node {_listed(self._nodes)}: waiting, its followers catch up"
            self._advance.take(copied=result.get("copied_bytes"))
            return Step(GOING, text, {"refusals": ["catching_up"]}, str(self._advance))
        if seen.state != DONE:
            kinds = ", ".join(refusal["what"] for refusal in result.get("refusals", ()))
            self._hold.bad(elapsed, kinds)
            self._note_catching_up(result)
            return replace(seen, progress=str(self._advance))
        self._hold.good(elapsed)
        if self._hold.reached or result.get("serves_nothing"):
            return seen
        text = f"restart_gate node {_listed(self._nodes)}: nothing speaks against it, {self._hold}"
        # What is about to open has its time for it; what shuts again and again has not.
        opened = f"open {len(self._hold.lost)}" if len(self._hold.lost) < FLAPS else ""
        return Step(GOING, text, seen.facts, f"{self._advance}{opened}")

    def _note_catching_up(self, result: Mapping[str, Any]) -> None:
        """Keep how far replicas are that catch up, where nothing else keeps the gate shut."""
        kinds = {refusal["kind"] for refusal in result.get("refusals", ())}
        behind = [one["bytes_behind"] for one in result.get("attributions", ()) if one["kind"] in _COPYING]
        if kinds == {"catching_up"} and behind and None not in behind:
            self._advance.take(behind=-sum(behind))

    def _grows(self, result: Mapping[str, Any]) -> bool:
        """Tell whether followers of a node that is corrected have more than at the look before."""
        before, self._copied = self._copied, result.get("copied_bytes")
        return bool(result.get("corrects")) and before is not None and (self._copied or 0) > before

    def unsteady(self) -> str:
        """Return the message of a gate that was open when its time was over, and not for long enough."""
        name = f"restart_gate node {_listed(self._nodes)}"
        return "\n".join([f"{name}: refused, nothing was stopped: it was open, {self._hold}.", *self.flapping()])

    def flapping(self) -> list[str]:
        """Return a line about a gate that was open and shut again; nothing where it was not."""
        lost = self._hold.lost
        return [f"The gate was open and shut again {len(lost)} time(s), last because: {lost[-1]}."] if lost else []


def with_pace(result: Mapping[str, Any], timed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a gate that is open with the figures of a later look, which timed a change of metadata too.

    A later look that found the gate shut counts alone. One that failed says nothing against it.
    """
    if timed.get("refusals"):
        return dict(timed)
    return {**result, **{name: timed[name] for name in ("metadata_seconds", "not_timed") if name in timed}}


def step(nodes: Sequence[int], result: Mapping[str, Any], answered_before: bool) -> Step:
    """Judge one module result: open, shut for good, or shut for reasons that may pass by themselves.

    A cluster that cannot be reached at the first look is an error; one that has answered before may be electing. What
    waiting cannot mend, as a refused login or a missing right, is an error at any look.
    """
    name = f"restart_gate node {_listed(nodes)}"
    if result.get("failed"):
        why = result.get("failure", {})
        kind = why.get("kind", "")
        passing = why.get("passing", False) and (answered_before or kind != "ClusterUnreachableError")
        state = GOING if passing else FAILED
        return Step(state, f"{name}: the cluster does not answer: {result.get('msg')}", {"refusals": [kind]})
    shut = result["refusals"]
    facts = {"refusals": [refusal["kind"] for refusal in shut]}
    if not shut:
        return Step(DONE, f"{name}: may be stopped", facts)
    if all(refusal["transient"] for refusal in shut):
        # Only kinds and counts of what is found change: enough to see whether anything moves.
        return Step(GOING, f"{name}: waiting, {'; '.join(refusal['what'] for refusal in shut)}", facts)
    return Step(FAILED, f"{name}: refused", facts)


def failure(
    nodes: Sequence[int], refusals: Sequence[Mapping[str, Any]], waited: str, before: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return the message of a gate that stayed shut, with every reason; C(waited) is a duration or empty.

    C(before) are the looks until then: when the last one did not see the quorum, an earlier one may have.
    """
    after = f" after {waited}" if waited else ""
    first = f"restart_gate node {_listed(nodes)}: refused{after}, {len(refusals)} reason(s), nothing was stopped:"
    return "\n".join([first, *_lines(refusals), *([] if _whole(refusals) else _seen(before))])


def unanswered(found: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> str:
    """Return the message of a gate whose last look failed; C(before) are the looks until then.

    What the gate waited for when it could last be seen is most often the reason, so it is named too.
    """
    text, seen = f"{found.get('msg')} The gate stays shut: nothing was stopped.", _seen(before)
    return "\n".join([" ".join([text, *seen[:1]]), *seen[1:]])


def seconds_for(left: float, wanted: int) -> int:
    """Return the request_timeout of a look when the gate has C(left) seconds: never more than C(wanted).

    A look needs a little more, to start and to find the brokers that answer.
    """
    return min(wanted, max(LEAST_SECONDS, int(left) - LOOK_SECONDS))


def _whole(refusals: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a look saw the quorum too."""
    return all(refusal["kind"] != QUORUM_UNKNOWN for refusal in refusals)


def _seen(before: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines about what the gate waited for when it last saw all; none when that was nothing."""
    judged = [look["refusals"] for look in before if "refusals" in look]
    last = next((found for found in reversed(judged) if _whole(found)), judged[-1] if judged else [])
    return ["When the cluster last answered, the gate waited for:", *_lines(last)] if last else []


def _lines(refusals: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"- {r['what']}: found {r['found']}; allowed: {r['allowed']}. {r['fix']}" for r in refusals]


def _listed(nodes: Sequence[int]) -> str:
    return ", ".join(str(node) for node in sorted(nodes))
