# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the tasks of a run have left on their hosts, by what it is about.

The names of registered results and facts that plugins read stand here, and nowhere else in them: a task that leaves
another one for plugins needs a line here (tests/lint/test_task_results.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: Gives the variables of a host.
Variables = Callable[[str], Mapping[str, Any]]
#: Variables of loops, which each result of the loop has: who asks listeners, and who tries which ports of a firewall.
ANSWERS_ASK, FIREWALL_SHARE = "__common_answers_ask", "__common_firewall_share"


class Left:
    """What a task leaves under a name: a registered result, or a fact."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, run: HostRun, owner: type[HostRun]) -> Any:
        return run.read(self.name)


class HostRun:
    """What tasks of this run have left on one host. Where no task left it, it is an empty mapping.

    A task that registers a result sees the one of its own last run here, so nothing of this belongs into its
    C(failed_when) or C(until).
    """

    # Of a node: what node_info, node_generation, restart_gate, isr_wait and leader_election returned.
    look = Left("__common_node_info")
    files = Left("__common_generation")
    taken_up = Left("__common_taken_up")
    #: Of adoption_info in a run that takes nodes over.
    adoption = Left("__common_adoption")
    #: Of node_info at the turn of the node.
    turn = Left("__common_turn")
    gate = Left("__common_gate")
    in_sync = Left("__common_in_sync")
    whole = Left("__common_whole")
    #: Of a controller that is no broker: restart_gate of another voter, behind the restart.
    quorum_whole = Left("__common_quorum_whole")
    #: The output of supervisorctl.
    programs = Left("__common_programs")
    # When the node was stopped (seconds since the epoch), for how long, and how long it took to be in sync after that.
    stopped_at = Left("__common_stopped_at")
    down_seconds = Left("__common_down_seconds")
    sync_seconds = Left("__common_sync_seconds")
    # Of node_info: for an upgrade, for a migration and for the status.
    upgrade_look = Left("__common_upgrade_node")
    migration_look = Left("__common_migration_node")
    status_look = Left("__kafka_resources_runs")
    mirror_look = Left("__mirror_maker_runs")
    # What deprecated_requests counted last and first.
    requests = Left("__common_upgrade_requests")
    requests_before = Left("__common_upgrade_requests_before")
    # Of listener_check from other nodes and from the control node.
    answers_of_nodes = Left("__common_answers_of_nodes")
    answers_of_control_node = Left("__common_answers_of_control_node")
    # Of the trial of a firewall, on the host that brings that of its machine: whether its table shall change, the hosts
    # whose tables change now, the result of loading and those of the tries of its share.
    firewall_waits = Left("__common_firewall_waits")
    firewall_round = Left("__common_firewall_round")
    firewall_loaded = Left("__common_firewall_loaded")
    firewall_tried = Left("__common_firewall_tried")
    dump = Left("__common_dump")

    # Of a cluster, on its first host or on the one that asked it: of cluster_info, the plan of disks, of features (also
    # for kraft.version 1 alone), of restart_gate and of zookeeper_info.
    registered = Left("__common_registered")
    format_plan = Left("__common_format_plan")
    features = Left("__common_features")
    upgrade_registered = Left("__common_upgrade_cluster")
    voters_gate = Left("__common_voters_gate")
    voters_raising = Left("__common_voters_raising")
    ensemble = Left("__zookeeper_ensemble_now")
    #: What each broker says of its cluster to mirrors.
    endpoint = Left("__kafka_endpoint")
    # The proof of a roll: its verdict, when it was made, and where its report goes.
    proof = Left("__common_proof")
    proof_made = Left("__common_proof_made")
    proof_report = Left("__common_proof_report")
    # The status; C(health) is of cluster_status.
    health = Left("__kafka_resources_health")
    status_ensemble = Left("__kafka_resources_ensemble")
    status_part = Left("__kafka_resources_status_part")
    verdict = Left("__kafka_resources_verdict")
    report = Left("__kafka_resources_report")
    status_made = Left("__kafka_resources_made")
    #: Of cluster_health, with what only the report shows.
    whole_health = Left("__kafka_resources_whole")
    spark_proofs = Left("__spark_validation_proofs")
    spark_job = Left("__spark_validation_job")
    # What it holds.
    settings = Left("__kafka_resources_configs")
    topics = Left("__kafka_resources_topics")
    users = Left("__kafka_resources_users")
    acls = Left("__kafka_resources_acls")
    quotas = Left("__kafka_resources_quotas")
    #: Partitions that a topic got.
    added = Left("__kafka_resources_added")
    led = Left("__kafka_resources_led")
    plan = Left("__kafka_resources_plan")
    moved = Left("__kafka_resources_moved")
    groups = Left("__kafka_resources_groups")
    every_group = Left("__kafka_resources_every_group")
    group_moves = Left("__kafka_resources_group_moves")

    # Of mirrors, on the one that looks at both ends: of cluster_info and topics in loops over clusters, of
    # mirror_status, mirror_gaps and mirror_failover_info, the list of verdicts, the answer of the canary, and a tuning
    # with the rows of all its runs.
    clusters = Left("__mirror_maker_clusters")
    opposed = Left("__mirror_maker_opposed")
    lag = Left("__mirror_maker_look")
    gaps = Left("__mirror_maker_gaps")
    failover = Left("__mirror_maker_failover")
    drill = Left("__mirror_maker_drill")
    mirror_verdicts = Left("__mirror_maker_verdicts")
    legacy_topics = Left("__mirror_maker_legacy_seen")
    canary = Left("__mirror_maker_canary_told")
    tune_plan = Left("__mirror_maker_tune_plan")
    tune_rows = Left("__mirror_maker_tune_rows")
    tune_load = Left("__mirror_maker_tune_load")
    tune_machine = Left("__mirror_maker_tune_machine")
    tune_measured = Left("__mirror_maker_tune_measured")
    tune_stopped = Left("__mirror_maker_tune_stopped")

    # Of the host of Prometheus: the programs that it has, and what Prometheus says of its targets.
    monitoring_programs = Left("__kafka_monitoring_programs")
    targets = Left("__kafka_monitoring_targets")

    def __init__(self, host: str, variables: Variables, is_needed: bool = False) -> None:
        """Read the variables of a host when they are asked for; C(is_needed) makes what is not there a ValueError."""
        self._host, self._variables, self._is_needed = host, variables, is_needed

    def read(self, name: str) -> Any:
        """Return what the host has under a name."""
        found = self._variables(self._host).get(name)
        if found is None and self._is_needed:
            raise ValueError(f"no task of this run has left {name} on {self._host}")
        return {} if found is None else found


class Results:
    """What tasks of this run have left on all hosts, read when it is asked for. C(host) is the one that asks."""

    def __init__(self, variables: Variables, host: str) -> None:
        self._variables, self.host = variables, host

    def of(self, host: str) -> HostRun:
        """Return what was left on a host; where no task left it, it is an empty mapping."""
        return HostRun(host, self._variables)

    @property
    def own(self) -> HostRun:
        """Return what was left on the host that asks; ValueError where no task left it."""
        return HostRun(self.host, self._variables, is_needed=True)
