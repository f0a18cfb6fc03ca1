# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What tasks in check mode found to do, collected into one plan of each cluster (reports/planned.py)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os.path import basename
from typing import Any

from ...module_utils._core.properties import is_secret
from ...module_utils._node.adopted import NOBODY, OLD, OURS
from ...module_utils._node.restart_reasons import reason_line
from ..reports.planned import RESTARTS, STARTS, STAYS, Change, ClusterPlan, NodePlan, changes_in, node_does
from ..reports.restarts import given_back
from ..run.results import HostRun, Results

#: By what they are about, the results of the modules that change what a cluster holds.
HELD_BY_CLUSTER: Mapping[str, Callable[[HostRun], Any]] = {
    "setting": lambda run: run.settings,
    "topic": lambda run: run.topics,
    "user": lambda run: run.users,
    "ACL": lambda run: run.acls,
    "quota": lambda run: run.quotas,
}
#: What grow_topic.yml planned.
GROWTH: Mapping[str, Callable[[HostRun], Any]] = {"growth": lambda run: run.added}
#: What the inventory declares, by the variable: of a cluster that does not run all of it is to be made.
DECLARED = {"topic": "kafka_topics", "user": "kafka_users", "quota": "kafka_quotas"}


def cluster_plans(
    hosts: Iterable[str], mirrors: Iterable[str], results: Results, everything: bool
) -> list[ClusterPlan]:
    """Collect the plans of all clusters of a run, by name; none of a cluster of which no task has planned anything.

    mirrors -- the hosts of mirrors, which a run looks at after its first change. everything -- whether all that a run
    does is collected; else only the growth of topics.
    """
    wanted = {**HELD_BY_CLUSTER, **GROWTH} if everything else GROWTH
    behind, by_cluster = frozenset(mirrors), dict[str, list[str]]()
    for host in hosts:
        by_cluster.setdefault(str(results.of(host).read("kafka_cluster_name")), []).append(host)
    found = []
    for name, members in sorted(by_cluster.items()):
        nodes = list(_node_plans(sorted(members), behind, results)) if everything else []
        held = [(subject, done) for subject, left in wanted.items() for done in _done(members, results, left)]
        if nodes or held:
            changes = [change for subject, done in held for change in _changes(subject, done)]
            kept = {f"{subject}s": int(done.get("unchanged") or 0) for subject, done in held}
            first = [host for host in members if host not in behind]
            if first and not held and not any(_runs(host, results) for host in first):
                changes = declared(first[0], results)
            found.append(ClusterPlan(name, nodes, changes, kept))
    return found


def _node_plans(hosts: Iterable[str], behind: Collection[str], results: Results) -> Iterator[NodePlan]:
    """Give the plans of those nodes that the tasks of a run have looked at for it."""
    for host in hosts:
        run = results.of(host)
        if run.read("_common_gives_back"):
            if run.look.get("adopted"):
                yield give_back_plan(host, results)
        elif run.files and "restart_reasons" in run.look:
            yield node_plan(host, results, host not in behind)


def give_back_plan(host: str, results: Results) -> NodePlan:
    """Return what a run that gives nodes back would do to one of them; which files ours has does not matter there."""
    adopted = results.of(host).look["adopted"]
    does = {OURS: RESTARTS, NOBODY: STARTS, OLD: STAYS}[adopted["runs"]]
    why = given_back(adopted["service"]) if does != STAYS else ""
    return NodePlan(host, does, why, held=_held(host, results) if does == RESTARTS else ())


def node_plan(host: str, results: Results, compared: bool = True) -> NodePlan:
    """Return what would be done to one node."""
    info, made = results.of(host).look, results.of(host).files
    files = sorted({basename(path.rstrip("/")) for path in made.get("changed_paths") or ()})
    does = node_does(info, files, bool(results.of(host).read("kafka_restart_force")))
    reasons = sorted(map(reason_line, info["restart_reasons"]))
    why = ("; ".join(reasons) or "kafka_restart_force") if does == RESTARTS else ""
    held = _held(host, results) if does == RESTARTS else ()
    return NodePlan(host, does, why, files, held, compared, made.get("digest") or "")


def _held(host: str, results: Results) -> list[str]:
    """Return what the restart gate says against a node now."""
    refusals = results.of(host).gate.get("refusals") or ()
    return [refusal if isinstance(refusal, str) else refusal["what"] for refusal in refusals]


def declared(host: str, results: Results) -> list[Change]:
    """Return all that the inventory declares, as what would be made in a cluster that does not run yet."""
    found = []
    for subject, variable in DECLARED.items():
        for entry in results.of(host).read(variable) or ():
            if entry.get("state", "present") != "absent":
                name = ", ".join(str(entry[key]) for key in ("name", "user", "client_id", "ip") if key in entry)
                # What stands in the inventory may be a secret; these do not.
                shown = {key: entry[key] for key in ("partitions", "replication_factor") if key in entry}
                found.append(Change(subject, name, None, shown, _without_secrets(entry)))
    acls = results.of(host).read("kafka_acls") or ()
    hidden = json.dumps(sorted(map(_without_secrets, acls)))
    return [*found, Change("ACL", f"entries of kafka_acls: {len(acls)}", None, {}, hidden)] if acls else found


def _without_secrets(entry: Mapping[str, Any]) -> str:
    """An entry of the inventory for the digest alone, by which its passwords cannot be found."""
    return json.dumps({key: value for key, value in entry.items() if not is_secret(key)}, sort_keys=True, default=str)


def _changes(subject: str, done: Mapping[str, Any]) -> list[Change]:
    """Return what a module would change. Of one that does not show it something changes all the same: never nothing."""
    shown = changes_in(subject, done.get("diff") or {})
    return [Change(subject, "(not shown)", {}, {})] if done.get("changed") and not shown else shown


def _done(hosts: Sequence[str], results: Results, left: Callable[[HostRun], Any]) -> list[Mapping[str, Any]]:
    """The results of a module that ran; one that was skipped has none of its own."""
    return [done for host in hosts if (done := left(results.of(host))) and not done.get("skipped")]


def _runs(host: str, results: Results) -> bool:
    return bool((results.of(host).look.get("process") or {}).get("running"))
