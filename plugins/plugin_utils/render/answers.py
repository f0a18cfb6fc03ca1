# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which listeners of a node are asked from where whether they answer, and what that found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils._client.identity import IDENTITY
from ..guards.format_refusals import cluster_ids
from ..inventory.nodes import ZOOKEEPER_MODE, listener_for
from ..run.results import ANSWERS_ASK, Results
from .firewall import NODES, PARTIES
from .kafka import tls_dir
from .parts import Parts
from .security import TLS_PROTOCOLS, access

Place = Mapping[str, Any]
#: The places of checked_from.
CONTROL_NODE, OTHER_NODES = "control_node", "nodes"
#: Most nodes that ask one listener.
MOST_PEERS = 5
#: By stage of listener_check what to do about a node.
FIXES = {
    "resolve": "let the machine that asks resolve this name, or correct advertised_host of the listener "
    "(kafka_listeners)",
    "connect": "correct host, port and advertised_host of the listener (kafka_listeners), or let the machine that asks "
    "through the firewalls in between",
    "tls": "give {node} a certificate that names this address, by a CA that who asks trusts (kafka_tls_*)",
    "login": "correct kafka_admin_user, kafka_admin_password and kafka_sasl_mechanisms; where OAUTHBEARER is the first "
    "of these, correct kafka_oauth or start the issuer; where GSSAPI is, correct kafka_kerberos or start the KDC",
    "answer": "see the log of {node}; where some connections have an answer, raise max.connections, or "
    "max.connections.per.ip, in its properties (kafka_config)",
    IDENTITY: "correct advertised_host and port of the listener (kafka_listeners), so that they lead to {node} alone: "
    "look at what the inventory gives other nodes, at name servers, and at address translation and load balancers",
}


@dataclass(frozen=True)
class Plan:
    """Who asks what: listeners by asking node and those of the control node, as listener_check takes them.

    unchecked -- a sentence for each listener that no place asks.
    """

    by_node: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    by_control_node: Sequence[Mapping[str, Any]] = ()
    unchecked: Sequence[str] = ()


