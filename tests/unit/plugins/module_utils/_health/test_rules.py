# SPDX-License-Identifier: GPL-3.0-or-later
"""Each rule on the health of a cluster: what it finds, and that it is silent where all is well or nothing is known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import (
    CATCHING_UP,
    FOLLOWER,
    LEADER,
    PAIR,
    Attribution,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import InFlight, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._health import model, rules
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Groups, Limits, State
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.health import MIRROR_KINDS

ROOT = Path(__file__).resolve().parents[5]
NODES = [{"host": f"kafka{one}", "node_id": one, "roles": ["broker", "controller"]} for one in (1, 2, 3)]
UNSTEADY = {
    "controllers": ["kafka1", "kafka2"],
    "epochs": "epochs 84 to 87 within seconds",
    "changed": ["kafka1, kafka2 since 20261126T144501Z: property max.connections: (not set) -> 2"],
}
CORDONED_DIR = {"path": "/data", "total_bytes": 100, "usable_bytes": 50, "cordoned": True}
THROTTLE = {"kind": "broker", "name": "1", "key": "leader.replication.throttled.rate", "value": "5"}
BROKER_ALONE = {"host": "kafka4", "node_id": 4, "roles": ["broker"]}
ZOOKEEPER_NODES = [dict(node, roles=["broker"]) for node in NODES]


def broker(node_id: int, **values: Any) -> dict[str, Any]:
    """Return a broker as cluster_info lists it."""
    disk = {"total_bytes": 100, "usable_bytes": 50}
    return {"id": node_id, "fenced": False, "imbalance_percent": 0.0, "log_dirs": [disk], **values}


def voter(node_id: int, behind: int | None = 100) -> dict[str, Any]:
    """Return a member of the quorum."""
    about = {"directory_id": None, "log_end_offset": 7, "lag": 0}
    return {"id": node_id, "last_caught_up_ms_ago": behind, **about}


def brokers(**second: Any) -> list[dict[str, Any]]:
    """Return three brokers, of which the second one has these values."""
    return [broker(1), broker(2, **second), broker(3)]


def group(members: int) -> dict[str, Any]:
    """Return a group with records to read."""
    return {"name": "orders", "member_count": members, "behind": 7, "lag": 7, "error": None}


def quorum(*voters: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Return a quorum of these voters."""
    about = {"leader_id": 1, "leader_epoch": 2, "high_watermark": 7, "observers": [], "error": None}
    return {**about, "voters": list(voters) or [voter(1), voter(2), voter(3)], **values}


def counts(**values: int) -> dict[str, int]:
    """Return counts of a cluster that is well, but for what is given."""
    return {"nodes": 3, "partitions": 12, "offline": 0, "under_min_isr": 0, "under_replicated": 0, **values}


def state(nodes: Any = NODES, given: Any = None, **info: Any) -> State:
    """Return a cluster that is well, but for what is given: fields of the state, and of cluster_info."""
    well = {"nodes": brokers(), "controller_id": 1, "quorum": quorum(), "counts": counts()}
    return State(**{"info": {**well, **info}, "nodes": nodes, **(given or {})})


def racked(*racks: str | None) -> State:
    """Return a cluster that shall survive the loss of a rack, whose brokers are in these."""
    listed = [broker(one, rack=rack) for one, rack in enumerate(racks, 1)]
    info = {"nodes": listed, "controller_id": 1, "quorum": quorum(), "counts": counts()}
    return State(info, nodes=NODES, survive_rack_loss=True)


def found(looked: State, limits: Limits | None = None) -> list[tuple[str, str]]:
    """Return kind and phrase of each finding."""
    return [(one.kind, one.what) for one in rules.findings(looked, limits or Limits())]


