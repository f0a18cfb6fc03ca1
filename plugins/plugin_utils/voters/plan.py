# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The plan of a change of the voters: one at a time, first those that come, then those that go, on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..findings import Finding, finding_lines, refusal_lines, refused
from . import dynamic
from .model import ADD, REMOVE, ClusterFacts, Controller, Step, listed, majority


def make_steps(facts: ClusterFacts) -> list[Step]:
    """Return the changes in their order.

    Who comes is first, so that no majority is smaller on the way than at the beginning. Of those that go, one that does
    not answer is first, before the nodes restart: each restart needs a majority of all voters without the one that
    restarts. The leader is last, so that it changes once.
    """
    if facts.is_static:
        return []
    voters = len(facts.voters)
    current = len(facts.current_ids)
    steps = []
    for one in facts.joining:
        steps.append(Step(ADD, one.node_id, one.host, one.listener, voters, voters + 1, current + 1))
        voters, current = voters + 1, current + 1
    for node_id in going(facts):
        there = node_id in facts.current_ids
        host = next((one for one in facts.leaving if one.node_id == node_id), None)
        current -= there
        name = host.host if host else "not in the inventory"
        steps.append(Step(REMOVE, node_id, name, "", voters, voters - 1, current, _then(host, there)))
        voters -= 1
    return steps


def going(facts: ClusterFacts) -> list[int]:
    """The ids of the voters that are taken out, in the order in which they go."""
    ids = ({one.node_id for one in facts.leaving} | set(facts.missing)) & facts.voter_ids
    current = facts.current_ids
    leader = facts.quorum.leader_id if facts.quorum else None
    return sorted(ids, key=lambda one: (one in current, one == leader, one))


def silent(facts: ClusterFacts) -> list[int]:
    """Those of going that do not answer: they are taken out before a node restarts."""
    return [one for one in going(facts) if one not in facts.current_ids]


def gone(facts: ClusterFacts) -> list[str]:
    """The hosts that shall vote no more, and do not: the quorum said so. Without its answer nobody is."""
    known = facts.quorum is not None and not facts.quorum.error and facts.quorum.leader_id is not None
    return [one.host for one in facts.leaving if one.node_id not in facts.voter_ids] if known else []


def _then(host: Controller | None, there: bool) -> str:
    """Say what becomes of a node that was taken out."""
    if host is None:
        return "it still runs: stop it on its machine yourself" if there else "nothing is left to stop"
    return "it goes on as a broker" if host.is_broker else "it stops"


def plan_lines(facts: ClusterFacts, steps: Sequence[Step], findings: Sequence[Finding]) -> list[str]:
    """The plan for people."""
    now, wanted = len(facts.voters), len(facts.wanted)
    lines = [f"Voters of {facts.name}: {_counted(now)} now, {wanted} wanted"]
    static = "; static (kraft.version 0)" if facts.is_static else ""
    lines.append(f"Now          {_names(facts)}; {_arithmetic(now)}{static}")
    told = [_step_line(number, step) for number, step in enumerate(steps, 1)]
    before = sum(step.kind == ADD or step.node_id in silent(facts) for step in steps)
    lines += [*told[:before], *_restarts(facts, steps), *told[before:], *_afterwards(facts)]
    if steps:
        lines.append(f"In the end   {_counted(steps[-1].voters)}; {_arithmetic(steps[-1].voters)}")
    elif facts.is_static and facts.goes_dynamic:
        lines += [
            *dynamic.plan_lines(facts),
            f"In the end   a dynamic quorum (kraft.version 1) of the same {_counted(now)}",
        ]
    elif not refused(findings):
        lines.append("Nothing to do: the quorum has the voters that the inventory wants.")
    return lines + finding_lines(findings)


def left_lines(facts: ClusterFacts) -> list[str]:
    """Return what a person has to do when the voters are as wanted."""
    why = facts.silence
    if why:
        return [
            f"It is not known who votes ({why}) in {facts.name}.",
            "Look with status.yml. Run voters.yml again: it goes on with what is left.",
        ]
    lines = [f"The voters of {facts.name} are {_names(facts)}."]
    if not facts.voters:
        # Behind a leader that was taken out the others elect one.
        lines = [f"All changes of the voters of {facts.name} are done. Look with status.yml: the quorum elects now."]
    if facts.leaving:
        hosts = ", ".join(one.host for one in facts.leaving)
        lines.append(f"Take {hosts} out of kraft_controllers now, and run site.yml: all nodes get the shorter list.")
    return lines


def refusal_text(findings: Sequence[Finding]) -> str:
    """Say why the voters stay as they are, a line for each reason; empty for nothing."""
    return "\n".join(refusal_lines(findings))


def _step_line(number: int, step: Step) -> str:
    what = f"add controller {step.node_id} ({step.host}, {step.listener})"
    if step.kind == REMOVE:
        what = f"remove controller {step.node_id} ({step.host}), then {step.then}"
    counts = f"voters {step.before} -> {step.voters}, majority {majority(step.before)} -> {step.needed}"
    return f"Step {number:<8}{what}: {counts}, {step.current} there"


def _restarts(facts: ClusterFacts, steps: Sequence[Step]) -> Iterator[str]:
    """Yield what else a run does to nodes, as far as voters ask for it."""
    if any(step.kind == ADD for step in steps):
        yield "Restarts     all other nodes one by one: controller.quorum.bootstrap.servers has the new ones"
    elif any(step.node_id in facts.missing for step in steps):
        yield "Restarts     all nodes one by one: controller.quorum.bootstrap.servers names the ones that are left"


def _afterwards(facts: ClusterFacts) -> Iterator[str]:
    """Yield what a person does behind the run."""
    if facts.leaving:
        hosts = ", ".join(one.host for one in facts.leaving)
        yield f"Afterwards   take {hosts} out of kraft_controllers, and run site.yml: all nodes get the shorter list"


def _names(facts: ClusterFacts) -> str:
    leader = facts.quorum.leader_id if facts.quorum else None
    return listed([one.id for one in facts.voters]) + ("" if leader is None else f" (leader {leader})")


def _counted(voters: int) -> str:
    return f"{voters} voter{'s' * (voters != 1)}"


def _arithmetic(voters: int) -> str:
    if not voters:
        return "there is no majority"
    return f"a majority is {majority(voters)}, the loss of {voters - majority(voters)} is survived"
