"""Read the flows of mirrors from the settings, where no text stands for a boolean. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    BOOLEANS,
    REQUIRED,
    SHOWN,
    Flow,
    problems_between,
    value_complaints,
)
from page.core.checks import short

#: Flows at most: each topic of a cluster is matched with the patterns of each.
MOST_FLOWS = 200
#: Characters of the longest complaint about a flow that is passed on.
_LONGEST = 150


def flows_of(given: object, clusters: Collection[str]) -> tuple[tuple[Flow, ...], list[str]]:
    """Return the flows, and what is wrong with them; C(clusters) are the names there are.

    One end of a flow is enough: the page then shows what that end knows.
    """
    if not isinstance(given, list) or len(given) > MOST_FLOWS:
        return (), [f"mirrors is no list of at most {MOST_FLOWS} flows. Correct it."]
    wrong = [f"mirrors[{at}]{one}" for at, flow in enumerate(given) for one in _wrong_flow(flow, clusters)]
    if wrong:
        return (), wrong
    between = [
        f"{where.replace('mirror_flows', 'mirrors', 1)} {what[:_LONGEST]}. Correct it."
        for where, what in problems_between(given)
    ]
    if between:
        return (), between
    return tuple(_flow(one) for one in given), []


def _flow(given: Mapping[str, Any]) -> Flow:
    values: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in given.items()}
    return Flow(**values)


def _wrong_flow(flow: object, clusters: Collection[str]) -> list[str]:
    """Say what is wrong with a flow, by the place in it."""
    if not isinstance(flow, dict):
        return [": it is no object. Set source, target and topics in it."]
    wrong = [f": {short(name)} is unknown. Remove it." for name in flow.keys() - set(SHOWN)]
    wrong += [f".{name} is required. Set it." for name in REQUIRED if flow.get(name) in ("", [], None)]
    for name in flow.keys() & set(SHOWN):
        wrong += _wrong_value(name, flow[name])
    ends = [flow.get(end) for end in ("source", "target")]
    if not wrong and not any(one in clusters for one in ends):
        wrong.append(f": neither source {short(ends[0])} nor target {short(ends[1])} is in clusters. Remove the flow.")
    return sorted(wrong)


def _wrong_value(name: str, value: Any) -> Sequence[str]:
    if value in ("", [], None) and name in REQUIRED:
        return []
    if name.startswith("topics") and (not isinstance(value, list) or not all(isinstance(one, str) for one in value)):
        return [f".{name} is {short(value)}. Set a list of regular expressions."]
    if name in BOOLEANS:
        return [] if isinstance(value, bool) else [f".{name} is {short(value)}. Set true or false."]
    if not name.startswith("topics") and not isinstance(value, str):
        return [f".{name} is {short(value)}. Set a text."]
    return [f".{name} {what[:_LONGEST]}. Correct it." for what in value_complaints(name, value)]
