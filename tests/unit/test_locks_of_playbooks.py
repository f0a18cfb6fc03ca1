"""Every playbook that can change a cluster holds its lock from before its first change."""

from __future__ import annotations

import pytest
from jinja2.nativetypes import NativeEnvironment

from tests.support.playbooks import FREE, LOCK, PUBLIC, WITHOUT_LOCK, of_play, plays

#: What changes a cluster: modules, and files that start and stop a node or forget gaps of mirrors.
CHANGES = {
    "acls",
    "adopted_node",
    "broker_configs",
    "broker_registration",
    "features",
    "group_offsets",
    "leader_election",
    "migration_znodes",
    "mirror_drill",
    "mirror_failback",
    "mirror_failover",
    "node_generation",
    "quorum_voter",
    "quotas",
    "reassignment",
    "storage_format",
    "topic_records",
    "topics",
    "users",
    "zookeeper_credentials",
    "roles/_common/tasks/start.yml",
    "roles/_common/tasks/stop.yml",
    "roles/mirror_maker/tasks/forget_gaps_of_flow.yml",
}


@pytest.fixture(scope="module", params=list(PUBLIC))
def playbook(request: pytest.FixtureRequest) -> tuple[str, list[list[str]]]:
    """The name of a playbook, and what each of its plays may come to."""
    return request.param, [of_play(play, given) for play, given in plays(PUBLIC[request.param])]


def test_a_playbook_that_can_change_a_cluster_takes_the_lock_before_and_gives_it_back(
    playbook: tuple[str, list[list[str]]],
) -> None:
    name, made = playbook
    steps_of_all = [step for play in made for step in play]
    changes = [number for number, step in enumerate(steps_of_all) if step in CHANGES]
    if not changes or name in WITHOUT_LOCK:
        assert LOCK not in steps_of_all, f"{name}.yml takes the lock, and needs none"
        return
    assert LOCK in steps_of_all, f"{name}.yml changes a cluster beside another run: import _lock.yml and _unlock.yml"
    taken = steps_of_all.index(LOCK)
    assert all(number > taken for number in changes), [steps_of_all[number] for number in changes if number < taken]
    given_back = len(steps_of_all) - steps_of_all[::-1].index(FREE)
    assert given_back > max([*changes, taken])
    locked = next(number for number, play in enumerate(made) if LOCK in play)
    for play in made[locked:]:
        if set(play) & CHANGES:
            assert FREE in play, "a play that fails keeps the lock"


@pytest.mark.parametrize(
    ("given", "looks"),
    [
        ({}, True),
        ({"kafka_consumer_group_to": ""}, True),
        ({"kafka_consumer_group_to": "stay"}, True),
        ({"kafka_consumer_group_to": "earliest"}, False),
    ],
)
def test_a_look_at_groups_takes_no_lock(given: dict[str, str], looks: bool) -> None:
    taken = next(known for _play, known in plays(PUBLIC["groups"]) if "_common_only_looks" in known)
    assert NativeEnvironment().from_string(taken["_common_only_looks"]).render(given) is looks
