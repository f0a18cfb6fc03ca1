"""Take one picture of a cluster over the Admin API, with a bounded number of requests in a bounded time.

Two requests for the brokers, one for the quorum, and one for all topics, on which everything after it rests. Then,
for lag: one to each broker for its groups, for each coordinator and type of group two for each 500 groups, and for
each leader two for each 5,000 partitions (ListOffsets answers one end of a log at a time). Then, for health: one to
each broker for its log directories, one for its throttles and one for the features that it knows, one for three
settings of each 10,000 topics, which min.insync.replicas and throttles are taken from, one for moves under way, and
one read of the record of a move where a run has ever kept one. With TLS a handshake with each broker shows its
certificate. Where flows of mirrors begin or end in the cluster, one for each 5,000 partitions of a leader in their
topics, for the newest records. At the first poll and at each tenth after it each broker is asked what it believes of
the metadata, on a connection of its own that is not counted, in some ten requests (page/poll_brokers.py); where
brokers differ, as often as a difference needs to stand.

What changes seldom comes at last, at the first poll and then in intervals: one for all settings of each 1,000 topics,
three for SCRAM users, ACLs and client quotas, one read of who has looked at unclean elections (which is judged, and so
comes before), and one to each broker for its configuration. All settings of a topic
cost a broker five times what three do.

What fails of health alone is noted in the findings (untold); so is what the time of the poll leaves no room for. Why a
part of what changes seldom was not told is said on the pages that show it, beside what was told before.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
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
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Key,
    Partition,
    Snapshot,
    ids_alive,
)
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import topic_configs
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._groups.api import list_groups
from ansible_collections.streamops.kafka.plugins.module_utils._groups.look import described, wanted_logs
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import by_topic, shown, together
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import (
    acknowledgement,
    answering,
    is_unanswered,
    judged,
    state_of,
    told_twice,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Groups
from ansible_collections.streamops.kafka.plugins.module_utils._health.partition_rules import looked_at
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import Leaders, log_ends, newest_times
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.api import last_of_flows
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import can_drill
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import describe_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._users.api import describe_credentials
from page.cluster import cluster_of, given_of, moves_of
from page.expected import Expected
from page.known.details import ACLS, BROKERS, CONFIGS, DRILLS, QUOTAS, USERS, Details, asked_again
from page.known.doubts import Epoch, ensemble_by_polls, followed_epochs, unread_since, unsteady_by_polls
from page.known.grants import acl_rows, quota_rows, user_rows
from page.known.newest import Newest, asked_for, covered_by
from page.known.picture import Picture
from page.known.standing import Standing, seconds_of, stood
from page.poll_brokers import agreement, asked_features, broker_configs


def newest_of(session: Session, cluster: str, flows: Sequence[Flow], led: Mapping[Key, int | None]) -> Newest:
    """Return the newest records of the topics of flows in a cluster; what is not told has its state.

    C(led) is which broker leads each partition, None for none.
    """
    topics = {name for name, _index in led}
    covered = covered_by(flows, cluster, topics)
    wanted = asked_for(covered, cluster, topics)
    asked = time.time()
    keys = [key for key in led if key[0] in wanted]
    times: dict[str, dict[int, int | str | None]] = {}
    for (name, index), found in newest_times(session, Leaders(led, frozenset()), keys).items():
        times.setdefault(name, {})[index] = found
    return Newest(asked, covered, times)


_OFFSETS_TOPIC = "__consumer_offsets"
#: Before the first picture.
NOTHING = Details()


class BoundedSession(Session):
    """A session that counts its requests and begins none after C(seconds)."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        super().__init__(connection)
        self.requests = 0
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds in which requests may still begin."""
        return self._until - time.monotonic()

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


def take(
    name: str,
    connection: Connection,
    expected: Expected,
    seconds: float,
    last: Picture | None = None,
    details_interval: float = 0,
    flows: Sequence[Flow] = (),
) -> Picture:
    """Return a picture of the cluster; no request begins after C(seconds). Raises a StreamopsError.

    C(name) is that of the settings, C(expected) what the cluster is compared with. The details of the C(last) picture
    are carried over until they were asked C(details_interval) seconds ago, and groups are compared with what they had
    committed then. C(flows) are those of mirrors.
    """
    began = time.monotonic()
    session = BoundedSession(connection, seconds)
    with session:
        topics = _topics(session)
        snapshot = answering(session, take_snapshot(session, describe_quorum(session), min_insync=False, topics=topics))
        brokers = [broker for broker in ids_alive(snapshot.brokers) if broker not in snapshot.silent]
        listed, silent = list_groups(session, snapshot.silent)
        # Beside brokers that are silent the rest of the picture counts: it says that they are down.
        if silent and not snapshot.silent and len(silent) >= len(brokers):
            raise RequestFailedError("list groups", "of all brokers", "NO_ANSWER", "; ".join(sorted(silent.values())))
        groups, there, offsets = described(session, listed)
        # The ends of logs come after the offsets: the other way round a group could seem to be ahead of its log.
        led = _leaders(topics, snapshot)
        logs = log_ends(session, Leaders(led, frozenset()), {*led, *wanted_logs(groups, offsets, None)})
        clock = time.monotonic()
        found = by_topic(logs)
        seen = [shown(groups[one.name], offsets.get(one.name), found, members=True) for one in there]
        now = time.time()
        standing = stood(last.standing, last.groups, seen, now) if last else stood(Standing(), (), seen, now)
        every = Groups(seen, silent, expected.groups, True, *seconds_of(standing, now))
        epochs, unled_since, given = _of_quorum(last, snapshot, clock)
        acknowledged = _acknowledged(session, topics, last, details_interval)
        given |= {"groups": every, "unclean": looked_at(acknowledged, now), "acknowledged": acknowledged}
        state = state_of(session, snapshot, {**given_of(expected), **given}, polled=True)
        is_unread = state.settings_unread and snapshot.quorum is None
        unread = unread_since(last.unread_since if last else None, clock, is_unread, not snapshot.silent)
        state = replace(state, ensemble_lost=ensemble_by_polls(unread, clock))
        features = asked_features(session, brokers)
        newest = newest_of(session, name, flows, led)
        details = (last.details if last else NOTHING).of_topics(topics).of_brokers({one.id for one in snapshot.brokers})
        # Users and quotas are in ZooKeeper too: a question that is not answered keeps a thread of a broker.
        if not is_unread and details.is_due(time.time(), details_interval):
            into = [flow for flow in flows if flow.target == name and can_drill(flow)]
            details = details_of(session, topics, details, brokers, into)
        # After all that is shown anew: a broker that hangs costs its seconds here too.
        metadata = agreement(session, snapshot, topics, last.cluster.get("metadata") if last else None, session.left)
        requests = session.requests
    health = judged(state, expected.limits)
    return Picture(
        taken=time.time(),
        seconds=time.monotonic() - began,
        requests=requests,
        brokers=len([broker for broker in ids_alive(snapshot.brokers) if broker not in state.silent]),
        silent_brokers=len(silent),
        logs={topic: found[topic] for topic in topics if topic in found},
        groups=seen,
        cluster={
            **cluster_of(name, connection.bootstrap_servers, expected, health, together(seen, silent)),
            "moves": moves_of(state),
            "features": features,
            "metadata": metadata,
        },
        details=details,
        newest=newest,
        watched=expected.groups,
        standing=standing,
        clock=clock,
        unanswered=frozenset(snapshot.silent),
        unled_since=unled_since,
        epochs=epochs,
        unread_since=unread,
        acknowledged=acknowledged,
    )


def _topics(session: Session) -> dict[str, tuple[Partition, ...]]:
    """Return all topics with their partitions; raises RequestFailedError where the user may not see them all.

    Kafka leaves out what a user may not see: without this right a cluster would look empty, not unknown.
    """
    require_describe(session, "poll")
    topics = topics_at(session, None, None)
    if not topics and hidden_topics(session, [_OFFSETS_TOPIC]):
        code = "TOPIC_AUTHORIZATION_FAILED"
        raise RequestFailedError("poll", "of all topics", code, denied(session.connection, "describe topics", code))
    return topics


def _leaders(topics: Mapping[str, Iterable[Partition]], snapshot: Snapshot) -> dict[Key, int | None]:
    """Return who leads each partition; of what a silent broker leads, nobody can be asked."""
    return {
        (partition.topic, partition.index): None if partition.leader in snapshot.silent else partition.leader
        for partitions in topics.values()
        for partition in partitions
    }


def _of_quorum(
    last: Picture | None, snapshot: Snapshot, clock: float
) -> tuple[Sequence[Epoch], float | None, dict[str, Any]]:
    """Return of a picture its epochs and unled_since, and what the state has of who was silent twice and of a quorum
    without a leader that lasts. C(last) is the picture before, C(clock) when this snapshot was taken."""
    is_silent = is_unanswered(snapshot)
    asked = None if is_silent or snapshot.quorum is None else snapshot.quorum.leader_epoch
    epochs = followed_epochs(last.epochs if last else (), clock, asked)
    unsteady = {} if is_silent else unsteady_by_polls(epochs)
    # An answer between two elections ends nothing.
    unled_since = (last.unled_since if last else None) or clock if is_silent or unsteady else None
    twice = told_twice(last.unanswered, clock - (unled_since or clock), snapshot) if last else {}
    return epochs, unled_since, {"unsteady": unsteady, **twice}


def _acknowledged(
    session: Session, topics: Iterable[str], last: Picture | None, details_interval: float
) -> Mapping[str, Any]:
    """Return who has looked at unclean elections, asked as seldom as details are; what fails leaves what was known."""
    if last is not None and not last.details.is_due(time.time(), details_interval):
        return last.acknowledged
    try:
        return acknowledgement(session, [*topics])
    except StreamopsError:
        return last.acknowledged if last is not None else {}


def details_of(
    session: Session,
    topics: Collection[str],
    before: Details = NOTHING,
    brokers: Sequence[int] = (),
    flows: Sequence[Flow] = (),
) -> Details:
    """Ask for all settings of topics and of these brokers, for users, ACLs and quotas, and for the last drills of these
    flows into the cluster.

    What fails leaves C(before), and raises nothing.
    """
    questions: dict[str, Callable[[], Any]] = {
        CONFIGS: lambda: topic_configs(session, sorted(topics)),
        USERS: lambda: user_rows(describe_credentials(session)),
        ACLS: lambda: acl_rows(describe_acls(session)),
        QUOTAS: lambda: quota_rows(describe_quotas(session)),
    }
    if brokers:
        questions[BROKERS] = lambda: broker_configs(session, brokers, before.brokers)
    if flows:
        questions[DRILLS] = lambda: last_of_flows(session, flows, topics)
    told: dict[str, Any] = {}
    failed: dict[str, StreamopsError] = {}
    for what, question in questions.items():
        try:
            told[what] = question()
        except StreamopsError as error:
            failed[what] = error
    return asked_again(before, time.time(), told, failed)
