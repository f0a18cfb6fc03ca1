# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What is done with one node in a run, decided from what tasks of the run have left on its host.

How a run treats a node that is there already (playbooks/site.yml, playbooks/_roll.yml, roles/_common/tasks):

1. Look at it, write the files that it is to have beside those that it was started with, and look again: every value
   that differs is a reason to restart. The new files wait (staged), since a node that crashes must not come back with
   what nobody has seen work. Without a reason, and with start files that were whole once, nothing follows.
2. A node that does not run (needs_start), listens nowhere (is_silent) or was cut off on its way back (is_to_prove)
   is started and waited for at once (starts): it serves nobody, so no gate is asked.
3. A controller of a quorum that keeps no leader restarts at once, without a gate (restarts_at_once).
4. All others that have a reason (restarts) wait for their turn, one node at a time in the whole cluster: unhealthy
   brokers first, then servers of ZooKeeper, controllers, brokers; in pass 1 all but who leads (holds_lead), which
   comes last, in pass 2.
5. The turn: one whose process is another than the run has seen (has_restarted) is only waited for. Else ask the gate
   (nothing is under-replicated but for what is accepted, the quorum can lose a voter); stop; take up the staged files;
   start; wait until it listens, and until it is whole: in sync, leads again, others copy from it, for longer than its
   session. Whole, its files are proven, and the way back is given up.
6. One that does not become whole goes back to the files with which it was whole, and the run ends; unless another one
   is at fault (waits_for_another), which is taken back instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from os.path import basename, dirname
from typing import Any

from ...module_utils._core.errors import StreamopsError
from ...module_utils._node.adopted import CLAIMED, OLD
from ...module_utils._node.restart_reasons import reason_line
from ..guards.at_fault import Change, Culprit, change_of, culprit
from ..guards.quorum_unsteady import cut_off
from ..guards.replace import consented, replace_refusal
from ..reports import unsteady
from ..run.results import Results
from .cluster_run import ClusterRun, Info, Node
from .parts import key
from .release import product_of

#: Where the steps stand by which a node is stopped and started that something else ran before it was taken over.
ADOPTED = "adopted"
#: Milliseconds within which the leader of the quorum has heard a voter that lives.
HEARD = 10_000
#: The states of a program without a process (supervisor/states.py, ProcessStates), and all of them; the output may hold
#: other lines, such as that supervisord does not answer.
ENDED = ("STOPPED", "EXITED", "FATAL")
SUPERVISOR_STATES = (*ENDED, "STARTING", "RUNNING", "BACKOFF", "STOPPING", "UNKNOWN")


