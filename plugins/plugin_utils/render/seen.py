# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows from what tasks of a run saw of the nodes: disks, processes, votes, brokers that live."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import basename, dirname
from typing import Any

from ...module_utils._core.errors import StreamopsError
from ...module_utils._migration.modes import MODES
from ...module_utils._node.restart_reasons import reason_line
from ..guards.at_fault import Change, Culprit, change_of, culprit
from ..guards.quorum_unsteady import changed_last, cut_off, never_formed, taken_back, unsteady_quorum
from ..guards.registered import ACCEPT, accepted_ids, missing, voters_alone
from ..guards.replace import consented, place_refusal, replace_refusal
from ..guards.versions import goes_back
from ..inventory.nodes import STAGE, ZOOKEEPER_MODE, disk_mode, initial_controllers
from ..reports import unsteady
from ..run.results import Results
from .node_view import settled_since
from .parts import Parts
from .release import product_of

Node = Mapping[str, Any]
Info = Mapping[str, Any]

#: Milliseconds within which the leader of the quorum has heard a voter that lives.
HEARD = 10_000
#: The states of a program without a process (supervisor/states.py, ProcessStates), and all of them; the output may hold
#: other lines, such as that supervisord does not answer.
ENDED = ("STOPPED", "EXITED", "FATAL")
SUPERVISOR_STATES = (*ENDED, "STARTING", "RUNNING", "BACKOFF", "STOPPING", "UNKNOWN")


