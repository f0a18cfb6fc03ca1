# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What forbids a change of the voters, and what people should know of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..findings import NOTE, REFUSE, Finding
from . import dynamic, restarts
from .model import ClusterFacts, Step, listed, majority

Findings = Iterator[Finding]


def check(facts: ClusterFacts, steps: Sequence[Step]) -> list[Finding]:
    """Return what was found; without a quorum that answers nothing else can be judged."""
    found = list(_answer(facts))
    if found:
        return found
    if facts.is_static:
        static = (_names, _disks, _there, dynamic.checks)
        return [one for judge in static for one in judge(facts)] + list(restarts.checks(facts, steps))
    checks = (_dynamic, _names, _count, _disks, _directories, _brokers, _there, _missing, _own_way)
    found = [one for judge in checks for one in judge(facts)]
    return [*found, *_majorities(steps), *restarts.checks(facts, steps)]


def unanswered(facts: ClusterFacts) -> str:
    """Say why it is not known who votes, or cannot change; empty where the quorum has answered."""
    return "; ".join(one.what for one in _answer(facts))


def _answer(facts: ClusterFacts) -> Findings:
    """Refuse a cluster that does not tell its voters, or whose voters cannot change."""
    quorum = facts.quorum
    if facts.unasked:
        fix = "start a majority of the controllers and a broker (site.yml), then run again"
        yield Finding(REFUSE, f"the cluster did not answer who votes ({facts.silence})", fix)
    elif quorum is None:
        yield Finding(REFUSE, "the cluster is one of mode zookeeper, which has no voters", "see zookeeper_members.yml")
    elif quorum.error:
        fix = "start a majority of the controllers (site.yml), then run again"
        yield Finding(REFUSE, f"the quorum did not answer who votes ({facts.silence})", fix)
    elif quorum.leader_id is None:
        fix = "start a majority of the controllers (site.yml), then run again"
        yield Finding(REFUSE, "the quorum has no leader, so its voters cannot change", fix)
    elif facts.is_static and not facts.goes_dynamic:
        what = (
            "the voters stand in controller.quorum.voters (kraft.version 0), and cannot change in a cluster that runs"
        )
        fix = f"run voters.yml with {dynamic.ASKED_BY}=true first (Kafka 4.1 and later), then run again"
        yield Finding(REFUSE, what, fix)


def _dynamic(facts: ClusterFacts) -> Findings:
    """Tell that a quorum is what it was to become."""
    if facts.goes_dynamic:
        yield Finding(NOTE, "the quorum is dynamic (kraft.version 1); nodes that still name voters restart", "")


def _names(facts: ClusterFacts) -> Findings:
    """Refuse names of who leaves that are no controllers."""
    if facts.unknown:
        what = f"kafka_controllers_leaving names {', '.join(facts.unknown)}, no controller of {facts.name}"
        yield Finding(REFUSE, what, "correct the name, or remove it")


def _count(facts: ClusterFacts) -> Findings:
    """Refuse to end with none, or with two, of which both must run; note other even numbers."""
    count = len(facts.wanted)
    if count == 0:
        yield Finding(REFUSE, "no controller would be left", "leave at least 1; 3 survive the loss of one")
    elif count == 2:
        # Worse than one: either of two stops the cluster, and nobody gains anything.
        yield Finding(REFUSE, "of 2 voters both must run, which is less safe than 1", "end with 1 or 3")
    elif count % 2 == 0:
        lost = count - majority(count)
        yield Finding(NOTE, f"{count} voters survive the loss of {lost}, no more than {count - 1} do", "an odd number")