class NodeRun:
    """What a run does with the node of a host, and what tasks have seen of it; docs/development/house.md lists it."""

    def __init__(self, model: Mapping[str, Any], results: Results, cluster: ClusterRun) -> None:
        self._model, self._results, self._cluster = model, results, cluster

    @property
    def _node(self) -> Node:
        node: Node = self._model["node"]
        return node

    @property
    def _node_id(self) -> Any:
        """None of a mirror, which is no broker and no voter."""
        return self._node["node_id"]

    @cached_property
    def _info(self) -> Info:
        return dict(self._results.own.look)

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._model["settings"]
        return settings

    @property
    def _is_kafka(self) -> bool:
        """Tell whether the host runs a broker or a controller, and neither a mirror nor a server of ZooKeeper."""
        return not {"mirror", "zookeeper"} & set(self._node["roles"])

    @property
    def _files(self) -> Info:
        """Return what node_generation returned; empty in a run that leaves the files alone, by its tags."""
        files: Info = self._results.of(self._results.host).files
        return files

    @property
    def _has_none_staged(self) -> bool:
        """Tell whether the run has looked for start files that wait for the node, and there are none."""
        return "generations" in self._files and self._files["generations"]["staged"] is None

    @key
    def reasons(self) -> list[str]:
        """Say why the node would have to restart, a line for each reason."""
        return [reason_line(reason) for reason in self._info["restart_reasons"]]

    @key
    def restarts(self) -> bool:
        """Tell whether the node waits for its turn in the rolling path."""
        asked = bool(self._info["restart_reasons"]) or bool(self._settings["kafka_restart_force"])
        return bool(self._info["process"]["running"]) and asked and not self.restarts_at_once

    @key
    def is_silent(self) -> bool:
        """Tell whether the node is to be started, or runs in vain while no reason will restart it."""
        return is_silent(self._info, self._node, self._model["awaited_ports"])

    @key
    def return_was_cut(self) -> bool:
        """Tell whether a run was cut between a start of the node and the end of its return."""
        is_unproven = bool(self._files.get("unproven")) and self._has_none_staged
        return is_unproven and not self._info["needs_start"] and not self.restarts

    @key
    def is_to_prove(self) -> bool:
        """Tell whether the node has yet to prove what it was started with."""
        return bool(self._info["needs_start"]) or self.return_was_cut

    @key
    def starts(self) -> bool:
        """Tell whether the node is started or waited for before the rolling path.

        Servers of an ensemble and mirrors of a target prove their start files together, once all were told to start.
        """
        if self._settings.get("ansible_check_mode", False):
            return False
        return bool(self._info["needs_start"]) or self.is_silent or (self._is_kafka and self.is_to_prove)

    @key
    def has_restarted(self) -> bool:
        """Tell whether another process of the node runs at its turn than the run saw, and no files wait for it."""
        now, before = self._results.own.turn["process"], self._info["process"]
        other = any(now[name] != before[name] for name in ("pid", "start_time"))
        return bool(now["running"]) and self._has_none_staged and other

    @key
    def holds_lead(self) -> bool:
        """Tell whether the node holds what must move when it stops, by its gate, so that a roll takes it last."""
        gate = self._results.own.gate if "mirror" not in self._node["roles"] else {}
        return bool(gate.get("stopping_leader" if "zookeeper" in self._node["roles"] else "is_active_controller"))

    @key
    def metadata_before(self) -> float:
        """Seconds that a change of metadata took before a node of this roll restarted, as its first gate timed it.

        0 where that is not known, where slow changes were accepted, and for older start files, which are not compared.
        """
        settings = self._settings
        if settings.get("_common_goes_back") or "number_that_slows" in (settings.get("preflight_accept") or ()):
            return 0.0
        gates = (self._results.of(node["host"]).gate for node in self._cluster.members)
        timed = (gate.get("metadata_seconds") or 0 for gate in gates)
        return next((float(seconds) for seconds in timed if seconds > 0), 0.0)

    @key
    def has_data(self) -> bool:
        """Tell whether there is data on the disks of the node."""
        found = self._info["disks"]
        return any((disk["started"] and disk["meta_properties"]) or disk["served"] for disk in found)

    @key
    def disks_with_data(self) -> list[str]:
        """The directories that hold data."""
        return disks_with_data(self._info["disks"])

    @property
    def _adopted(self) -> Info:
        """Return who ran the node before it was taken over, as node_info says it; empty where nothing else did."""
        return dict(self._results.of(self._results.host).look.get("adopted") or {})

    @property
    def _is_run_by_old(self) -> bool:
        return bool(self._adopted.get("runs") == OLD)

    @key
    def stops_by(self) -> str:
        """Say by what the node is stopped, a directory of roles/_common/tasks/service."""
        return ADOPTED if self._is_run_by_old else str(self._settings["kafka_service_manager"])

    @key
    def is_claimed(self) -> bool:
        """Tell whether the node is to be taken over and has not been whole since, so that its old service has it if
        this fails."""
        return bool(self._adopted.get("phase") == CLAIMED)

    @key
    def restarts_at_once(self) -> bool:
        """Tell whether a restart needs no gate, and finds none: every voter was asked, and either no record was ever
        written, or this is a controller of a quorum without a stable leader."""
        roles, cluster = set(self._node["roles"]), self._cluster
        if self._is_run_by_old:
            # A node is taken over behind its gate or not at all.
            return False
        free = {"broker", "controller"} if cluster.never_formed else {"controller"} if cluster.lost_leader else set()
        return bool(roles & free and self._info["process"]["running"] and self._info["restart_reasons"])

    @key
    def at_once(self) -> str:
        """Say why a node restarts without a gate, for people."""
        name, lost = self._settings["kafka_cluster_name"], self._cluster.lost_leader
        if not lost:
            return f"the quorum of {name} has never had a leader, so the node restarts without a gate"
        return unsteady.at_once(name, lost, "broker" in self._node["roles"])

    @key
    def is_cut_off(self) -> bool:
        """Tell whether the node is a controller that the others of its quorum do not reach."""
        return self._node["host"] in cut_off(self._cluster.controllers)

    @key
    def ends_unsteady(self) -> bool:
        """Tell whether this is a controller of a quorum without a stable leader, and no controller is to be changed."""
        infos = self._cluster.controllers.values()
        asked = any(info.get("restart_reasons") or info.get("needs_start") for info in infos)
        return bool("controller" in self._node["roles"] and self._cluster.lost_leader and not asked)

    @key
    def is_unwell(self) -> bool:
        """Tell whether the node cannot wait for its turn."""
        return (self.is_cut_off or self.ends_unsteady or self.restarts_at_once) and not self._is_run_by_old

    @key
    def taken_back(self) -> list[str]:
        """Return what a node that went back to its old start files lacks of the wanted ones, as node_info then saw it.

        Files elsewhere, such as certificates and what mirrors share, were written in place and stay as they are now.
        """
        config, reasons = self._model["paths"]["config"], self._info["restart_reasons"]
        left = (reason for reason in reasons if reason["kind"] != "file" or dirname(reason["name"]) == config)
        return [reason_line(reason) for reason in left]

    @property
    def _is_server(self) -> bool:
        """Tell whether the host runs a server of ZooKeeper."""
        return product_of(self._node) == "zookeeper"

    @property
    def _wished_version(self) -> str:
        """The version of the release that the inventory wants of the host."""
        return str(self._settings[f"{product_of(self._node)}_version"])

    @key
    def release_taken_back(self) -> str:
        """The way of a node that went back to another release, for a sentence: " (Kafka 4.4.0 -> 3.9.2)".

        Empty where its release stayed the same, or is not known.
        """
        runs, wished = self._info.get("version"), self._wished_version
        product = "ZooKeeper" if self._is_server else "Kafka"
        return "" if runs in (None, wished) else f" ({product} {wished} -> {runs})"

    @key
    def with_new_files(self) -> list[str]:
        """The other hosts that have their new start files although this run has not restarted them.

        These are nodes that were stopped, which start with them before others go, and, while the release changes, those
        of the same kind that an earlier run has brought to it.
        """
        nodes = self._model["zookeepers"] if self._is_server else self._cluster.members
        looks = {node["host"]: self._results.of(node["host"]).look for node in nodes}
        own, wished = looks.pop(self._results.host, {}), self._wished_version
        changes = own.get("version") not in (None, wished)
        return [
            host
            for host, look in looks.items()
            if look.get("needs_start") or (changes and look.get("version") == wished)
        ]

    @key
    def blamed(self) -> dict[str, Any]:
        """Name who keeps a broker, the C(node), from being whole that this run started or restarted.

        The C(name) of who is at fault, the C(names) of all whose values may be, the C(host) where the run ends, the
        sentences C(why), and whether it C(goes_back) to what it was proven with, C(restarts) in this run for other
        files, or is one of two that C(both_changed); empty where no broker is so. Of several the own node counts.
        """
        cluster = self._cluster
        by_id = {node["node_id"]: node["host"] for node in cluster.of_role("broker")}
        for node_id, host in sorted(by_id.items(), key=lambda known: known[1] != self._results.host):
            # The later of its two waits that were made; each may be the one that failed.
            run = self._results.of(host)
            failed: Info = next((wait for wait in (run.whole, run.in_sync) if wait.get("failed")), {})

            def change(broker: int, stuck: str = host) -> Change:
                """Return what changed last on a broker."""
                at = by_id.get(broker, "")
                info = cluster.infos.get(at) or {}
                # That which is not whole has restarted if it had a reason to, and counts as such only once it is whole.
                restarted = at in cluster.restarted or at == stuck
                return change_of(info, restarted, cluster.infos[stuck], self._taken_up(at) if info else None)

            blamed = culprit(node_id, failed.get("attributions") or (), change)
            if blamed:
                other, names, why = _named(blamed, by_id, host)
                # Nothing can be taken back of a broker that the inventory lacks, or that --limit leaves out: the run
                # ends at the node itself.
                at = other if cluster.infos.get(other) else host
                fault = {"host": at, "name": other, "names": names, "why": why, "goes_back": blamed.goes_back}
                return {"node": host, **fault, "restarts": blamed.change.waits, "both_changed": blamed.both_changed}
        return {}

    @key
    def waits_for_another(self) -> bool:
        """Tell whether the node is not whole because another one does not copy from it."""
        return self._is_kafka and self.blamed.get("node") == self._results.host

    def _taken_up(self, host: str) -> list[str] | None:
        """Return the names of the start files that a node took up in this run; None where it took up none."""
        run = self._results.of(host)
        if not run.taken_up.get("changed"):
            return None
        return sorted({basename(path) for path in run.files.get("changed_paths") or ()})

    @key
    def is_alive_elsewhere(self) -> bool:
        """Tell whether a broker of the node's id is registered and lives."""
        return self._node_id in live_brokers(self._results.own.registered)

    @key
    def vote_is_heard(self) -> bool:
        """Tell whether the leader of the quorum has just heard the node's vote."""
        return is_heard(self._results.own.registered, self._node_id)

    @key
    def lost_by_replacing(self) -> str:
        """Say why the disks of the node may not be replaced: what would be lost; empty where they may."""
        consent = self._settings["kafka_replace_lost_topics"]
        return replace_refusal(self._results.own.registered, self._node_id, consent)

    @key
    def consented(self) -> list[dict[str, Any]]:
        """The partitions of kafka_replace_lost_topics whose last copy was here, which are elected uncleanly."""
        return self._consented(outlived=False)

    @key
    def outlived(self) -> list[dict[str, Any]]:
        """Those of them that a copy elsewhere has outlived."""
        return self._consented(outlived=True)

    def _consented(self, outlived: bool) -> list[dict[str, Any]]:
        consent = self._settings["kafka_replace_lost_topics"]
        return consented(self._results.own.registered, int(self._node_id), consent, outlived)

    @key
    def release_dir(self) -> str:
        """Say where the node's release is to be; empty for one that this collection does not have."""
        try:
            return str(self._model["release"]["dir"])
        except (OSError, StreamopsError):
            return ""

    @key
    def supervisord_runs_on_for(self) -> list[str]:
        """The programs because of which supervisord must not end; in check mode those of the play would be stopped."""
        status = str(self._results.own.programs["stdout"])
        ignores_own = bool(self._settings.get("ansible_check_mode", False))
        return programs_kept(status, self._model["services"], ignores_own)


