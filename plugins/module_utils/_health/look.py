# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at a cluster from all sides that its health is judged by; everything is asked, nothing is changed."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, TypeVar

from .._client.connection import Connection, within
from .._client.listeners import who_answers
from .._client.reach import PROBE_SECONDS
from .._client.session import Session
from .._client.wire import Channel, tls_context
from .._cluster.api import describe_log_dirs, describe_quorum, list_reassignments, require_describe, take_snapshot
from .._cluster.copying_look import attributed
from .._cluster.info import describe
from .._cluster.log_sizes import LogDirs, log_dirs_of
from .._cluster.snapshot import Broker, InFlight, Key, Partition, Quorum, Snapshot, ids_alive, named, without_adding
from .._configs.api import topic_configs
from .._configs.values import TopicConfigs
from .._core.addresses import host_port
from .._core.errors import ClusterUnreachableError, RequestFailedError, StreamopsError, warn
from .._groups.look import group_info
from .._reassign.api import read_record
from .._reassign.record import Priors, Record
from .._reassign.run.throttle import TOPIC_KEYS, leftover_throttles
from .._state.api import read_state, write_state
from .._topics.api import made_state_topic
from .model import Groups, Limits, State, fails, phrases, status_of
from .partition_rules import UNCLEAN, Election, merged, unacknowledged
from .quorum_rules import can_elect_nobody
from .rack_rules import losses
from .rules import findings

#: OpenSSL's number of a certificate that has expired (X509_V_ERR_CERT_HAS_EXPIRED).
_EXPIRED = 10
_DAY = 86_400
#: Seconds before a cluster of which something did not answer is looked at again, longer than most pauses of a JVM, and
#: the longest answer of the quorum then. An ensemble of ZooKeeper replaces a controller when its session has ended,
#: after 18 s (zookeeper.session.timeout.ms, KIP-537).
_AGAIN, _AGAIN_SECONDS, AFTER_SESSION = 5.0, 10, 20.0
#: Seconds in which a quorum without an answer may have another leader: brokers pass requests on to the frozen one until
#: the first of them has waited for 30 s (controller.socket.timeout.ms), while the quorum elects within 3 s.
UNLED_SECONDS = 32.0
#: What is said of a quorum that nobody was asked for, and the longest request then: brokers pass some on to its leader.
_UNSTEADY = "it has no stable leader"
_UNSTEADY_SECONDS = 4
_MIN_INSYNC = "min.insync.replicas"
Answer = TypeVar("Answer")
#: The key of _streamops_state under which {at, when, by, epochs} is kept by kind of finding.
KEY = "acknowledged"
#: What the inventory and its nodes tell of a cluster, and the limits; the modules that judge its health take it.
HEALTH_OPTIONS: dict[str, dict[str, Any]] = {
    "nodes": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "host": {"type": "str", "required": True},
            "node_id": {"type": "int", "required": True},
            "roles": {"type": "list", "elements": "str", "choices": ["broker", "controller"], "required": True},
            "replication": {"type": "str", "default": ""},
        },
    },
    "versions": {"type": "dict", "default": {}},
    "start_files": {"type": "dict", "default": {}},
    "unsteady_quorum": {"type": "dict", "default": {}},
    "ensemble_problems": {"type": "list", "elements": "str", "default": []},
    "unclean_elections": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "partition": {"type": "str", "required": True},
            "at": {"type": "float", "required": True},
            "when": {"type": "str", "required": True},
            "leader": {"type": "int", "required": True},
            "epoch": {"type": "int", "required": True},
        },
    },
    "acknowledge": {"type": "str", "default": ""},
    "ensemble_lost": {"type": "str", "default": ""},
    "survive_rack_loss": {"type": "bool", "default": False},
    "voter_racks": {"type": "dict", "default": {}},
    "watched_groups": {"type": "list", "elements": "str", "default": []},
    **{limit.name: {"type": limit.type, "default": limit.default} for limit in fields(Limits)},
}
#: Asks a cluster that has answered for more, in the same session: takes what was judged, returns what stands beside it.
Further = Callable[[Session, dict[str, Any]], dict[str, Any]]


