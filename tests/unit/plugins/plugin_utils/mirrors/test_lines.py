"""A mirror's standing in lines for people."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.lines import (
    SHOWN,
    audited_gaps,
    gap_lines,
    mirror_lines,
    mirror_pairs,
)


def found(**changes: Any) -> dict[str, Any]:
    topics = [{"source": "orders", "target": "a.orders", "lag": 2}, {"source": "quiet", "target": "a.quiet", "lag": 0}]
    return {
        "flow": "a->b",
        "topics": topics,
        "lag": 2,
        "partitions_done": 5,
        "partitions_total": 6,
        "heartbeat_age_ms": 1200,
        "checkpoint_age_ms": None,
        "problems": [],
        **changes,
    }


def test_a_flow_in_lines() -> None:
    lines = mirror_lines(found())
    assert lines[0] == "Mirror       a->b, 2 topics, 5 of 6 partitions complete"
    assert lines[1] == "Lag          2 records (orders 2)"
    assert lines[2].startswith("Heartbeat    1")
    assert lines[3] == "Checkpoint   none seen"


def test_many_topics_are_counted_and_the_worst_named_first() -> None:
    topics = [{"source": f"t{number}", "target": f"a.t{number}", "lag": number} for number in range(20)]
    line = mirror_lines(found(topics=topics, lag=190))[1]
    assert line.startswith("Lag          190 records (t19 19, t18 18")
    assert line.endswith(f"{19 - SHOWN} more)")


def test_problems_have_lines_of_their_own() -> None:
    assert mirror_lines(found(problems=["not in b: a.orders"]))[-1] == "Problem      not in b: a.orders"


def test_topics_of_a_tuning_are_named_with_the_command_that_deletes_them_alone() -> None:
    left = ["_streamops_tune_3._streamops_tune_load", "mm2-configs._streamops_tune_3.internal"]
    line = mirror_lines(found(tuning_topics={"b": left}))[-1]
    assert line.startswith(f"Tuning       b has {left[0]}, {left[1]}. ")
    pattern = line.split("--topic ")[1].strip("'")
    names = [*left, "_streamops_tune_load", "_streamops_tune_3.orders", "mm2-configs.a.internal", "orders"]
    assert [name for name in names if re.fullmatch(pattern, name)] == names[:3]
    assert len(mirror_lines(found(tuning_topics={}))) == len(mirror_lines(found()))


def ending_at(*ends: int | None) -> dict[str, Any]:
    topics = found()["topics"]
    return found(topics=[{**topic, "partitions": [{"source_end": end} for end in ends]} for topic in topics])


def test_pairs_for_the_audit() -> None:
    assert mirror_pairs(ending_at(0, 7))[0] == {"source": "orders", "target": "a.orders"}


def test_a_flow_that_never_held_a_record_has_no_pairs_unless_a_gap_is_known_or_an_end_is_not() -> None:
    assert mirror_pairs(ending_at(0, 0)) == []
    assert len(mirror_pairs(ending_at(0, None))) == 2
    assert len(mirror_pairs(ending_at(0, 0), [{"topic": "gone", "records": 25}])) == 2


def test_the_audit_is_told_of_each_gap_with_offsets_also_of_topics_that_are_gone_and_of_uncertain_ones() -> None:
    gaps = [
        {"topic": "gone", "kind": "deleted", "records": 25, "certain": True},
        {"topic": "orders", "kind": "purged", "records": 3, "certain": False},
        {"topic": "anew", "kind": "recreated", "records": 0, "certain": True},
    ]
    assert audited_gaps({"gaps": gaps}) == gaps[:2]
    assert audited_gaps({}) == []


def test_gaps_have_lines_of_their_own_the_latest_of_many() -> None:
    assert gap_lines({}) == []
    assert gap_lines({"lines": ["orders-0: gone"]}) == ["Gap          orders-0: gone"]
    many = gap_lines({"lines": [f"t-{number}" for number in range(20)]})
    assert many[0] == f"Gap          {20 - SHOWN} earlier ones; see mirror_gaps"
    assert (len(many), many[-1]) == (SHOWN + 1, "Gap          t-19")
