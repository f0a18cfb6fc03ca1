# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether nodes answer at the addresses that they advertise, to as many connections at once as their peers hold.

A connection that is taken proves little: the kernel takes it for a process that is stopped, and for a broker that has
no connection to give away any more (max.connections). So each one asks what the broker can do (ApiVersions), which
every release answers, before a login and on listeners of controllers too, and stays open until all have their answer.
Any other broker answers that too, so a target with an owner is asked who it is (identity.py) by each connection, and
by some more after each other, since a load balancer in front of several brokers leads to the right one at times.
"""

from __future__ import annotations

import queue
import ssl
import struct
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .connection import SETUP_SECONDS, Connection, within
from .identity import IDENTITY, Identity, Owner, identify, stranger
from .reach import TOKEN_AWAITED, failure_of, let_in
from .wire import CONNECTING, HANDSHAKE, LOGIN, RESOLVING, Channel, NotKafkaError, tls_context

#: Most connections that one listener is asked by.
MOST_CONNECTIONS = 100
#: The beginning of what a channel calls its stage, and our name for it; ANSWER is all else.
STAGES = {RESOLVING: "resolve", CONNECTING: "connect", HANDSHAKE: "tls", LOGIN: "login"}
ANSWER = "answer"
#: By how many connections a node is asked at least who it is.
LEAST_IDENTITIES = 3
#: How long (seconds) all brokers of a cluster together have to say who they are; those that hang are another matter.
IDENTITY_SECONDS = 4.0
#: How long they have to answer at all where silence counts: as long as a client waits until a connection is ready.
ANSWER_SECONDS = SETUP_SECONDS


@dataclass(frozen=True)
class Target:
    """One listener of a node, where it advertises itself, and how many connections ask it at once.

    C(owner): the node that must answer; without one any may. C(identities): how often it is asked at least who it is.
    """

    node: str
    name: str
    connection: Connection
    connections: int = 1
    owner: Owner | None = None
    identities: int = LEAST_IDENTITIES

    @property
    def address(self) -> str:
        """The advertised host:port."""
        return self.connection.bootstrap_servers[0]


@dataclass(frozen=True)
class End:
    """How one connection ended: C(why) is empty where it was answered, C(identity) set where it was asked for.

    C(is_gone): nobody serves there, as Failure has it (reach.py).
    """

    stage: str
    why: str
    identity: Identity | None = None
    is_gone: bool = False


@dataclass(frozen=True)
class Answering:
    """Who answers at the addresses of the brokers of a cluster; by id, those that are well are in neither.

    C(elsewhere): another node says that it is there, with the address and that node. C(silent): nobody serves there,
    with what happened: the connection is refused, cut or not taken, or nothing comes after it. A broker that refuses
    our login or certificate has answered; a name that is not resolved says nothing of a broker.
    """

    elsewhere: Mapping[int, str] = field(default_factory=dict)
    silent: Mapping[int, str] = field(default_factory=dict)


@dataclass
class _Asked:
    """The connections to one listener; C(over) lets those go that hold an answer."""

    target: Target
    channels: list[Channel]
    ends: dict[int, End] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)


def check_listeners(
    asked: Sequence[Target], seconds: float, check_hostname: bool = True
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ask all listeners at once, within C(seconds) in all; return those that answered and those that did not.

    check_hostname -- whether a certificate must name the advertised host.

    StreamopsError where the files for TLS cannot be used: that says nothing of the listeners.
    """
    until, contexts = time.monotonic() + seconds, _contexts((one.connection for one in asked), check_hostname)
    groups = _asked(asked, seconds, contexts)
    for _more in range(max((one.identities for one in asked), default=1) - 1):
        again = [group for group in groups if _is_asked_again(group)]
        left = until - time.monotonic()
        if not again or left <= 0:
            break
        more = _asked([replace(group.target, connections=1) for group in again], left, contexts)
        for number, group in enumerate(again):
            group.ends[len(group.ends)] = more[number].ends[0]
    answered, unreached = [], []
    for group in groups:
        one, ends = group.target, [end for _number, end in sorted(group.ends.items())]
        about = {"node": one.node, "listener": one.name, "address": one.address}
        # Who answers instead says more than why some other connection failed.
        failed = sorted((end for end in ends if end.why), key=lambda end: end.stage != IDENTITY)
        if failed:
            unreached.append({**about, "stage": failed[0].stage, "why": _told(failed[0], len(failed), len(ends))})
        else:
            answered.append({**about, "connections": one.connections, "unidentified": _unidentified(ends)})
    return answered, unreached


