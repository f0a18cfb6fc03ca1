# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks that move data, on a cluster that gets a fourth broker, loses it to a fifth and that one too; each test
goes on from the one before."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers, list_topics
from tests.support.cluster import Cluster, local_variables, until
from tests.support.growing import FIFTH, held, moves, report, with_brokers
from tests.support.modules import run_module
from tests.support.moves import administering, fill, move, replicas, throttles, topic_of
from tests.support.stats import show_stats, stats_of
from tests.support.traffic import Ledger, producing, read_all

#: Playbooks that move replicas on five brokers, a quarter of an hour: the moves themselves have their plain forms.
pytestmark = pytest.mark.full

TOPIC = "orders"
ALONE, SHRUNK = "alone", "shrunk"


@pytest.fixture(scope="module")
def five(three: Cluster) -> Iterator[Cluster]:
    """The cluster with kafka5 in its inventory, and no kafka4."""
    yield from with_brokers(three, FIFTH)


@pytest.fixture
def grown(three: Cluster, four: Cluster, request: pytest.FixtureRequest) -> tuple[Cluster, int]:
    """The cluster with its fourth broker, and that one's id: kafka4, or kafka5 once that took its place."""
    if (three.directory / "config" / "kafka5").exists():
        return request.getfixturevalue("five"), 5
    return four, 4


def offline(cluster: Cluster) -> dict[tuple[str, int], dict[str, Any]]:
    """The partitions that nobody leads."""
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    return {(one["topic"], one["partition"]): one for one in info["offline"]}


def test_a_broker_that_is_a_voter_is_not_removed(three: Cluster) -> None:
    run = three.playbook("playbooks/drain_and_remove_broker.yml", kafka_remove_broker="kafka3")
    assert run.rc != 0
    assert run.changed == 0
    assert "every broker here is a voter" in " ".join(run.output.split())


def test_a_new_broker_gets_its_share_and_nobody_restarts(
    three: Cluster, four: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_stats(monkeypatch)
    fill(three, TOPIC, 6, 2)
    before = three.pids()
    foreseen = stats_of(four.playbook("playbooks/add_brokers.yml", "--check").ok().output)
    assert "kafka4 would be installed and started" in foreseen["streamops_plan"]
    assert "kafka1 would" not in foreseen["streamops_plan"]
    assert "replicas move" in foreseen["streamops_plan"], "as if kafka4 were there"
    assert not (three.directory / "config" / "kafka4").exists()
    shown = four.playbook("playbooks/add_brokers.yml", plan_only=True).ok()
    assert held(four, 4) == 0, "plan_only moves nothing"
    handed = stats_of(shown.output)
    assert handed["kafka_plan_digest"] == foreseen["kafka_plan_digest"]
    assert f"kafka_plan_digest={handed['kafka_plan_digest']}" in shown.output
    assert f"{moves(shown.output)} replicas move" in handed["streamops_plan"]
    stale = "7-9-" + "0" * 64
    other = four.playbook("playbooks/rebalance.yml", kafka_plan_digest=stale)
    # A plan that is not carried out counts as one change, as in check mode.
    assert (other.rc, other.changed, held(four, 4)) == (2, 1, 0)
    said = " ".join(other.output.split())
    assert "this is not the plan that was approved" in said
    assert f"changes 7 partitions with 9 moves, the plan of now {handed['kafka_plan_digest'].split('-')[0]}" in said
    done = four.playbook("playbooks/add_brokers.yml", kafka_resources_move_throttle=20_000_000).ok()
    assert stats_of(done.output)["kafka_plan_digest"] == "", "an approval is for one run"
    # The second run also places the topic that keeps its state.
    assert 0 < moves(shown.output) <= moves(done.output) == held(four, 4)
    assert three.pids() == before
    assert "Every partition has the replicas that were planned" in report(four, "local-rebalance")
    again = four.playbook("playbooks/rebalance.yml").ok()
    assert (again.changed, "Nothing to move" in again.output) == (0, True)


def test_two_replicas_in_one_rack_are_parted_and_nothing_else_moves(four: Cluster) -> None:
    with topic_of(four, "racked", {0: [1, 4], 1: [1, 2], 2: [4, 3]}, 1):
        done = move(four, fix_racks=True)
        assert (done["failed"], done["moves"], len(done["changes"])) == (False, 1, 1), done
        with administering(four) as admin:
            placed = [set(partition.replicas) for partition in list_topics(admin)["racked"]]
        assert not {1, 4} <= placed[0]
        assert placed[1:] == [{1, 2}, {3, 4}]


@pytest.mark.full
def test_a_dead_broker_gives_its_place_to_one_of_another_id(three: Cluster, four: Cluster, five: Cluster) -> None:
    replicas = held(four, 4)
    words = {"kafka_replace_node": "kafka5", "kafka_replaced_id": 4, "kafka_resources_move_throttle": 0}
    voter = five.playbook("playbooks/replace_node.yml", **{**words, "kafka_replaced_id": 3})
    assert voter.rc != 0
    assert "whose vote does not move with its replicas" in " ".join(voter.output.split())
    with topic_of(four, ALONE, {0: [4]}, 0):
        four.kill_supervisord()
        four.kill("kafka4")
        until(lambda: (ALONE, 0) in offline(three), "the others to miss it", 120)
        last = five.playbook("playbooks/replace_node.yml", **words)
        assert last.rc != 0
        assert f"{ALONE}: partition 0: no leader; broker 4 has the data and is down" in last.output
        assert not (five.directory / "config" / "kafka5").exists(), "refused before anything is installed"
    done = five.playbook("playbooks/replace_node.yml", **words).ok()
    assert moves(done.output) == replicas == held(five, 5)
    with administering(five) as admin:
        assert [broker.id for broker in list_brokers(admin)] == [1, 2, 3, 5]
    options = {"bootstrap_servers": five.bootstrap_servers}
    assert run_module("streamops.kafka.cluster_info", options)["counts"]["under_replicated"] == 0


def test_a_loaded_broker_is_emptied_by_as_many_moves_as_it_has_replicas_and_removed(grown: tuple[Cluster, int]) -> None:
    cluster, last = grown
    before, replicas = throttles(cluster), held(cluster, last)
    with producing(cluster.bootstrap_servers, TOPIC, rate=500) as ledger:
        until(lambda: len(ledger.acknowledged) > 1000, "traffic")
        words = {"kafka_remove_broker": f"kafka{last}", "kafka_resources_move_throttle": 20_000_000}
        done = cluster.playbook("playbooks/drain_and_remove_broker.yml", **words).ok()
        reached = len(ledger.acknowledged)
        until(lambda: len(ledger.acknowledged) > reached + 500, "traffic to go on")
    assert moves(done.output) == replicas
    assert not cluster.alive(f"kafka{last}")
    with administering(cluster) as admin:
        assert [broker.id for broker in list_brokers(admin)] == [1, 2, 3]
    del before["brokers"][str(last)]
    assert throttles(cluster) == before
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, TOPIC))


