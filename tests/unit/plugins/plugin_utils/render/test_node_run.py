# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run does with a node, and what follows from what tasks saw of it and of its cluster."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.nodes import awaited_ports
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import cluster_run, node_run
from tests.support.inventory_data import view

NODE = {"host": "a", "node_id": 1, "roles": ["broker"]}
LISTENERS = [
    {"port": 1, "opens": True, "purpose": "clients"},
    {"port": 2, "opens": False, "purpose": "clients"},
    {"port": 3, "opens": True, "purpose": "zookeeper_quorum"},
]


def disk(**values: Any) -> dict[str, Any]:
    """A formatted disk on which nothing has run, but for what is given."""
    return {"path": "/d", "started": False, "error": None, "meta_properties": {}, "quorum_state": None, **values}


def info(*disks: dict[str, Any], **values: Any) -> dict[str, Any]:
    """What node_info returned of a node that runs as it should."""
    return {
        "disks": list(disks),
        "process": {"running": True},
        "restart_reasons": [],
        "needs_start": False,
        "ports": {"1": "127.0.0.1"},
        "quorum": {"leader": 1, "records": True},
        "traces": [],
        **values,
    }


def seen_of(*infos: dict[str, Any] | None, host: str = "k0", **common: Any) -> Any:
    """What k0 sees where k0, k1, ... are combined nodes of which node_info said this, nothing of some."""
    hosts = {
        f"k{number}": {"kafka_node_id": number, **({"__common_node_info": one} if one else {})}
        for number, one in enumerate(infos)
    }
    for name in [name for name in common if name.startswith("__")]:
        hosts["k0"][name] = common.pop(name)
    return view(hosts, brokers=list(hosts), controllers=list(hosts), host=host, **common)["seen"]


def test_a_host_that_did_not_answer_has_unknown_disks_not_empty_ones() -> None:
    nodes = seen_of(info(disk(), traces=["/log"]), None)["nodes"]
    assert [(node["disks"], node["running"]) for node in nodes] == [([disk()], True), (None, False)]
    assert [node["traces"] for node in nodes] == [["/log"], []]
    assert nodes[0]["mode"] == "kraft_isolated"


@pytest.mark.parametrize(
    ("broker", "controller", "modes"),
    [
        ("", "", ["left_alone", "zookeeper"]),
        ("migrating", "migrating", ["migrating", "migrating"]),
        ("kraft", "migrating", ["migrating", "kraft"]),
    ],
)
def test_the_stage_of_each_node_says_whose_data_it_may_have(broker: str, controller: str, modes: list[str]) -> None:
    blank = info(disk(), quorum={"leader": None, "records": False})
    hosts = {
        "b1": {"kafka_node_id": 1, "__common_node_info": info(disk(meta_properties={"broker.id": "1"}))},
        "c1": {"kafka_node_id": 101, "__common_node_info": blank},
    }
    for host, stage in (("b1", broker), ("c1", controller)):
        hosts[host]["_kafka_stage"] = stage
    found = view(hosts, brokers=["b1"], controllers=["c1"], host="b1", kafka_mode="zookeeper")["seen"]
    assert [node["mode"] for node in found["nodes"]] == modes
    assert cluster_run.has_started(found["nodes"]), "the broker has data of ZooKeeper"
    assert not found["never_formed"], "brokers never restart without a gate for controllers that are to come"


def test_a_restarted_node_needs_no_override_whatever_was_seen_before() -> None:
    said = {"live_properties": {"num.io.threads": "9"}}
    nodes = [NODE, {**NODE, "host": "b", "node_id": 2}]
    assert cluster_run.live_properties(nodes, {"a": said, "b": said}, ["b"]) == {
        "1": {"num.io.threads": "9"},
        "2": {"num.io.threads": None},
    }


def test_in_check_mode_only_brokers_that_run_have_settings() -> None:
    infos = (info(live_properties={"x": "1"}), info(process={"running": False}))
    assert seen_of(*infos)["live_properties"] == {"0": {"x": "1"}, "1": {}}
    assert seen_of(*infos, ansible_check_mode=True)["live_properties"] == {"0": {"x": "1"}}


