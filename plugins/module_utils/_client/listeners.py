# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether listeners answer at the addresses that they advertise, to as many connections at once as their peers hold.

A connection that is taken proves little: the kernel takes it for a process that is stopped, and for a broker that has
no connection to give away any more (max.connections). So each one asks what the broker can do (ApiVersions), which
every release answers, before a login and on listeners of controllers too, and stays open until all have their answer.
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

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.listener_options import ACCESS
from ansible_collections.streamops.kafka.plugins.module_utils._client.reach import failure_of, let_in
from ansible_collections.streamops.kafka.plugins.module_utils._client.wire import (
    CONNECTING,
    HANDSHAKE,
    LOGIN,
    RESOLVING,
    Channel,
    NotKafkaError,
    tls_context,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.addresses import host_port

#: Most connections that one listener is asked by.
MOST_CONNECTIONS = 100
#: The beginning of what a channel calls its stage, and our name for it; ANSWER is all else.
STAGES = {RESOLVING: "resolve", CONNECTING: "connect", HANDSHAKE: "tls", LOGIN: "login"}
ANSWER = "answer"


@dataclass(frozen=True)
class Target:
    """One listener of a node, where it advertises itself, and how many connections ask it at once."""

    node: str
    name: str
    connection: Connection
    connections: int = 1

    @property
    def address(self) -> str:
        """The advertised host:port."""
        return self.connection.bootstrap_servers[0]


@dataclass(frozen=True)
class End:
    """How one connection ended: C(why) is empty where it was answered."""

    stage: str
    why: str


@dataclass
class _Asked:
    """The connections to one listener; C(over) lets those go that hold an answer."""

    target: Target
    channels: list[Channel]
    ends: dict[int, End] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)


def targets(params: Mapping[str, Any]) -> list[Target]:
    """Return the listeners in the parameters of the module, each with what it takes to ask it."""
    access = Connection((), **{name: params[name] for name in ACCESS if params.get(name) is not None})
    return [
        Target(
            one["node"],
            one["name"],
            replace(
                access,
                bootstrap_servers=(host_port(one["host"], one["port"]),),
                security_protocol=one["protocol"],
            ),
            min(max(1, one["connections"]), MOST_CONNECTIONS),
        )
        for one in params["listeners"]
    ]


def check_listeners(
    asked: Sequence[Target], seconds: float, check_hostname: bool = True
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ask all listeners at once, within C(seconds) in all; return those that answered and those that did not.

    check_hostname -- whether a certificate must name the advertised host.

    StreamopsError where the files for TLS cannot be used: that says nothing of the listeners.
    """
    groups = [_Asked(one, [Channel(seconds, seconds) for _one in range(one.connections)]) for one in asked]
    _ask(groups, seconds, _contexts((one.connection for one in asked), check_hostname))
    answered, unreached = [], []
    for group in groups:
        one, failed = group.target, [end for _number, end in sorted(group.ends.items()) if end.why]
        about = {"node": one.node, "listener": one.name, "address": one.address}
        if failed:
            unreached.append({**about, "stage": failed[0].stage, "why": _told(failed[0], len(failed), one.connections)})
        else:
            answered.append({**about, "connections": one.connections})
    return answered, unreached


def _told(end: End, failed: int, asked: int) -> str:
    return f"{end.why}: {asked - failed} of {asked} connections answered" if failed < asked else end.why


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
                reports.put((group, number, End(_stage(channel), failure.why if failure else "")))
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
    if isinstance(error, ConnectionRefusedError):
        return End(stage, f"connection refused at {address}")
    if stage == "connect":
        return End(stage, f"no connection to {address}: {_reason(error)}")
    # Some of what TLS refuses is said after its handshake, in the first request.
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return End("tls", failure_of(target.connection, error, channel).why)
    if stage == ANSWER and not isinstance(error, NotKafkaError):
        return End(stage, f"connected to {address}, but it ended the connection without an answer to ApiVersions")
    return End(stage, failure_of(target.connection, error, channel).why)


def _silent(channel: Channel, address: str, seconds: float) -> End:
    stage, within = _stage(channel), f"within {seconds:g} s"
    if stage == "resolve":
        return End(stage, f"no address of the name in {address} {within}: look at the name servers of this machine")
    if stage == "connect":
        return End(
            stage, f"no connection to {address} {within}: no server at this address, or a firewall drops packets"
        )
    awaited = {"tls": "the TLS handshake did not end", "login": "the login did not end"}
    return End(stage, f"connected to {address}, but {awaited.get(stage, 'no answer to ApiVersions')} {within}")


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text)