def test_without_it_no_replica_is_left_to_move(three: Cluster) -> None:
    # A drain leaves leaders with whoever leads; a rebalance spreads them, once.
    first = three.playbook("playbooks/rebalance.yml").ok()
    assert "Nothing to move" in first.output or moves(first.output) == 0
    assert three.playbook("playbooks/rebalance.yml").ok().changed == 0


def test_a_topic_that_does_not_exist_is_not_grown(three: Cluster) -> None:
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": three.bootstrap_servers})
    run = three.playbook("playbooks/grow_topic.yml", kafka_grow_topic="ordres", kafka_grow_partitions=9)
    assert (run.rc, run.changed) == (2, 0)
    assert "topic ordres: does not exist (names like it: orders)" in " ".join(run.output.split())
    again = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": three.bootstrap_servers})
    assert again["topics"] == info["topics"]


def test_a_plan_to_grow_a_topic_says_that_it_has_no_new_partitions(
    three: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_stats(monkeypatch)
    before = replicas(three, TOPIC)
    grown = {"kafka_grow_topic": TOPIC, "kafka_grow_partitions": 9}
    planned = three.playbook("playbooks/grow_topic.yml", plan_only=True, **grown).ok()
    said, handed = " ".join(planned.output.split()), stats_of(planned.output)
    assert f"growth {TOPIC} partitions=6 -> partitions=9" in handed["streamops_plan"]
    assert handed["streamops_plan_digest"].startswith("1-changes-")
    assert f"{TOPIC} would get 9 partitions; none was added" in said
    assert said.index("the plan that follows has only existing partitions") < said.index("Move | Show the plan")
    more = {**grown, "kafka_grow_partitions": 12, "streamops_plan_digest": handed["streamops_plan_digest"]}
    other = three.playbook("playbooks/grow_topic.yml", streamops_plan=handed["streamops_plan"], **more)
    assert other.rc != 0
    assert f"only now: growth {TOPIC} partitions=6 -> partitions=12" in " ".join(other.output.split())
    assert replicas(three, TOPIC) == before


def voters(cluster: Cluster) -> dict[int, str]:
    """The directory with which each controller votes."""
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    return {voter["id"]: voter["directory_id"] for voter in info["quorum"]["voters"]}


@pytest.mark.full
def test_a_combined_node_whose_disk_is_gone_refills_and_votes_again(three: Cluster) -> None:
    before = voters(three)
    alive = three.playbook("playbooks/replace_node.yml", kafka_replace_node="kafka3")
    assert alive.rc != 0
    assert "A node that lives needs no replacement" in " ".join(alive.output.split())
    with producing(three.bootstrap_servers, TOPIC, rate=200) as ledger:
        until(lambda: len(ledger.acknowledged) > 200, "traffic")
        three.kill_supervisord()
        three.kill("kafka3")
        shutil.rmtree(three.directory / "data" / "kafka3")
        until(lambda: not heard(three, 3), "the others to miss it")
        three.playbook("playbooks/replace_node.yml", kafka_replace_node="kafka3").ok()
    # The leader lists the directory that was replaced for five minutes; it says nothing of the node.
    health = run_module("streamops.kafka.cluster_health", {"bootstrap_servers": three.bootstrap_servers})
    assert "observer_behind" not in [one["kind"] for one in health["findings"]], health
    after = voters(three)
    assert sorted(after) == [1, 2, 3]
    assert {node for node in after if after[node] != before[node]} == {3}
    assert three.playbook().ok().changed == 0
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": three.bootstrap_servers})
    assert info["counts"]["under_replicated"] == 0
    assert not ledger.failed
    assert not ledger.lost(read_all(three.bootstrap_servers, TOPIC))


def heard(cluster: Cluster, node: int) -> bool:
    """Whether the cluster takes a combined node for alive: as broker, or as voter within the last ten seconds."""
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    if not next(broker["fenced"] for broker in info["nodes"] if broker["id"] == node):
        return True
    ago = next(voter["last_caught_up_ms_ago"] for voter in info["quorum"]["voters"] if voter["id"] == node)
    return ago is not None and ago < 10_000


@pytest.mark.full
def test_a_topic_gets_fewer_and_more_replicas_and_more_partitions(three: Cluster) -> None:
    down = three.playbook("playbooks/change_replication_factor.yml", kafka_replication_factor={TOPIC: 2}).ok()
    assert moves(down.output) == 0
    up = three.playbook("playbooks/change_replication_factor.yml", kafka_resources_move_throttle=0).ok()
    assert moves(up.output) == 6, "the inventory wants three replicas of its six partitions"
    grown = {"kafka_grow_topic": TOPIC, "kafka_grow_partitions": 9}
    # One broker leads all of another topic; it stays so.
    with topic_of(three, "lopsided", {number: [1, 2] for number in range(6)}, 1):
        first = three.playbook("playbooks/grow_topic.yml", **grown).ok()
        assert replicas(three, "lopsided") == {number: [1, 2] for number in range(6)}
        assert three.playbook("playbooks/grow_topic.yml", **grown).ok().changed == 0
    assert "kafka_topics still declares 6 partitions for orders. Change it to" in " ".join(first.output.split())
    declared = local_variables()["kafka_topics"]
    three.variables["kafka_topics"] = [
        {**one, **({"partitions": 9} if one["name"] == TOPIC else {})} for one in declared
    ]
    options = {"bootstrap_servers": three.bootstrap_servers, "topics": [TOPIC]}
    partitions = run_module("streamops.kafka.cluster_info", options)["topics"][0]["partitions"]
    assert [len(one["replicas"]) for one in partitions] == [3] * 9
    assert all(one["leader"] == one["replicas"][0] for one in partitions)


def isr(cluster: Cluster, topic: str) -> list[int]:
    """Who is in sync in the first partition of a topic."""
    with administering(cluster) as admin:
        return sorted(list_topics(admin)[topic][0].isr)


def start(cluster: Cluster, node: str) -> None:
    """Start a node by its own script: its supervisor was killed so that it does not start a killed node again."""
    script = cluster.directory / "config" / node / "start"
    console = (cluster.directory / "log" / node / "by-hand.log").open("wb")
    subprocess.Popen([str(script)], stdout=console, stderr=console, start_new_session=True)


# The last tests of this file: they leave the cluster without its supervisor, and with less than it had.
@pytest.fixture(scope="module")
def bereft(three: Cluster) -> Iterator[tuple[Path, dict[str, Ledger]]]:
    """kafka3, which has the only or the last copy of two topics, is killed, and its disk put away."""
    ledgers: dict[str, Ledger] = {}
    with contextlib.ExitStack() as stack:
        for topic, replicas in ((ALONE, [3]), (SHRUNK, [3, 2])):
            stack.enter_context(topic_of(three, topic, {0: replicas}, 0))
        three.stop("kafka2")
        until(lambda: isr(three, SHRUNK) == [3], "the ISR to shrink to kafka3")
        for topic in (ALONE, SHRUNK):
            with producing(three.bootstrap_servers, topic, rate=500) as ledgers[topic]:
                until(lambda topic=topic: len(ledgers[topic].acknowledged) > 500, "500 acknowledged records")
        three.kill_supervisord()
        three.kill("kafka3")
        data = three.directory / "data" / "kafka3"
        kept = data.rename(data.with_suffix(".kept"))
        start(three, "kafka2")
        until(lambda: {(ALONE, 0), (SHRUNK, 0)} <= set(offline(three)) and not heard(three, 3), "it to be missed", 120)
        yield kept, ledgers


def test_the_last_copy_of_data_is_not_replaced_by_an_empty_disk(
    three: Cluster, bereft: tuple[Path, dict[str, Ledger]]
) -> None:
    kept, ledgers = bereft
    data = three.directory / "data" / "kafka3"
    refused = three.playbook("playbooks/replace_node.yml", kafka_replace_node="kafka3")
    said = " ".join(refused.output.split())
    assert refused.rc != 0
    assert refused.changed == 0
    assert offline(three)[SHRUNK, 0]["eligible_leaders"] == [3]
    assert f"{ALONE}: partition 0: broker 3 has the only replica" in said
    assert f"{SHRUNK}: partition 0: broker 3 is the last one in sync" in said
    named = three.playbook("playbooks/replace_node.yml", kafka_replace_node="kafka3", kafka_replace_lost_topics=ALONE)
    assert named.rc != 0
    assert f"{SHRUNK}: partition 0" in named.output
    assert f"{ALONE}: partition 0" not in named.output
    assert not data.exists()
    assert set(offline(three)) >= {(ALONE, 0), (SHRUNK, 0)}
    # The safe way, which the refusal names first.
    kept.rename(data)
    start(three, "kafka3")
    until(lambda: isr(three, SHRUNK) == [2, 3] and not offline(three), "all replicas to be in sync", 120)
    for topic, ledger in ledgers.items():
        assert not ledger.failed
        assert not ledger.lost(read_all(three.bootstrap_servers, topic))


@pytest.mark.full
def test_a_last_copy_whose_topic_is_named_may_be_lost(three: Cluster, bereft: tuple[Path, dict[str, Ledger]]) -> None:
    _kept, ledgers = bereft
    # kafka2 has all records but the last ones of a topic that has kafka3 as its first replica.
    os.kill(three.pid("kafka2"), signal.SIGTERM)
    until(lambda: not three.alive("kafka2") and isr(three, SHRUNK) == [3], "the ISR to shrink to kafka3", 120)
    with producing(three.bootstrap_servers, SHRUNK, rate=500) as late:
        until(lambda: len(late.acknowledged) > 500, "500 acknowledged records")
    three.kill("kafka3")
    shutil.rmtree(three.directory / "data" / "kafka3")
    start(three, "kafka2")
    until(lambda: {(ALONE, 0), (SHRUNK, 0)} <= set(offline(three)) and not heard(three, 3), "it to be missed", 120)
    words = {"kafka_replace_node": "kafka3", "kafka_replace_lost_topics": f'["{ALONE}","{SHRUNK}"]'}
    looked = three.playbook("playbooks/replace_node.yml", "--check", **words)
    would = f"would elect any live replica as leader of {ALONE}-0, {SHRUNK}-0"
    assert would in " ".join(looked.output.split()), looked.output
    assert (ALONE, 0) in offline(three)
    three.playbook("playbooks/replace_node.yml", **words).ok()
    assert not offline(three)
    assert len(ledgers[ALONE].lost(read_all(three.bootstrap_servers, ALONE))) == len(ledgers[ALONE].acknowledged)
    assert not ledgers[SHRUNK].lost(read_all(three.bootstrap_servers, SHRUNK)), "the other broker had it"
    assert isr(three, SHRUNK) == [2, 3]
