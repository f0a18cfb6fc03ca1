"""Take one picture of a cluster over the Admin API, with a bounded number of requests in a bounded time.

Two requests for the brokers, one for the quorum, and one for all topics, on which everything after it rests. Then, for
lag: one to each broker for its groups, for each coordinator and type of group two for each 500 groups, and for each
leader two for each 5,000 partitions (ListOffsets answers one end of a log at a time). Then, for health: one to each
broker for its log directories and one for its throttles, one for the configurations of each 1,000 topics, which
min.insync.replicas and throttles are taken from, one for moves under way, and one read of the record of a move where a
run has ever kept one. With TLS a handshake with each broker shows its certificate. At last three: SCRAM users, ACLs and
client quotas.

What fails of health alone is noted in the findings (untold); so is what the time of the poll leaves no room for. What
is not told of users, ACLs and quotas is said on their page.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._acls.api import describe_acls
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection, denied
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    describe_quorum,
    hidden_topics,
    require_describe,
    take_snapshot,
    topics_at,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import ids_alive
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._groups.api import (
    describe_groups,
    group_offsets,
    list_groups,
)
from ansible_collections.streamops.kafka.plugins.module_utils._groups.look import wanted_logs
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import by_topic, shown, together
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import judged, state_of
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import Leaders, log_ends
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import describe_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._users.api import describe_credentials
from page.cluster import cluster_of, given_of
from page.expected import Expected
from page.grants import ACLS, QUOTAS, USERS, Grants, acl_rows, quota_rows, user_rows, why_not
from page.moves import moves_of
from page.picture import Picture

_OFFSETS_TOPIC = "__consumer_offsets"


class BoundedSession(Session):
    """A session that counts its requests and begins none after C(seconds)."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        super().__init__(connection)
        self.requests = 0
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def call(self, what: str, function: Callable[[], Any], anybody: bool = True) -> Any:
        """Count and send, or raise RequestFailedError where the time of the poll is over."""
        self._count(what)
        return super().call(what, function, anybody)

    def ask(self, what: str, request: Any, codes: Callable[[Any], Iterable[int]]) -> Any:
        """Count and send to one broker after the other, or raise RequestFailedError where the time is over."""
        self._count(what)
        return super().ask(what, request, codes)

    def _count(self, what: str) -> None:
        if time.monotonic() > self._until:
            why = f"the poll took longer than {self._seconds:g} s. Raise poll_timeout"
            raise RequestFailedError(what, "was not sent", "POLL_TIMEOUT", why, unsent=True)
        self.requests += 1


def take(name: str, connection: Connection, expected: Expected, seconds: float) -> Picture:
    """Return a picture of the cluster; no request begins after C(seconds). Raises a StreamopsError.

    C(name) is that of the settings, C(expected) what the cluster is compared with.
    """
    began = time.monotonic()
    session = BoundedSession(connection, seconds)
    with session:
        # Kafka leaves out what a user may not see: without this right a cluster would look empty, not unknown.
        require_describe(session, "poll")
        topics = topics_at(session, None, None)
        if not topics and hidden_topics(session, [_OFFSETS_TOPIC]):
            code = "TOPIC_AUTHORIZATION_FAILED"
            raise RequestFailedError("poll", "of all topics", code, denied(connection, "describe topics", code))
        snapshot = take_snapshot(session, describe_quorum(session), min_insync=False, topics=topics)
        brokers = ids_alive(snapshot.brokers)
        listed, silent = list_groups(session)
        if silent and len(silent) >= len(brokers):
            raise RequestFailedError("list groups", "of all brokers", "NO_ANSWER", "; ".join(sorted(silent.values())))
        groups = describe_groups(session, listed)
        there = [one for one in listed if not groups[one.name].vanished]
        offsets = group_offsets(session, there)
        # The ends of logs come after the offsets: the other way round a group could seem to be ahead of its log.
        led = {(one.topic, one.index): one.leader for some in topics.values() for one in some}
        logs = log_ends(session, Leaders(led, frozenset()), {*led, *wanted_logs(groups, offsets, None)})
        state = state_of(session, snapshot, given_of(expected), polled=True)
        grants = grants_of(session)
        requests = session.requests
    health = judged(state, expected.limits)
    found = by_topic(logs)
    seen = [shown(groups[one.name], offsets.get(one.name), found, members=False) for one in there]
    return Picture(
        taken=time.time(),
        seconds=time.monotonic() - began,
        requests=requests,
        brokers=len(brokers),
        silent_brokers=len(silent),
        logs={topic: found[topic] for topic in topics if topic in found},
        groups=seen,
        cluster={
            **cluster_of(name, connection.bootstrap_servers, expected, health, together(seen, silent)),
            "moves": moves_of(state),
        },
        configs=state.configs,
        grants=grants,
    )


def grants_of(session: Session) -> Grants:
    """Ask for users, ACLs and quotas, a request each; what fails is told in C(why), and raises nothing."""
    questions: dict[str, Callable[[], list[dict[str, Any]]]] = {
        USERS: lambda: user_rows(describe_credentials(session)),
        ACLS: lambda: acl_rows(describe_acls(session)),
        QUOTAS: lambda: quota_rows(describe_quotas(session)),
    }
    told: dict[str, list[dict[str, Any]]] = {}
    why: dict[str, str] = {}
    for what, question in questions.items():
        try:
            told[what] = question()
        except StreamopsError as error:
            why[what] = why_not(what, error)
    return Grants(**told, why=why)
