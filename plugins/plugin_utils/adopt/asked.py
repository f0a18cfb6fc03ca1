# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A cluster that others installed is asked: where, as whom, what it told, and what its machines say otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...module_utils._client.login import SaslLogin
from ...module_utils._core.addresses import host_port, is_loopback
from ...module_utils._core.properties import PropertiesError
from ...module_utils._gate.stop import numbers
from ..findings import NOTE, REFUSE, Finding
from ..guards.foreign import ForeignNode, Process
from ..inventory.nodes import VOTERS
from .clusters import ForeignCluster
from .listeners import advertised_of, listeners_of, words

#: Mechanisms that our modules log in with, the stronger first.
_MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
#: In which order listeners are tried: the first one needs no login and no trust.
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_SSL", "SASL_PLAINTEXT")
#: Where the listeners of a broker lead that is bound to all addresses.
_ALL_ADDRESSES = ("", "0.0.0.0", "::")
#: What our modules end a failure with.
_ENDING = "Nothing was changed."
#: Seconds for one request: somebody waits for the screen.
_SECONDS = 15


class Address(NamedTuple):
    """How the control node reaches a host. is_here -- whether that host is the control node itself."""

    host: str
    is_here: bool


@dataclass(frozen=True)
class Login:
    """Who asks clusters whose listeners want to know; files on the control node, empty where there is none."""

    user: str = ""
    password: str = ""
    ca_file: str = ""
    certificate_file: str = ""
    key_file: str = ""


@dataclass(frozen=True)
class Question:
    """How a cluster is asked: options of the connection for our modules.

    why -- there is no answer, as what a cluster does in a sentence; empty where it can be asked. fix -- what to do.
    """

    options: Mapping[str, object]
    controller_protocol: str = ""
    why: str = ""
    fix: str = ""

    @property
    def where(self) -> str:
        """Return where it is asked, in words."""
        servers = self.options.get("bootstrap_servers", [])
        return f"{', '.join(servers)} ({self.options['security_protocol']})" if isinstance(servers, list) else ""


class _Listener(NamedTuple):
    """A listener that brokers have: its name, protocol and purpose; mechanisms of a login."""

    name: str
    protocol: str
    purpose: str
    mechanisms: tuple[str, ...]


def question(cluster: ForeignCluster, addresses: Mapping[str, Address], login: Login) -> Question:
    """Return how to ask a cluster of Kafka: at a listener without a login where there is one.

    addresses -- by host of the inventory
    """
    servers: dict[_Listener, list[str]] = defaultdict(list)
    unfit: list[str] = []
    for node in cluster.nodes:
        if "broker" in node.roles and node.told["properties"]:
            try:
                _take_listeners(node, addresses[node.host], servers, unfit)
            except PropertiesError as problem:
                unfit.append(f"{node.host}: {problem}")
    for listener in sorted(servers, key=lambda known: (_PROTOCOLS.index(known.protocol), known.purpose != "clients")):
        options = _options(listener, login)
        if options is not None:
            asked = {**options, "bootstrap_servers": servers[listener], "request_timeout": _SECONDS}
            return Question(asked, _controller_protocol(cluster, listener.protocol))
    if servers:
        protocols = ", ".join(sorted({listener.protocol for listener in servers}))
        fix = "set kafka_admin_user and kafka_admin_password, for TLS kafka_tls_ca_file too, to those of this cluster"
        return Question({}, why=f"was not asked: its listeners need a login ({protocols})", fix=fix)
    if unfit:
        return Question(
            {}, why=f"was not asked: {'; '.join(unfit)}", fix="correct that, or run this playbook on the machine itself"
        )
    fix = "run as root, and with the hosts of its brokers in the inventory"
    return Question({}, why="was not asked: no listener of a broker is known", fix=fix)


