# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The restarts behind a change of the voters: which nodes they are, and what their gates would refuse.

A topic that cannot lose a replica stops a roll at the gate. By then voters have changed, and kraft.version, which Kafka
never takes back, has gone up. So each broker that is to restart has its gate asked first, by the module restart_gate.
Of the quorum the gate says what it is now: what it will be at the restarts, the plan itself judges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...module_utils._core.names import capped
from ...module_utils._gate.stop import QUORUM_KINDS
from ..findings import NOTE, REFUSE, Finding, Level
from .model import ADD, REMOVE, ClusterFacts, Step


def change_all(facts: ClusterFacts, steps: Sequence[Step]) -> bool:
    """Tell whether all nodes get another list of controllers in this run; who leaves stays in it until site.yml."""
    missing = any(step.kind == REMOVE and step.node_id in facts.missing for step in steps)
    comes = any(step.kind == ADD for step in steps)
    return comes or missing or (facts.is_static and facts.goes_dynamic)


def registered(facts: ClusterFacts) -> list[int]:
    """The ids of the brokers of the inventory that the cluster has: one that is new is missed by no gate yet."""
    return sorted({node.node_id for node in facts.nodes} & facts.brokers)


def restarting(facts: ClusterFacts, steps: Sequence[Step]) -> list[str]:
    """The hosts of the registered brokers that restart behind the change."""
    if not change_all(facts, steps):
        return []
    return [node.host for node in facts.nodes if node.node_id in facts.brokers]


def checks(facts: ClusterFacts, steps: Sequence[Step]) -> Iterator[Finding]:
    """Tell what the restarts would be refused for; a voter that is down leaves all the same, and is replaced."""
    gates = {gate.host: gate for gate in facts.gates}
    level: Level = (
        NOTE if any(step.kind == REMOVE and step.node_id not in facts.current_ids for step in steps) else REFUSE
    )
    hosts: dict[tuple[str, str], list[str]] = {}
    said: dict[tuple[str, str], Finding] = {}
    for host in restarting(facts, steps):
        gate = gates.get(host)
        if gate is None or gate.failure:
            what = f"it is not known whether {host} could restart at the end of this run"
            yield Finding(level, f"{what} ({gate.failure if gate else 'not asked'})", "see status.yml, then run again")
            continue
        for one in gate.refusals:
            if one["kind"] not in QUORUM_KINDS:
                key = str(one["kind"]), str(one["found"])
                hosts.setdefault(key, []).append(host)
                said.setdefault(key, Finding(level, f"{one['what']} ({one['found']})", str(one["fix"]).rstrip(".")))
    for key, finding in said.items():
        what = f"{capped(hosts[key], 5)} could not restart at the end of this run: {finding.what}"
        yield Finding(finding.level, what, finding.fix)
