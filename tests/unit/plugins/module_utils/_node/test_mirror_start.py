# SPDX-License-Identifier: GPL-3.0-or-later
"""What the log of a mirror tells of its connectors, in lines that Kafka 4.3.1 has written."""

from __future__ import annotations

import re

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.mirror_start import TELLING, standing

FLOW = "dc_a->dc_b"
WORKER = "[2026-11-26 02:43:07,394] INFO [Worker clientId=dc_a->dc_b, groupId=dc_a-mm2] "
MEMBER = (
    f"{WORKER}Successfully joined group with generation Generation{{generationId=1, memberId='dc_a->dc_b-54bf', "
    "protocol='sessioned'} (org.apache.kafka.connect.runtime.distributed.WorkerCoordinator)"
)
LEADER = "[2026-11-26 02:43:08,098] INFO This node o.a.k.connect.mirror.MirrorHerder@34a2 is now a leader for "
HERDER = "(org.apache.kafka.connect.mirror.MirrorHerder)"


def joined(leader: str) -> str:
    """The line of a worker that learns who leads its group."""
    return (
        f"{WORKER}Joined group at generation 1 with protocol version 2 and got assignment: Assignment{{error=0, "
        f"leader='{leader}', leaderUrl='http://127.0.0.1:22270/', offset=26, connectorIds=[MirrorSourceConnector]"
    )


LEADS = [MEMBER, joined("dc_a->dc_b-54bf"), f"{LEADER}dc_a->dc_b. Configuring connectors... {HERDER}"]
TAKEN = [
    f"[2026-11-26 02:43:08,655] INFO Mirror{name}Connector connector configured for dc_a->dc_b. {HERDER}"
    for name in ("Heartbeat", "Checkpoint", "Source")
]
SAME = [
    "[2026-11-26 02:43:08,655] INFO This node is a leader for dc_a->dc_b and configuration for "
    f"Mirror{name}Connector is already up to date. {HERDER}"
    for name in ("Heartbeat", "Checkpoint", "Source")
]
FAILED = [
    f"[2026-11-26 02:43:08,849] ERROR Failed to configure MirrorSourceConnector connector for dc_a->dc_b {HERDER}",
    "Invalid value no.such.Filter for configuration topic.filter.class: Class no.such.Filter could not be found.",
]


@pytest.mark.parametrize(
    ("lines", "open_"),
    [
        ([], [FLOW]),
        ([MEMBER], [FLOW]),
        (LEADS, [FLOW]),
        ([*LEADS, *TAKEN[:2]], [FLOW]),
        ([*LEADS, *TAKEN], []),
        ([*LEADS, *SAME], []),
        ([*LEADS, *TAKEN[:2], *FAILED], []),
        # Another mirror leads the group, and gives the connectors what it has.
        ([MEMBER, joined("dc_a->dc_b-other")], []),
        # It has lost the lead and has it again: what it said before is of no account.
        ([*LEADS, *TAKEN, *LEADS[2:]], [FLOW]),
        ([line.replace("dc_a->dc_b", "dc_b->dc_a") for line in [*LEADS, *TAKEN]], [FLOW]),
    ],
)
def test_a_flow_is_settled_once_the_leader_has_configured_all_connectors(lines: list[str], open_: list[str]) -> None:
    assert standing(lines, [FLOW])["unsettled"] == open_


@pytest.mark.parametrize("line", [*LEADS, *TAKEN, *SAME, *FAILED])
def test_every_line_that_is_read_has_a_telling_part(line: str) -> None:
    assert re.search(TELLING, line)


def test_what_connect_refuses_is_told_with_why() -> None:
    said = standing([*LEADS, *TAKEN[:2], *FAILED], [FLOW])["refused"]
    assert said == [
        "dc_a->dc_b: Kafka Connect refuses the configuration of MirrorSourceConnector, so the one from before goes on: "
        "Invalid value no.such.Filter for configuration topic.filter.class: Class no.such.Filter could not be found."
    ]
    assert standing([*LEADS, *TAKEN[:2], FAILED[0]], [FLOW])["refused"] == [
        "dc_a->dc_b: Kafka Connect refuses the configuration of MirrorSourceConnector, so the one from before goes on: "
        "its log says why"
    ]


def test_nothing_is_refused_that_was_taken_later_or_is_of_another_flow() -> None:
    assert standing([*LEADS, *FAILED, *TAKEN], [FLOW])["refused"] == []
    assert standing([*LEADS, *FAILED], ["dc_b->dc_a"])["refused"] == []
    assert standing([], [FLOW])["refused"] == []