@pytest.mark.parametrize(
    ("changes", "roles", "silent"),
    [
        ({}, ["broker", "controller"], False),
        ({"needs_start": True}, ["broker"], True),
        ({"ports": {"1": None}}, ["broker"], True),
        ({"ports": {"1": None}, "restart_reasons": [{"name": "x"}]}, ["broker"], False),
        ({"ports": {"2": None, "3": None}}, ["broker"], False),
        ({"quorum": {"leader": None}}, ["controller"], True),
        ({"quorum": None}, ["controller"], True),
        ({"quorum": None}, ["broker"], False),
    ],
)
def test_a_node_that_does_not_listen_or_knows_no_leader_is_silent(
    changes: dict[str, Any], roles: list[str], silent: bool
) -> None:
    node = {"roles": roles, "listeners": LISTENERS}
    assert node_run.is_silent(info(**changes), node, awaited_ports(node, 3)) is silent


def test_a_disk_whose_format_was_cut_is_no_empty_one() -> None:
    disks = [disk(path="/a"), disk(path="/b", started=True), disk(path="/c", error="cut")]
    assert node_run.disks_with_data(disks) == ["/b", "/c"]


BLANK = {"leader": None, "records": False}
REASON = {"name": "x", "kind": "property", "from": "1", "to": "2"}


def test_only_a_quorum_that_never_formed_is_restarted_without_a_gate() -> None:
    blank = info(disk(), quorum=BLANK, restart_reasons=[REASON])
    assert seen_of(blank, blank)["restarts_at_once"] is True
    assert seen_of(blank, None)["restarts_at_once"] is False
    assert seen_of(blank, info(disk()))["restarts_at_once"] is False
    assert seen_of({**blank, "restart_reasons": []}, blank)["restarts_at_once"] is False
    assert seen_of({**blank, "process": {"running": False}}, blank)["restarts_at_once"] is False


FLAPPING = {"leader": 1, "records": True, "unsteady": True, "first_epoch": 84, "last_epoch": 87}


def changed(**values: Any) -> dict[str, Any]:
    """A controller of a quorum without a stable leader, whose files changed a moment ago."""
    since = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    change = {"since": since, "changes": ["property max.connections: (not set) -> 2"], "same_release": True}
    return info(disk(), **{"quorum": FLAPPING, "start_files": {"last_change": change}, **values})


def test_controllers_with_new_files_restart_at_once_where_their_quorum_keeps_no_leader() -> None:
    new = changed(restart_reasons=[REASON])
    found = seen_of(new, new, info(disk()))
    assert (found["restarts_at_once"], found["ends_unsteady"]) == (True, False)
    assert "no stable leader (epochs 84 to 87 within seconds)" in found["at_once"]
    assert "It is a broker too" in found["at_once"]
    assert seen_of(new, info(disk()), info(disk()))["restarts_at_once"] is False, "one that is cut off is no quorum"
    assert seen_of(new, info(disk()), info(disk()))["is_cut_off"] is True
    stopped = changed(restart_reasons=[REASON], process={"running": False})
    assert seen_of(stopped, new, new)["restarts_at_once"] is False


def test_a_broker_that_is_no_controller_waits_for_its_quorum() -> None:
    hosts = {f"c{one}": {"kafka_node_id": one, "__common_node_info": changed()} for one in (1, 2, 3)}
    hosts["b"] = {"kafka_node_id": 4, "__common_node_info": info(disk(), restart_reasons=[REASON])}
    found = view(hosts, brokers=["b"], controllers=["c1", "c2", "c3"], host="b")["seen"]
    assert (found["restarts_at_once"], found["ends_unsteady"]) == (False, False)
    assert view(hosts, brokers=["b"], controllers=["c1", "c2", "c3"], host="c1")["seen"]["ends_unsteady"] is True