class UnhealthyError(StreamopsError):
    """A cluster whose status is a failure by fail_on; the result of the look is what the module fails with."""

    unsent = True


def cluster_health(params: Mapping[str, Any], is_check: bool = False) -> dict[str, Any]:
    """Look at the cluster and judge it; the module's result.

    Unclean elections are acknowledged where that is asked for; in check mode only what would then be is returned.
    A cluster that does not answer is DOWN. A refused login or a missing right is an error, since nothing can be said
    of the cluster then. Raises UnhealthyError, with the result, for a status that fail_on calls a failure.
    """
    result = health_of(params, is_check)
    status = result["status"]
    if fails(status, params["fail_on"]):
        error = UnhealthyError(
            f"the cluster is {status}: {'; '.join(phrases(result['findings']))}. Nothing was changed.", status=status
        )
        error.done = result
        raise error
    return result


def acknowledgement(session: Session, topics: Collection[str] | None = None) -> dict[str, Any]:
    """Return {at, when, by, epochs} of who acknowledged unclean elections last; empty where nobody has. ``topics`` are
    the names of all topics, where they have been listed already."""
    value, _end = read_state(session, KEY, topics)
    known = (value or {}).get(UNCLEAN) if isinstance(value, dict) else None
    return dict(known) if isinstance(known, dict) else {}


def acknowledge(session: Session, by: str, elections: Iterable[Election], is_check: bool) -> dict[str, Any]:
    """Write that somebody has looked at all unclean elections until now, these among them, and return what is kept. In
    check mode nothing is written."""
    epochs = {election["partition"]: election["epoch"] for election in merged(elections)}
    now = time.time()
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    said = {"at": round(now, 3), "when": when, "by": by, "epochs": epochs}
    if not is_check:
        made_state_topic(session)
        value, _end = read_state(session, KEY)
        write_state(session, KEY, {**(value if isinstance(value, dict) else {}), UNCLEAN: said})
    return said


def _acknowledged(session: Session, params: Mapping[str, Any], is_check: bool) -> tuple[dict[str, Any], bool]:
    """Return {at, when, by, epochs} of who has looked at unclean elections, and whether that is new: where it was asked
    for, and some were left that nobody had looked at. The cluster is asked only where there are any."""
    elections, by = params["unclean_elections"], params["acknowledge"].strip()
    known = acknowledgement(session) if elections else {}
    if not by or not unacknowledged(elections, known):
        return known, False
    return acknowledge(session, by, elections, is_check), True


def health_of(params: Mapping[str, Any], is_check: bool, further: Further | None = None) -> dict[str, Any]:
    """Ask the cluster everything and judge it; a cluster that does not answer has only a reason.

    ``further`` is asked of a cluster that answered, after it was judged; it must raise no StreamopsError.
    """
    connection = Connection.from_params(params)
    given = {
        "nodes": params["nodes"],
        "ensemble": params["ensemble_problems"],
        "ensemble_lost": params["ensemble_lost"],
        "versions": params["versions"],
        "start_files": params["start_files"],
        "unsteady": params["unsteady_quorum"],
        "voter_racks": _by_id("voter_racks", params["voter_racks"]),
        "survive_rack_loss": params["survive_rack_loss"],
    }
    if given["unsteady"]:
        connection = replace(connection, request_timeout=min(_UNSTEADY_SECONDS, connection.request_timeout))
    limits, watched = Limits.from_params(params), params["watched_groups"]
    try:
        with Session(connection) as session:
            require_describe(session, "cluster_health")
            # A broker would wait for the answer of a leader that does not last.
            known, is_new = _acknowledged(session, params, is_check)
            given |= {"unclean": params["unclean_elections"], "acknowledged": known}
            quorum = Quorum.unknown(_UNSTEADY) if given["unsteady"] else describe_quorum(session)
            snapshot = answering(session, take_snapshot(session, quorum, min_insync=False))
            snapshot, twice = _looked_again(session, snapshot, given)
            state = state_of(session, snapshot, {**given, **twice}, watched=watched)
            result = {**judged(state, limits), "changed": is_new}
            return {**result, **(further(session, result) if further else {})}
    except (ClusterUnreachableError, RequestFailedError) as error:
        # One that answers and refuses our login is no cluster that is down.
        if not error.passing or error.fields.get("refused"):
            raise
        why = error.message.removesuffix(" Nothing was changed.").rstrip(".")
        return judged(State(None, why, **given), limits)


