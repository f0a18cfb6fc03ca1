"""How an ensemble stands, from what its servers say."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.ensemble import (
    FOLLOWER,
    LEADER,
    NOT_SERVING,
    STANDALONE,
    UNREACHABLE,
    Goal,
    Member,
    Server,
    needs_transaction,
    problems,
    reached,
    read_words,
    settled,
    stop_refusals,
    view,
)

MEMBERS = tuple(Member(number, f"zk{number}", 2181) for number in (1, 2, 3))
SRVR = """Zookeeper version: 3.9.5-293c895, built on 2026-02-11 20:18 UTC
Latency min/avg/max: 0/14.4178/249
Zxid: 0x300000074
Mode: leader
Node count: 69
"""
CONF = "clientPort=2181\nmembership: \nserver.1=zk1:2888:3888:participant\nserver.3=zk3:2888:3888:participant\n"
MNTR = "zk_version\t3.9.5\nzk_server_state\tleader\nzk_synced_followers\t2\n"


def server(number: int, state: str = FOLLOWER, epoch: int = 3, **more: Any) -> Server:
    """A healthy server of the three, or one with something else about it."""
    synced = 2 if state == LEADER else None
    told = {"zxid": hex(epoch << 32 | 7), "synced_followers": synced, "members": (1, 2, 3), **more}
    return Server(number, f"zk{number}:2181", state, "3.9.5", epoch, **told)


def healthy() -> list[Server]:
    """One leader, two followers."""
    return [server(1), server(2, LEADER), server(3)]


def test_the_words_of_a_leader_are_read() -> None:
    found = read_words(MEMBERS[2], SRVR, CONF, MNTR)
    assert found == Server(3, "zk3:2181", LEADER, "3.9.5", 3, "0x300000074", 2, (1, 3))


def test_a_server_without_a_quorum_says_so() -> None:
    said = "This ZooKeeper instance is not currently serving requests\n"
    found = read_words(MEMBERS[0], said, "", "")
    assert (found.state, found.error) == (NOT_SERVING, said.strip())


def test_one_that_serves_alone_is_its_only_member() -> None:
    found = read_words(MEMBERS[0], "Zookeeper version: 3.9.5-1\nZxid: 0x7\nMode: standalone\n", "serverId=0\n", "")
    assert (found.state, found.members) == (STANDALONE, (1,))


def test_a_word_that_is_not_allowed_is_no_state() -> None:
    assert (
        read_words(MEMBERS[0], "srvr is not executed because it is not in the whitelist.\n", "", "").state
        == NOT_SERVING
    )


def test_one_leader_and_followers_in_its_epoch_are_healthy() -> None:
    found = view(healthy(), Goal(MEMBERS))
    assert (found["leader_id"], found["epoch"], found["problems"]) == (2, 3, [])
    assert reached(found)


@pytest.mark.parametrize(
    ("servers", "said"),
    [
        ([server(1), server(2, LEADER), Server(3, "zk3:2181", UNREACHABLE, error="refused")], "server 3 at zk3:2181"),
        (
            [server(1, NOT_SERVING), server(2, NOT_SERVING), server(3, NOT_SERVING)],
            "0 of 3 servers serve, a majority is 2",
        ),
        ([server(1, LEADER, 2), server(2, LEADER), server(3)], "several servers say that they lead"),
        ([server(1, epoch=4), server(2, LEADER), server(3)], "server 1 is in epoch 4, its leader 2 in 3"),
        ([server(1, epoch=2), server(2, LEADER, synced_followers=1), server(3)], "server 1 is in epoch 2"),
        ([server(1), server(2, LEADER, synced_followers=1), server(3)], "1 of 2 followers have all"),
        ([server(1, members=(1, 2)), server(2, LEADER), server(3)], "was started with the members 1, 2"),
        (
            [server(1, "read-only"), server(2, LEADER, synced_followers=1), server(3)],
            "server 1 at zk1:2181 is read-only",
        ),
    ],
)
def test_what_is_not_as_it_should_be_is_named(servers: list[Server], said: str) -> None:
    assert any(said in problem for problem in problems(servers, Goal(MEMBERS))), problems(servers, Goal(MEMBERS))


def test_a_synced_follower_without_a_transaction_in_the_new_epoch_is_healthy() -> None:
    assert problems([server(1, epoch=2), server(2, LEADER), server(3)], Goal(MEMBERS)) == []


def test_members_are_not_compared_while_they_change() -> None:
    servers = [server(1, members=(1, 2)), server(2, LEADER), server(3)]
    assert problems(servers, Goal(MEMBERS, compare_members=False)) == []


def test_a_server_that_may_be_away_is_no_problem() -> None:
    servers = [server(1), server(2, LEADER, synced_followers=1), Server(3, "zk3:2181", UNREACHABLE)]
    assert problems(servers, Goal(MEMBERS, away=frozenset({3}))) == []


def test_one_of_three_may_stop_two_may_not() -> None:
    assert stop_refusals(healthy(), Goal(MEMBERS, frozenset({1}))) == []
    refused = stop_refusals(healthy(), Goal(MEMBERS, frozenset({1, 2})))
    assert refused == [
        "without server 1, 2 1 of 3 servers would serve (3), a majority is 2: the brokers would lose their metadata"
    ]


def test_one_of_three_may_not_stop_while_another_is_away() -> None:
    servers = [server(1), server(2, LEADER), Server(3, "zk3:2181", UNREACHABLE)]
    assert "1 of 3 servers would serve (2)" in stop_refusals(servers, Goal(MEMBERS, frozenset({1})))[0]


def alone(*others: str) -> list[Server]:
    """Server 1 serves alone, the next ones are in these states."""
    return [server(1, STANDALONE, members=(1,)), *(server(2 + n, state) for n, state in enumerate(others))]


def test_one_that_serves_alone_may_stop_for_a_second_that_waits_for_it() -> None:
    members = MEMBERS[:2]
    assert reached(view(alone(NOT_SERVING), Goal(members, compare_members=False)))
    assert reached(view(alone(NOT_SERVING), Goal(members, frozenset({1}), compare_members=False)))
    assert not reached(view(alone(NOT_SERVING), Goal(members))), "after the change the two are an ensemble"


@pytest.mark.parametrize("others", [(UNREACHABLE,), (NOT_SERVING, NOT_SERVING), (NOT_SERVING, UNREACHABLE)])
def test_one_that_serves_alone_stays_when_no_quorum_with_its_data_would_follow(others: tuple[str, ...]) -> None:
    goal = Goal(MEMBERS[: 1 + len(others)], frozenset({1}), compare_members=False)
    assert stop_refusals(alone(*others), goal)
    assert not reached(view(alone(*others), goal))


def test_one_that_does_not_serve_may_stop_when_the_others_are_a_majority() -> None:
    silent = Server(3, "zk3:2181", NOT_SERVING)
    servers = [server(1), server(2, LEADER, synced_followers=1), silent]
    assert reached(view(servers, Goal(MEMBERS, frozenset({3}))))
    assert not reached(view(servers, Goal(MEMBERS, frozenset({1}))))


def test_four_tolerate_no_more_than_three() -> None:
    members = (*MEMBERS, Member(4, "zk4", 2181))
    servers = [server(1), server(2, LEADER), server(3), server(4)]
    assert stop_refusals(servers, Goal(members, frozenset({1}))) == []
    assert "2 of 4 servers would serve" in stop_refusals(servers, Goal(members, frozenset({1, 4})))[0]


def test_the_leader_among_those_that_stop_is_told() -> None:
    assert view(healthy(), Goal(MEMBERS, frozenset({2})))["stopping_leader"]
    assert not view(healthy(), Goal(MEMBERS, frozenset({1})))["stopping_leader"]


def test_a_single_server_may_always_stop() -> None:
    alone = (Member(1, "zk1", 2181),)
    servers = [Server(1, "zk1:2181", "standalone", epoch=0, zxid="0x5")]
    found = view(servers, Goal(alone, frozenset({1})))
    assert found["healthy"]
    assert not found["refusals"]


def test_an_ensemble_is_lost_where_no_server_leads() -> None:
    silent = [Server(number, f"zk{number}:2181", UNREACHABLE, error="refused") for number in (2, 3)]
    found = view([server(1, NOT_SERVING), *silent], Goal(MEMBERS))
    assert found["lost"] == "no server leads: 0 of 3 servers serve, a majority is 2"
    assert found["lost"] in found["problems"]
    assert view(healthy(), Goal(MEMBERS))["lost"] == ""
    # Each of two that say that they lead may have a quorum: it is a problem, and not this one.
    several = view([server(1, LEADER), server(2, LEADER), server(3)], Goal(MEMBERS))
    assert (several["lost"], several["leader_id"]) == ("", None)


@pytest.mark.parametrize(("elects", "looks"), [(1, 1), (3, 3), (99, 11)])
def test_an_election_is_waited_for_as_long_as_a_session_lasts(elects: int, looks: int) -> None:
    now, made = [0.0], []

    def look() -> dict[str, Any]:
        made.append(1)
        return {"lost": "" if len(made) >= elects else "no server leads"}

    found = settled(look, 20, lambda: now[0], lambda seconds: now.__setitem__(0, now[0] + seconds))
    assert (found["lost"] == "", len(made)) == (elects < 99, looks)


@pytest.mark.parametrize(
    ("synced", "epoch", "is_needed"), [(None, 2, True), (None, 3, False), (2, 2, False), (0, 2, False)]
)
def test_a_transaction_is_needed_where_the_leader_does_not_count_its_followers(
    synced: int | None, epoch: int, is_needed: bool
) -> None:
    servers = [server(1, epoch=epoch), server(2, LEADER, synced_followers=synced), server(3)]
    assert needs_transaction(servers) is is_needed
    # Nobody leads, or two say so: what is written would tell nothing.
    assert needs_transaction([server(1, epoch=epoch), server(2)]) is False
    assert needs_transaction([*servers, server(4, LEADER)]) is False
