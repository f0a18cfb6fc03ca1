# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at a cluster from all sides that its health is judged by; everything is asked, nothing is changed."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection, within
from ansible_collections.streamops.kafka.plugins.module_utils._client.reach import PROBE_SECONDS
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._client.wire import Channel, tls_context
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    describe_log_dirs,
    describe_quorum,
    list_reassignments,
    require_describe,
    take_snapshot,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import log_dirs_of
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    InFlight,
    Key,
    ids_alive,
    named,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.addresses import host_port
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    RequestFailedError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits, State, fails, status_of
from ansible_collections.streamops.kafka.plugins.module_utils._health.rules import findings
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.api import read_record
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle import leftover_throttles

#: OpenSSL's number of a certificate that has expired (X509_V_ERR_CERT_HAS_EXPIRED).
_EXPIRED = 10
_DAY = 86_400
Answer = TypeVar("Answer")


class UnhealthyError(StreamopsError):
    """A cluster whose status is a failure by fail_on; the result of the look is what the module fails with."""

    unsent = True


def cluster_health(params: Mapping[str, Any]) -> dict[str, Any]:
    """Look at the cluster and judge it; the module's result.

    A cluster that does not answer is DOWN. A refused login or a missing right is an error, since nothing can be said
    of the cluster then. Raises UnhealthyError, with the result, for a status that fail_on calls a failure.
    """
    state = _state(Connection.from_params(params), params)
    found = findings(state, Limits.from_params(params))
    status = status_of(found)
    result = {
        "changed": False,
        "status": status,
        "findings": [one.as_dict() for one in found],
        "cluster": None if state.info is None else dict(state.info),
    }
    if fails(status, params["fail_on"]):
        error = UnhealthyError(
            f"the cluster is {status}: {'; '.join(one.what for one in found if one.severity != 'note')}. "
            "Nothing was changed.",
            status=status,
        )
        error.done = result
        raise error
    return result


def _state(connection: Connection, params: Mapping[str, Any]) -> State:
    """Ask the cluster everything; a cluster that does not answer has only a reason."""
    given = {"nodes": params["nodes"], "ensemble": params["ensemble_problems"], "versions": params["versions"]}
    mechanisms = (connection.sasl_mechanism,) if connection.sasl_mechanism else ()
    try:
        with Session(connection) as session:
            return State(**{**given, **_asked(session), "mechanisms": mechanisms})
    except (ClusterUnreachableError, RequestFailedError) as error:
        # One that answers and refuses our login is no cluster that is down.
        if not error.passing or error.fields.get("refused"):
            raise
        return State(None, error.message.removesuffix(" Nothing was changed.").rstrip("."), **given)


def _asked(session: Session) -> dict[str, Any]:
    """Return the fields of the state that the cluster tells. What fails by itself is noted and not fatal."""
    require_describe(session, "cluster_health")
    snapshot = take_snapshot(session, describe_quorum(session))
    alive = ids_alive(snapshot.brokers)
    untold: list[str] = []
    dirs: dict[int, list[dict[str, Any]]] = {}
    for broker in alive:
        dirs[broker] = _told(
            untold, f"log directories of broker {broker}", partial(describe_log_dirs, session, broker), []
        )
    held = {broker: log_dirs_of(listed) for broker, listed in dirs.items() if listed}
    moving: dict[Key, InFlight] = _told(untold, "moves under way", partial(list_reassignments, session), {})
    record: Record | None = _told(untold, "the record of a move", partial(read_record, session), None)
    throttles: list[dict[str, Any]] = _told(
        untold, "throttles", partial(leftover_throttles, session, record, alive), []
    )
    return {
        "info": describe(snapshot, partitions=False, log_dirs=held),
        "failed_log_dirs": {broker: _failed(listed) for broker, listed in dirs.items()},
        "moving": named(moving),
        "recorded": None if record is None else len(record.rows),
        "throttles": throttles,
        "certificates": _certificates(session.connection, [b for b in snapshot.brokers if not b.fenced]),
        "untold": untold,
    }


def _told(untold: list[str], what: str, question: Callable[[], Answer], otherwise: Answer) -> Answer:
    """Return the answer to a question; without one, note it and return ``otherwise``. Raises for a missing right."""
    try:
        return question()
    except RequestFailedError as error:
        if not error.passing:
            raise
        untold.append(f"{what} ({error.message})")
    except StreamopsError as error:
        untold.append(f"{what} ({error.message})")
    return otherwise


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
