# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on the metadata quorum, its controllers and observers, and on an ensemble of ZooKeeper."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from .._cluster.snapshot import FETCH_TIMEOUT_MS, quorum_from
from .._core.names import capped
from .model import FATAL, SERIOUS, SHOWN, SITE, HealthFinding, Limits, State


def quorum_unsteady(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find a quorum whose leader does not last, as its controllers see it: nothing in the cluster can be changed, and
    no leader moves. Brokers serve what they lead until one of them stops, so by itself this is not down."""
    if state.unsteady:
        seen, changed = state.unsteady, "; ".join(state.unsteady["changed"])
        yield HealthFinding(
            "quorum_unsteady",
            SERIOUS,
            "the metadata quorum has no stable leader",
            found=f"{seen['epochs']} on {capped(list(seen['controllers']), SHOWN)}",
            allowed="one leader that lasts",
            next_step="look at what changed last on the controllers "
            f"({changed or 'limits of connections, timeouts, listeners'}), at the load of their machines and at the "
            f"network between them; correct the inventory, then: {SITE}",
        )


def no_controller(state: State, limits: Limits) -> Iterator[HealthFinding]:
    """Find a cluster without an active controller that works: none is elected, none had an answer in two looks, the one
    of ZooKeeper mode does not answer, or most voters no longer follow it. Then no leader moves, nothing is created or
    changed. Of one look without an answer nothing is known (kind quorum_unknown)."""
    info = state.seen
    quorum = info.get("quorum")
    if state.unsteady:
        # Then quorum_unsteady says why nobody was asked.
        return
    idle = _why_idle(state, limits)
    if idle:
        what, seen = idle
        yield HealthFinding(
            "no_controller",
            FATAL,
            what,
            found=seen,
            allowed="one that a majority of the controllers follows" if quorum else "one that answers",
            next_step=f"no topic, setting or leader can change until {_majority(state)}; look at their processes and "
            f"logs, end those that hang, then: {SITE}",
        )
    elif quorum and quorum.get("error"):
        yield HealthFinding(
            "quorum_unknown",
            SERIOUS,
            f"the metadata quorum could not be asked ({quorum['error']})",
            found="no answer of the active controller",
            allowed="an answer",
            next_step="look at the logs of the controllers",
        )
    elif info["controller_id"] is None or (quorum and quorum["leader_id"] is None):
        yield HealthFinding(
            "no_controller",
            FATAL,
            "there is no active controller",
            found="none",
            allowed="one",
            next_step=f"start a majority of the controllers: {SITE}",
        )


def can_elect_nobody(nodes: Iterable[Mapping[str, Any]], silent: Collection[int]) -> bool:
    """Return whether so many controllers of the inventory are brokers that are silent that the others are no
    majority."""
    voters = [node["node_id"] for node in nodes if "controller" in node["roles"]]
    return 2 * sum(voter in silent for voter in voters) >= len(voters) > 0


def _why_idle(state: State, limits: Limits) -> tuple[str, str] | None:
    """Return why there is no controller that works although nobody says so, and what was seen of it; None where there
    may be one."""
    quorum, elected = state.seen.get("quorum"), state.seen["controller_id"]
    if quorum is None:
        if elected not in state.silent:
            return None
        return f"the active controller {state.name(elected)} does not answer", state.silent[elected]
    if quorum.get("error"):
        why = str(quorum["error"])
        is_idle = state.leaderless or can_elect_nobody(state.nodes, state.silent)
        return (f"no controller leads the metadata quorum ({why})", "no answer, twice") if is_idle else None
    # Before KAFKA-15489 a leader goes on that has lost its majority. One that was just elected does not know of any
    # voter yet when it had caught up (None).
    voters = quorum["voters"]
    lost = [
        voter["id"]
        for voter in voters
        if (age := voter["last_caught_up_ms_ago"]) is not None
        and (_is_behind(age, limits) or (voter["id"] in state.silent and age > FETCH_TIMEOUT_MS))
    ]
    if not voters or 2 * (len(voters) - len(lost)) > len(voters):
        return None
    names = capped([state.controller_name(node_id) for node_id in lost], SHOWN)
    return f"the active controller has no majority: {names} {'does' if len(lost) == 1 else 'do'} not follow", (
        f"{len(lost)} of {len(voters)} voters down or behind"
    )


def _majority(state: State) -> str:
    """Return what must run for a controller to be elected, with the controllers of the inventory."""
    controllers = [str(node["host"]) for node in state.nodes if "controller" in node["roles"]]
    if controllers:
        return f"a majority of {capped(controllers, SHOWN)} runs"
    return "a majority of the controllers runs" if state.seen.get("quorum") else "a broker is elected as the controller"


def controller(state: State, limits: Limits) -> Iterator[HealthFinding]:
    """Find controllers of the inventory that are no voters (controller_no_voter) or behind (controller_behind), and
    voters that the inventory does not have (ghost_voter). In ZooKeeper mode there are none of these."""
    quorum = _quorum(state)
    if quorum is None:
        return
    ages = {voter["id"]: voter["last_caught_up_ms_ago"] for voter in quorum["voters"]}
    wanted = {node["node_id"]: node["host"] for node in state.nodes if "controller" in node["roles"]}
    for node_id in wanted if state.nodes else ages:
        name = f"controller {wanted[node_id]} (id {node_id})" if state.nodes else f"controller {node_id}"
        if node_id not in ages:
            what, fix = f"{name} is no voter", f"look at the log of this controller, then: {SITE}"
            yield HealthFinding("controller_no_voter", SERIOUS, what, "not in the quorum", "a voter", fix)
        elif _is_behind(ages[node_id], limits):
            yield HealthFinding(
                "controller_behind",
                SERIOUS,
                f"{name} is down or behind the quorum",
                _behind(ages[node_id]),
                f"at most {limits.max_quorum_lag} s",
                f"look at the log of this controller, then: {SITE}",
            )
    for node_id in sorted(set(ages) - set(wanted)) if wanted else ():
        yield HealthFinding(
            "ghost_voter",
            SERIOUS,
            f"controller {node_id} is a voter and not in the inventory",
            found="a voter",
            allowed="the controllers of the inventory",
            next_step="add it to the inventory, or run playbooks/voters.yml, which takes it out",
        )


def observer_behind(state: State, limits: Limits) -> Iterator[HealthFinding]:
    """Find brokers that are alive and read the metadata too late: they act on leaders and topics of before."""
    quorum = _quorum(state)
    alive = {broker["id"] for broker in state.seen["nodes"] if not broker["fenced"]}
    members = quorum_from(quorum).members if quorum else {}
    # Of voters says the rule on controllers.
    voters = {voter["id"] for voter in quorum["voters"]} if quorum else set()
    for node_id in sorted(alive & members.keys() - voters):
        age = members[node_id].last_caught_up_ms_ago
        if _is_behind(age, limits):
            yield HealthFinding(
                "observer_behind",
                SERIOUS,
                f"{state.name(node_id)} is behind the metadata of the quorum",
                found=_behind(age),
                allowed=f"at most {limits.max_quorum_lag} s",
                next_step="look at the log of this broker, and at its connection to the controllers",
            )


def ensemble(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Pass on what zookeeper_info found of the ensemble of a cluster in ZooKeeper mode."""
    for problem in state.ensemble:
        yield HealthFinding(
            "ensemble",
            SERIOUS,
            problem,
            found="see there",
            allowed="every server serves and follows one leader",
            next_step=f"look at the log of this server, then: {SITE}",
        )


def _quorum(state: State) -> Mapping[str, Any] | None:
    """Return the quorum as far as it is known."""
    quorum: Mapping[str, Any] | None = state.seen.get("quorum")
    return None if quorum is None or quorum.get("error") else quorum


def _is_behind(age: int | None, limits: Limits) -> bool:
    """Return whether a member that caught up so many milliseconds ago (None: never) is behind."""
    return age is None or age > limits.max_quorum_lag * 1000


def _behind(age: int | None) -> str:
    """Return how long ago a member has caught up."""
    return "never caught up" if age is None else f"caught up {age // 1000} s ago"