def answering(session: Session, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot with who answers at the addresses of its live brokers, asked within ANSWER_SECONDS.

    Metadata does not tell: nobody writes it without a quorum, and a frozen broker is fenced when its session ends (9 s,
    broker.session.timeout.ms; 18 s with ZooKeeper).
    """
    answers = who_answers(session.connection, snapshot.servers, snapshot.cluster_id)
    return replace(snapshot, elsewhere=answers.elsewhere, silent=answers.silent)


def told_twice(before: Collection[int], unled: float, snapshot: Snapshot) -> dict[str, Any]:
    """Return the fields of the state that take two looks: brokers that were silent ``before`` and are now, and whether
    no active controller has had an answer for too long; ``unled`` -- for how many seconds before this one."""
    return {
        "silent": {broker: why for broker, why in snapshot.silent.items() if broker in before},
        "leaderless": unled >= UNLED_SECONDS and is_unanswered(snapshot),
    }


def is_unanswered(snapshot: Snapshot) -> bool:
    """Return whether there is a quorum whose active controller had no answer."""
    return snapshot.quorum is not None and bool(snapshot.quorum.error)


def _looked_again(session: Session, snapshot: Snapshot, given: Mapping[str, Any]) -> tuple[Snapshot, dict[str, Any]]:
    """Look again where something did not answer; return the snapshot of then, and what told_twice has of both looks.

    It takes at most _AGAIN seconds (AFTER_SESSION for the controller of ZooKeeper mode, UNLED_SECONDS for a quorum
    that may elect), ANSWER_SECONDS for brokers, and _AGAIN_SECONDS and a login for the quorum. Of a quorum that is
    ``unsteady`` nobody is asked.
    """
    is_lost = is_unanswered(snapshot) and not given["unsteady"]
    if not snapshot.silent and not is_lost:
        return snapshot, {}
    pause = _AGAIN
    if snapshot.quorum is None and snapshot.controller_id in snapshot.silent:
        pause = AFTER_SESSION
    elif is_lost and not can_elect_nobody(given["nodes"], snapshot.silent):
        pause = UNLED_SECONDS
    mute = [f"broker {broker} ({why})" for broker, why in sorted(snapshot.silent.items())]
    warn(
        f"No answer of {', '.join([*mute, *(['the active controller'] if is_lost else [])])}. It is looked at again "
        f"{pause:g} s later, before it is called down."
    )
    time.sleep(pause)
    quorum = snapshot.quorum
    if is_lost:
        limit = min(_AGAIN_SECONDS, session.connection.request_timeout)
        with Session(replace(session.connection, request_timeout=limit)) as other:
            quorum = describe_quorum(other)
    again = answering(session, take_snapshot(session, quorum, min_insync=False))
    return again, told_twice(snapshot.silent, pause if is_lost else 0, again)


def state_of(
    session: Session,
    snapshot: Snapshot,
    given: Mapping[str, Any],
    polled: bool = False,
    watched: Sequence[str] = (),
) -> State:
    """Ask beside a snapshot for everything else that health is judged by. What fails by itself is noted.

    Requests to each broker that answers (answering): one for its log directories, one for its throttles; one
    for moves, one for three settings of each 10,000 topics, some for the record of a move where there is one; a
    handshake of TLS with each broker; and with watched groups one to each broker for its groups, and some for these.

    Args:
        session: With the cluster; its user may describe the cluster.
        snapshot: The cluster with all its partitions, whose min.insync.replicas are asked here, and with who answers.
            A broker that does not is asked for nothing.
        given: Fields of the state that the inventory tells, or that were read on the nodes: nodes, ensemble, versions,
            ensemble_lost, start_files, unsteady, voter_racks, survive_rack_loss; ``silent`` and ``leaderless`` of two
            looks; and ``groups`` where all were looked at before.
        polled: Topics carry their partitions, and a missing right is noted too, where it otherwise raises
            RequestFailedError.
        watched: Groups to look at, which must be there and read.
    """
    untold: list[str] = []
    told = partial(_told, untold, polled)
    down: Mapping[int, str] = given.get("silent", {})
    untold += [
        f"whether broker {broker} is down ({why})" for broker, why in snapshot.silent.items() if broker not in down
    ]
    # What a broker elsewhere is asked, another one answers or refuses.
    alive = [one for one in ids_alive(snapshot.brokers) if one not in {*snapshot.elsewhere, *snapshot.silent}]
    topics = sorted({one.topic for one in snapshot.partitions})
    dirs: dict[int, list[dict[str, Any]]] = {
        broker: told(f"log directories of broker {broker}", partial(describe_log_dirs, session, broker), [])
        for broker in alive
    }
    held = {broker: log_dirs_of(listed) for broker, listed in dirs.items() if listed}
    moving: dict[Key, InFlight] | None = None
    # It alone knows them; once it is down by two looks, its finding says enough.
    if not is_unanswered(snapshot):
        moving = told("moves under way", partial(list_reassignments, session), None)
    elif not given.get("leaderless"):
        untold.append("moves under way (the active controller does not answer)")
    record: Record | None = told("the record of a move", partial(read_record, session, topics), None)
    unread: list[str] = []
    configs: TopicConfigs = told(
        "min.insync.replicas and throttles of topics", partial(_settings, session, topics, unread), TopicConfigs()
    )
    throttles: list[dict[str, Any]] = told(
        "throttles of brokers", partial(leftover_throttles, session, record, alive, _throttled(configs)), []
    )
    if watched:
        given = {**given, "groups": told("the watched groups", partial(_groups, session, watched), Groups())}
    connection = session.connection
    snapshot = replace(snapshot, partitions=_with_min_insync(snapshot.partitions, configs))
    moves = tuple((moving or {}).values())
    settled = replace(snapshot, partitions=without_adding(snapshot.partitions, moves))
    info = describe(snapshot, partitions=polled, log_dirs=held)
    for node in info["nodes"]:
        node["no_answer"] = down.get(node["id"], "")
    return State(
        info,
        **given,
        failed_log_dirs={broker: _failed(listed) for broker, listed in dirs.items()},
        moving=named(moving or {}),
        recorded=None if record is None else len(record.rows),
        throttles=throttles,
        certificates=_certificates(
            connection,
            [broker for broker in snapshot.brokers if not broker.fenced and broker.id not in snapshot.silent],
        ),
        mechanisms=(connection.sasl_mechanism,) if connection.sasl_mechanism else (),
        untold=untold,
        settings_unread=bool(unread),
        elsewhere=snapshot.elsewhere,
        attributions=told("who copies", partial(attributed, session, settled, moves), ()),
        in_flight=moving,
        copied={key: _copied(one, held) for key, one in (moving or {}).items()},
        partitions=snapshot.partitions,
    )


def judged(state: State, limits: Limits) -> dict[str, Any]:
    """Return what the module returns of a state."""
    found = findings(state, limits)
    return {
        "changed": False,
        "status": status_of(found),
        "findings": [one.as_dict() for one in found],
        "cluster": None if state.info is None else dict(state.info),
        "racks": [] if state.info is None else [one.as_dict() for one in losses(state, limits)],
    }


def _by_id(option: str, racks: Mapping[Any, Any]) -> dict[int, str]:
    """Return racks by id, which a dictionary of Ansible may have as text. Raises StreamopsError for another key."""
    try:
        return {int(node): str(rack) for node, rack in racks.items()}
    except ValueError as error:
        message = f"{option} has a key that is no node id ({error}). Give racks by node id. Nothing was changed."
        raise StreamopsError(message) from error


def _told(
    untold: list[str], notes_rights: bool, what: str, question: Callable[[], Answer], otherwise: Answer
) -> Answer:
    """Return the answer to a question; without one, note it and return ``otherwise``.

    Raises RequestFailedError for a missing right, unless it is noted too.
    """
    try:
        return question()
    except RequestFailedError as error:
        if not error.passing and not notes_rights:
            raise
        untold.append(f"{what} ({error.message})")
    except StreamopsError as error:
        untold.append(f"{what} ({error.message})")
    return otherwise


def _settings(session: Session, topics: Sequence[str], unread: list[str]) -> TopicConfigs:
    """Return min.insync.replicas and throttles of topics; note in ``unread`` why no broker answered that was asked."""
    try:
        return topic_configs(session, topics, (_MIN_INSYNC, *TOPIC_KEYS))
    except RequestFailedError as error:
        if error.passing and not error.unsent:
            unread.append(error.why)
        raise


def _groups(session: Session, watched: Sequence[str]) -> Groups:
    """Look at these groups."""
    wanted = {"groups": watched, "types": (), "states": (), "topics": None}
    info = group_info(session, {**wanted, "members": False, "offsets": True, "lag_time": False})
    return Groups(info["groups"], {one["id"]: one["why"] for one in info["silent_brokers"]}, watched)


def _with_min_insync(partitions: Iterable[Partition], configs: TopicConfigs) -> tuple[Partition, ...]:
    """Return partitions with the min.insync.replicas of their topics: Kafka's default is 1, and 0 is not known."""
    least = {topic: int(configs.value(topic, _MIN_INSYNC) or 1) for topic in configs.own}
    return tuple(replace(one, min_insync=least.get(one.topic, 0)) for one in partitions)


def _throttled(configs: TopicConfigs) -> Priors:
    """Return the lists of throttled replicas that topics have of their own."""
    found = {topic: {key: own[key].value for key in TOPIC_KEYS if key in own} for topic, own in configs.own.items()}
    return {topic: some for topic, some in found.items() if some}


def _copied(move: InFlight, held: Mapping[int, LogDirs]) -> dict[int, int]:
    """Return the bytes that each new broker of a move has of the partition, as far as it told."""
    return {to: held[to].sizes[move.key] for to in sorted(move.adding) if to in held and move.key in held[to].sizes}


def _failed(directories: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths of the log directories that an answer to DescribeLogDirs has an error for."""
    return sorted(one["log_dir"] for one in directories if one.get("error_code"))


# -- certificates ------------------------------------------------------------------------------------------------


def _certificates(connection: Connection, brokers: Sequence[Broker]) -> dict[int, dict[str, Any]]:
    """Return by broker the end of the certificate that its listener of this connection shows; nothing without TLS.

    All are asked at once, each within PROBE_SECONDS, in threads that nothing waits for.
    """
    context = tls_context(connection)
    if context is None:
        return {}
    found: dict[int, dict[str, Any]] = {}
    servers = {broker.id: host_port(broker.host, broker.port) for broker in brokers}

    def read(broker: int) -> None:
        """Read one certificate."""
        found[broker] = _certificate(servers[broker], context, within(PROBE_SECONDS, connection.request_timeout))

    threads = [threading.Thread(target=read, args=(broker,), daemon=True) for broker in servers]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 2 * within(PROBE_SECONDS, connection.request_timeout)
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    late = "no handshake in time"
    return {b: found.get(b) or {"server": at, "days_left": None, "error": late} for b, at in servers.items()}


def _certificate(server: str, context: ssl.SSLContext, seconds: float) -> dict[str, Any]:
    """Return {server, days_left, error} of the certificate that a server shows in the handshake."""
    try:
        with Channel(seconds, seconds).open(server, context) as channel:
            ends = ssl.cert_time_to_seconds(channel.certificate()["notAfter"])
    except ssl.SSLCertVerificationError as error:
        expired = error.verify_code == _EXPIRED
        return {"server": server, "days_left": -1 if expired else None, "error": error.verify_message}
    except (OSError, ValueError, KeyError) as error:  # ssl and time-outs are OSError.
        return {"server": server, "days_left": None, "error": str(error)}
    return {"server": server, "days_left": int((ends - time.time()) // _DAY), "error": ""}