class Seen(Parts):
    """The key C(seen) of the model; docs/development/house.md lists its own keys."""

    def __init__(self, model: Mapping[str, Any], results: Results, restarted: Sequence[str]) -> None:
        self._model, self._results, self._restarted = model, results, restarted
        super().__init__(
            {
                "nodes": lambda: with_disks(model["nodes"], self._infos, self._modes()),
                "never_formed": self._never_formed,
                "needs_registration": self._needs_registration,
                "is_to_be_asked": self._is_to_be_asked,
                "missing": self._missing,
                "registered_ids": self._registered_ids,
                "voter_ids": self._voter_ids,
                "coming": self._coming,
                "initial_controllers": self._initial_controllers,
                "is_silent": lambda: is_silent(self._info, model["node"], model["awaited_ports"]),
                "restarts_at_once": self._restarts_at_once,
                "at_once": self._at_once,
                "is_cut_off": lambda: model["node"]["host"] in cut_off(self._controllers),
                "ends_unsteady": self._ends_unsteady,
                "is_unwell": lambda: self["is_cut_off"] or self["ends_unsteady"] or self["restarts_at_once"],
                "blamed": self._blamed,
                "gives_back": lambda: taken_back(self._controllers, time.time()),
                "unsteady": self._unsteady,
                "unsteady_note": lambda: unsteady.note(model["settings"]["kafka_cluster_name"], self._lost_leader),
                "reasons": lambda: [reason_line(reason) for reason in self._info["restart_reasons"]],
                "taken_back": self._taken_back,
                "release_taken_back": self._release_taken_back,
                "with_new_files": self._with_new_files,
                "disks_with_data": lambda: disks_with_data(self._info["disks"]),
                "is_alive_elsewhere": lambda: self._node_id in live_brokers(results.own.registered),
                "vote_is_heard": lambda: is_heard(results.own.registered, self._node_id),
                "lost_by_replacing": self._lost_by_replacing,
                "consented": lambda: self._consented(outlived=False),
                "outlived": lambda: self._consented(outlived=True),
                "place_refusal": self._place_refusal,
                "settled_since": lambda: settled_since(self._waits(), time.time()),
                "live_properties": self._live_properties,
                "goes_back": self._goes_back,
                "release_dir": self._release_dir,
                "supervisord_runs_on_for": self._supervisord_runs_on_for,
            }
        )

    def _modes(self) -> dict[str, str]:
        """Return whose data may be on the disks of each node, by host; only a cluster that migrates has several."""
        settings = self._model["settings"]
        migrates = settings["kafka_mode"] == ZOOKEEPER_MODE and bool(self._of_role("controller"))
        modes = {}
        for node in self._nodes:
            stage = {STAGE: self._results.of(node["host"]).read(STAGE)} if migrates else {}
            modes[node["host"]] = disk_mode(node["roles"], {"kafka_mode": settings["kafka_mode"], **stage})
        return modes

    def _never_formed(self) -> bool:
        """Return whether the quorum of the cluster never had a leader; one with ZooKeeper has served without it."""
        if self._model["settings"]["kafka_mode"] == ZOOKEEPER_MODE:
            return False
        return never_formed(self._infos_of("controller"), self._infos_of("broker"))

    @property
    def _nodes(self) -> list[Node]:
        return list(self._model["identities"])

    @property
    def _node_id(self) -> Any:
        """None of a mirror, which is no broker and no voter."""
        return self._model["node"]["node_id"]

    @property
    def _info(self) -> Info:
        return dict(self._results.own.look)

    @property
    def _infos(self) -> dict[str, Info]:
        return {node["host"]: self._results.of(node["host"]).look for node in self._nodes}

    def _of_role(self, role: str) -> list[Node]:
        """Return the nodes of the cluster that have a role."""
        return [node for node in self._nodes if role in node["roles"]]

    def _infos_of(self, role: str) -> list[Info]:
        return [self._infos[node["host"]] for node in self._of_role(role)]

    @property
    def _controllers(self) -> dict[str, Info]:
        """Return what node_info saw on each controller of the cluster, by host."""
        return {node["host"]: self._infos[node["host"]] for node in self._of_role("controller")}

    @property
    def _lost_leader(self) -> dict[str, Any]:
        """A quorum that had a leader and keeps none, as unsteady_quorum tells it; empty of any other."""
        return {} if self["never_formed"] else unsteady_quorum(self._controllers)

    def _waits(self) -> list[Mapping[str, Any]]:
        """Return what the waits for the nodes of the cluster found, as far as they came back in this run."""
        return [
            # Of a controller that is no broker the quorum alone was looked at, by the gate of another voter.
            run.whole if "broker" in node["roles"] else run.quorum_whole
            for node in self._nodes
            for run in [self._results.of(node["host"])]
        ]

    def _taken_back(self) -> list[str]:
        """Return what a node that went back to its old start files lacks of the wanted ones, as node_info then saw it.

        Files elsewhere, such as certificates and what mirrors share, were written in place and stay as they are now.
        """
        config, reasons = self._model["paths"]["config"], self._info["restart_reasons"]
        left = (reason for reason in reasons if reason["kind"] != "file" or dirname(reason["name"]) == config)
        return [reason_line(reason) for reason in left]

    @property
    def _is_server(self) -> bool:
        """Return whether the host runs a server of ZooKeeper."""
        return product_of(self._model["node"]) == "zookeeper"

    @property
    def _wished_version(self) -> str:
        """The version of the release that the inventory wants of the host."""
        return str(self._model["settings"][f"{product_of(self._model['node'])}_version"])

    def _release_taken_back(self) -> str:
        """Return the way of a node that went back to another release, for a sentence: " (Kafka 4.4.0 -> 3.9.2)".

        Empty where its release stayed the same, or is not known.
        """
        runs, wished = self._info.get("version"), self._wished_version
        product = "ZooKeeper" if self._is_server else "Kafka"
        return "" if runs in (None, wished) else f" ({product} {wished} -> {runs})"

    def _with_new_files(self) -> list[str]:
        """Return the other hosts that have their new start files although this run has not restarted them.

        These are nodes that were stopped, which start with them before others go, and, while the release changes, those
        of the same kind that an earlier run has brought to it.
        """
        hosts = [node["host"] for node in (self._model["zookeepers"] if self._is_server else self._nodes)]
        looks = {host: self._results.of(host).look for host in hosts}
        own, wished = looks.pop(self._results.host, {}), self._wished_version
        changes = own.get("version") not in (None, wished)
        return [
            host
            for host, look in looks.items()
            if look.get("needs_start") or (changes and look.get("version") == wished)
        ]

    def _needs_registration(self) -> bool:
        """Return whether the cluster must be asked for its brokers before a disk of one may be formatted."""
        unused = any(not disk["started"] for node in self["nodes"] if "broker" in node["roles"] for disk in disks(node))
        return has_started(self["nodes"]) and not self["never_formed"] and unused

    def _is_to_be_asked(self) -> bool:
        """Return whether the cluster has what the inventory may lack, and can tell it, or must be asked in any case."""
        runs = any(node["running"] for node in self["nodes"])
        may_answer = runs and has_started(self["nodes"]) and not self["never_formed"]
        return bool(may_answer or self["needs_registration"])

    def _missing(self) -> list[str]:
        """The brokers and voters that the inventory lacks; one whose place another takes is to be missing."""
        settings = self._model["settings"]
        accepted = accepted_ids(settings[ACCEPT]) | accepted_ids(settings.get("_common_place_of"))
        asked = self._model["copies"]["asked"]
        if settings.get("_common_changes_voters", False):
            accepted |= voters_alone(asked)
        return missing(self._nodes, asked, accepted)

    def _registered_ids(self) -> list[int] | None:
        """The brokers that the cluster knows, null where it was not asked or did not answer."""
        if has_started(self["nodes"]) and self["never_formed"]:
            # Where no quorum ever formed, no broker was ever registered.
            return []
        asked = self._results.of(self._model["node"]["host"]).registered
        return [broker["id"] for broker in asked["nodes"]] if "nodes" in asked else None

    def _voter_ids(self) -> list[int] | None:
        """Return who votes, None where the cluster was not asked, or its quorum has no leader that answered."""
        asked = self._results.of(self._model["node"]["host"]).registered
        quorum = asked.get("quorum") or {}
        if "nodes" not in asked or quorum.get("error") or quorum.get("leader_id") is None:
            return None
        return sorted({int(voter["id"]) for voter in quorum["voters"]})

    def _coming(self) -> list[dict[str, Any]]:
        """The brokers of the inventory that the cluster does not know yet, of a run that was to install them: a plan
        counts them as present, with their racks. None where the cluster was not asked."""
        known = self["registered_ids"]
        return [
            {"id": node["node_id"], "rack": node["rack"] or None}
            for node in self._model["nodes"]
            if known is not None and "broker" in node["roles"] and node["node_id"] not in known
        ]

    def _initial_controllers(self) -> str:
        """The first voters, empty where the host is formatted without them."""
        plan = self._results.of(self._nodes[0]["host"]).format_plan
        is_one = plan["initial_controllers"].get(self._model["node"]["host"])
        return initial_controllers(self._model["nodes"], plan["cluster_id"]) if is_one else ""

    def _restarts_at_once(self) -> bool:
        """Say whether every voter was asked, and either no record was ever written, or this is a controller of a quorum
        without a stable leader: a restart needs no gate, and finds none."""
        roles, info = set(self._model["node"]["roles"]), self._info
        free = {"broker", "controller"} if self["never_formed"] else {"controller"} if self._lost_leader else set()
        return bool(roles & free and info["process"]["running"] and info["restart_reasons"])

    def _at_once(self) -> str:
        """Say why a node restarts without a gate, for people."""
        name = self._model["settings"]["kafka_cluster_name"]
        if not self._lost_leader:
            return f"the quorum of {name} has never had a leader, so the node restarts without a gate"
        return unsteady.at_once(name, self._lost_leader, "broker" in self._model["node"]["roles"])

    def _ends_unsteady(self) -> bool:
        """Say whether this is a controller of a quorum without a stable leader, and no controller is to be changed."""
        infos = self._controllers.values()
        asked = any(info.get("restart_reasons") or info.get("needs_start") for info in infos)
        return bool("controller" in self._model["node"]["roles"] and self._lost_leader and not asked)

    def _blamed(self) -> dict[str, Any]:
        """Name who keeps a broker, the C(node), from being whole that this run started or restarted: the C(name) of who
        is at fault, the C(names) of all whose values may be, the C(host) where the run ends, the sentences C(why), and
        whether it C(goes_back) to what it was proven with, C(restarts) in this run for other files, or is one of two
        that C(both_changed); empty where no broker is so. Of several the own node counts."""
        by_id = {node["node_id"]: node["host"] for node in self._of_role("broker")}
        for node_id, host in sorted(by_id.items(), key=lambda known: known[1] != self._results.host):
            # The later of its two waits that were made; each may be the one that failed.
            run = self._results.of(host)
            waits = [run.whole, run.in_sync]
            failed: Info = next((wait for wait in waits if wait.get("failed")), {})

            def change(broker: int, stuck: str = host) -> Change:
                """Return what changed last on a broker."""
                at = by_id.get(broker, "")
                info = self._infos.get(at) or {}
                # That which is not whole has restarted if it had a reason to, and counts as such only once it is whole.
                restarted = at in self._restarted or at == stuck
                return change_of(info, restarted, self._infos[stuck], self._taken_up(at) if info else None)

            blamed = culprit(node_id, failed.get("attributions") or (), change)
            if blamed:
                other, names, why = _named(blamed, by_id, host)
                # Nothing can be taken back of a broker that the inventory lacks, or that --limit leaves out: the run
                # ends at the node itself.
                at = other if self._infos.get(other) else host
                fault = {"host": at, "name": other, "names": names, "why": why, "goes_back": blamed.goes_back}
                return {"node": host, **fault, "restarts": blamed.change.waits, "both_changed": blamed.both_changed}
        return {}

    def _taken_up(self, host: str) -> list[str] | None:
        """Return the names of the start files that a node took up in this run; None where it took up none."""
        if not self._results.of(host).taken_up.get("changed"):
            return None
        return sorted({basename(path) for path in self._results.of(host).files.get("changed_paths") or ()})

    def _unsteady(self) -> dict[str, str]:
        """The messages of a run that ends for a quorum without a stable leader."""
        back = {host: info for host, info in self._controllers.items() if host in self["gives_back"]}
        return unsteady.messages(self._model["settings"]["kafka_cluster_name"], self._lost_leader, changed_last(back))

    def _lost_by_replacing(self) -> str:
        consent = self._model["settings"]["kafka_replace_lost_topics"]
        return replace_refusal(self._results.own.registered, self._node_id, consent)

    def _consented(self, outlived: bool) -> list[dict[str, Any]]:
        """Return what may be elected uncleanly: partitions whose last copy was here, of kafka_replace_lost_topics."""
        consent = self._model["settings"]["kafka_replace_lost_topics"]
        return consented(self._results.own.registered, int(self._node_id), consent, outlived)

    def _place_refusal(self) -> str:
        """Say why no other broker can take the place of kafka_replaced_id."""
        settings = self._model["settings"]
        led = self._results.own.led
        return place_refusal(led, settings["kafka_replaced_id"], settings["kafka_replace_lost_topics"])

    def _live_properties(self) -> dict[str, dict[str, Any]]:
        """Return what brokers take live; in check mode one that is yet to be started has no settings to compare."""
        settings = self._model["settings"]
        only_running = settings.get("ansible_check_mode", False) or settings.get("_common_foresees", False)
        brokers = [node for node in self["nodes"] if "broker" in node["roles"]]
        asked = [node for node in brokers if node["running"] or not only_running]
        return live_properties(asked, self._infos, self._restarted)

    def _goes_back(self) -> bool:
        """Return whether a node of the cluster shall get an older minor release than it runs."""
        wished = str(self._model["settings"]["kafka_version"])
        return any(goes_back(info.get("version"), wished) for info in self._infos.values())

    def _release_dir(self) -> str:
        """Return where the node's release is to be; empty for one that this collection does not have."""
        try:
            return str(self._model["release"]["dir"])
        except (OSError, StreamopsError):
            return ""

    def _supervisord_runs_on_for(self) -> list[str]:
        """The programs because of which supervisord must not end; in check mode those of the play would be stopped."""
        status = str(self._results.own.programs["stdout"])
        ignores_own = bool(self._model["settings"].get("ansible_check_mode", False))
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