def _disks(facts: ClusterFacts) -> Findings:
    """Refuse disks of another cluster, and those of a voter that are not the ones it votes with."""
    voting = {(one.id, one.directory_id) for one in facts.voters}
    for one in facts.controllers:
        if one.cluster_id and facts.cluster_id and one.cluster_id != facts.cluster_id:
            what = f"{one.host} has a disk of cluster {one.cluster_id}, while {facts.name} is {facts.cluster_id}"
            yield Finding(REFUSE, what, "move that data away yourself if it is worth nothing")
        elif facts.is_static or one.leaves or one.node_id not in facts.voter_ids or not one.directory_id:
            continue
        elif (one.node_id, one.directory_id) not in voting:
            what = f"controller {one.node_id} votes with another disk than {one.host} has ({one.directory_id})"
            yield Finding(REFUSE, what, f"run replace_node.yml with kafka_replace_node={one.host} first")


def _directories(facts: ClusterFacts) -> Findings:
    """Refuse a quorum that counts one node twice."""
    twice = sorted(number for number, times in Counter(one.id for one in facts.voters).items() if times > 1)
    if twice:
        fix = "run replace_node.yml for it first, which takes its former disk out"
        yield Finding(REFUSE, f"controller {listed(twice)} votes with two disks", fix)


def _brokers(facts: ClusterFacts) -> Findings:
    """Refuse ids that brokers have, and brokers that are to become controllers too."""
    for one in facts.joining:
        if one.node_id not in facts.brokers:
            continue
        if not one.is_broker:
            what = f"{one.host} is to be controller {one.node_id}, and the cluster has a broker with this id"
            yield Finding(REFUSE, what, "give it a kafka_node_id that no node has")
        elif one.running and not one.listens:
            what = f"{one.host} runs as broker {one.node_id} and does not listen for controllers"
            fix = "leave it a broker, and add a node of its own as controller; a broker does not become one in place"
            yield Finding(REFUSE, what, fix)


def _there(facts: ClusterFacts) -> Findings:
    """Refuse to go on while a voter that stays is down or behind."""
    stays = {one.node_id for one in facts.wanted}
    for one in facts.voters:
        if one.id in stays and one.id not in facts.current_ids:
            since = "never" if one.last_caught_up_ms_ago is None else f"{one.last_caught_up_ms_ago} ms ago"
            what = f"controller {one.id} is down or behind: {one.lag} records, caught up last {since}"
            fix = "start it, and wait until it has caught up; or take it out of the inventory, so that it leaves"
            yield Finding(REFUSE, what, fix)


def _missing(facts: ClusterFacts) -> Findings:
    """Tell of voters that the inventory lacks: they leave, and nobody can stop them. A broker must not be lacking."""
    for one in facts.voters:
        if one.id in facts.missing and one.id in facts.brokers - facts.accepted:
            what = f"controller {one.id} is not in the inventory, and the cluster has a broker with this id"
            fix = (
                f"if its machine is gone for good, unregister broker {one.id} by the module "
                f"streamops.kafka.broker_registration (broker: {one.id}, state: unregistered), then run again; if the "
                f"inventory may lack the broker for a while, add {one.id} to kafka_accept_missing_nodes"
            )
            yield Finding(REFUSE, what, fix)
        elif one.id in facts.missing:
            is_there = one.id in facts.current_ids
            runs = "runs, and has to be stopped on its machine by you" if is_there else "does not answer"
            yield Finding(NOTE, f"controller {one.id} is not in the inventory, so it leaves the quorum. It {runs}")


def _own_way(facts: ClusterFacts) -> Findings:
    """Refuse to take voters out that would come back by themselves."""
    if facts.joins_itself and (facts.leaving or facts.missing):
        what = "controller.quorum.auto.join.enable is on, so who is taken out while it runs comes back by itself"
        fix = (
            "set it to false in kafka_config or kraft_controller_config and run site.yml; afterwards it may be on again"
        )
        yield Finding(REFUSE, what, fix)


def _majorities(steps: Sequence[Step]) -> Findings:
    """Refuse a step behind which fewer voters are there than decide."""
    for step in steps:
        if step.voters and step.current < step.needed:
            what = (
                f"when controller {step.node_id} is {'added' if step.kind == 'add' else 'removed'}, a majority of "
                f"{step.voters} voters is {step.needed}, and {step.current} are there"
            )
            yield Finding(REFUSE, what, "start the voters that are down first")
            return
