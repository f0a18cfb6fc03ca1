# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows for a cluster from what tasks of a run saw of its nodes: disks, voters, brokers that live."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ...module_utils._migration.modes import MODES
from ..guards.quorum_unsteady import changed_last, never_formed, taken_back, unsteady_quorum
from ..guards.registered import ACCEPT, accepted_ids, missing, voters_alone
from ..guards.replace import place_refusal
from ..guards.versions import goes_back
from ..inventory.nodes import STAGE, ZOOKEEPER_MODE, disk_mode, initial_controllers
from ..reports import unsteady
from ..run.results import Results
from .node_view import settled_since
from .parts import key

Node = Mapping[str, Any]
Info = Mapping[str, Any]


class ClusterRun:
    """What the hosts of a cluster see alike of it in a run; C(restarted) are the hosts that the run has restarted."""

    def __init__(self, model: Mapping[str, Any], results: Results, restarted: Sequence[str]) -> None:
        self._model, self._results, self.restarted = model, results, restarted

    @cached_property
    def members(self) -> list[Node]:
        """The nodes of Kafka of the cluster, as names alone tell them."""
        return list(self._model["identities"])

    @cached_property
    def infos(self) -> dict[str, Info]:
        """Return what node_info saw on each, by host."""
        return {node["host"]: self._results.of(node["host"]).look for node in self.members}

    def of_role(self, role: str) -> list[Node]:
        """Return the nodes of the cluster that have a role."""
        return [node for node in self.members if role in node["roles"]]

    @cached_property
    def controllers(self) -> dict[str, Info]:
        """Return what node_info saw on each controller of the cluster, by host."""
        return {node["host"]: self.infos[node["host"]] for node in self.of_role("controller")}

    @cached_property
    def lost_leader(self) -> dict[str, Any]:
        """A quorum that had a leader and keeps none, as unsteady_quorum tells it; empty of any other."""
        return unsteady_quorum(self.controllers) if not self.never_formed else {}

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._model["settings"]
        return settings

    @key
    def nodes(self) -> list[dict[str, Any]]:
        """The nodes with what node_info saw on each."""
        return with_disks(self._model["nodes"], self.infos, self._modes())

    def _modes(self) -> dict[str, str]:
        """Return whose data may be on the disks of each node, by host; only a cluster that migrates has several."""
        mode = self._settings["kafka_mode"]
        migrates = mode == ZOOKEEPER_MODE and bool(self.of_role("controller"))
        modes = {}
        for node in self.members:
            stage = {STAGE: self._results.of(node["host"]).read(STAGE)} if migrates else {}
            modes[node["host"]] = disk_mode(node["roles"], {"kafka_mode": mode, **stage})
        return modes

    @key
    def never_formed(self) -> bool:
        """Tell whether the quorum of the cluster never had a leader; a cluster with ZooKeeper has served without it."""
        if self._settings["kafka_mode"] == ZOOKEEPER_MODE:
            return False
        infos = self.infos
        return never_formed(
            *([infos[node["host"]] for node in self.of_role(role)] for role in ("controller", "broker"))
        )

    @key
    def needs_registration(self) -> bool:
        """Tell whether the cluster must be asked for its brokers before a disk of one may be formatted."""
        unused = any(not disk["started"] for node in self.nodes if "broker" in node["roles"] for disk in disks(node))
        return has_started(self.nodes) and not self.never_formed and unused

    @key
    def is_to_be_asked(self) -> bool:
        """Tell whether the cluster has what the inventory may lack, and can tell it, or must be asked in any case."""
        runs = any(node["running"] for node in self.nodes)
        may_answer = runs and has_started(self.nodes) and not self.never_formed
        return bool(may_answer or self.needs_registration)

    @key
    def missing(self) -> list[str]:
        """The brokers and voters that the inventory lacks; one whose place another takes is to be missing."""
        accepted = accepted_ids(self._settings[ACCEPT]) | accepted_ids(self._settings.get("_common_place_of"))
        asked = self._model["copies"]["asked"]
        if self._settings.get("_common_changes_voters", False):
            accepted |= voters_alone(asked)
        return missing(self.members, asked, accepted)

    @key
    def registered_ids(self) -> list[int] | None:
        """The brokers that the cluster knows, null where it was not asked or did not answer."""
        if has_started(self.nodes) and self.never_formed:
            # Where no quorum ever formed, no broker was ever registered.
            return []
        asked = self._results.of(self._results.host).registered
        return [broker["id"] for broker in asked["nodes"]] if "nodes" in asked else None

    @key
    def voter_ids(self) -> list[int] | None:
        """Return who votes, null where the cluster was not asked, or its quorum has no leader that answered."""
        asked = self._results.of(self._results.host).registered
        quorum = asked.get("quorum") or {}
        if "nodes" not in asked or quorum.get("error") or quorum.get("leader_id") is None:
            return None
        return sorted({int(voter["id"]) for voter in quorum["voters"]})

    @key
    def coming(self) -> list[dict[str, Any]]:
        """The brokers of the inventory that the cluster does not know yet, of a run that was to install them: a plan
        counts them as present, with their racks. None where the cluster was not asked."""
        known = self.registered_ids
        return [
            {"id": node["node_id"], "rack": node["rack"] or None}
            for node in self._model["nodes"]
            if known is not None and "broker" in node["roles"] and node["node_id"] not in known
        ]

    @key
    def initial_controllers(self) -> str:
        """The first voters, empty where the host is formatted without them."""
        plan = self._results.of(self.members[0]["host"]).format_plan
        is_first = plan["initial_controllers"].get(self._results.host)
        return initial_controllers(self._model["nodes"], plan["cluster_id"]) if is_first else ""

    @key
    def gives_back(self) -> list[str]:
        """The controllers that are taken back to end a quorum without a stable leader."""
        return list(taken_back(self.controllers, time.time()))

    @key
    def unsteady(self) -> dict[str, str]:
        """The messages of a run that ends for a quorum without a stable leader."""
        back = {host: info for host, info in self.controllers.items() if host in self.gives_back}
        return unsteady.messages(self._settings["kafka_cluster_name"], self.lost_leader, changed_last(back))

    @key
    def unsteady_note(self) -> str:
        """Say what a run that goes on says of such a quorum."""
        return unsteady.note(self._settings["kafka_cluster_name"], self.lost_leader)

    @key
    def place_refusal(self) -> str:
        """Say why no other broker can take the place of kafka_replaced_id."""
        led, settings = self._results.own.led, self._settings
        return place_refusal(led, settings["kafka_replaced_id"], settings["kafka_replace_lost_topics"])

    @key
    def settled_since(self) -> float:
        """Say since when the cluster has had no bad look, by the waits for its nodes that came back in this run."""
        waits = [
            # Of a controller that is no broker the quorum alone was looked at, by the gate of another voter.
            run.whole if "broker" in node["roles"] else run.quorum_whole
            for node in self.members
            for run in [self._results.of(node["host"])]
        ]
        return settled_since(waits, time.time())

    @key
    def live_properties(self) -> dict[str, dict[str, Any]]:
        """Return what brokers take live; in check mode one that is yet to be started has no settings to compare."""
        only_running = self._settings.get("ansible_check_mode", False) or self._settings.get("_common_foresees", False)
        brokers = [node for node in self.nodes if "broker" in node["roles"]]
        asked = [node for node in brokers if node["running"] or not only_running]
        return live_properties(asked, self.infos, self.restarted)

    @key
    def goes_back(self) -> bool:
        """Tell whether a node of the cluster shall get an older minor release than it runs."""
        wished = str(self._settings["kafka_version"])
        return any(goes_back(info.get("version"), wished) for info in self.infos.values())


def with_disks(nodes: Iterable[Node], infos: Mapping[str, Info], modes: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the nodes with what node_info saw on each; a host that did not answer has disks None (not known).

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
    """Yield the disks of a node as with_disks has it; none of one that did not answer."""
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
    """Return by node id the overrides of properties that brokers take live, null for none, as node_info told them.

    A node that was restarted since node_info looked has all wanted values in its file and needs no override.
    """
    wanted = {}
    for node in nodes:
        live = infos[node["host"]].get("live_properties") or {}
        fresh = node["host"] in restarted
        wanted[str(node["node_id"])] = {key: None if fresh else value for key, value in live.items()}
    return wanted