def test_a_run_that_changes_no_controller_takes_back_what_changed_last() -> None:
    found = seen_of(changed(), changed(), info(disk()))
    assert (found["ends_unsteady"], found["restarts_at_once"], found["gives_back"]) == (True, False, ["k0", "k1"])
    assert "k0, k1 since 2" in found["unsteady"]["done"]
    assert "k0, k1 since 2" in found["unsteady_note"]
    assert seen_of(info(disk()), info(disk()))["unsteady_note"] == ""
    assert "property max.connections: (not set) -> 2" in found["unsteady"]["done"]
    assert seen_of(changed(), changed(), changed(needs_start=True))["ends_unsteady"] is False, (
        "it may be what is missing"
    )
    assert seen_of(info(disk()), info(disk()))["ends_unsteady"] is False
    blank = {**FLAPPING, "leader": None, "records": False}
    assert seen_of(changed(quorum=blank), changed(quorum=blank))["ends_unsteady"] is False, "it never formed"


def test_without_a_change_of_late_a_run_only_says_what_it_saw() -> None:
    found = seen_of(*[changed(start_files={"last_change": None})] * 3)
    assert (found["ends_unsteady"], found["gives_back"]) == (True, [])
    assert "epochs 84 to 87" in found["unsteady"]["done"]
    assert "Nothing was changed now" in found["unsteady"]["done"]


USED, UNUSED = disk(started=True, quorum_state={"leader": 1}), disk()
REGISTERED = {"nodes": [{"id": 0, "fenced": False}, {"id": 1, "fenced": True}], "quorum": None}


@pytest.mark.parametrize(
    ("infos", "needs"),
    [
        ([info(USED), info(USED)], False),
        ([info(USED), info(UNUSED)], True),
        ([info(UNUSED), info(UNUSED)], False),
        ([info(USED, quorum=BLANK), info(UNUSED, quorum=BLANK)], False),
    ],
    ids=["all used", "one unused", "new", "never formed"],
)
def test_the_cluster_is_asked_who_is_registered_when_a_broker_lost_its_disk(
    infos: list[dict[str, Any]], needs: bool
) -> None:
    assert seen_of(*infos)["needs_registration"] is needs


def test_a_cluster_that_did_not_answer_is_not_one_without_brokers() -> None:
    blank = info(USED, quorum=BLANK)
    assert seen_of(info(USED), None, __common_registered=REGISTERED)["registered_ids"] == [0, 1]
    assert seen_of(info(USED), None)["registered_ids"] is None
    assert seen_of(info(USED), None, __common_registered={"failed": True})["registered_ids"] is None
    assert seen_of(blank, blank, __common_registered=REGISTERED)["registered_ids"] == []


def test_brokers_that_the_cluster_does_not_know_yet_are_coming_where_it_was_asked() -> None:
    only_one = {"nodes": [{"id": 0}], "brokers": []}
    assert [one["id"] for one in seen_of(info(USED), info(), __common_registered=only_one)["coming"]] == [1]
    assert seen_of(info(USED), info(USED), __common_registered=REGISTERED)["coming"] == []
    assert seen_of(info(USED), info())["coming"] == []


def test_the_first_voters_are_given_to_those_whom_the_plan_names() -> None:
    plan = {"cluster_id": "NkVFSTE3NzM3NDRkNDQ0NA", "initial_controllers": {"k0": True, "k1": False}}
    listeners = [
        {"name": "C", "port": 9092, "purpose": "clients"},
        {"name": "Q", "port": 9093, "purpose": "controllers"},
    ]
    found = [
        seen_of(info(), info(), host=host, kafka_listeners=listeners, __common_format_plan=plan)["initial_controllers"]
        for host in ("k0", "k1")
    ]
    assert [one.count("@") for one in found] == [2, 0]


@pytest.mark.parametrize(("behind", "heard"), [(9_999, True), (10_000, False), (None, False)])
def test_a_voter_that_was_just_heard_lives(behind: int | None, heard: bool) -> None:
    cluster = {"quorum": {"voters": [{"id": 1, "last_caught_up_ms_ago": behind}]}}
    assert node_run.is_heard(cluster, 1) is heard
    assert node_run.is_heard(cluster, 2) is False
    assert node_run.is_heard({"quorum": None}, 1) is False