def _named(blamed: Culprit, hosts: Mapping[int, str], stuck: str) -> tuple[str, str, str]:
    """Return the name of who is at fault, those of all whose values may be, and the sentences that say why."""
    changes = {
        hosts.get(node_id, f"broker {node_id}"): "; ".join(last.lines) or "nothing that is known"
        for node_id, last in ((blamed.node_id, blamed.change), *blamed.others)
    }
    name = next(iter(changes))
    if blamed.is_either:
        names = " or ".join(changes)
        judged = f"No other broker copies from {stuck}, so nothing tells which of the two is at fault"
        judged += ", and both changed in this run" if blamed.both_changed else ""
    else:
        names = " and ".join(changes)
        judged = f"So {names} {'is' if len(changes) == 1 else 'are'} at fault, not {stuck}"
    lines = " ".join(f"Changed last on {host}: {changed}." for host, changed in changes.items())
    return name, names, f"{blamed.phrase}. {judged}. {lines}"


def programs_kept(status: str, services: Sequence[str], ignores_own: bool = False) -> list[str]:
    """Return the programs of supervisord that it must go on for: those of other hosts, and own ones that run.

    ``status`` is the output of C(supervisorctl status), ``services`` are the programs of the hosts of the play. A
    stopped program of another host counts: another run may be about to start it. Own ones do not with ``ignores_own``.
    """
    states = {words[0]: words[1] for words in map(str.split, status.splitlines()) if len(words) > 1}
    return [
        name
        for name, state in states.items()
        if state in SUPERVISOR_STATES and (name not in services or (state not in ENDED and not ignores_own))
    ]


