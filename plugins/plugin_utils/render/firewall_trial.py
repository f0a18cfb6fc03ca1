# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How a run proves changed firewalls: which machines get theirs next, and which peers try which of their ports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..run.results import FIREWALL_SHARE, Results
from .firewall import NODES, Place, parties_of
from .parts import Parts

#: Peers outside of the play that one host of the play asks, one after the other, within the time of a trial.
OUTSIDE = 8


class FirewallTrial(Parts):
    """The key C(firewall_trial) of the model."""

    def __init__(self, model: Mapping[str, Any], results: Results, play_hosts: Sequence[str]) -> None:
        self._model, self._results, self._play_hosts = model, results, play_hosts
        super().__init__({"waiting": self._waiting, "shares": self._shares, "unreached": self._unreached})

    def _waiting(self) -> list[str]:
        """The hosts whose table has yet to change."""
        return [host for host in self._play_hosts if self._results.of(host).firewall_waits is True]

    def _workers(self) -> list[str]:
        """The hosts that take part in this round."""
        own = self._results.own.firewall_round
        return [host for host in self._play_hosts if self._results.of(host).firewall_round == own]

    def _shares(self) -> list[dict[str, Any]]:
        """Return what the own host has tried by which peers: [{peer, tries}]."""
        listening = {
            host: self._results.of(host).firewall_loaded.get("listening", [])
            for host in self._results.own.firewall_round
        }
        places = self._model["places"]
        found = shares(tries(places, listening), machines(places), self._workers())
        return found.get(self._results.host, [])

    def _unreached(self) -> list[str]:
        """The ports of the own host that its peers could not connect to, as sentences without an end."""
        return [
            f"{result[FIREWALL_SHARE]['peer']} cannot connect to port {one['port']} ({one['purpose']}) "
            f"at {one['address']}: {one['error']}"
            for worker in self._workers()
            for result in self._results.of(worker).firewall_tried.get("results", [])
            for one in result.get("unreached", [])
            if one["host"] == self._results.host
        ]


def machines(places: Iterable[Place]) -> dict[str, str]:
    """Return host to machine, of all nodes."""
    return {place["host"]: place["machine"] for place in places}


def tries(places: Sequence[Place], listening: Mapping[str, Collection[int]]) -> dict[str, list[dict[str, Any]]]:
    """Return machine of a peer to what it shall connect to, [{host, address, port, purpose}], each once.

    listening -- host that brings a machine's firewall to the ports that the machine listens on: others would refuse
    everyone. A peer is a node on another machine that parties_of lets in, and connects to
    the address that nodes use, the advertised one. Listeners for clients are left out where the cluster has others for
    its brokers, since then no node needs them, and their advertised address may be one for the outside.
    """
    where = machines(places)
    found: dict[str, list[dict[str, Any]]] = {}
    for host, ports in listening.items():
        for node in (place for place in places if place["machine"] == where[host] and place["firewall"]):
            cluster = [place for place in places if place["cluster"] == node["cluster"]]
            for listener in _inner(node, ports):
                one = {"host": host, "address": listener["advertised_host"]}
                one.update(port=int(listener["advertised_port"]), purpose=listener["purpose"])
                roles = {party[:-1] for party in parties_of(node, listener, cluster) if party in NODES}
                for peer in cluster:
                    wanted = found.setdefault(peer["machine"], [])
                    if peer["machine"] != node["machine"] and roles & set(peer["roles"]) and one not in wanted:
                        wanted.append(one)
    return {machine: wanted for machine, wanted in found.items() if wanted}


def _inner(node: Place, ports: Collection[int]) -> Iterator[Mapping[str, Any]]:
    """Those of its open listeners on these ports that nodes connect to."""
    has_own = any(listener["purpose"] == "brokers" for listener in node["listeners"])
    for listener in node["listeners"]:
        if listener["opens"] and listener["port"] in ports and not (has_own and listener["purpose"] == "clients"):
            yield listener


def shares(
    wanted: Mapping[str, Sequence[Mapping[str, Any]]], where: Mapping[str, str], workers: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Return worker to [{peer, tries}]: each worker tries for its own machine, and has peers outside tried in turn.

    wanted -- what `tries` gave; where -- host to machine; workers -- the hosts of the play, one of each machine. Of
    the machines without a worker at most OUTSIDE a worker are asked, in the order of the inventory.
    """
    of_machine = {where[worker]: worker for worker in reversed(workers)}
    found: dict[str, list[dict[str, Any]]] = {worker: [] for worker in workers}
    outside = []
    for machine, listed in wanted.items():
        worker = of_machine.get(machine)
        peer = worker or next(host for host, its in where.items() if its == machine)
        share = {"peer": peer, "tries": [dict(one) for one in listed]}
        if worker:
            found[worker].append(share)
        else:
            outside.append(share)
    for number, share in enumerate(outside[: OUTSIDE * len(workers)]):
        found[workers[number % len(workers)]].append(share)
    return found