def _take_listeners(node: ForeignNode, address: Address, servers: dict[_Listener, list[str]], unfit: list[str]) -> None:
    """Add where a broker listens, as clients are told; C(unfit) gets what the control node cannot reach."""
    properties: Mapping[str, str] = node.told["properties"]
    told, advertised = properties.get("advertised.listeners"), advertised_of(properties)
    for entry in listeners_of(properties, node.roles, address.host).entries:
        if entry.purpose == "controllers" or entry.host is None or (told and entry.name not in advertised):
            continue
        host = entry.advertised_host or ""
        host = address.host if host in _ALL_ADDRESSES else host
        server = host_port(host, entry.port if entry.advertised_port is None else entry.advertised_port)
        if is_loopback(host) and not address.is_here:
            # A client follows what is advertised, so here it would come to another cluster or to none.
            unfit.append(f"{node.host} advertises {server}, which leads to itself alone")
            continue
        key = f"listener.name.{entry.name.lower()}.sasl.enabled.mechanisms"
        mechanisms = words(properties, key) or words(properties, "sasl.enabled.mechanisms")
        servers[_Listener(entry.name, entry.protocol, entry.purpose, tuple(mechanisms))].append(server)


def _options(listener: _Listener, login: Login) -> dict[str, object] | None:
    """Return the options of a connection to a listener; None where the login does not do for it."""
    options: dict[str, object] = {"security_protocol": listener.protocol}
    if listener.protocol.startswith("SASL_"):
        mechanism = next((name for name in _MECHANISMS if name in listener.mechanisms), None)
        if mechanism is None or not login.password:
            return None
        options.update(SaslLogin(mechanism, login.user, login.password).options())
    if listener.protocol.endswith("SSL"):
        # Without a file the system's own authorities are trusted.
        options.update({"ssl_ca_location": login.ca_file} if login.ca_file else {})
        if login.certificate_file and login.key_file:
            options.update(ssl_certificate_location=login.certificate_file, ssl_key_location=login.key_file)
    return options


def _controller_protocol(cluster: ForeignCluster, default: str) -> str:
    """Return the protocol of the listener of controllers, as its first node with one has it."""
    for node in cluster.nodes:
        try:
            entries = listeners_of(node.told["properties"], node.roles, node.host).entries
        except PropertiesError:
            continue
        for entry in entries:
            if entry.purpose == "controllers":
                return entry.protocol
    return default


@dataclass(frozen=True)
class Broker:
    """A broker in the metadata of a cluster. server -- where it is advertised."""

    node_id: int
    server: str
    is_fenced: bool


@dataclass(frozen=True)
class Answer:
    """What a cluster told of itself.

    where -- it was asked. leader, voters, observers -- of the quorum; voters is None where none was told: with
    ZooKeeper, or without the right to ask (unknown says why). counts -- as cluster_info has them. levels -- of
    finalised features. metadata_version -- by its name, empty where it was not told.
    """

    where: str
    cluster_id: str
    brokers: tuple[Broker, ...]
    leader: int | None
    voters: tuple[int, ...] | None
    observers: tuple[int, ...]
    unknown: str
    counts: Mapping[str, int]
    levels: Mapping[str, int]
    metadata_version: str


def answer(asked: Question, info: Process, features: Process) -> Answer | Question:
    """Return what cluster_info and features_info returned; the question with the reason where there is no answer."""
    if info.get("failed") or "cluster_id" not in info:
        said = " ".join(str(info.get("msg") or "nothing was returned").split()).removesuffix(_ENDING).rstrip(". ")
        fix = "look whether the control node reaches its brokers, and as whom"
        return Question({}, why=f"did not answer at {asked.where}: {said}", fix=fix)
    quorum = info["quorum"] or {}
    unknown = str(quorum.get("error") or "")
    has_voters = bool(info["quorum"]) and not unknown
    names = {feature["name"]: feature["finalized_name"] for feature in features.get("features", [])}
    brokers = (
        Broker(node["id"], host_port(node["host"], node["port"]) if node["host"] else "", bool(node["fenced"]))
        for node in info["nodes"]
    )
    return Answer(
        where=asked.where,
        cluster_id=info["cluster_id"],
        brokers=tuple(sorted(brokers, key=lambda broker: broker.node_id)),
        leader=quorum.get("leader_id"),
        voters=_ids(quorum["voters"]) if has_voters else None,
        observers=_ids(quorum["observers"]) if has_voters else (),
        unknown=unknown,
        counts=info["counts"],
        levels=info["features"] or {},
        metadata_version=names.get("metadata.version") or "",
    )


def _ids(members: Sequence[Process]) -> tuple[int, ...]:
    return tuple(sorted({int(member["id"]) for member in members}))


