# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbooks that move data show before they do it, a rebalance by bytes, and a living broker that gives its
place away; each test goes on from the one before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers
from tests.support.cluster import Cluster
from tests.support.growing import FIFTH, FOURTH, held, moves, report, with_brokers
from tests.support.modules import run_module
from tests.support.moves import administering, replicas, topic_of
from tests.support.stats import show_stats, stats_of

pytestmark = pytest.mark.full
THROTTLE = 20_000_000


@pytest.fixture(scope="module")
def both(three: Cluster) -> Iterator[Cluster]:
    """The cluster with kafka4 and kafka5 in its inventory."""
    yield from with_brokers(three, {**FOURTH, **FIFTH})


def shape(cluster: Cluster) -> dict[str, Any]:
    """What must not change when nothing is moved: brokers, where every replica is, which processes run."""
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    placed = {topic["name"]: [one["replicas"] for one in topic["partitions"]] for topic in info["topics"]}
    return {"brokers": [node["id"] for node in info["nodes"]], "placed": placed, "pids": cluster.pids()}


def test_check_mode_shows_what_a_new_broker_would_get_as_far_as_it_can_and_installs_none(
    three: Cluster, four: Cluster
) -> None:
    before = shape(three)
    shown = four.playbook("playbooks/add_brokers.yml", "--check").ok()
    assert "kafka4" in shown.output
    assert shape(three) == before
    assert not four.alive("kafka4")


def test_a_rebalance_by_bytes_levels_what_brokers_hold(four: Cluster) -> None:
    four.playbook().ok()
    wanted = {"kafka_resources_move_balance_by": "bytes", "kafka_resources_move_throttle": THROTTLE}
    with topic_of(four, "heavy", {n: [1 + n % 3] for n in range(8)}, 8):
        shown = four.playbook("playbooks/rebalance.yml", plan_only=True, **wanted).ok()
        assert moves(shown.output) > 0
        assert four.playbook("playbooks/rebalance.yml", **wanted).ok().changed > 0
        options = {"bootstrap_servers": four.bootstrap_servers}
        found = run_module("streamops.kafka.log_dirs", options)["brokers"]
        sizes = {one["id"]: one["replica_bytes"] for one in found}
        assert max(sizes.values()) <= 1.1 * sum(sizes.values()) / 4 + 8_000_000, sizes
        assert "Nothing to move" in four.playbook("playbooks/rebalance.yml", **wanted).ok().output
        assert "Every partition has the replicas that were planned" in report(four, "local-rebalance")


def test_an_approved_plan_is_carried_out_and_no_other(
    four: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_stats(monkeypatch)
    with topic_of(four, "approved", {n: [1] for n in range(4)}, 1) as topic:
        kept: dict[str, Any] = {"streamops_artifacts": str(tmp_path)}
        factor: dict[str, Any] = {"kafka_replication_factor": {topic: 2}, **kept}
        placed = replicas(four, topic)
        shown = four.playbook("playbooks/change_replication_factor.yml", plan_only=True, **factor).ok()
        approved: dict[str, Any] = {"kafka_plan_digest": stats_of(shown.output)["kafka_plan_digest"]}
        other = four.playbook(
            "playbooks/change_replication_factor.yml", kafka_replication_factor={topic: 3}, **approved
        )
        assert (other.rc, other.changed, replicas(four, topic)) == (2, 0, placed)
        assert "4 partitions with 4 moves, the plan of now 4 partitions with 8 moves" in " ".join(other.output.split())
        done = four.playbook("playbooks/change_replication_factor.yml", **factor, **approved).ok()
        assert (moves(done.output), stats_of(done.output)["kafka_plan_digest"]) == (4, "")
        plan, moved = sorted(tmp_path.glob("*/*/report.html"))
        assert plan.parent.name.endswith("-change-of-replication-factors-plan")
        assert stats_of(shown.output)["streamops_reports"] == [str(plan)]
        assert stats_of(done.output)["streamops_reports"] == [str(moved)]
        told = [json.loads((one.parent / "report.json").read_text()) for one in (plan, moved)]
        assert [(one["outcome"], one["moves"]) for one in told] == [("planned", 4), ("done", 4)]
        written = [json.loads((one.parent / "plan.json").read_text()) for one in (plan, moved)]
        assert {one["plan_digest"] for one in written} == {approved["kafka_plan_digest"]}
        assert written[0]["reassignment"] == written[1]["reassignment"]
        again = four.playbook("playbooks/change_replication_factor.yml", **factor, **approved).ok()
        assert (again.changed, "Nothing to move" in again.output) == (0, True)
        grown: dict[str, Any] = {"kafka_grow_topic": topic, "kafka_grow_partitions": 6}
        refused = four.playbook("playbooks/grow_topic.yml", **grown, **approved)
        assert (refused.rc, refused.changed, len(replicas(four, topic))) == (2, 0, 4)
        assert "the new ones are in no plan before they exist" in " ".join(refused.output.split())
        partial = four.playbook("playbooks/grow_topic.yml", plan_only=True, **grown).ok()
        assert stats_of(partial.output)["kafka_plan_digest"] == ""


@pytest.mark.parametrize(
    ("playbook", "words"),
    [
        ("drain_and_remove_broker", {"kafka_remove_broker": "kafka4"}),
        ("grow_topic", {"kafka_grow_topic": "orders", "kafka_grow_partitions": 9}),
        ("change_replication_factor", {"kafka_replication_factor": {"orders": 2}}),
        ("rebalance", {}),
    ],
)
@pytest.mark.parametrize("arguments", [["--check", "--diff"], ["-e", "plan_only=true"]], ids=["check", "plan_only"])
def test_what_is_only_shown_changes_nothing(
    playbook: str, words: dict[str, Any], arguments: list[str], four: Cluster
) -> None:
    before = shape(four)
    shown = four.playbook(f"playbooks/{playbook}.yml", *arguments, **words).ok()
    assert "Nothing to move" in shown.output or "replicas move" in shown.output
    assert shape(four) == before


def test_a_living_broker_gives_its_place_to_another_and_is_stopped_for_good(four: Cluster, both: Cluster) -> None:
    four.playbook("playbooks/rebalance.yml").ok()
    replicas = held(four, 4)
    assert replicas > 0
    words = {"kafka_replace_node": "kafka5", "kafka_replaced_id": 4, "kafka_resources_move_throttle": THROTTLE}
    shown = both.playbook("playbooks/replace_node.yml", plan_only=True, **words).ok()
    assert moves(shown.output) == replicas
    assert (both.alive("kafka5"), held(both, 5), held(both, 4)) == (True, 0, replicas)
    done = both.playbook("playbooks/replace_node.yml", **words).ok()
    assert moves(done.output) == replicas == held(both, 5)
    assert not both.alive("kafka4")
    with administering(both) as admin:
        assert [broker.id for broker in list_brokers(admin)] == [1, 2, 3, 5]