def strangers_at(
    connection: Connection, servers: Mapping[int, str], cluster_id: str, seconds: float = IDENTITY_SECONDS
) -> dict[int, str]:
    """Ask at the address (host:port) of each broker who it is; return those where another node says that it is there.

    One that does not answer, or may not say it, is left out. All are asked at once, each once.
    """
    return dict(who_answers(connection, servers, cluster_id, seconds).elsewhere)


def who_answers(
    connection: Connection, servers: Mapping[int, str], cluster_id: str, seconds: float = ANSWER_SECONDS
) -> Answering:
    """Ask at the address (host:port) of each broker who it is, all at once and each once, within so many seconds.

    Raises StreamopsError where the files for TLS cannot be used.
    """
    targets = [
        Target(
            str(broker),
            "",
            replace(connection, bootstrap_servers=(server,)),
            owner=Owner(broker, cluster_id),
            identities=1,
        )
        for broker, server in sorted(servers.items())
    ]
    limit = within(seconds, connection.request_timeout)
    asked = _asked(targets, limit, _contexts((target.connection for target in targets), True))
    ends = {int(group.target.node): (group.target.address, group.ends[0]) for group in asked}
    return Answering(
        {broker: f"at {address} {end.why}" for broker, (address, end) in ends.items() if end.stage == IDENTITY},
        {broker: end.why for broker, (_address, end) in ends.items() if end.is_gone},
    )


def _asked(asked: Sequence[Target], seconds: float, contexts: Mapping[str, ssl.SSLContext | None]) -> list[_Asked]:
    """Ask all of these at once."""
    groups = [_Asked(one, [Channel(seconds, seconds) for _one in range(one.connections)]) for one in asked]
    _ask(groups, seconds, contexts)
    return groups


def _is_asked_again(group: _Asked) -> bool:
    """Tell whether a node said who it is, as it should, and to few connections."""
    ends = group.ends.values()
    known = all(not end.why and end.identity and end.identity.is_owner for end in ends)
    return known and len(ends) < group.target.identities


def _unidentified(ends: Iterable[End]) -> str:
    """Return why it is not known which node answered, empty where that is known or was not asked."""
    return next((end.identity.why for end in ends if end.identity and end.identity.is_owner is None), "")


def _told(end: End, failed: int, asked: int) -> str:
    if failed == asked:
        return end.why
    answered = f"{asked - failed} of {asked} connections"
    if end.stage == IDENTITY:
        return f"{end.why}: {answered} reached the right one, as through a load balancer"
    return f"{end.why}: {answered} answered"


def _ask(groups: Sequence[_Asked], seconds: float, contexts: Mapping[str, ssl.SSLContext | None]) -> None:
    """Ask by every connection, each in a thread, and note in its group how it ended."""
    reports: queue.SimpleQueue[tuple[_Asked, int, End]] = queue.SimpleQueue()
    until = time.monotonic() + seconds

    def ask(group: _Asked, number: int) -> None:
        """Ask by one connection, and hold it until all others of its listener have ended."""
        connection, channel = group.target.connection, group.channels[number]
        try:
            with channel.open(group.target.address, contexts[connection.security_protocol]):
                failure = let_in(connection, channel)
                end = End(_stage(channel), failure.why, is_gone=failure.is_gone) if failure else _who(group, channel)
                reports.put((group, number, end))
                # Without a time of its own: what it gave up in the last moment, another one would still be given.
                group.over.wait()
        except (OSError, ValueError, OverflowError, struct.error) as error:  # ssl and time-outs are OSError.
            reports.put((group, number, _broken(group.target, channel, error, seconds)))

    # Daemons: a name server that hangs keeps no program from its end.
    for group in groups:
        for number in range(len(group.channels)):
            threading.Thread(target=ask, args=(group, number), daemon=True).start()
    _collect(reports, sum(len(group.channels) for group in groups), until)
    for group in groups:
        for number, channel in enumerate(group.channels):
            group.ends.setdefault(number, _silent(channel, group.target.address, seconds))
        group.over.set()


