# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Lines for people about what the tasks of a run found and did, each made of what they registered on their host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._health.model import fail_on, fails, is_of_what_is_down
from ...module_utils._migration.modes import KRAFT
from ...module_utils._reassign.digest import refusal
from ..guards.quorum_unsteady import unsteady_quorum
from ..guards.run_files import report_paths
from ..inventory.model import CONTROLLER_PURPOSE
from ..inventory.nodes import listener_for, stage_of
from ..reports import carried, dumped, group_lines, planned, restarts, status
from ..reports.advice import advice_lines
from ..reports.logins import login_lines, login_rows
from ..reports.markup import status_page
from ..reports.move_data import move_data
from ..reports.move_lines import again_lines, move_lines
from ..reports.move_report import move_report
from ..reports.proof_data import proof_data, proof_lines
from ..reports.proof_report import proof_report
from ..reports.status_data import as_json, cluster_part, status_data
from ..run.results import Results
from .parts import Parts
from .plans import HELD_BY_CLUSTER, cluster_plans


class Reports(Parts):
    """The key C(reports) of the model; docs/development/house.md lists its own keys.

    restarted -- the hosts that this run has restarted; hosts -- those of all clusters and mirrors; mirrors --
    the latter alone.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        results: Results,
        restarted: Sequence[str],
        hosts: Sequence[str],
        mirrors: Sequence[str] = (),
    ) -> None:
        self._model, self._results, self._restarted = model, results, restarted
        self._hosts, self._mirrors = hosts, mirrors
        self._host = results.host
        super().__init__(
            {
                "health_asks": self._health_asks,
                "controller_protocol": self._controller_protocol,
                "fail_on": lambda: fail_on(model["settings"]),
                "status_fails": lambda: fails(results.own.health["status"], self["fail_on"]),
                "status": self._status,
                "status_part": self._status_part,
                "status_path": lambda: self._status_paths[0],
                "status_files": self._status_files,
                "ensemble": self._ensemble,
                "restart_plan": self._restart_plan,
                "stop_plan": self._stop_plan,
                "restart": self._restart,
                "proof": lambda: proof_lines(results.own.proof["proof"]),
                "proof_files": self._proof_files,
                "proof_restarts": self._proof_restarts,
                "move": self._move,
                "move_again": lambda: again_lines(results.own.moved),
                "move_files": self._move_files,
                "move_plan": lambda: carried.plan_file(results.own.plan),
                "outcome": self._outcome,
                "plans": self._plans_text,
                "plan_digests": self._plan_digests,
                "plan_digest": self._plan_digest,
                "plan_refusal": self._plan_refusal,
                "approved_moves": self._approved_moves,
                "approval_refusal": self._approval_refusal,
                "dump_refusals": lambda: dumped.refusals(model["settings"], model["process"]["title"]),
                "dump": lambda: dumped.text_lines(results.own.dump, self._host),
                "dump_files": self._dump_files,
                "dump_summary": lambda: dumped.summary(results.own.dump, model["settings"], self._host),
                "groups": lambda: group_lines.group_lines(results.own.groups),
                "group_moves": lambda: group_lines.move_lines(results.own.group_moves),
            }
        )

    def _health_asks(self) -> dict[str, Any]:
        """The options of cluster_health that follow from the inventory and from what was read on nodes before."""
        nodes = self._model["nodes"]
        return {
            "nodes": [{**_identity(node), "replication": _replication(node)} for node in nodes],
            "versions": {node["host"]: self._runs(node["host"]) for node in nodes},
            "start_files": {
                node["host"]: seen
                # No broker knows the servers of its ensemble; what is to be said of their files is a note all the same.
                for node in (*nodes, *self._model["zookeepers"])
                if (seen := self._results.of(node["host"]).status_look.get("start_files"))
            },
            "unsteady_quorum": unsteady_quorum(
                {
                    node["host"]: self._results.of(node["host"]).status_look
                    for node in nodes
                    if "controller" in node["roles"]
                }
            ),
            "voter_racks": {
                str(node["node_id"]): node["rack"] for node in nodes if "controller" in node["roles"] and node["rack"]
            },
            "unclean_elections": [
                election
                for node in nodes
                if "controller" in node["roles"]
                for election in self._results.of(node["host"]).status_look.get("unclean_elections") or ()
            ],
            "ensemble_lost": self._results.of(self._host).status_ensemble.get("lost", ""),
            "ensemble_problems": self._results.of(self._host).status_ensemble.get("problems", []),
        }

    def _controller_protocol(self) -> str:
        """The security protocol of the controllers' listener, empty where there are none."""
        controllers = [node for node in self._model["nodes"] if "controller" in node["roles"]]
        return str(listener_for(controllers[0], CONTROLLER_PURPOSE)["protocol"]) if controllers else ""

    def _status(self) -> list[str]:
        """Return how the cluster is, what to do, the advice where nothing is down, what this run proved and
        changed."""
        settings, health = self._model["settings"], self._results.own.health
        info = health["cluster"]
        return [
            status.verdict_line(settings["kafka_cluster_name"], health),
            *status.finding_lines(health["findings"]),
            *(self._cluster_lines(info) if info else [f"Bootstrap    {','.join(self._model['bootstrap_servers'])}"]),
            *(self._advice(info, health["findings"]) if info else ()),
            *self._adopted("nodes"),
            *self._proof(),
            *self._changes(),
        ]

    def _status_part(self) -> dict[str, Any]:
        """Return what a report says of this cluster, also where tasks failed or were left out."""
        nodes, asks = self._model["nodes"], self._health_asks()
        return cluster_part(
            self._model["settings"]["kafka_cluster_name"],
            self._model["bootstrap_servers"] if nodes else (),
            [{**_identity(node), "version": asks["versions"][node["host"]]} for node in nodes],
            self._results.of(self._host).health,
            self._results.of(self._host).whole_health,
            self._results.of(self._host).every_group,
            self._results.of(self._host).status_ensemble,
            self._login_rows(),
        )

    @property
    def _looked_at(self) -> str:
        """Return when the first host was looked at: the report is written twice, and is the same file both times."""
        kept = [made for host in self._hosts if (made := self._results.of(host).status_made)]
        return str(min(kept, default=self._model["settings"]["_kafka_resources_made"]))

    @property
    def _status_paths(self) -> tuple[str, str]:
        return report_paths(self._model["settings"]["status_report"], self._looked_at)

    def _status_files(self) -> list[dict[str, str]]:
        """The report on all clusters and mirrors that this run has looked at until now, and its data; files as the
        module node_files takes them. They name hosts and topics, so they are not for everybody."""
        clusters = [part for host in self._hosts if (part := self._results.of(host).status_part)]
        mirrors = [verdict["seen"] for host in self._hosts for verdict in self._results.of(host).mirror_verdicts or ()]
        data = status_data(clusters, mirrors, self._looked_at)
        page, machines = self._status_paths
        return [
            {"path": page, "content": status_page(data), "mode": "0640"},
            {"path": machines, "content": as_json(data), "mode": "0640"},
        ]

    def _cluster_lines(self, info: Mapping[str, Any]) -> list[str]:
        """Describe a cluster that answers; ``info`` is what cluster_info returns with sizes."""
        settings, health = self._model["settings"], self._results.own.health
        return [
            *status.cluster_lines(
                settings["kafka_cluster_name"],
                status.running_versions(self._health_asks()["versions"]),
                info,
                self._model["nodes"],
                self._model["bootstrap_servers"],
            ),
            *status.feature_lines(health["features"]),
            *status.metadata_lines(health["metadata"]),
            *login_lines(self._login_rows()),
        ]

    def _login_rows(self) -> list[dict[str, Any]]:
        """Return by which mechanisms clients log in at the nodes of a cluster."""
        return login_rows({node["host"]: self._results.of(node["host"]).status_look for node in self._model["nodes"]})

    def _advice(self, info: Mapping[str, Any], findings: Iterable[Mapping[str, str]]) -> list[str]:
        """Return what the field advises for a cluster; nothing while something is down, which comes first."""
        if any(is_of_what_is_down(finding["kind"], finding["severity"]) for finding in findings):
            return []
        is_zookeeper = stage_of(self._model["settings"]) != KRAFT
        return [f"Advice       {line}" for line in advice_lines(info, is_zookeeper)]

    def _runs(self, host: str) -> str | None:
        """The version that a node runs by its start record; None where none was read, or nothing runs."""
        seen = self._results.of(host).status_look
        return seen.get("version") if (seen.get("process") or {}).get("running") else None

    def _ensemble(self) -> list[str]:
        """Return how the ensemble is."""
        names = {node["node_id"]: node["host"] for node in self._model["zookeepers"]}
        found = self._results.own.status_ensemble
        lines = status.ensemble_lines(self._model["settings"]["kafka_cluster_name"], found, names)
        # With a cluster, its status names them.
        alone = {} if self._model["nodes"] else self._health_asks()["start_files"]
        return [*lines, *status.start_file_lines(alone), *self._adopted("zookeepers")]

    def _adopted(self, nodes: str) -> list[str]:
        """Say of nodes that something else ran before who has them now. nodes -- the key of the model that has them."""
        hosts = [node["host"] for node in self._model[nodes]]
        looks = {host: self._results.of(host).status_look.get("adopted") for host in hosts}
        return status.adopted_lines({host: adopted for host, adopted in looks.items() if adopted})

    def _proof(self) -> list[str]:
        """Return what the role spark_validation found in this run, where it ran."""
        first = next(node["host"] for node in self._model["nodes"] if "broker" in node["roles"])
        job = self._results.of(first).spark_job
        return [f"Verdict      {job['verdict']}", f"Report       {job['report']}"] if "verdict" in job else []

    def _changes(self) -> list[str]:
        """Return what this run did to the cluster; nothing after status.yml alone."""
        hosts = [node["host"] for node in (*self._model["members"], *self._model["nodes"])]
        return status.change_lines(
            {f"{subject}s": left(self._results.of(self._host)) for subject, left in HELD_BY_CLUSTER.items()},
            [host for host in hosts if self._results.of(host).files.get("changed")],
            [host for host in hosts if host in self._restarted],
            bool(self._model["settings"].get("ansible_check_mode", False)),
        )

    @property
    def _reasons(self) -> list[Mapping[str, Any]]:
        return list(self._results.own.look["restart_reasons"])

    @property
    def _refusals(self) -> Sequence[Mapping[str, Any] | str]:
        """Return what the restart gate says against a stop of this node now."""
        found: Sequence[Mapping[str, Any] | str] = self._results.of(self._host).gate.get("refusals", ())
        return found

    @property
    def _back_to(self) -> str:
        """Return the service that this run gives the node back to; empty in any other run."""
        own = self._results.of(self._host)
        return str(own.look["adopted"]["service"]) if own.read("_common_gives_back") else ""

    def _restart_plan(self) -> str:
        return restarts.restart_plan(self._host, self._reasons, self._refusals, self._back_to)

    def _stop_plan(self) -> str:
        return restarts.stop_plan(self._host, self._refusals)

    def _restart(self) -> str:
        """One line about the restart that has just ended."""
        down, synced = self._results.own.down_seconds, self._results.of(self._host).sync_seconds
        in_sync = None if synced == {} else float(synced)
        return restarts.restart_line(self._host, self._reasons, float(down), in_sync, self._back_to)

    def _proof_restarts(self) -> list[dict[str, Any]]:
        """The restarts of this run in this cluster, as the module record_proof takes them."""
        nodes = [node["host"] for node in (*self._model["nodes"], *self._model["zookeepers"])]
        runs = {host: self._results.of(host) for host in nodes}
        found = {host: [run.stopped_at, run.down_seconds, run.sync_seconds] for host, run in runs.items()}
        return [
            {"host": host, "stopped": at, "listening": at + down, "in_sync": at + down + synced}
            for host, times in found.items()
            if {} not in times
            for at, down, synced in [map(float, times)]
        ]

    def _proof_files(self) -> list[dict[str, str]]:
        """The report of a proof and its data; files as the module node_files takes them."""
        settings, proof = self._model["settings"], self._results.own.proof["proof"]
        page, machines = report_paths(self._results.own.proof_report)
        cluster = settings["kafka_cluster_name"]
        data = proof_data(proof, cluster, self._results.own.proof_made)
        return [
            {"path": page, "content": proof_report(proof, cluster), "mode": "0644"},
            {"path": machines, "content": data, "mode": "0644"},
        ]

    def _dump_files(self) -> list[dict[str, str]]:
        """The file of a dump, for the user of the run alone: it may hold what users wrote."""
        settings, found = self._model["settings"], self._results.own.dump
        content = dumped.content(found, settings, self._host, settings["kafka_cluster_name"])
        return [{"path": dumped.path_of(settings), "content": content, "mode": "0600"}]

    def _move(self) -> list[str]:
        """The plan of this host, and the digest by which a later run carries out this plan and no other."""
        plan = self._results.own.plan
        digest = plan.get("plan_digest")
        return [*move_lines(plan), *([f"Digest       kafka_plan_digest={digest}"] if digest else [])]

    @property
    def _plans(self) -> dict[str, Mapping[str, Any]]:
        """The plans of moves that this run has made, by cluster name: one host of each cluster has made one."""
        found = {}
        for host in self._hosts:
            plan = self._results.of(host).plan
            if "plan_digest" in plan:
                found[str(self._results.of(host).read("kafka_cluster_name"))] = plan
        return found

    def _outcome(self) -> dict[str, Any]:
        """The verdict and the reports of the run until now, for the next node of a workflow. A run that proves nothing
        leaves the verdict of the nodes before it alone, and so does a plan: what it would mend is no failure yet."""
        plans = bool(self._model["settings"].get("ansible_check_mode", False))
        found = [
            carried.Left(
                self._results.of(host).spark_proofs or (),
                "" if plans else self._results.of(host).verdict or "",
                self._results.of(host).report or "",
            )
            for host in self._hosts
        ]
        return carried.outcome(found, str(self._model["settings"].get("streamops_verdict") or "").strip())

    def _plan_digests(self) -> str:
        """The digests of these plans. A plan without the partitions that a topic is to get is not all that a run would
        do, and has none."""
        if self._results.of(self._host).added.get("changed"):
            return ""
        return carried.joined_digests(self._plans)

    def _changes_planned(self, before_the_first: bool = False) -> list[planned.ClusterPlan]:
        """Return what tasks in check mode found to do to nodes and to what clusters hold.

        A run that is not in check mode has done all of it but the growth of a topic, unless this is
        C(before_the_first) change.
        """
        everything = before_the_first or self._is_plan
        return cluster_plans(self._hosts, self._mirrors, self._results, everything)

    @property
    def _is_plan(self) -> bool:
        """Return whether the whole run changes nothing and only says what it would do."""
        return bool(self._model["settings"].get("ansible_check_mode", False))

    def _plans_text(self) -> str:
        """All that the run would do, as a text."""
        text = carried.plans_text(self._plans, self._changes_planned(), self._then)
        return text or ("nothing to do" if self._is_plan else "")

    @property
    def _then(self) -> str:
        """Return what a playbook does once its moves have ended."""
        return str(self._model["settings"].get("_kafka_resources_move_then") or "")

    def _plan_digest(self) -> str:
        """The digests of all that a run would do, as streamops_plan_digest takes them: of changes, then of moves."""
        changes = self._changes_planned()
        # A plan that found nothing has a digest too: an apply without one is compared with nothing.
        parts = [planned.digest(changes)] if changes or self._is_plan else []
        return ",".join(filter(None, [*parts, carried.joined_digests(self._plans)]))

    @property
    def _approved(self) -> str:
        return str(self._model["settings"].get("streamops_plan_digest") or "").strip()

    def _approved_moves(self) -> str:
        """The digests of the moves that were approved. Those of a topic that has grown in this run are in no plan from
        before: who approved the growth has approved that its partitions are spread."""
        given = str(self._model["settings"].get("kafka_plan_digest") or "").strip()
        grown = self._results.of(self._host).added.get("changed")
        return given or ("" if grown else planned.moves_in(self._approved))

    def _approval_refusal(self) -> str:
        """Say why what this run would change is not what was approved; empty where it is, or nothing was approved."""
        changes = self._changes_planned(before_the_first=True)
        was = str(self._model["settings"].get("streamops_plan") or "")
        now = carried.plans_text({}, changes)
        return planned.refusal(self._approved, planned.digest(changes), was, now)

    def _plan_refusal(self) -> str:
        """Say why the plan of this host is not the approved one; empty where it is."""
        found = self._results.own.plan.get("plan_digest", "0-")
        approved = self["approved_moves"]
        grown = self._results.of(self._host).added.get("changed")
        if self._approved and not approved and not grown and not found.startswith("0-"):
            return "streamops_plan_digest has no digest of moves, and this run would move replicas: plan it again"
        return refusal(approved, found) or ""

    def _move_files(self) -> list[dict[str, str]]:
        """The report of a move and its data; files as the module node_files takes them. Of a move that was only planned
        they have no results."""
        settings = self._model["settings"]
        only_planned = settings.get("plan_only", False) or settings.get("ansible_check_mode", False)
        done = {} if only_planned else self._results.own.moved
        plan = self._results.own.plan
        title, cluster = settings["_kafka_resources_move_title"], settings["kafka_cluster_name"]
        page, machines = report_paths(self._results.own.report)
        data = move_data(plan, done, title, cluster, settings["_kafka_resources_made"])
        return [
            {"path": page, "content": move_report(plan, done, title, cluster), "mode": "0644"},
            {"path": machines, "content": data, "mode": "0644"},
        ]


def _identity(node: Mapping[str, Any]) -> dict[str, Any]:
    return {key: node[key] for key in ("host", "node_id", "roles")}


def _replication(node: Mapping[str, Any]) -> str:
    """Return where other brokers reach a node, empty of a controller."""
    return str(listener_for(node, "brokers")["socket"]) if "broker" in node["roles"] else ""
