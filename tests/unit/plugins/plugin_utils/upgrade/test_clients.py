# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients that Kafka 4.0 does not answer any more: refused, accepted, or not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE, REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.clients import clients, old_requests
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import BACK, ClusterFacts, OldRequests
from tests.unit.plugins.plugin_utils.upgrade.upgrade_data import NEW, OLD, cluster, node

FETCH = OldRequests("of unknown software", "Fetch v2", 1200)
LIST = OldRequests("of unknown software", "ListOffsets v0", 3)
SHARP = OldRequests("sharp 1.0", "Produce v1", 7)
SINCE = 1795762175.0


def counted(number: int, *requests: OldRequests, **values: Any) -> Any:
    return node(number, **{"old_requests": requests, "counted_since": SINCE, **values})


def request(count: int, software: str = "sharp", version: int = 1) -> dict[str, Any]:
    return {"software": software, "software_version": "1.0", "api": "Produce", "api_version": version, "count": count}


def answer(*requests: dict[str, Any], since: float = SINCE) -> dict[str, Any]:
    return {"requests": list(requests), "since": since, "unread": ""}


def levels(facts: ClusterFacts) -> list[str]:
    return [one.level for one in clients(facts).findings]


def test_a_client_is_named_with_its_requests_and_its_brokers() -> None:
    outcome = clients(cluster(counted(1, FETCH, LIST), counted(2, FETCH), counted(3)))
    (found,) = outcome.findings
    assert (found.level, found.what) == (
        REFUSE,
        "a client of unknown software is too old for Kafka 4.3.1 (KIP-896): Fetch v2 2400 times, ListOffsets v0 3 "
        "times on k1, k2 since 2026-11-27 06:49 UTC",
    )
    assert "kafka_upgrade_watch_seconds=600" in found.fix
    assert "kafka_upgrade_accept_old_clients=true" in found.fix


def test_each_client_is_a_reason_of_its_own() -> None:
    assert levels(cluster(counted(1, FETCH, SHARP))) == [REFUSE, REFUSE]


def test_a_client_that_is_accepted_is_a_note_and_still_named() -> None:
    (found,) = clients(cluster(counted(1, SHARP), old_clients=True)).findings
    assert (found.level, found.fix) == (NOTE, "")
    assert "client sharp 1.0 is too old" in found.what


def test_a_time_to_watch_is_said() -> None:
    (found,) = clients(cluster(counted(1, SHARP), watched=600)).findings
    assert found.what.endswith("Produce v1 7 times on k1 within 600 s")
    assert "watch_seconds" not in found.fix
    assert clients(cluster(counted(1), watched=600)).fine == "none too old within 600 s"


def test_none_is_said_with_the_start_of_the_last_broker() -> None:
    assert clients(cluster(counted(1), counted(2, counted_since=SINCE + 3600))).fine == (
        "none too old since 2026-11-27 07:49 UTC"
    )


@pytest.mark.parametrize(
    "facts",
    [
        cluster(node(1, runs="4.0.2"), node(2, runs="4.0.2")),
        cluster(counted(1, SHARP, runs=NEW, target=OLD), action=BACK, target=OLD),
        cluster(counted(1, SHARP), action=BACK),
        cluster(counted(1, SHARP, runs="3.8.0", target=OLD), target=OLD),
        cluster(node(1, ("controller",))),
        cluster(node(1, runs="")),
    ],
    ids=["4 to 4", "back", "back by its word", "3 to 3", "controller", "new"],
)
def test_it_is_asked_only_of_brokers_on_the_way_from_3_to_4(facts: ClusterFacts) -> None:
    outcome = clients(facts)
    assert (outcome.findings, outcome.fine) == ((), "nothing changes for them")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"uncounted": "it hangs"}, "it hangs"),
        ({"running": False}, "it does not run"),
        ({"runs": "3.6.2"}, "Kafka 3.6.2 does not count them"),
        ({"runs": "3.6.2", "old_requests": ()}, "Kafka 3.6.2 does not count them"),
        ({}, "it was not asked"),
    ],
)
def test_what_is_not_known_is_a_note_that_says_why(values: dict[str, Any], why: str) -> None:
    outcome = clients(cluster(node(1, **{"old_requests": None, **values}), counted(2)))
    assert [(one.level, one.what) for one in outcome.findings] == [
        (NOTE, f"whether clients of k1 are too old is not known: {why}")
    ]


def test_a_broker_that_was_finished_is_not_asked_again() -> None:
    facts = cluster(node(1, runs=NEW), counted(2, SHARP))
    assert levels(facts) == [REFUSE]
    assert levels(replace(facts, old_clients=True)) == [NOTE]


def test_requests_are_those_since_the_start_or_between_two_looks() -> None:
    assert old_requests({}, answer(request(7))) == (SHARP,)
    assert old_requests(answer(request(7)), answer(request(7))) == ()
    assert old_requests(answer(request(7)), answer(request(9), request(1, version=0))) == (
        replace(SHARP, count=2),
        replace(SHARP, request="Produce v0", count=1),
    )


def test_a_broker_that_started_between_two_looks_counts_from_nothing() -> None:
    assert old_requests(answer(request(99)), answer(request(7), since=SINCE + 5)) == (SHARP,)