def _who(group: _Asked, channel: Channel) -> End:
    """Ask who answers, where the target has an owner; what it does not say is no fault of the listener."""
    owner, connection = group.target.owner, group.target.connection
    if owner is None:
        return End(ANSWER, "")
    if connection.security_protocol.startswith("SASL_") and not connection.sasl_mechanism:
        return End(ANSWER, "", Identity(why="the listener wants a login, and who asks has none"))
    try:
        identity = identify(channel, owner)
    except (OSError, ValueError, IndexError, struct.error) as error:
        return End(ANSWER, "", Identity(why=f"it did not say who it is: {_reason(error)}"))
    why = stranger(owner, identity)
    return End(IDENTITY if why else ANSWER, why, identity)


def _collect(reports: queue.SimpleQueue[tuple[_Asked, int, End]], awaited: int, until: float) -> None:
    """Take what so many connections report; those that are silent at the end stay without a report."""
    while awaited:
        try:
            # A little more than the channels have, so that each can say itself how it ended.
            group, number, end = reports.get(timeout=max(0.0, until + 0.5 - time.monotonic()))
        except queue.Empty:
            return
        if number not in group.ends:
            group.ends[number] = end
            awaited -= 1
        if len(group.ends) == len(group.channels):
            group.over.set()


def _contexts(connections: Iterable[Connection], check_hostname: bool) -> dict[str, ssl.SSLContext | None]:
    """TLS by protocol; the connections differ in nothing else that it depends on."""
    contexts: dict[str, ssl.SSLContext | None] = {}
    for connection in connections:
        if connection.security_protocol not in contexts:
            context = contexts[connection.security_protocol] = tls_context(connection)
            if context is not None:
                context.check_hostname = check_hostname
    return contexts


# -- what people read --------------------------------------------------------------------------------------------


def _stage(channel: Channel) -> str:
    return next((name for begin, name in STAGES.items() if channel.stage.startswith(begin)), ANSWER)


def _broken(target: Target, channel: Channel, error: Exception, seconds: float) -> End:
    stage, address = _stage(channel), target.address
    if isinstance(error, TimeoutError):
        return _silent(channel, address, seconds)
    if stage == "resolve":
        return End(stage, f"no address of the name in {address}: {_reason(error)}")
    failure = failure_of(target.connection, error, channel)
    if isinstance(error, ConnectionRefusedError):
        return End(stage, f"connection refused at {address}", is_gone=True)
    if stage == "connect":
        return End(stage, f"no connection to {address}: {_reason(error)}", is_gone=failure.is_gone)
    # Some of what TLS refuses is said after its handshake, in the first request.
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return End("tls", failure.why)
    if stage == ANSWER and not isinstance(error, NotKafkaError):
        why = f"connected to {address}, but it ended the connection without an answer to ApiVersions"
        return End(stage, why, is_gone=failure.is_gone)
    return End(stage, failure.why, is_gone=failure.is_gone)


def _silent(channel: Channel, address: str, seconds: float) -> End:
    stage, within = _stage(channel), f"within {seconds:g} s"
    if stage == "resolve":
        return End(stage, f"no address of the name in {address} {within}: look at the name servers of this machine")
    if stage == "connect":
        why = f"no connection to {address} {within}: no server at this address, or a firewall drops packets"
        return End(stage, why, is_gone=True)
    if channel.stage == TOKEN_AWAITED:
        return End(stage, f"no token for the login at {address} {within}: the issuer does not answer")
    awaited = {"tls": "the TLS handshake did not end", "login": "the login did not end"}
    why = f"connected to {address}, but {awaited.get(stage, 'no answer to ApiVersions')} {within}"
    return End(stage, why, is_gone=True)


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text)
