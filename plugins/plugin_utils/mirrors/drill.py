# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge whether a failover by a flow can be rehearsed, by the inventory alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...module_utils._mirror.canary import drill_prefix
from ...module_utils._mirror.flows import Flow, matches
from .failover import failover_refusals


def drill_refusals(flows: Sequence[Flow], running: Sequence[Flow], wanted: str) -> list[str]:
    """Return why no drill by this flow (source->target) can run; a sentence with its fix each, or none.

    running -- the flows as mirrors run them, with the topics of drills where a canary follows the flow.
    """
    if refusals := failover_refusals(flows, wanted):
        return refusals
    flow = next(flow for flow in running if flow.pair == wanted and flow.enabled)
    topic = f"{drill_prefix(flow)}00000000-0"
    if flow.untouched_source:
        return [
            f"{wanted} has untouched_source, and a drill makes a topic in {flow.source}. Rehearse by a flow without "
            "untouched_source."
        ]
    if matches(flow, topic):
        return []
    if not matches(replace(flow, topics=(".*",)), topic):
        return [f"topics_exclude of {wanted} leaves out {topic}, a topic of drills. Correct topics_exclude."]
    return [
        f"mirror_maker_canary is off for the mirrors next to {flow.target}, so they copy no topics of drills. Set "
        "mirror_maker_canary: true for them and run site.yml; they restart once."
    ]
