# SPDX-License-Identifier: GPL-3.0-or-later
"""Which flows a failover can be rehearsed by, as the inventory tells it."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.canary import with_events
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.drill import drill_refusals

FLOW = Flow("a", "b", ("orders",))


def refusals(flow: Flow, *watched: str, wanted: str = "a->b") -> list[str]:
    """The refusals where canaries stand next to these clusters."""
    return drill_refusals([flow], with_events([flow], watched), wanted)


def test_a_flow_with_a_canary_or_with_all_topics_is_rehearsed() -> None:
    assert refusals(FLOW, "b") == []
    assert refusals(replace(FLOW, topics=(".*",))) == []


def test_without_a_canary_mirrors_copy_no_topic_of_a_drill() -> None:
    (why,) = refusals(FLOW)
    assert "mirror_maker_canary is off for the mirrors next to b" in why
    assert "mirror_maker_canary: true for them and run site.yml" in why


def test_a_flow_that_leaves_drills_out_is_refused_by_name() -> None:
    (why,) = refusals(replace(FLOW, topics_exclude=("streamops-drill.*",)), "b")
    assert "topics_exclude of a->b leaves out streamops-drill.a.b-00000000-0" in why


def test_a_source_that_nothing_may_be_written_into_is_left_alone() -> None:
    (why,) = refusals(replace(FLOW, untouched_source=True), "b")
    assert "untouched_source" in why


def test_what_no_failover_can_follow_is_refused_in_the_same_words() -> None:
    assert "is no enabled flow" in refusals(FLOW, "b", wanted="b->a")[0]
    assert "engine legacy" in refusals(replace(FLOW, engine="legacy"), "b")[0]
