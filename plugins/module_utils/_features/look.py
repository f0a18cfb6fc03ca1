# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Look at the features of a cluster: what is finalized, and what each of its nodes supports."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from .._client.session import Session
from .._client.wire import tls_context
from .._cluster.api import describe_quorum, list_brokers, voter_endpoints
from .._core.errors import RequestFailedError, StreamopsError
from .api import announced_at, announced_by, update_features
from .levels import METADATA
from .plan import BROKER, CONTROLLER, Node, State, described

#: Longest time for the question to the controllers, which are asked at once (seconds).
_SECONDS = 3.0


def features_info(session: Session, params: Mapping[str, Any], _check: bool, _diff: bool) -> dict[str, Any]:
    """Look at the features; the module's result."""
    state = look(session, params["controller_protocol"])
    refusals: dict[str, str | None] = {}
    unasked = None
    try:
        if params["ask_controller"]:
            refusals = _refusals(session, state)
    except RequestFailedError as error:  # All else is known without its word.
        unasked = error.message
    return {"changed": False, **described(state, refusals, unasked)}


def look(session: Session, protocol: str | None) -> State:
    """Return the features of the cluster; C(protocol) is that of the controllers' listener (None = as for brokers)."""
    found = announced_by(session)
    brokers = {one.id: _broker(session, one.id, one.fenced) for one in list_brokers(session)}
    quorum = describe_quorum(session)
    controllers: list[Node] = []
    if quorum is not None and not quorum.error:
        at = voter_endpoints(session)
        ids = {one.id for one in (*quorum.voters, *quorum.observers)} - set(brokers)
        servers = {one: [where for _name, where in at.get(one, [])] for one in sorted(ids)}
        with ThreadPoolExecutor(max_workers=max(len(servers), 1)) as pool:
            ask = partial(_controller, session, protocol)
            controllers = list(pool.map(ask, servers, servers.values()))
    nodes = sorted((*brokers.values(), *controllers), key=lambda node: node.id)
    # In ZooKeeper mode there may be an epoch, of no feature.
    return State(found.finalized, found.epoch if METADATA in found.finalized else None, tuple(nodes))


def _broker(session: Session, broker: int, fenced: bool) -> Node:
    if fenced:
        return Node(broker, BROKER, None, True, "it is fenced: down, or not yet up")
    try:
        return Node(broker, BROKER, announced_by(session, broker).supported)
    except StreamopsError as error:
        return Node(broker, BROKER, None, False, error.message)


def _controller(session: Session, protocol: str | None, node: int, servers: list[str]) -> Node:
    """Ask a controller at its own listeners, one after the other."""
    why = "the quorum does not tell where it listens (Kafka 3.9 and later do, of voters)"
    connection = replace(session.connection, security_protocol=protocol or session.connection.security_protocol)
    for server in servers:
        try:
            return Node(node, CONTROLLER, announced_at(server, tls_context(connection), _SECONDS).supported)
        except (OSError, ValueError) as error:
            why = f"{server}: {error}"
    return Node(node, CONTROLLER, None, False, why)


def _refusals(session: Session, state: State) -> dict[str, str | None]:
    """Return what the controller would say to the highest level that the nodes support, for each feature below it.

    It knows the registrations of nodes that do not answer. metadata.version goes with the others, which need it.
    """
    below = state.below()
    refusals: dict[str, str | None] = {}
    for name in below:
        asked = {name: state.common(name)[1]}
        if METADATA in below and not refusals.get(METADATA):
            asked[METADATA] = state.common(METADATA)[1]
        error = update_features(session, asked, lowers=False, validate_only=True)[name]
        refusals[name] = None if error is None else error[1]
    return refusals