def test_a_broker_that_is_registered_and_not_fenced_lives() -> None:
    assert node_run.live_brokers(REGISTERED) == [0]
    assert seen_of(info(), info(), __common_registered=REGISTERED)["is_alive_elsewhere"] is True


def test_a_mirror_is_no_broker_and_no_voter() -> None:
    voters = [{"id": 0, "last_caught_up_ms_ago": 0}]
    left = {"__common_registered": {**REGISTERED, "quorum": {"voters": voters}}}
    found = view({"k": {"kafka_node_id": 0}, "m": left}, brokers=["k"], mirrors=["m"], host="m")["seen"]
    assert (found["is_alive_elsewhere"], found["vote_is_heard"]) == (False, False)


def test_a_refusal_needs_an_answer_of_the_cluster() -> None:
    partition = {"topic": "t", "partition": 0, "leader": None, "replicas": [0], "isr": [0]}
    cluster = {**REGISTERED, "topics": [{"name": "t", "partitions": [partition]}], "offline": []}
    found = seen_of(info(), __common_registered=cluster, __kafka_resources_led=cluster, kafka_replaced_id="0")
    assert "broker 0 has the only replica" in found["lost_by_replacing"]
    assert found["place_refusal"].startswith("replicas of broker 0 belong to partitions without a leader")
    assert seen_of(info(), __common_registered=cluster, kafka_replace_lost_topics=["t"])["lost_by_replacing"] == ""
    consent = seen_of(info(), __common_registered=cluster, kafka_replace_lost_topics=["t"])
    assert (consent["consented"], consent["outlived"]) == ([{"topic": "t", "partition": 0}], [])
    with pytest.raises(ValueError, match="no task of this run has left __common_registered on k0"):
        seen_of(info())["lost_by_replacing"]


def test_what_was_written_in_place_is_not_taken_back() -> None:
    def file(path: str) -> dict[str, Any]:
        """The reason that a file has changed."""
        return {"kind": "file", "name": path, "from": "a", "to": "b"}

    both = [REASON, file("/etc/kafka/k0/jaas.conf"), file("/etc/kafka/k0/tls/keystore.pem"), file("/etc/kafka/m/x")]
    lines = seen_of(info(restart_reasons=both))["taken_back"]
    assert lines == ["property x: 1 -> 2", "file /etc/kafka/k0/jaas.conf: changed"]


def test_reasons_are_lines() -> None:
    assert seen_of(info(restart_reasons=[REASON]))["reasons"] == ["property x: 1 -> 2"]


@pytest.mark.parametrize(
    ("status", "ignores_own", "kept"),
    [
        ("", False, []),
        ("unix:///run/supervisor.sock refused connection", False, []),
        ("kafka-a1   STOPPED   Nov 24 03:52 AM\nkafka-a2   FATAL   Exited too quickly", False, []),
        ("kafka-a1   EXITED   Nov 24 03:52 AM\nkafka-a2   STOPPING", False, ["kafka-a2"]),
        ("kafka-a1   BACKOFF   Exited too quickly\nkafka-a2   STOPPED   Not started", False, ["kafka-a1"]),
        ("kafka-a1   RUNNING   pid 1, uptime 0:00:01", True, []),
        ("kafka-b1   RUNNING   pid 1, uptime 0:00:01", True, ["kafka-b1"]),
        ("kafka-a1   STOPPED   Not started\nkafka-b1   STOPPED   Not started", False, ["kafka-b1"]),
    ],
)
def test_supervisord_runs_on_for_programs_that_run_or_are_outside_of_the_play(
    status: str, ignores_own: bool, kept: list[str]
) -> None:
    assert node_run.programs_kept(status, ["kafka-a1", "kafka-a2"], ignores_own) == kept


@pytest.mark.parametrize(
    ("quorum", "known"),
    [
        ({"leader_id": 0, "voters": [{"id": 0}, {"id": 1}, {"id": 1}], "error": None}, [0, 1]),
        ({"leader_id": None, "voters": [{"id": 0}], "error": None}, None),
        ({"leader_id": None, "voters": [], "error": "timed out"}, None),
        (None, None),
    ],
)
def test_voters_are_known_only_from_a_quorum_with_a_leader(quorum: Any, known: Any) -> None:
    assert seen_of(info(), __common_registered={**REGISTERED, "quorum": quorum})["voter_ids"] == known
    assert seen_of(info(), __common_registered={"msg": "no answer"})["voter_ids"] is None
    assert seen_of(info())["voter_ids"] is None