UNCLEAN: Any = {
    "partition": "orders-0",
    "at": 1_790_000_000.0,
    "when": "2026-09-21 14:13:20 UTC",
    "leader": 2,
    "epoch": 3,
}
CASES: dict[str, tuple[State, str, str, str]] = {
    "away": (
        State({"nodes": [broker(1), broker(3)], "controller_id": 1, "quorum": quorum(), "counts": counts()}, "", NODES),
        "broker_down", "broker kafka2 (id 2) is down", "DEGRADED",
    ),
    "cut off": (
        state(
            nodes=[{**one, "replication": "127.0.0.9:9093"} for one in NODES],
            given={"attributions": [Attribution(LEADER, (1, 3), (2,), {("t", 0): (1, 3)})]},
        ),
        "broker_cut_off",
        "broker 1, 3 cannot copy from broker 2: out of the ISR of 1 partition(s) that it leads "
        "(kafka2 at 127.0.0.9:9093)",
        "DEGRADED",
    ),
    "not copying": (
        state(given={"attributions": [Attribution(FOLLOWER, (2,), (1, 3), {("t", 0): (2,), ("t", 1): (2,)})]}),
        "broker_not_copying",
        "broker 2 does not copy from broker 1, 3, from which others copy: out of the ISR of 2 partition(s) (kafka2)",
        "DEGRADED",
    ),
    "a pair": (
        state(given={"attributions": [Attribution(PAIR, (2,), (1,), {("t", 0): (2,)})]}),
        "pair_not_copying",
        "broker 2 does not copy from broker 1: out of the ISR of 1 partition(s); the cause is in one of the two or "
        "between (kafka2, kafka1)",
        "DEGRADED",
    ),
    "catching up": (
        state(given={"attributions": [Attribution(CATCHING_UP, (2,), (1,), {("t", 0): (2,)}, 3_800_000, 78_000.0)]}),
        "catching_up", "broker 2 is catching up, 3.8 MB behind, 0.078 MB/s, ETA 49s (kafka2)", "DEGRADED",
    ),
    "elsewhere": (
        state(given={"elsewhere": {2: "at b:1 broker 3 answers there, not broker 2"}}),
        "broker_elsewhere", "clients do not reach kafka2 (id 2): at b:1 broker 3 answers there, not broker 2",
        "DEGRADED",
    ),
    "unsteady": (
        state(given={"unsteady": UNSTEADY}, quorum=quorum(leader_id=None, error="it has no stable leader")),
        "quorum_unsteady", "the metadata quorum has no stable leader", "DOWN",
    ),
    "unclean": (
        state(given={"unclean": [UNCLEAN], "acknowledged": {"at": 1_789_999_999.0, "by": "Ada"}}),
        "unclean_election",
        "a replica that was not in sync came to lead orders-0: records that were acknowledged may be lost", "DEGRADED",
    ),
    "unclean, and somebody has looked": (
        state(given={"unclean": [UNCLEAN], "acknowledged": {"at": UNCLEAN["at"] + 1, "when": "now", "by": "Ada"}}),
        "unclean_acknowledged",
        "a replica that was not in sync came to lead orders-0; acknowledged by Ada at now", "OK",
    ),
    "ensemble lost": (
        state(given={"ensemble_lost": "no server leads: 1 of 3", "ensemble": ["no server leads: 1 of 3"]}, quorum=None),
        "ensemble_lost", "the ZooKeeper ensemble has no quorum: brokers cannot elect leaders", "DOWN",
    ),
    "ghost voter": (
        state(quorum=quorum(voter(1), voter(2), voter(3), voter(9))),
        "ghost_voter", "controller 9 is a voter and not in the inventory", "DEGRADED",
    ),
    "no voter": (
        state(quorum=quorum(voter(1), voter(3))), "controller_no_voter", "controller kafka2 (id 2) is no voter",
        "DEGRADED",
    ),
    "never caught up": (
        state(quorum=quorum(voter(1), voter(2, None), voter(3))),
        "controller_behind", "controller kafka2 (id 2) is down or behind the quorum", "DEGRADED",
    ),
    "behind": (
        state(quorum=quorum(voter(1), voter(2, 60_000), voter(3))),
        "controller_behind", "controller kafka2 (id 2) is down or behind the quorum", "DEGRADED",
    ),
    "observer": (
        State(
            {
                "nodes": [*brokers(), broker(4)],
                "controller_id": 1,
                "quorum": quorum(observers=[voter(4, 31_000), voter(4, 90_000)]),
                "counts": counts(),
            },
            nodes=[*NODES, BROKER_ALONE],
        ),
        "observer_behind", "kafka4 is behind the metadata of the quorum", "DEGRADED",
    ),
    "no controller": (state(controller_id=None), "no_controller", "there is no active controller", "DOWN"),
    "no leader of the quorum": (
        state(quorum=quorum(leader_id=None)), "no_controller", "there is no active controller", "DOWN",
    ),
    "no controller with ZooKeeper": (
        state(nodes=ZOOKEEPER_NODES, controller_id=None, quorum=None),
        "no_controller", "there is no active controller", "DOWN",
    ),
    "quorum unknown": (
        state(controller_id=None, quorum={"leader_id": None, "voters": [], "observers": [], "error": "no answer"}),
        "quorum_unknown", "the metadata quorum could not be asked (no answer)", "DEGRADED",
    ),
    "ensemble": (state(given={"ensemble": ["server 2 is away"]}), "ensemble", "server 2 is away", "DEGRADED"),
    "offline": (
        state(counts=counts(offline=1)), "partitions_offline", "1 of 12 partitions without a leader", "DOWN",
    ),
    "under min ISR": (
        state(counts=counts(under_min_isr=2)), "under_min_isr", "2 of 12 partitions below min.insync.replicas",
        "DEGRADED",
    ),
    "under-replicated": (
        state(counts=counts(under_replicated=3)), "under_replicated", "3 of 12 partitions under-replicated",
        "DEGRADED",
    ),
    "at min ISR": (
        state(at_min_isr=[{"isr": [1, 2], "replicas": [1, 2, 3]}, {"isr": [1], "replicas": [1]}]),
        "at_min_isr", "1 of 12 partitions at min.insync.replicas", "DEGRADED",
    ),
    "failed disk": (
        state(given={"failed_log_dirs": {1: [], 2: ["/data/2"]}}),
        "log_dir_offline", "log directory /data/2 of kafka2 is offline", "DEGRADED",
    ),
    "throttle": (
        state(given={"throttles": [THROTTLE]}), "throttle_left", "a throttle was left on broker 1", "DEGRADED",
    ),
    "move runs": (
        state(given={"moving": ["orders-0"], "recorded": 1, "throttles": [THROTTLE]}),
        "move_running", "1 partition(s) are being moved", "OK",
    ),
    "move left": (
        state(given={"recorded": 4, "throttles": [THROTTLE]}),
        "move_left", "a move of replicas was left unfinished", "DEGRADED",
    ),
    "move ended": (
        state(given={"recorded": 0}),
        "move_left", "a move of replicas has ended and left settings of throttles to restore", "DEGRADED",
    ),
    "group missing": (
        state(given={"groups": Groups(watched=["orders"])}), "group_missing", "group orders does not exist", "DEGRADED",
    ),
    "group without members": (
        state(given={"groups": Groups([group(0)], watched=["orders"])}),
        "group_without_members", "group orders has records to read and no member", "DEGRADED",
    ),
    "group stopped": (
        state(given={"groups": Groups([group(2)], stands={"orders": {"paid": 900.0}})}),
        "group_stopped", "group orders has stopped in paid", "DEGRADED",
    ),
    "groups unread": (
        state(given={"groups": Groups([group(0)], is_whole=True, unread={"orders": 0.0})}),
        "groups_unread", "1 group(s) have records to read and no member", "OK",
    ),
    "group untold": (
        state(given={"groups": Groups(silent={2: "timed out"}, watched=["orders"])}),
        "untold", "unknown: whether group orders exists (broker 2: timed out)", "DEGRADED",
    ),
    "certificate": (
        state(given={"certificates": {2: {"server": "b:1", "days_left": 29, "error": ""}}}),
        "certificate_ends", "the certificate of kafka2 (b:1) ends in 29 days", "DEGRADED",
    ),
    "certificate has ended": (
        state(given={"certificates": {2: {"server": "b:1", "days_left": -1, "error": "expired"}}}),
        "certificate_ends", "the certificate of kafka2 (b:1) has expired", "DEGRADED",
    ),
    "certificate unread": (
        state(given={"certificates": {7: {"server": "b:1", "days_left": None, "error": "reset"}}}),
        "certificate_ends", "the certificate of broker 7 (b:1) could not be read: reset", "DEGRADED",
    ),
    "vulnerable": (
        state(given={"versions": {"kafka1": "4.2.1", "kafka2": None, "kafka3": "4.3.1"}}),
        "known_vulnerability",
        "Kafka 4.2.1 on kafka1 has known vulnerabilities: CVE-2026-111073, CVE-2026-41115", "OK",
    ),
    "start files failed": (
        state(given={"start_files": {"kafka1": {"failed": "2", "why_failed": "no.such.Class\nmore", "staged": None,
                                                "edited": []}}}),
        "start_files_failed",
        "kafka1 did not come back with its last new start files and runs with those from before: no.such.Class", "OK",
    ),
    "start files staged": (
        state(given={"start_files": {host: {"failed": None, "why_failed": "", "staged": "2", "edited": []}
                                     for host in ("kafka1", "kafka2")}}),
        "start_files_staged", "new start files wait for the restart of kafka1, kafka2", "OK",
    ),
    "start files edited": (
        state(given={"start_files": {"kafka1": {"failed": None, "why_failed": "", "staged": None,
                                                "edited": ["jvm.options"]}}}),
        "start_files_edited", "start files of kafka1 were edited or removed by hand: jvm.options", "OK",
    ),
    "uneven": (
        state(given={"partitions": [
            Partition("a", index, 1, replicas, replicas, 1, False)
            for index, replicas in enumerate([(1, 2, 3), (2,), (3, 1, 2)])
        ] + [Partition("b", 0, 1, (1,), (1,), 1, False)]}),
        "uneven_replicas",
        "1 topic(s) have partitions with fewer replicas than others: "
        "a (1 of 3 partitions have fewer than 3, down to 1)", "DEGRADED",
    ),
    "cordoned": (
        State(
            {
                "nodes": brokers(cordoned=True, log_dirs=[CORDONED_DIR]),
                "controller_id": 1,
                "quorum": quorum(),
                "counts": counts(),
            },
            nodes=NODES,
        ),
        "broker_cordoned",
        "kafka2 is cordoned: it gets no new replicas", "OK",
    ),
    "rack lost": (
        racked("a", "b", "b"), "rack_loss",
        "the cluster does not survive the loss of rack b: 1 of the voters would be left, and the quorum needs 2",
        "DEGRADED",
    ),
    "rack unknown": (
        racked("a", "b", None), "rack_unknown",
        "unknown rack: kafka3 (id 3); what is lost with a rack leaves them out", "DEGRADED",
    ),
    "untold": (state(given={"untold": ["throttles (timed out)"]}), "untold", "unknown: throttles (timed out)",
               "DEGRADED"),
    "unreachable": (
        State(None, "connection refused", NODES), "cluster_unreachable",
        "the cluster does not answer: connection refused", "DOWN",
    ),
}  # fmt: skip


