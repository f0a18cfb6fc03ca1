# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Look at what each broker and each controller knows of the metadata, as often as a difference needs to stand."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .._client.connection import Connection
from .._client.session import Session
from .._cluster.api import describe_quorum, list_brokers, topics_at, voter_endpoints
from .._cluster.snapshot import Broker, Quorum
from .._core.addresses import host_port
from .._core.errors import StreamopsError
from .._core.progress import duration
from .api import facts_at
from .compare import LEAST_LOOKS, Verdict, carried, described, judged, slim
from .model import ASKED, BROKER, CONTROLLER, SUBJECTS, Facts, Look, Stopwatch

#: Seconds between two looks of one run.
_PAUSE = 1.0
#: Seconds for a connection to a controller of which the leader hears: where there is none, that is no bad sign. One
#: packet may get lost: it is sent again after a second.
_CONNECT = 1.2
#: Milliseconds since a node had all of the log, within which it counts as running.
_ALIVE_MS = 10_000
#: Seconds after which is looked again at how long nodes were waited for.
_AGAIN = 1.0
#: Seconds that a node has beyond its time, to say itself how its connection ended.
_GRACE = 0.5


@dataclass(frozen=True)
class _Place:
    """A node and where it is asked; C(connection) is None where nothing tells that, and C(why) says so."""

    kind: str
    id: int
    connection: Connection | None
    why: str = ""


@dataclass(frozen=True)
class Question:
    """What is asked of which kinds of nodes. Times are in seconds, as the options of the module have them.

    C(protocol) is that of the controllers' listener, None for that of the connection.
    """

    subjects: Collection[str] = SUBJECTS
    kinds: Collection[str] = (BROKER, CONTROLLER)
    protocol: str | None = None
    node_timeout: float = 5.0
    settle: float = 5.0


@dataclass(frozen=True)
class Known:
    """What the caller saw of a cluster a moment ago, so that it is not asked again."""

    quorum: Quorum | None
    brokers: Sequence[Broker]
    topics: Collection[str]


def compare_metadata(session: Session, params: Mapping[str, Any], _check: bool, _diff: bool) -> dict[str, Any]:
    """Look until all nodes agree, or until what differs has stood for the given time; the module's result."""
    question = Question(
        params["subjects"] or SUBJECTS,
        protocol=params["controller_protocol"],
        node_timeout=params["node_timeout"],
        settle=params["settle"],
    )
    return {"changed": False, **described(verdict_on(session, question), params["names"])}


def verdict_on(session: Session, question: Question, known: Known | None = None) -> Verdict:
    """Look until all nodes agree, or until what differs has stood for the given time; C(known) saves the first look
    its questions to the cluster."""
    looks = [_look(session, question, {}, known)]
    while (verdict := judged(looks)).open and not (len(looks) >= LEAST_LOOKS and verdict.seconds >= question.settle):
        time.sleep(_PAUSE)
        looks[-1] = slim(looks[-1])
        looks.append(_look(session, question, carried(verdict)))
    return verdict


def _look(
    session: Session,
    question: Question,
    silent: Mapping[str, Facts],
    known: Known | None = None,
) -> Look:
    """Ask all nodes at once but those that were silent; the leader first, for what it has committed by then."""
    at = time.time()
    quorum = known.quorum if known else describe_quorum(session)
    if quorum is None:
        raise StreamopsError(
            "metadata_compare: this cluster runs with ZooKeeper, so it has no metadata log to compare. "
            "Fix: leave this module out before the migration to KRaft. Nothing was changed."
        )
    kinds = {kind for subject in question.subjects for kind in ASKED[subject]} & set(question.kinds)
    brokers = known.brokers if known else list_brokers(session)
    controllers: dict[int, str] = {}
    notes: tuple[str, ...] = ()
    if CONTROLLER in question.kinds:
        at_controllers = {} if quorum.error else voter_endpoints(session)
        controllers, notes = controllers_of(quorum, {one.id for one in brokers}, at_controllers)
    wanted = _places(session.connection, brokers, controllers, question.protocol)
    places = [one for one in wanted if one.kind in kinds]
    topics: list[str] = []
    if "topic_configs" in question.subjects:
        topics = sorted(known.topics if known else topics_at(session, None, None))
    asked = [one for one in places if f"{one.kind} {one.id}" not in silent]
    alive = heard_of(quorum)
    found = _all_at_once(asked, question.subjects, topics, question.node_timeout, alive)
    nodes = sorted([*found, *silent.values()], key=lambda node: (node.kind, node.id))
    if quorum.error:
        return Look(at, None, tuple(nodes), why=quorum.error)
    ends = {member.id: member.log_end_offset for member in quorum.members.values()}
    return Look(at, quorum.high_watermark, tuple(nodes), ends, alive=alive, notes=notes)