def answer_line(told: Answer) -> str:
    """Return what a cluster told, as one line."""
    fenced = [broker.node_id for broker in told.brokers if broker.is_fenced]
    parts = [f"brokers {numbers(broker.node_id for broker in told.brokers)}"]
    parts += [f"of these down or not ready {numbers(fenced)}"] if fenced else []
    if told.voters is not None:
        leader = "none" if told.leader is None else str(told.leader)
        parts.append(f"voters {numbers(told.voters)}, leader {leader}")
    parts += [f"metadata.version {told.metadata_version}"] if told.metadata_version else []
    counts = told.counts
    parts.append(f"{counts['topics']} topics with {counts['partitions']} partitions")
    parts.append(f"{counts['under_replicated']} under-replicated, {counts['offline']} offline")
    return f"{told.where}: {'; '.join(parts)}"


def contradictions(cluster: ForeignCluster, told: Answer | Question) -> Iterator[Finding]:
    """Tell what a cluster says otherwise than its machines, or why it was not asked."""
    if isinstance(told, Question):
        yield Finding(NOTE, f"{_named(cluster)} {told.why}", told.fix)
    elif cluster.cluster_id and told.cluster_id != cluster.cluster_id:
        what = f"{told.where} is cluster {told.cluster_id}, and its machines say {cluster.cluster_id}"
        yield Finding(REFUSE, what, "correct the listeners or the hosts of the inventory")
    else:
        yield from _brokers(cluster, told)
        yield from _quorum(cluster, told)
        yield from _health(cluster, told)


def _brokers(cluster: ForeignCluster, told: Answer) -> Iterator[Finding]:
    """Compare the brokers in the metadata with those on machines."""
    for broker in told.brokers:
        if broker.node_id not in cluster.broker_ids:
            where = f" at {broker.server}" if broker.server else ""
            state = ", down or not ready," if broker.is_fenced else ""
            what = f"broker {broker.node_id}{where}{state} is in the metadata of the cluster and on no machine here"
            yield Finding(REFUSE, what, "add its host to this inventory; a broker that is gone for good, unregister")
    registered = {broker.node_id for broker in told.brokers}
    for node in cluster.nodes:
        if "broker" in node.roles and node.node_id is not None and node.node_id not in registered:
            fix = "look into its log for why it does not register"
            yield Finding(REFUSE, f"{node.title} runs, and its cluster does not know it", fix)


def _quorum(cluster: ForeignCluster, told: Answer) -> Iterator[Finding]:
    """Compare voters with the controllers on machines."""
    if told.unknown:
        yield Finding(NOTE, f"{_named(cluster)}: who votes is not known: {told.unknown}")
    if told.voters is None:
        return
    for voter in sorted(set(told.voters) - cluster.controller_ids):
        fix = "add its host to this inventory; a voter that is gone for good, take out of the quorum"
        yield Finding(REFUSE, f"controller {voter} votes, and no machine here runs it", fix)
    for node in cluster.nodes:
        if "controller" in node.roles and node.node_id is not None and node.node_id not in told.voters:
            yield Finding(NOTE, f"{node.title} is a controller, and does not vote", "add it to the quorum, or stop it")
    if told.leader is None:
        yield Finding(REFUSE, f"{_named(cluster)}: its quorum has no leader", "start the controllers that are down")
    # From kraft.version 1 on the voters stand in the metadata log (KIP-853).
    if told.levels.get("kraft.version", 0) > 0 and "static" in cluster.quorum:
        what = f"{_named(cluster)} has a dynamic quorum by kraft.version, so {VOTERS} of its nodes has no effect"
        yield Finding(NOTE, what)


def _health(cluster: ForeignCluster, told: Answer) -> Iterator[Finding]:
    """Tell of partitions that are not well: no node may stop meanwhile."""
    for key, words_of_key in (("offline", "without a leader"), ("under_replicated", "under-replicated")):
        if told.counts[key]:
            fix = "bring the brokers that are down back, and wait until their replicas are in sync"
            yield Finding(NOTE, f"{_named(cluster)}: {told.counts[key]} partitions are {words_of_key}", fix)


def _named(cluster: ForeignCluster) -> str:
    return f"cluster {cluster.cluster_id}" if cluster.cluster_id else cluster.title