def with_disks(nodes: Iterable[Node], infos: Mapping[str, Info], modes: Mapping[str, str]) -> list[dict[str, Any]]:
    """The nodes together with what node_info saw on each; a host that did not answer has disks None (not known).

    infos, modes -- by host; a mode is that of disk_mode, which says whose data may be on the disks.
    """
    seen = []
    for node in nodes:
        info = infos[node["host"]]
        running = bool((info.get("process") or {}).get("running"))
        traces = list(info.get("traces") or [])
        mode = modes[node["host"]]
        seen.append({**node, "disks": info.get("disks"), "running": running, "mode": mode, "traces": traces})
    return seen


def disks(node: Node) -> Iterator[Mapping[str, Any]]:
    """The disks of a node as with_disks has it; none of one that did not answer."""
    yield from node["disks"] or ()


def has_started(nodes: Iterable[Node]) -> bool:
    """Return whether a disk, as with_disks has it, says that a process of the cluster has run."""
    return any(
        # A broker that came from ZooKeeper has the data from there in each stage.
        disk["meta_properties" if "broker" in node["roles"] and node["mode"] in MODES else "quorum_state"]
        for node in nodes
        for disk in disks(node)
    )


def live_properties(
    nodes: Iterable[Node], infos: Mapping[str, Info], restarted: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """By node id the overrides of properties that brokers take live, null for none, as node_info told them apart.

    A node that was restarted since node_info looked has all wanted values in its file and needs no override.
    """
    wanted = {}
    for node in nodes:
        live = infos[node["host"]].get("live_properties") or {}
        fresh = node["host"] in restarted
        wanted[str(node["node_id"])] = {key: None if fresh else value for key, value in live.items()}
    return wanted


def is_silent(info: Info, node: Node, awaited: Sequence[int]) -> bool:
    """Return whether a node is to be started, or runs without listening or a leader while no reason will restart it."""
    if info["needs_start"] or info["restart_reasons"]:
        return bool(info["needs_start"])
    # A controller that knows no leader of its quorum.
    lacks_leader = "controller" in node["roles"] and (info.get("quorum") or {}).get("leader") is None
    return lacks_leader or any(int(port) in awaited for port, took in info["ports"].items() if took is None)


def disks_with_data(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """The directories that hold data; one that is formatted, or whose format was cut, has no data of anybody."""
    listed = list(found)
    return [disk["path"] for disk in listed if disk["started"]] + [
        disk["path"] for disk in listed if disk["error"] is not None
    ]


def live_brokers(cluster: Mapping[str, Any]) -> list[int]:
    """The ids of the brokers that are registered and not fenced, of what cluster_info returned."""
    return [broker["id"] for broker in cluster["nodes"] if not broker["fenced"]]


def is_heard(cluster: Mapping[str, Any], node_id: Any) -> bool:
    """Return whether the leader of the quorum has just heard this voter, of what cluster_info returned."""
    voters = (cluster["quorum"] or {}).get("voters", ())
    ages = [voter["last_caught_up_ms_ago"] for voter in voters if voter["id"] == node_id]
    return any(age is not None and age < HEARD for age in ages)
