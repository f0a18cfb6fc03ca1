# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused or noted before an upgrade, rule by rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE, REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade import checks
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import BACK, BINARIES, ClusterFacts, Outcome
from tests.unit.plugins.plugin_utils.upgrade.upgrade_data import NEW, OLD, cluster, info, node

QUORUM = info(1, 2, 3)["quorum"]
BEHIND = {"topic": "orders", "partition": 0, "replicas": [1, 2, 3], "isr": [1, 3]}
MOVING = {"name": "orders", "partitions": [{"partition": 4, "adding_replicas": [3], "removing_replicas": []}]}


def setting(kind: str, name: str, key: str, value: str | None) -> dict[str, str | None]:
    return {"kind": kind, "name": name, "key": key, "value": value}


def of(outcome: Outcome) -> list[tuple[str, str]]:
    return [(one.level, one.what) for one in outcome.findings]


def back(*nodes: Any, **values: Any) -> ClusterFacts:
    nodes = nodes or tuple(node(number, runs=NEW, target=OLD) for number in (1, 2, 3))
    return cluster(*nodes, action=BACK, target=OLD, **values)


def test_a_cluster_in_order_is_refused_for_nothing() -> None:
    outcomes = checks.check_all(cluster())
    assert [one for outcome in outcomes for one in outcome.findings] == []
    assert all(outcome.fine for outcome in outcomes)


def test_every_refusal_has_a_fix() -> None:
    broken = cluster(
        node(1, java=11, free_mib=10, properties={"log.message.format.version": ("3.0", "kafka_config")}),
        node(2, silence="timed out"),
        node(3, runs=""),
        info=info(1, 9, under_replicated=[BEHIND], topics=[MOVING]),
    )
    found = [one for outcome in checks.check_all(broken) for one in outcome.findings if one.level == REFUSE]
    assert len(found) > 7
    assert [one.what for one in found if not one.fix] == []