def test_replicas_are_uneven_for_a_reason_while_a_move_runs_or_is_left() -> None:
    uneven = [Partition("a", index, 1, held, held, 1, False) for index, held in enumerate([(1, 2, 3), (2,)])]
    given = {"partitions": uneven}
    assert [kind for kind, _what in found(state(given=given))] == ["uneven_replicas"]
    grows = {("a", 0): InFlight("a", 0, (1, 2, 3), frozenset({3}), frozenset())}
    assert found(state(given={**given, "in_flight": grows})) == []
    assert [kind for kind, _what in found(state(given={**given, "recorded": 2}))] == ["move_left"]


def test_one_cordoned_log_directory_of_several_is_named() -> None:
    other = {**CORDONED_DIR, "path": "/other", "cordoned": False}
    listed = brokers(cordoned=False, log_dirs=[CORDONED_DIR, other])
    info = {"nodes": listed, "controller_id": 1, "quorum": quorum(), "counts": counts()}
    assert found(State(info, "", NODES)) == [
        ("broker_cordoned", "log directory /data of kafka2 is cordoned: it gets no new replicas")
    ]


@pytest.mark.parametrize("case", CASES)
def test_each_case_is_one_finding_with_figures_and_a_next_step(case: str) -> None:
    looked, kind, what, status = CASES[case]
    listed = rules.findings(looked, Limits())
    assert [(one.kind, one.what) for one in listed] == [(kind, what)]
    assert all(listed[0].as_dict().values())
    assert model.status_of(listed) == status


