# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on times that do not go together: Kafka takes each of them, and the cluster flaps or stands still.

One number, or two of one node, that a cluster cannot live with are rows of module_utils/_configs/value_bounds.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ....module_utils._configs.value_bounds import QUORUM_WAIT_MS
from ...inventory.model import Cluster, Inventory, Node
from ...inventory.variables import as_int
from ...render.kafka import ZOOKEEPER_DEFAULTS
from ..in_force import Number, brokers, culprit, number, pairs, uses_zookeeper, written
from ..rule import WARNING, Problem, rule

HEARTBEAT = "broker.heartbeat.interval.ms"
SESSION = "broker.session.timeout.ms"
FETCH_WAIT = "replica.fetch.wait.max.ms"
FETCH_MIN = "replica.fetch.min.bytes"
LAG = "replica.lag.time.max.ms"
IDLE = "connections.max.idle.ms"
GROUP_LEAST, GROUP_MOST = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
SESSION_KEYS = ("tickTime", "minSessionTimeout", "maxSessionTimeout")
#: Defaults of Kafka's own clients: session.timeout.ms (KIP-735), transaction.timeout.ms, delivery.timeout.ms (KIP-91).
CLIENT_SESSION_MS = 45000
CLIENT_TRANSACTION_MS = 60000
CLIENT_DELIVERY_MS = 120000

#: Rules of prudence: warnings that a cluster may accept.
prudence = partial(rule, level=WARNING, acceptable=True)


def _heartbeats(inventory: Inventory) -> Iterator[tuple[Sequence[Node], Number, Number]]:
    """The heartbeat of each broker with the shortest session of its controllers, and all that set the pair."""
    for cluster in inventory.clusters():
        known = [(own, node) for node in cluster.controllers if (own := number(node, SESSION)) is not None]
        session = min((own for own, _node in known), key=lambda own: own.value, default=None)
        for broker in cluster.brokers:
            beat = number(broker, HEARTBEAT)
            if session is not None and beat is not None and culprit(beat, session):
                keepers = [node for own, node in known if own.value == session.value]
                yield [broker] if beat.variable else keepers, beat, session


@rule(fix=f"lower {HEARTBEAT} to a third of {SESSION} or less, or remove both")
def heartbeat_after_session(inventory: Inventory) -> Iterator[Problem]:
    """A broker sends its next heartbeat (`broker.heartbeat.interval.ms`) when its session at the controllers
    (`broker.session.timeout.ms`) has ended: it is fenced between any two, or never serves. Kafka takes it."""
    for where, beat, session in _heartbeats(inventory):
        if beat.value >= session.value:
            what = "the controllers fence the broker before its next heartbeat"
            yield Problem(where, what, f"{beat}, {session}", f"below {session.value}", variable=culprit(beat, session))


@prudence(fix=f"lower {HEARTBEAT} to a third of {SESSION} or less, or remove both")
def late_heartbeat(inventory: Inventory) -> Iterator[Problem]:
    """`broker.heartbeat.interval.ms` is more than half of `broker.session.timeout.ms`, so one late heartbeat fences the
    broker. Kafka 4 writes an error in its log and goes on."""
    for where, beat, session in _heartbeats(inventory):
        if session.value < 2 * beat.value < 2 * session.value:
            what = "one heartbeat that is late or lost fences the broker"
            allowed = f"at most {session.value // 2}"
            yield Problem(where, what, f"{beat}, {session}", allowed, variable=culprit(beat, session))


@prudence(fix=f"lower {FETCH_WAIT}, or remove it to get the default of 500")
def fetch_wait_is_lag(inventory: Inventory) -> Iterator[Problem]:
    """`replica.fetch.wait.max.ms` is `replica.lag.time.max.ms`, which Kafka's documentation wants above it:
    copies of topics with few records leave the in-sync replicas and come back."""
    for node in brokers(inventory):
        for wait, lag in pairs(node, FETCH_WAIT, LAG):
            if wait.value == lag.value:
                what = "followers of topics with few records leave the in-sync replicas again and again"
                yield Problem(node, what, f"{wait}, {lag}", f"below {lag.value}", variable=culprit(wait, lag))


@prudence(allowed="1", fix=f"remove {FETCH_MIN}")
def late_acknowledgement(inventory: Inventory) -> Iterator[Problem]:
    """`replica.fetch.min.bytes` is above 1, so each small write with acks=all waits up to `replica.fetch.wait.max.ms`:
    followers get it no sooner."""
    for node in brokers(inventory):
        for least, wait in pairs(node, FETCH_MIN, FETCH_WAIT):
            if least.value > 1:
                what = f"smaller writes with acks=all are acknowledged after up to {wait.value} ms"
                yield Problem(node, what, f"{least}, {wait}", variable=culprit(least))


@rule(fix=f"raise {IDLE}, or remove it to get the default of 600000")
def idle_before_answer(inventory: Inventory) -> Iterator[Problem]:
    """`connections.max.idle.ms` is not above what a fetch waits (`replica.fetch.wait.max.ms`; 500 ms in the quorum): a
    node closes the connections of its followers and voters while they wait for its answer."""
    for node in inventory.kafka:
        idle, wait = written(node, IDLE), number(node, FETCH_WAIT)
        waits = [wait.value] if node.broker and wait is not None else []
        waits += [QUORUM_WAIT_MS] if node.controller else []
        if idle is not None and waits and 0 <= idle.value <= max(waits):
            what = "the node closes connections of other nodes that wait for its answer"
            yield Problem(node, what, str(idle), f"above {max(waits)}", variable=idle.variable)