def heard_of(quorum: Quorum) -> frozenset[int]:
    """Return the nodes that had all of the log a moment ago, says the leader."""
    caught_up = {
        member.id
        for member in quorum.members.values()
        if member.last_caught_up_ms_ago is not None and member.last_caught_up_ms_ago < _ALIVE_MS
    }
    return frozenset(caught_up | ({quorum.leader_id} if quorum.leader_id is not None else set()))


def controllers_of(
    quorum: Quorum, registered: Collection[int], endpoints: Mapping[int, Sequence[tuple[str, str]]]
) -> tuple[dict[int, str], tuple[str, ...]]:
    """Return the controllers with their address, empty where nobody tells it, and notes on other nodes of the quorum.

    Every node that reads the log is an observer: brokers too that start, or were fenced, and for five minutes those
    that have stopped. So an observer is a controller only where its address is known as one. One that does not fetch is
    named as well: it is frozen, or has stopped less than five minutes ago.
    """
    voters = {one.id for one in quorum.voters}
    others = {one.id for one in quorum.observers} - voters - set(registered)
    known = {node: str(found[0][1]) for node, found in endpoints.items() if found}
    controllers = {node: known.get(node, "") for node in sorted(voters | (others & set(known)))}
    running = heard_of(quorum)
    notes = []
    for node in sorted(others - set(known)):
        ago = quorum.members[node].last_caught_up_ms_ago
        silent = "never caught up" if ago is None else f"has not caught up for {duration(ago / 1000)}"
        notes.append(f"node {node}: observer, " + ("not registered" if node in running else silent))
    return controllers, tuple(notes)


def _places(
    base: Connection, brokers: Iterable[Broker], controllers: Mapping[int, str], protocol: str | None
) -> list[_Place]:
    """Return where each broker and each controller is asked."""
    places = [
        _Place(BROKER, one.id, replace(base, bootstrap_servers=(host_port(one.host, one.port),))) for one in brokers
    ]
    of_controllers = replace(base, security_protocol=protocol or base.security_protocol)
    why = "the quorum does not tell where it listens (Kafka 3.9 and later do, of voters)"
    for node, server in controllers.items():
        connection = replace(of_controllers, bootstrap_servers=(server,)) if server else None
        places.append(_Place(CONTROLLER, node, connection, "" if server else why))
    return places


def _all_at_once(
    places: Iterable[_Place], subjects: Iterable[str], topics: Iterable[str], seconds: float, alive: frozenset[int]
) -> list[Facts]:
    """Ask each node in a thread of its own. They are daemons: a program may end before a name server answers."""
    answers: queue.SimpleQueue[Facts | Exception] = queue.SimpleQueue()
    found: dict[tuple[str, int], Facts] = {}
    waited: dict[tuple[str, int], tuple[_Place, Stopwatch]] = {}

    def ask(question: partial[Facts]) -> None:
        """Ask one node."""
        try:
            answers.put(question())
        except Exception as error:
            answers.put(error)

    for one in places:
        key = one.kind, one.id
        if one.connection is None:
            unanswered = {subject: one.why for subject in subjects if one.kind in ASKED[subject]}
            found[key] = Facts(one.id, one.kind, unanswered=unanswered)
            continue
        watch = Stopwatch(time.monotonic)
        waited[key] = one, watch
        connecting = _CONNECT if one.kind == CONTROLLER and one.id in alive else None
        question = partial(facts_at, one.connection, one.kind, one.id, subjects, topics, seconds, connecting, watch)
        threading.Thread(target=ask, args=(question,), daemon=True).start()
    # Name and connection have their time each, and so has the second try of a node that does not let us in.
    longest = 3 * seconds + _GRACE
    while missing := [watch for key, (_one, watch) in waited.items() if key not in found]:
        left = longest - min(watch.waited() for watch in missing)
        if left <= 0:
            break
        try:
            # While a thread reads an answer, its time stands still.
            answer = answers.get(timeout=min(left, _AGAIN))
        except queue.Empty:
            continue
        if isinstance(answer, Exception):
            raise answer
        found[answer.kind, answer.id] = answer
    for key, (one, _watch) in waited.items():
        found.setdefault(key, Facts(one.id, one.kind, why=f"no answer within {3 * seconds:g} s"))
    return list(found.values())
