"""The quorum of the controllers, for scenarios that have some."""

from __future__ import annotations

from typing import Any

from tests.support.machines import Machine
from tests.support.modules import run_module


def test_every_controller_is_a_voter_and_one_of_them_leads(administrator: dict[str, Any], nodes: list[Machine]) -> None:
    quorum = run_module("streamops.kafka.cluster_info", administrator)["quorum"]
    voters = {voter["id"] for voter in quorum["voters"]}
    assert voters == {machine.node_id for machine in nodes if machine.is_controller}
    assert quorum["leader_id"] in voters
