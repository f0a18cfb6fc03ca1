# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How long it makes sense to wait before a gate, and what to say when it stays shut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def failure(nodes: Sequence[int], refusals: Sequence[Mapping[str, Any]], waited: str) -> str:
    """Return the message of a gate that stayed shut, with every reason; C(waited) is a duration or empty."""
    after = f" after {waited}" if waited else ""
    first = f"restart_gate node {_listed(nodes)}: refused{after}, {len(refusals)} reason(s), nothing was stopped:"
    return "\n".join([first, *_lines(refusals)])


def unanswered(found: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> str:
    """Return the message of a gate whose last look failed; C(before) are the looks until then.

    What the gate waited for when it could last be seen is most often the reason, so it is named too.
    """
    text = f"{found.get('msg')} The gate stays shut: nothing was stopped."
    judged = next((look for look in reversed(before) if "refusals" in look), None)
    if judged is None or not judged["refusals"]:
        return text
    return "\n".join([f"{text} When the cluster last answered, the gate waited for:", *_lines(judged["refusals"])])


def _lines(refusals: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"- {r['what']}: found {r['found']}; allowed: {r['allowed']}. {r['fix']}" for r in refusals]


def _listed(nodes: Sequence[int]) -> str:
    return ", ".join(str(node) for node in sorted(nodes))