class Answers(Parts):
    """The key C(answers) of the model."""

    def __init__(
        self,
        model: Mapping[str, Any],
        read: Callable[[str], Mapping[str, Any]],
        results: Results,
        administrator: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._model, self._read, self._results, self._administrator = model, read, results, administrator
        super().__init__(
            {
                "by_node": self._by_node,
                "by_control_node": self._by_control_node,
                "unchecked": lambda: list(self._plan.unchecked),
                "unasked": self._unasked,
                "unreached": self._unreached,
                "fixes": self._fixes,
            }
        )

    @property
    def _plan(self) -> Plan:
        limit = self._model["properties"].get("max.connections.per.ip")
        made: Plan = self._once(
            "plan", lambda: plan(self._model["places"], self._results.host, limit, self._cluster_id)
        )
        return made

    @property
    def _cluster_id(self) -> str:
        """The id of the cluster, of the inventory or of the disks of the node; empty where neither has it.

        In mode zookeeper the brokers draw it themselves, whatever the inventory says.
        """
        settings = self._model["settings"]
        given = "" if settings["kafka_mode"] == ZOOKEEPER_MODE else str(settings["kafka_cluster_id"])
        disks = self._results.of(self._results.host).look.get("disks") or []
        return given or next(iter(cluster_ids([{"disks": disks}])), "")

    def _by_node(self) -> list[dict[str, Any]]:
        """Return what each node asks: {host, options}, the options those of listener_check."""
        return [
            {"host": host, "options": {"listeners": list(listeners), **self._of_node(host, listeners)}}
            for host, listeners in self._plan.by_node.items()
        ]

    def _of_node(self, host: str, listeners: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Say how a node trusts others and shows who it is; the property holds for the nodes of a cluster alike."""
        if not any(listener["protocol"] in TLS_PROTOCOLS for listener in listeners):
            return {}
        tls = tls_dir(host, self._read(host))
        store = f"{tls}/keystore.pem"
        return {
            "ssl_ca_location": f"{tls}/truststore.pem",
            "ssl_certificate_location": store,
            "ssl_key_location": store,
            "ssl_check_hostname": self._model["properties"].get("ssl.endpoint.identification.algorithm") != "",
        }

    def _by_control_node(self) -> dict[str, Any]:
        """The options of listener_check on the control node; none where it asks nothing."""
        listeners = list(self._plan.by_control_node)
        if not listeners:
            return {}
        return {
            "listeners": listeners,
            **access({listener["protocol"] for listener in listeners}, self._administrator()),
        }

    def _asked(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every result, with the place that asked."""
        for result in self._results.own.answers_of_nodes.get("results", []):
            yield result[ANSWERS_ASK]["host"], result
        of_control_node = self._results.own.answers_of_control_node
        if not of_control_node.get("skipped"):
            yield "the control node", of_control_node

    def _unasked(self) -> list[str]:
        """The places that could not ask, and the listeners of which no place knows who answers, with the reason."""
        could_not = [
            f"{place} could not ask: {result.get('msg', 'no result')}"
            for place, result in self._asked()
            if "unreached" not in result
        ]
        answers = [answer for _place, result in self._asked() for answer in result.get("answered", [])]
        known = {answer["listener"] for answer in answers if not answer["unidentified"]}
        unknown = {answer["listener"]: answer["unidentified"] for answer in answers if answer["listener"] not in known}
        return could_not + [
            f"listener {listener} answers, and it is not known whether as this node: {why}"
            for listener, why in unknown.items()
        ]

    def _silent(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The places, each with a listener that did not answer it."""
        return [(place, silent) for place, result in self._asked() for silent in result.get("unreached", [])]

    def _unreached(self) -> list[str]:
        """A sentence without an end for each of them."""
        return [
            f"{silent['node']}: listener {silent['listener']} at {silent['address']} "
            + (f"leads {place} to another node" if silent["stage"] == IDENTITY else f"does not answer {place}")
            + f" ({silent['stage']}): {silent['why']}"
            for place, silent in self._silent()
        ]

    def _fixes(self) -> list[str]:
        """Return what to do about them, each once."""
        fixes = (FIXES[silent["stage"]].format(node=silent["node"]) for _place, silent in self._silent())
        return list(dict.fromkeys(fixes))


def plan(places: Sequence[Place], host: str, per_address: Any = None, cluster_id: str = "") -> Plan:
    """Return who asks which listeners of a node of Kafka.

    places -- those of the firewall: all nodes of all clusters, with their firewalls; per_address -- the node's
    max.connections.per.ip, None without one; cluster_id -- empty where it is not known.
    """
    node = next(place for place in places if place["host"] == host)
    others = [
        place
        for place in places
        if place["cluster"] == node["cluster"] and place is not node and {"broker", "controller"} & set(place["roles"])
    ]
    connections = _connections(len(others), per_address)
    by_node: dict[str, list[dict[str, Any]]] = {}
    by_control_node, unchecked = [], []
    for listener in (each for each in node["listeners"] if each["opens"]):
        asked = _question(node, listener, connections, cluster_id)
        wanted = checked_from(node, listener)
        peers = _peers(node, listener, others) if OTHER_NODES in wanted else []
        reasons = [] if wanted else [unwanted(node, listener)]
        if OTHER_NODES in wanted and not peers:
            reasons.append("no other node connects to it")
        kept_out = _kept_out(node, listener) if CONTROL_NODE in wanted else ""
        reasons += [kept_out] if kept_out else []
        asks = CONTROL_NODE in wanted and not kept_out
        # Clients may have most of its connections: one more says enough.
        by_control_node += [{**asked, "connections": 1}] if asks else []
        for peer in peers:
            by_node.setdefault(peer["host"], []).append(asked)
        if not peers and not asks:
            unchecked.append(f"{host}: listener {listener['name']} is not checked: {'; '.join(reasons)}")
    return Plan(by_node, by_control_node, unchecked)


def _question(node: Place, listener: Mapping[str, Any], connections: int, cluster_id: str) -> dict[str, Any]:
    return {
        "node": node["host"],
        "name": listener["name"],
        "host": listener["advertised_host"],
        "port": listener["advertised_port"],
        "protocol": listener["protocol"],
        "connections": connections,
        "node_id": node["node_id"],
        "cluster_id": cluster_id,
        "role": "controller" if listener["purpose"] == "controllers" else "broker",
    }


def _connections(others: int, per_address: Any) -> int:
    """As many at once as the node has peers; of what one address may have, others hold some already."""
    limit = int(per_address) // 2 if per_address not in (None, "") else others
    return max(1, min(others, limit))


def checked_from(node: Place, listener: Mapping[str, Any]) -> list[str]:
    """Return the places that ask a listener: what the inventory says, else by who connects to it.

    Brokers without a listener of their own use that for clients. The control node asks where administration connects.
    Another listener for clients may be one for the outside, or take other logins and certificates than its own.
    """
    if listener["checked_from"] is not None:
        return list(listener["checked_from"])
    if listener["purpose"] != "clients":
        return [OTHER_NODES]
    places = [CONTROL_NODE] if listener_for(node, "clients")["name"] == listener["name"] else []
    if "broker" in node["roles"] and listener_for(node, "brokers")["name"] == listener["name"]:
        places.append(OTHER_NODES)
    return places


def unwanted(node: Place, listener: Mapping[str, Any]) -> str:
    """Say why nobody asks a listener."""
    if listener["checked_from"] is not None:
        return "its checked_from (kafka_listeners) names no place"
    return (
        "administration uses another one; where the control node reaches this one too, with the administrator's login "
        f"and certificates, set its checked_from (kafka_listeners) to [{CONTROL_NODE}]"
    )


def _kept_out(node: Place, listener: Mapping[str, Any]) -> str:
    """Say why the control node cannot ask a listener; empty where it can."""
    inner = listener["purpose"] != "clients"
    if inner and listener["protocol"] == "SSL":
        return "the control node has no certificate of a node, which it asks for"
    if not node["firewall"]:
        return ""
    if inner:
        return "the firewall (kafka_firewall) lets only nodes connect to it"
    # A node on the control node itself has no words: loopback is never filtered.
    if not node["administrators"] and node["words"]:
        return "the firewall lets no administrator connect (kafka_firewall_admin_addresses)"
    return ""


def _peers(node: Place, listener: Mapping[str, Any], others: Sequence[Place]) -> list[Place]:
    """The other nodes that ask a listener, of those that connect to it and that a firewall lets in.

    They are spread: over other machines first, then over racks, then over roles.
    """
    parties = {party[:-1] for party in PARTIES[listener["purpose"]] if party in NODES}
    left = [other for other in others if parties & set(other["roles"])]
    racks, roles = Counter[Any](), Counter[tuple[str, ...]]()
    peers: list[Place] = []
    while left and len(peers) < MOST_PEERS:
        best = min(
            left,
            key=lambda other: (
                other["machine"] == node["machine"],
                racks[other["rack"]],
                roles[tuple(other["roles"])],
            ),
        )
        left.remove(best)
        peers.append(best)
        racks[best["rack"]] += 1
        roles[tuple(best["roles"])] += 1
    return peers