def is_silent(info: Info, node: Node, awaited: Sequence[int]) -> bool:
    """Return whether a node is to be started, or runs without listening or a leader while no reason will restart it."""
    if info["needs_start"] or info["restart_reasons"]:
        return bool(info["needs_start"])
    # A controller that knows no leader of its quorum.
    lacks_leader = "controller" in node["roles"] and (info.get("quorum") or {}).get("leader") is None
    return lacks_leader or any(int(port) in awaited for port, took in info["ports"].items() if took is None)


def disks_with_data(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the directories that hold data; one that is formatted, or whose format was cut, has no data of anybody."""
    listed = list(found)
    return [disk["path"] for disk in listed if disk["started"]] + [
        disk["path"] for disk in listed if disk["error"] is not None
    ]


def live_brokers(cluster: Mapping[str, Any]) -> list[int]:
    """Return the ids of the brokers that are registered and not fenced, of what cluster_info returned."""
    return [broker["id"] for broker in cluster["nodes"] if not broker["fenced"]]


def is_heard(cluster: Mapping[str, Any], node_id: Any) -> bool:
    """Return whether the leader of the quorum has just heard this voter, of what cluster_info returned."""
    voters = (cluster["quorum"] or {}).get("voters", ())
    ages = [voter["last_caught_up_ms_ago"] for voter in voters if voter["id"] == node_id]
    return any(age is not None and age < HEARD for age in ages)
