# SPDX-License-Identifier: GPL-3.0-or-later
"""Log directories and registrations of real brokers."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers, list_topics
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import delete_topics, made_state_topic
from tests.support.cluster import Cluster, until
from tests.support.modules import run_module
from tests.support.moves import administering, topic_of


def registration(cluster: Cluster, check: bool = False, diff: bool = False, **options: Any) -> dict[str, Any]:
    """Run the module."""
    arguments = {"bootstrap_servers": cluster.bootstrap_servers, **options}
    return run_module("streamops.kafka.broker_registration", arguments, check=check, diff=diff)


def fenced(cluster: Cluster, broker: int) -> bool | None:
    """Whether a broker is fenced, None when it is not registered."""
    with administering(cluster) as admin:
        return {one.id: one.fenced for one in list_brokers(admin)}.get(broker)


def test_log_dirs_tell_what_a_broker_holds(combined: Cluster) -> None:
    one = combined.identities["kafka1"]
    arguments = {"bootstrap_servers": combined.bootstrap_servers, "brokers": [one], "topics": ["held"]}
    with topic_of(combined, "held", {0: [one]}, 1):
        found = run_module("streamops.kafka.log_dirs", arguments)
    (broker,) = found["brokers"]
    assert (broker["replica_count"], broker["future_count"]) == (1, 0)
    assert broker["replica_bytes"] >= 1_000_000
    (directory,) = broker["directories"]
    assert directory["online"] is True
    assert directory["total_bytes"] > directory["usable_bytes"] > 0
    assert [replica["partition"] for replica in directory["replicas"]] == [0]


def test_a_broker_is_cordoned_and_uncordoned_once(combined: Cluster) -> None:
    three = combined.identities["kafka3"]
    shown = registration(combined, check=True, diff=True, broker=three, state="cordoned")
    assert (shown["changed"], shown["brokers"][0]["cordoned"]) == (True, False)
    try:
        done = registration(combined, broker=three, state="cordoned")
        assert not done["failed"], done
        assert (done["changed"], done["brokers"][0]["cordoned_log_dirs"]) == (True, ["*"])
        assert registration(combined, broker=three, state="cordoned")["changed"] is False
        assert [one["cordoned"] for one in registration(combined)["brokers"]] == [False, False, True]
    finally:
        back = registration(combined, broker=three, state="uncordoned")
    assert (back["changed"], back["brokers"][0]["cordoned"]) == (True, False)
    assert registration(combined, broker=three, state="uncordoned")["changed"] is False


def test_a_cordoned_broker_gets_nothing_and_is_named_before(combined: Cluster) -> None:
    three = combined.identities["kafka3"]
    others = sorted(set(combined.identities.values()) - {three})
    where = {"bootstrap_servers": combined.bootstrap_servers}
    led = {"name": "cordon-led", "replication_factor": 2, "every_broker_leads": True}
    with topic_of(combined, "cordon", dict.fromkeys(range(3), others), 0), administering(combined) as admin:
        assert not registration(combined, broker=three, state="cordoned")["failed"]
        try:
            wish = {**where, "state": "planned", "topics": ["cordon"]}
            evened = run_module("streamops.kafka.reassignment", {**wish, "rebalance": True})
            assert evened["moves"] == 0, evened
            assert {one["id"]: one["state"] for one in evened["brokers"]}[three] == "cordoned"
            more = run_module("streamops.kafka.reassignment", {**where, "replication_factor": {"cordon": 3}})
            assert f"there are 2 (broker {three} is cordoned)" in more["msg"]
            named = run_module("streamops.kafka.reassignment", {**wish, "add": [{"id": three}]})
            assert f"broker {three} cannot take replicas: it is cordoned" in named["msg"]

            assert run_module("streamops.kafka.topics", {**where, "topics": [led]})["created"] == ["cordon-led"]
            assert sorted(found.replicas[0] for found in list_topics(admin)["cordon-led"]) == others
            refused = run_module(
                "streamops.kafka.topics", {**where, "topics": [{"name": "cordon-3", "replication_factor": 3}]}
            )
            assert f"only 2 brokers may get replicas ({others[0]}, {others[1]}); cordoned: {three}" in refused["msg"]

            health = run_module("streamops.kafka.cluster_health", where)
            assert [one["severity"] for one in health["findings"] if one["kind"] == "broker_cordoned"] == ["note"]
            nodes = run_module("streamops.kafka.cluster_info", {**where, "sizes": True})["nodes"]
            assert {one["id"]: one["cordoned"] for one in nodes} == {**dict.fromkeys(others, False), three: True}

            delete_topics(admin, [STATE_TOPIC])
            until(lambda: STATE_TOPIC not in list_topics(admin), "the state topic to be gone")
            assert made_state_topic(admin)
            assert sorted(list_topics(admin)[STATE_TOPIC][0].replicas) == others
        finally:
            delete_topics(admin, ["cordon-led", STATE_TOPIC])
            registration(combined, broker=three, state="uncordoned")


def test_a_broker_that_runs_or_holds_replicas_stays_registered_and_one_that_is_not_there_is_no_change(
    combined: Cluster,
) -> None:
    three = combined.identities["kafka3"]
    with topic_of(combined, "kept", {0: [three]}, 0):
        runs = registration(combined, broker=three, state="unregistered")
        assert f"broker {three}: is alive; stop it first" in runs["msg"]
        combined.stop("kafka3")
        try:
            until(lambda: fenced(combined, three), "kafka3 to be fenced")
            holds = registration(combined, broker=three, state="unregistered")
            assert f"broker {three}: has replicas of" in holds["msg"]
            away = registration(combined, broker=three, state="cordoned")
            assert "is fenced, and only the broker itself takes this setting" in away["msg"]
        finally:
            combined.start("kafka3")
            until(lambda: fenced(combined, three) is False, "kafka3 to be back", 120)
    gone = registration(combined, broker=99, state="unregistered")
    assert (gone["failed"], gone["changed"], gone["brokers"][0]["registered"]) == (False, False, False)