@pytest.mark.parametrize(
    ("rule", "facts", "level", "what"),
    [
        (checks.machines, cluster(node(1, silence="no route")), REFUSE, "k1 does not answer (no route)"),
        (checks.machines, cluster(node(1), node(2, runs="")), REFUSE, "nothing was ever started on k2"),
        (checks.machines, cluster(node(1), node(2, running=False)), NOTE, "k2 is stopped"),
        (checks.path, cluster(target="4.9.9"), REFUSE, "this collection does not have Kafka 4.9.9"),
        (checks.path, cluster(mode="zookeeper"), REFUSE, "Kafka 4.3.1 has no ZooKeeper mode"),
        (
            checks.path,
            cluster(target="3.9.2", nodes=(node(1, runs=NEW),)),
            REFUSE,
            "is older than what k1 runs (4.3.1)",
        ),
        (
            checks.path,
            cluster(node(1, runs="4.3.0")),
            NOTE,
            "k1 on 4.3.0 cannot go back: this collection does not have",
        ),
        (checks.path, cluster(action=BACK), REFUSE, "is newer than what k1, k2, k3 runs (3.9.2)"),
        (
            checks.features,
            back(info=None, unasked="timed out"),
            REFUSE,
            "could not be asked for its features (timed out)",
        ),
        (checks.features, back(info=info(1, 2, 3, features=None)), REFUSE, "could not be asked for its features"),
        (checks.features, back(info=info(1, 2, 3, features={"metadata.version": 27})), REFUSE, "metadata.version 27"),
        (
            checks.features,
            cluster(levels=("metadata.version",)),
            REFUSE,
            "kafka_upgrade_features names metadata.version, and kafka_upgrade=finalize was not given",
        ),
        (checks.java, cluster(node(1, java=11), node(2)), REFUSE, "k1 has Java 11, and Kafka 4.3.1 needs 17"),
        (checks.java, cluster(node(1, java=None)), REFUSE, "k1 has no Java that works"),
        (checks.room, cluster(node(1, free_mib=12)), REFUSE, "k1 has 12 MiB free for /opt/kafka"),
        (checks.room, cluster(node(1, free_mib=0)), REFUSE, "k1 has 0 MiB free for /opt/kafka"),
        (
            checks.properties,
            cluster(node(1, properties={"log.message.format.version": ("3.0", "kafka_config['x']")})),
            REFUSE,
            "k1: Kafka 4.3.1 does not read log.message.format.version (kafka_config['x'])",
        ),
        (
            checks.properties,
            cluster(node(1, properties={"log.segment.bytes": (1000, "kafka_config['x']")})),
            REFUSE,
            "k1: Kafka 4.3.1 refuses '1000' as log.segment.bytes",
        ),
        (
            checks.overrides,
            cluster(info=info(1, 2, 3, overrides=[setting("topic", "orders", "message.format.version", "3.0")])),
            REFUSE,
            "topic orders: Kafka 4.3.1 does not read message.format.version (set in the cluster",
        ),
        (
            checks.overrides,
            cluster(info=info(1, 2, 3, overrides=[setting("topic", "orders", "segment.bytes", "1000")])),
            REFUSE,
            "topic orders: Kafka 4.3.1 refuses '1000' as segment.bytes",
        ),
        (
            checks.overrides,
            cluster(info=info(1, 2, 3, overrides=[setting("broker", "", "num.replica.fetchers", "0")])),
            REFUSE,
            "broker all by default: Kafka 4.3.1 refuses '0' as num.replica.fetchers",
        ),
        (checks.quorum, cluster(info=None, unasked="timed out"), REFUSE, "the cluster does not answer (timed out)"),
        (checks.quorum, cluster(info=info(1, 2)), REFUSE, "controllers of the inventory are no voters: 3"),
        (checks.quorum, cluster(info=info(quorum={"error": "denied"})), REFUSE, "the quorum does not answer: denied"),
        (checks.quorum, cluster(info=info(quorum={**QUORUM, "leader_id": None})), REFUSE, "the quorum has no leader"),
        (
            checks.registrations,
            cluster(info=info(1, 2, 3, nodes=[{"id": 9, "fenced": True, "replicas": 0}])),
            REFUSE,
            "broker 9 is registered and down (fenced)",
        ),
        (
            checks.registrations,
            cluster(info=info(1, 2, 3, nodes=[{"id": 2, "fenced": True, "replicas": 4}])),
            REFUSE,
            "k2 runs, and the cluster has it fenced",
        ),
        (
            checks.registrations,
            cluster(info=info(1, 2, 3, quorum={**QUORUM, "observers": [{"id": 7}]})),
            NOTE,
            "nodes that the inventory lacks follow the quorum: 7",
        ),
        (checks.replicas, cluster(info=info(1, 2, 3, under_replicated=[BEHIND])), REFUSE, "not in sync (orders-0)"),
        (checks.replicas, cluster(info=info(1, 2, 3, offline=[BEHIND])), REFUSE, "have no leader (orders-0)"),
        (checks.moves, cluster(info=info(1, 2, 3, topics=[MOVING])), REFUSE, "being reassigned (orders-4)"),
        (checks.mirrors, cluster(mirrors={"m1": OLD, "m2": NEW}), NOTE, "mirror m1 runs Kafka 3.9.2"),
    ],
)
def test_a_rule_names_the_thing(
    rule: Callable[[ClusterFacts], Outcome], facts: ClusterFacts, level: str, what: str
) -> None:
    found = of(rule(facts))
    assert [one for one, said in found if what in said] == [level], found


def test_what_the_target_has_is_no_reason() -> None:
    assert of(checks.room(cluster(node(1, free_mib=12, installed=True)))) == []
    assert of(checks.java(cluster(node(1, java=None, installs_java=True)))) == []
    assert of(checks.features(back())) == [], "metadata.version 21 is what 3.9 knows"
    assert of(checks.path(back())) == []
    key = {"ssl.keystore.password": ("${file:/etc/secret:password}", "kafka_config")}
    assert of(checks.properties(cluster(node(1, properties=key)))) == []


def test_settings_in_the_cluster_that_the_target_takes_are_no_reason() -> None:
    taken = [
        setting("topic", "orders", "retention.ms", "1000"),
        setting("broker", "1", "ssl.keystore.password", None),
        setting("broker", "1", "of.a.plugin", "x"),
    ]
    assert of(checks.overrides(cluster(info=info(1, 2, 3, overrides=taken)))) == []