def test_brokers_that_do_not_answer_either_make_an_unsteady_quorum_a_cluster_that_is_down() -> None:
    listed = rules.findings(State(None, "no answer", NODES, unsteady=UNSTEADY), Limits())
    assert [one.kind for one in listed] == ["cluster_unreachable", "quorum_unsteady"]
    assert listed[1].found == "epochs 84 to 87 within seconds on kafka1, kafka2"
    assert "(kafka1, kafka2 since 20261126T144501Z: property max.connections: (not set) -> 2)" in listed[1].next_step
    assert model.status_of(listed) == "DOWN"


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({"fenced": True}, [("broker_down", "broker kafka2 (id 2) is down")]),
        ({"imbalance_percent": 10.0}, []),
        (
            {"imbalance_percent": 50.0},
            [
                (
                    "leaders_skewed",
                    "leaders are skewed: other brokers lead 50 % of the preferred partitions of kafka2",
                )
            ],
        ),
        (
            {"log_dirs": [{"total_bytes": 1000, "usable_bytes": 149}]},
            [("disk_full", "disk of kafka2 is 85 % full")],
        ),
        ({"log_dirs": [{"total_bytes": 10**13, "usable_bytes": 8 * 10**10}]}, []),
        # Before Kafka 3.3, and of a broker that went down meanwhile, nothing is known.
        ({"log_dirs": [{"total_bytes": None, "usable_bytes": None}]}, []),
        ({"log_dirs": None}, []),
        ({"imbalance_percent": None}, []),
    ],
)
def test_what_is_found_of_one_broker(second: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    info = {"nodes": brokers(**second), "controller_id": 1, "quorum": quorum(), "counts": counts()}
    assert found(State(info, "", NODES)) == expected


def test_ghost_brokers_are_told_by_whether_they_live() -> None:
    info = {"nodes": [*brokers(), broker(8), broker(9, fenced=True)], "controller_id": 1, "quorum": None}
    listed = rules.findings(State({**info, "counts": counts()}, "", ZOOKEEPER_NODES), Limits())
    assert [one.kind for one in listed] == ["ghost_broker", "ghost_broker"]
    assert "add it to the inventory" in listed[0].next_step
    assert "broker 9, unregistered" in listed[1].next_step


def test_without_an_inventory_nothing_is_a_ghost_and_what_is_fenced_is_down() -> None:
    info = {"nodes": brokers(fenced=True), "controller_id": 1, "quorum": quorum(voter(1), voter(9, None))}
    assert found(State({**info, "counts": counts()})) == [
        ("broker_down", "broker 2 is down"),
        ("controller_behind", "controller 9 is down or behind the quorum"),
    ]


def test_a_cluster_that_is_well_has_no_findings_with_zookeeper_and_with_a_quorum() -> None:
    assert found(state()) == []
    assert found(state(nodes=ZOOKEEPER_NODES, quorum=None)) == []
    assert model.status_of([]) == "OK"


def test_an_unreachable_cluster_still_tells_of_its_ensemble() -> None:
    assert [kind for kind, _what in found(State(None, "no answer", ensemble=["server 2 is away"]))] == [
        "cluster_unreachable",
        "ensemble",
    ]


@pytest.mark.parametrize(
    "observers",
    [
        # A combined node after replace_node: the leader lists its old directory for five minutes.
        [voter(2, 31_000)],
        [voter(2, None)],
        # A broker after its metadata directory was replaced: two entries, one of them is alive.
        [voter(4, 31_000), voter(4, 200)],
        [voter(4, 200), voter(4, None)],
    ],
)
def test_the_entry_of_a_directory_that_was_replaced_says_nothing_of_its_node(observers: list[dict[str, Any]]) -> None:
    info = {"nodes": [*brokers(), broker(4)], "controller_id": 1, "quorum": quorum(observers=observers)}
    assert found(State({**info, "counts": counts()}, nodes=[*NODES, BROKER_ALONE])) == []


def test_each_threshold_moves_its_rule() -> None:
    looked = state(
        given={"certificates": {1: {"server": "a:1", "days_left": 3, "error": ""}}},
        quorum=quorum(voter(1), voter(2, 40_000), voter(3)),
    )
    assert len(found(looked)) == 2
    assert found(looked, Limits(max_quorum_lag=60, min_certificate_days=2)) == []
    info = {"nodes": brokers(imbalance_percent=20.0, log_dirs=[{"total_bytes": 100, "usable_bytes": 10}])}
    worse = State({**info, "controller_id": 1, "quorum": quorum(), "counts": counts()}, "", NODES)
    assert len(found(worse)) == 2
    assert found(worse, Limits(max_imbalance_percent=20, min_disk_free=0.1)) == []
    assert len(found(worse, Limits(max_imbalance_percent=20, enough_disk_free_bytes=11))) == 1


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "down"),
        ({"status_strict": True}, "degraded"),
        ({"status_strict": True, "status_fail_on": "never"}, "degraded"),
        ({"status_strict": False, "status_fail_on": "never"}, "never"),
        ({"status_fail_on": ""}, "down"),
    ],
)
def test_a_status_fails_from_what_was_asked_for(settings: dict[str, Any], expected: str) -> None:
    assert model.fail_on(settings) == expected


def test_degraded_includes_down() -> None:
    failing = {least: [s for s in ("OK", "DEGRADED", "DOWN") if model.fails(s, least)]
               for least in ("never", "down", "degraded")}  # fmt: skip
    assert failing == {"never": [], "down": ["DOWN"], "degraded": ["DEGRADED", "DOWN"]}
    with pytest.raises(KeyError):
        model.fails("OK", "always")


def test_the_page_has_a_line_for_each_kind_and_each_kind_has_a_case() -> None:
    page = (ROOT / "docs" / "health.md").read_text()
    listed = re.findall(r"^\| `([a-z_]+)` \|", page, re.MULTILINE)
    assert [one for one in listed if one in (*rules.KINDS, *MIRROR_KINDS)] == [*rules.KINDS, *MIRROR_KINDS]
    elsewhere = {"leaders_skewed", "disk_full", "ghost_broker"}
    assert {kind for _state, kind, _what, _status in CASES.values()} | elsewhere == set(rules.KINDS)