def blamed(*infos: dict[str, Any], **hosts: dict[str, Any]) -> Any:
    """Who is at fault, where these are what node_info said, and hosts have what the waits for them left."""
    about = {
        f"k{number}": {"kafka_node_id": number, "__common_node_info": one, **hosts.get(f"k{number}", {})}
        for number, one in enumerate(infos)
    }
    return view(about, brokers=list(about), controllers=list(about), host="k0")["seen"]["blamed"]


def test_a_follower_that_changed_is_named_for_the_leader_that_is_not_whole_because_of_it() -> None:
    pair = {"kind": "follower", "followers": [0], "leaders": [1], "phrase": "broker 0 does not copy from broker 1"}
    change = {"start_files": {"last_change": {"changes": ["replica.fetch.backoff.ms: 200 -> 300000"]}}}
    failed = {"k1": {"__common_whole": {"failed": True, "attributions": [pair]}}}
    assert blamed(info(disk(), **change), info(disk()), **failed) == {
        "node": "k1",
        "host": "k0",
        "name": "k0",
        "names": "k0",
        "why": "broker 0 does not copy from broker 1. So k0 is at fault, not k1. Changed last on k0: "
        "replica.fetch.backoff.ms: 200 -> 300000.",
        "goes_back": False,
        "restarts": False,
        "both_changed": False,
    }
    reason = {"kind": "property", "name": "replica.fetch.backoff.ms", "from": "300000", "to": "200"}
    assert blamed(info(disk(), **change, restart_reasons=[reason]), info(disk()), **failed)["restarts"]
    assert "Changed last on k0: nothing that is known." in blamed(info(disk()), info(disk()), **failed)["why"]
    assert blamed(info(disk(), **change), info(disk())) == {}
    whole = {"k1": {"__common_whole": {"failed": False, "attributions": [pair]}}}
    assert blamed(info(disk(), **change), info(disk()), **whole) == {}


def test_a_broker_at_fault_that_the_inventory_lacks_ends_the_run_at_the_node_that_is_not_whole() -> None:
    fault = {"kind": "follower", "followers": [7], "leaders": [0, 1], "phrase": "broker 7 does not copy"}
    failed = {"k1": {"__common_whole": {"failed": True, "attributions": [fault]}}}
    assert blamed(info(disk()), info(disk()), **failed) == {
        "node": "k1",
        "host": "k1",
        "name": "broker 7",
        "names": "broker 7",
        "why": "broker 7 does not copy. So broker 7 is at fault, not k1. Changed last on broker 7: nothing that is "
        "known.",
        "goes_back": False,
        "restarts": False,
        "both_changed": False,
    }


