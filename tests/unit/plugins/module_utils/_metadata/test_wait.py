# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons one after the other: when the wait is over, since when a difference is seen, what a failure says."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.wait import Tracker

OPTIONS = {"start_timeout": 8}


def found(agree: bool = False, since: float = 0.0, **more: Any) -> dict[str, Any]:
    """What one run of the module returned, with a difference in topics since then."""
    differing = [{"subject": "topics", "apart": ["broker 3"], "seen_since": since}] if since else []
    base = {"agree": agree, "offset": 100, "silent": [], "lagging": {}, "differences": differing}
    return {**base, "lines": ["2 of 3 nodes agree", "topics: broker 3 differs"], **more}


def test_the_wait_ends_when_all_agree() -> None:
    tracker = Tracker(OPTIONS)
    assert tracker.step(found(since=10.0), 0).state == GOING
    assert tracker.step(found(agree=True), 5).state == DONE


def test_a_difference_keeps_its_beginning_while_it_lasts() -> None:
    tracker = Tracker(OPTIONS)
    since = []
    for result in (found(since=10.0), found(since=20.0), found(), found(since=40.0)):
        tracker.step(result, 0)
        since += [one["seen_since"] for one in tracker.last["differences"]]
    assert since == [10.0, 10.0, 40.0]


def test_a_cluster_that_is_away_is_tolerated_once_it_was_seen() -> None:
    away = {"failed": True, "msg": "cluster a:9092: no answer", "failure": {"passing": True}}
    starting = Tracker(OPTIONS).step(away, 3)
    assert starting.state == GOING
    tolerated = "cluster a:9092 does not answer (tolerated, it may be starting)"
    assert starting.text == f"metadata_compare: not seen yet, {tolerated}"
    assert Tracker(OPTIONS).step(away, 9).state == FAILED
    tracker = Tracker(OPTIONS)
    tracker.step(found(), 0)
    later = tracker.step(away, 20)
    assert (later.state, later.text) == (
        GOING,
        f"metadata_compare: 2 of 3 nodes agree when last seen, now {tolerated}",
    )


@pytest.mark.parametrize(
    ("result", "way_out"),
    [
        (found(silent=["broker 3"]), "Start or look at the nodes that do not answer"),
        (found(since=10.0), "Look at the log of the node that differs"),
        (found(lagging={"broker 3": 60}), "Nodes that are behind read the metadata log too slowly"),
    ],
)
def test_a_failure_says_what_is_wrong_and_what_to_do(result: dict[str, Any], way_out: str) -> None:
    tracker = Tracker(OPTIONS)
    tracker.step(result, 0)
    failure = tracker.failure(60)
    assert failure["failure"]["kind"] == "MetadataCompareTimeout"
    first, second, *_rest, last = failure["msg"].split("\n")
    assert first == "metadata_compare: the nodes do not agree within 1m00s: 2 of 3 nodes agree."
    assert second == "- topics: broker 3 differs"
    assert last.startswith(way_out)
    assert last.endswith("Nothing was changed.")
    assert tracker.failure(0)["msg"].startswith("metadata_compare: the nodes do not agree: 2 of 3 nodes agree.\n")