def test_topics_with_one_setting_alike_are_one_finding() -> None:
    alike = [setting("topic", f"t{number}", "message.format.version", "3.0") for number in range(50)]
    found = of(checks.overrides(cluster(info=info(1, 2, 3, overrides=alike))))
    assert [what.partition(":")[0] for _level, what in found] == ["topic t0, t1, t2 and 47 more"]


def test_replicas_of_a_stopped_node_are_no_reason() -> None:
    facts = cluster(node(1), node(2, running=False), node(3), info=info(1, 2, 3, under_replicated=[BEHIND]))
    assert of(checks.replicas(facts)) == []
    assert checks.replicas(facts).fine == "1 partitions wait for k2, the others are in sync"
    assert checks.replicas(cluster()).fine == "all in sync"


def test_a_node_that_did_not_come_back_with_its_last_files_is_noted_with_the_way_on() -> None:
    given_up = cluster(node(1), node(2, gave_up="No space left on device"))
    ((level, what),) = of(checks.machines(given_up))
    assert level == NOTE
    assert f"k2 did not come back with its start files of {NEW} (No space left on device)" in what
    assert "-e kafka_retry_generation=true" in what
    # Of a node that has its release other files are meant.
    assert of(checks.machines(cluster(node(1), node(2, runs=NEW, gave_up="x")))) == []
    # The way back is refused in the same way, where it was the older release that did not come back.
    assert of(checks.machines(replace(given_up, action=BACK))) == [(NOTE, what)]


def test_no_path_is_known_where_no_node_ever_ran() -> None:
    assert checks.path(cluster(node(1, runs=""), node(2, runs=""), mode="zookeeper")).fine.startswith("not known")
    assert checks.path(cluster()).fine == "legal"


def test_a_run_that_was_cut_is_finished_and_a_way_back_is_gone_although_replicas_are_behind() -> None:
    cut = cluster(node(1, runs=NEW), node(2), node(3), info=info(1, 2, 3, under_replicated=[BEHIND], topics=[MOVING]))
    assert [level for level, _ in of(checks.replicas(cut)) + of(checks.moves(cut))] == [NOTE, NOTE]
    assert [level for level, _ in of(checks.replicas(back(info=cut.info)))] == [NOTE]


def test_a_half_done_upgrade_goes_back_and_on() -> None:
    half = (node(1, runs=NEW, target=OLD), node(2, target=OLD), node(3, target=OLD))
    assert of(checks.path(back(*half))) == []
    on = replace(cluster(), nodes=(node(1, runs=NEW), node(2), node(3)))
    assert of(checks.path(on)) == []


def ensemble(runs: str, target: str, action: str) -> ClusterFacts:
    brokers = [node(number, ("broker",), target=OLD) for number in (1, 2, 3)]
    servers = [node(number, ("zookeeper",), runs=runs, target=target) for number in (7, 8, 9)]
    return cluster(*brokers, *servers, action=action, mode="zookeeper", target=OLD)


def test_servers_of_zookeeper_go_back_by_the_same_word() -> None:
    assert of(checks.path(ensemble("3.8.6", "3.9.5", BINARIES))) == []
    assert of(checks.path(ensemble("3.9.5", "3.8.6", BACK))) == []
    (older,) = checks.path(ensemble("3.9.5", "3.8.6", BINARIES)).findings
    assert older.what == "zookeeper_version 3.8.6 is older than what k7, k8, k9 runs (3.9.5)"
    assert older.fix == "to go back, add -e kafka_upgrade=back; else set zookeeper_version to 3.9.5 or later"
    (newer,) = checks.path(ensemble("3.8.6", "3.9.5", BACK)).findings
    assert newer.what == "kafka_upgrade=back, but zookeeper_version 3.9.5 is newer than what k7, k8, k9 runs (3.8.6)"
    assert newer.fix == "set zookeeper_version to the release to go back to, such as 3.8.6"


def test_ids_that_may_be_missing_are_no_ghosts() -> None:
    ghost = info(1, 2, 3, nodes=[{"id": 9, "fenced": True, "replicas": 0}])
    assert of(checks.registrations(cluster(info=ghost, accepted=frozenset({9})))) == []