def since_then(switched: float, proven: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what node_info said of a node that was switched then, and of one that was proven then."""
    change = {"changes": ["property replica.fetch.backoff.ms: 200 -> 600000"]}
    names = {"current": "b", "proven": "b", "edited": []}
    return (
        info(disk(), start_files={**names, "last_change": change, "switched_at": switched, "proven_at": switched + 20}),
        info(disk(), start_files={**names, "last_change": None, "switched_at": 0.0, "proven_at": proven}),
    )


def test_what_an_earlier_run_brought_is_taken_back_where_the_other_node_was_not_whole_since() -> None:
    pair = {"kind": "pair", "followers": [0], "leaders": [1], "served": [2], "phrase": "broker 0 does not copy"}
    failed = {"k1": {"__common_whole": {"failed": True, "attributions": [pair]}}}
    named = blamed(*since_then(200.0, 100.0), **failed)
    assert (named["node"], named["name"], named["goes_back"], named["restarts"]) == ("k1", "k0", True, False)
    assert "Changed last on k0: property replica.fetch.backoff.ms: 200 -> 600000." in named["why"]
    assert blamed(*since_then(100.0, 200.0), **failed) == {}, "k1 was whole beside it"


def test_a_node_that_was_down_is_told_with_the_files_that_it_took_up_in_this_run() -> None:
    pair = {"kind": "pair", "followers": [0], "leaders": [1], "served": [2], "phrase": "broker 0 does not copy"}
    failed = {"k1": {"__common_whole": {"failed": True, "attributions": [pair]}}}
    old, _other = since_then(100.0, 200.0)
    down = {**old, "needs_start": True}
    written = {"changed": True, "changed_paths": ["/etc/kafka/k0/server.properties"]}
    started = {"__common_generation": written, "__common_taken_up": {"changed": True}}
    named = blamed(down, info(disk()), **failed, k0=started)
    assert (named["name"], named["goes_back"]) == ("k0", True)
    assert "Changed last on k0: file server.properties." in named["why"]
    left = {"__common_generation": written, "__common_taken_up": {"changed": False, "skipped": True}}
    assert blamed(down, info(disk()), **failed, k0=left) == {}


@pytest.mark.parametrize("leader_changed", [True, False])
def test_of_a_pair_that_no_other_broker_tells_apart_both_are_named_with_what_changed_last(
    leader_changed: bool,
) -> None:
    pair = {"kind": "pair", "followers": [0], "leaders": [1], "served": [], "phrase": "broker 0 does not copy"}
    failed = {"k1": {"__common_whole": {"failed": True, "attributions": [pair]}}}
    written = {"changed": True, "changed_paths": ["/etc/kafka/k0/server.properties"]}
    started = {"__common_generation": written, "__common_taken_up": {"changed": True}}
    down, _other = since_then(100.0, 200.0)
    reasons = [REASON] if leader_changed else []
    named = blamed({**down, "needs_start": True}, info(disk(), restart_reasons=reasons), **failed, k0=started)
    assert (named["name"], named["names"], named["goes_back"]) == ("k0", "k0 or k1", not leader_changed)
    assert named["both_changed"] == leader_changed
    assert named["why"] == (
        "broker 0 does not copy. No other broker copies from k1, so nothing tells which of the two is at fault"
        + (", and both changed in this run" if leader_changed else "")
        + ". Changed last on k0: file server.properties. Changed last on k1: "
        + ("property x: 1 -> 2." if leader_changed else "nothing that is known.")
    )


def test_of_several_followers_at_fault_all_are_named() -> None:
    faults = [
        {"kind": "follower", "followers": [follower], "leaders": [1], "served": [3], "phrase": f"{follower} does not"}
        for follower in (0, 2)
    ]
    failed = {"k1": {"__common_whole": {"failed": True, "attributions": faults}}}
    named = blamed(info(disk()), info(disk()), info(disk()), **failed)
    assert named["names"] == "k0 and k2"
    assert named["why"].startswith("0 does not; 2 does not. So k0 and k2 are at fault, not k1. Changed last on k0: ")


@pytest.mark.parametrize("wait", ["__common_in_sync", "__common_whole"])
def test_each_wait_that_failed_is_read(wait: str) -> None:
    fault = {"kind": "leader", "followers": [1, 2], "leaders": [0], "phrase": "broker 1, 2 cannot copy from broker 0"}
    failed = {"k1": {wait: {"failed": True, "attributions": [fault]}}}
    assert blamed(info(disk()), info(disk()), **failed)["name"] == "k0"
    other = {"k1": {"__common_in_sync": {"failed": False, "attributions": [fault]}}}
    assert blamed(info(disk()), info(disk()), **other) == {}


def test_a_node_at_fault_that_has_no_part_in_the_run_ends_it_at_the_node_that_is_not_whole() -> None:
    """As with --limit: a play on a host that is left out would not run, and the run would end as if all were well."""
    fault = {"kind": "follower", "followers": [0], "leaders": [1, 2], "phrase": "broker 0 does not copy"}
    failed = {"k1": {"__common_whole": {"failed": True, "attributions": [fault]}}}
    named = blamed({}, info(disk()), **failed)
    assert (named["host"], named["name"], named["goes_back"]) == ("k1", "k0", False)


def test_of_several_that_are_not_whole_the_own_node_is_told() -> None:
    fault = {"kind": "follower", "followers": [2], "leaders": [0, 1], "phrase": "broker 2 does not copy"}
    left = {"__common_whole": {"failed": True, "attributions": [fault]}}
    assert blamed(info(disk()), info(disk()), info(disk()), k0=left, k1=left)["node"] == "k0"
    assert blamed(info(disk()), info(disk()), info(disk()), k1=left)["node"] == "k1"


def test_a_node_that_went_back_to_another_release_says_from_which_to_which() -> None:
    def taken_back(version: str | None) -> str:
        """What is said of a node that runs this release where 4.4.0 was to come."""
        return str(seen_of(info(version=version), kafka_version="4.4.0")["release_taken_back"])

    assert taken_back("3.9.2") == " (Kafka 4.4.0 -> 3.9.2)"
    assert (taken_back("4.4.0"), taken_back(None)) == ("", "")


def test_nodes_of_an_earlier_run_and_those_that_were_stopped_have_new_files_too() -> None:
    old, new, stopped = info(version="3.9.2"), info(version="4.4.0"), info(version="3.9.2", needs_start=True)
    assert seen_of(old, new, old, stopped, None, kafka_version="4.4.0")["with_new_files"] == ["k1", "k3"]
    # Where the release stays, nobody can tell which files an earlier run has brought.
    assert seen_of(new, new, stopped, kafka_version="4.4.0")["with_new_files"] == ["k2"]


def files(staged: str | None = None, **values: Any) -> dict[str, Any]:
    """What node_generation returned."""
    return {"generations": {"staged": staged}, **values}


@pytest.mark.parametrize(
    ("look", "force", "restarts"),
    [
        ({"restart_reasons": [REASON]}, False, True),
        ({}, True, True),
        ({}, False, False),
        ({"restart_reasons": [REASON], "process": {"running": False}}, False, False),
    ],
)
def test_a_node_that_runs_waits_for_its_turn_with_a_reason_or_by_force(
    look: dict[str, Any], force: bool, restarts: bool
) -> None:
    assert seen_of(info(disk(), **look), kafka_restart_force=force)["restarts"] is restarts


def test_who_restarts_at_once_takes_no_turn() -> None:
    blank = info(disk(), quorum=BLANK, restart_reasons=[REASON])
    assert seen_of(blank, blank)["restarts"] is False


@pytest.mark.parametrize(
    ("look", "made", "proves"),
    [
        ({"needs_start": True}, files(), (True, False)),
        ({}, files(unproven=True), (True, True)),
        ({}, files(), (False, False)),
        ({}, files("a", unproven=True), (False, False)),
        ({"restart_reasons": [REASON]}, files(unproven=True), (False, False)),
        # With the tag kafka_service alone no task has looked at the files.
        ({"needs_start": True}, {}, (True, False)),
        ({}, {}, (False, False)),
    ],
)
def test_who_was_started_has_to_prove_its_files_also_after_a_run_that_was_cut(
    look: dict[str, Any], made: dict[str, Any], proves: tuple[bool, bool]
) -> None:
    found = seen_of(info(disk(), **look), __common_generation=made)
    assert (found["is_to_prove"], found["return_was_cut"]) == proves


@pytest.mark.parametrize(
    ("look", "made", "check", "starts"),
    [
        ({"needs_start": True}, files(), False, True),
        ({"needs_start": True}, files(), True, False),
        ({"quorum": {"leader": None, "records": True}}, files(), False, True),
        ({}, files(unproven=True), False, True),
        ({}, files(), False, False),
    ],
)
def test_who_serves_nobody_or_was_cut_off_on_its_way_back_is_started_without_a_gate(
    look: dict[str, Any], made: dict[str, Any], check: bool, starts: bool
) -> None:
    found = seen_of(info(disk(), **look), __common_generation=made, ansible_check_mode=check)
    assert found["starts"] is starts


@pytest.mark.parametrize(
    ("now", "made", "has_restarted"),
    [
        ({"running": True, "pid": 8, "start_time": 5}, files(), True),
        ({"running": True, "pid": 7, "start_time": 6}, files(), True),
        ({"running": True, "pid": 7, "start_time": 5}, files(), False),
        ({"running": False, "pid": None, "start_time": None}, files(), False),
        ({"running": True, "pid": 8, "start_time": 5}, files("a"), False),
        ({"running": True, "pid": 8, "start_time": 5}, {}, False),
    ],
)
def test_another_process_than_the_run_has_seen_has_restarted_by_itself(
    now: dict[str, Any], made: dict[str, Any], has_restarted: bool
) -> None:
    look = info(disk(), process={"running": True, "pid": 7, "start_time": 5})
    found = seen_of(look, __common_turn={"process": now}, __common_generation=made)
    assert found["has_restarted"] is has_restarted


def test_who_leads_by_its_gate_holds_the_lead() -> None:
    gates = ({"is_active_controller": True}, {"is_active_controller": False}, {"failed": True})
    assert [seen_of(info(disk()), __common_gate=gate)["holds_lead"] for gate in gates] == [True, False, False]


@pytest.mark.parametrize(
    ("common", "seconds"),
    [
        ({}, 0.4),
        ({"_common_goes_back": True}, 0.0),
        ({"preflight_accept": ["number_that_slows"]}, 0.0),
        ({"preflight_accept": ["even_quorum"]}, 0.4),
    ],
)
def test_a_change_of_metadata_is_compared_with_what_the_first_gate_timed(
    common: dict[str, Any], seconds: float
) -> None:
    hosts = {
        "k0": {"kafka_node_id": 0, "__common_gate": {"metadata_seconds": 0}},
        "k1": {"kafka_node_id": 1, "__common_gate": {"metadata_seconds": 0.4}},
    }
    found = view(hosts, brokers=list(hosts), controllers=list(hosts), host="k0", **common)["seen"]
    assert found["metadata_before"] == seconds


def test_a_node_has_data_where_a_disk_was_used() -> None:
    served = [disk(served=False), disk(served=True)]
    used = disk(started=True, meta_properties={"version": "1"}, served=False)
    for disks, has_data in ((served, True), ([used], True), ([disk(served=False)], False), ([], False)):
        assert seen_of(info(*disks))["has_data"] is has_data


def adopted(phase: str, runs: str) -> dict[str, Any]:
    """Return what node_info says of a node that something else ran before."""
    return {"phase": phase, "runs": runs, "service": "systemd kafka.service", "logs_dir": ""}


OLD_RUNS = {"kind": "record", "name": "process", "from": "it is run by systemd kafka.service", "to": "taken over"}


@pytest.mark.parametrize(
    ("node", "stops_by", "is_claimed"),
    [
        (None, "systemd", False),
        (adopted("claimed", "old"), "adopted", True),
        (adopted("claimed", "ours"), "systemd", True),
        (adopted("claimed", "nobody"), "systemd", True),
        (adopted("taken", "ours"), "systemd", False),
        # Somebody started the old one again: it is taken over as before.
        (adopted("taken", "old"), "adopted", False),
        (adopted("returned", "ours"), "systemd", False),
    ],
)
def test_a_node_is_stopped_by_who_runs_it(node: dict[str, Any] | None, stops_by: str, is_claimed: bool) -> None:
    seen = seen_of(info(adopted=node), kafka_service_manager="systemd")
    assert (seen["stops_by"], seen["is_claimed"]) == (stops_by, is_claimed)


def test_a_node_that_its_old_service_runs_waits_for_its_turn_behind_the_gate() -> None:
    # No record was ever written: ours would restart at once.
    never = {"quorum": {"leader": None, "records": False}, "restart_reasons": [OLD_RUNS]}
    ours, old = info(disk(), **never), info(disk(), adopted=adopted("claimed", "old"), **never)
    assert seen_of(ours)["restarts_at_once"]
    seen = seen_of(old)
    assert (seen["restarts_at_once"], seen["is_unwell"], seen["restarts"]) == (False, False, True)