@prudence(fix=f"raise {IDLE}, or remove it to get the default of 600000")
def idle_before_heartbeat(inventory: Inventory) -> Iterator[Problem]:
    """`connections.max.idle.ms` of a controller is not above `broker.heartbeat.interval.ms` of a broker: every
    heartbeat needs a new connection, with TLS a new handshake."""
    for cluster in inventory.clusters():
        beats = [one.value for node in cluster.brokers if (one := number(node, HEARTBEAT)) is not None]
        longest = max(beats, default=0)
        for node in cluster.controllers:
            idle, wait = written(node, IDLE), number(node, FETCH_WAIT)
            # What is not above the waits has its own rule.
            least = max(QUORUM_WAIT_MS, wait.value if node.broker and wait is not None else 0)
            if idle is not None and least < idle.value <= longest:
                what = "every heartbeat of a broker needs a new connection"
                found = f"{idle}, {HEARTBEAT} {longest}"
                yield Problem(node, what, found, f"above {longest}", variable=idle.variable)


@prudence(fix="remove the limit, or set the timeout of every client")
def client_defaults_refused(inventory: Inventory) -> Iterator[Problem]:
    """A limit refuses what Kafka's own clients ask for by default: `group.min.session.timeout.ms` or
    `group.max.session.timeout.ms` a session of 45000, `transaction.max.timeout.ms` a transaction of 60000."""
    limits = (
        (GROUP_LEAST, CLIENT_SESSION_MS, "consumers", f"at most {CLIENT_SESSION_MS}"),
        (GROUP_MOST, CLIENT_SESSION_MS, "consumers", f"at least {CLIENT_SESSION_MS}"),
        ("transaction.max.timeout.ms", CLIENT_TRANSACTION_MS, "producers", f"at least {CLIENT_TRANSACTION_MS}"),
    )
    for node in brokers(inventory):
        for key, default, clients, allowed in limits:
            one = written(node, key)
            if one is None or one.value == default:
                continue
            if (one.value > default) == (key == GROUP_LEAST):
                what = f"{clients} with the defaults of Kafka's own clients are refused"
                yield Problem(node, what, str(one), allowed, variable=one.variable)


@prudence(allowed=f"at least {CLIENT_DELIVERY_MS}", fix="raise it, or remove it to get the default of one day")
def producer_forgotten(inventory: Inventory) -> Iterator[Problem]:
    """`producer.id.expiration.ms` is below the 120000 ms for which producers send again by default: a broker that has
    forgotten a producer writes its record twice."""
    for node in brokers(inventory):
        one = written(node, "producer.id.expiration.ms")
        if one is not None and one.value < CLIENT_DELIVERY_MS:
            what = "records that producers send again can be written twice"
            yield Problem(node, what, str(one), variable=one.variable)


@prudence(fix="choose a session within the bounds, or change tickTime of the ensemble")
def session_outside_ensemble(inventory: Inventory) -> Iterator[Problem]:
    """`zookeeper.session.timeout.ms` of a broker is outside of what its ensemble grants (`minSessionTimeout` to
    `maxSessionTimeout`, 2 to 20 times `tickTime`), which takes the nearest bound and says nothing."""
    for cluster in inventory.clusters():
        bounds = _session_bounds(cluster)
        for broker in cluster.brokers:
            session = number(broker, "zookeeper.session.timeout.ms")
            if bounds is None or session is None or not uses_zookeeper(broker):
                continue
            least, most, variable = bounds
            if (session.variable or variable) and not least <= session.value <= most:
                granted = min(max(session.value, least), most)
                what = f"the ensemble grants a session of {granted} ms instead"
                yield Problem(broker, what, str(session), f"{least} to {most}", variable=session.variable or variable)


def _session_bounds(cluster: Cluster) -> tuple[int, int, str] | None:
    """Return the shortest and longest session that every server grants, and a variable that moves them, if known."""
    found = [_granted(server) for server in cluster.zookeepers]
    known = [bounds for bounds in found if bounds is not None]
    if not known or len(known) < len(found):
        return None
    own = [one for server in cluster.zookeepers for one in server.properties().values() if one.key in SESSION_KEYS]
    variable = own[0].variable if own else ""
    return max(least for least, _most in known), min(most for _least, most in known), variable


def _granted(server: Node) -> tuple[int, int] | None:
    """Return the shortest and longest session that a server grants; None when a number of them is unclear."""
    defaults = {"tickTime": ZOOKEEPER_DEFAULTS["tickTime"], "minSessionTimeout": -1, "maxSessionTimeout": -1}
    own = {key: server.value(key) for key in SESSION_KEYS}
    tick, least, most = (as_int(defaults[key] if own[key] is None else own[key]) for key in SESSION_KEYS)
    if tick is None or least is None or most is None:
        return None
    # ZooKeeperServer takes -1 for its own bound.
    return 2 * tick if least == -1 else least, 20 * tick if most == -1 else most
