"""Ask each broker what only itself can tell: its configurations, its features, what it believes of the metadata."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Snapshot
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER, describe_configs
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._features.api import Announced, announced_by
from ansible_collections.streamops.kafka.plugins.module_utils._features.levels import METADATA
from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import BROKER as KIND
from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import Node, State
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.compare import described
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.look import Known, Question, verdict_on
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import BROKER as ROLE
from page.known.agreement import SHOWN, agreement_of, carried, is_due, not_compared, subjects_for
from page.known.brokers import BrokerConfigs, Shared, Told
from page.known.details import BROKERS
from page.known.features import features_of
from page.known.grants import why_not

_LOG = logging.getLogger("page")
#: Seconds that one broker has for all its answers; one that hangs is asked once. All are asked at once.
NODE_SECONDS = 3.0
#: Seconds for which a difference must be seen.
_SETTLE = 3.0


def agreement(
    session: Session, snapshot: Snapshot, topics: Collection[str], before: Mapping[str, Any] | None, left: float
) -> dict[str, Any] | None:
    """Return whether the brokers agree on the metadata, as agreement_of has it; None in ZooKeeper mode.

    C(before) is what the poll before returned, C(left) are the seconds that this one has: with fewer than a broker gets
    none is asked.
    """
    if snapshot.quorum is None:
        return None
    if before is not None and not is_due(before):
        return carried(before)
    subjects = subjects_for(len(snapshot.partitions))
    seconds = min(NODE_SECONDS, session.connection.request_timeout)
    # With less each broker would seem to be silent, for all polls until the next comparison.
    if left < seconds:
        return not_compared("the poll took too long. Raise poll_timeout", time.time())
    # Before Kafka 4.0 a broker that is fenced is known by its replicas alone, without an address.
    reached = tuple(one for one in snapshot.brokers if one.host)
    question = Question(subjects, (ROLE,), node_timeout=seconds, settle=_SETTLE)
    try:
        verdict = verdict_on(session, question, Known(snapshot.quorum, reached, topics))
    except StreamopsError as error:
        return not_compared(error.message, time.time())
    except Exception as error:
        # Of an answer that makes no sense the library raises anything, and so does a thread that cannot start. All else
        # of the picture is known by now: it would be lost, with each later one, as each poll would compare again.
        _LOG.exception("the brokers of cluster %s cannot be compared", snapshot.cluster_id)
        return not_compared(type(error).__name__, time.time())
    controllers = [one.id for one in snapshot.quorum.voters]
    return agreement_of(described(verdict, SHOWN), subjects, controllers, time.time())


def asked_features(session: Session, brokers: Iterable[int]) -> list[dict[str, Any]]:
    """Return what these brokers tell of features, as features_of has it; one that does not answer is left out."""
    told: dict[int, Announced] = {}
    for number in sorted(brokers):
        try:
            told[number] = announced_by(session, number)
        except StreamopsError:
            # Whether it is up the findings say.
            continue
    # The one that has read most of the metadata knows what is finalized now.
    newest = max(told.values(), key=lambda one: -1 if one.epoch is None else one.epoch, default=Announced({}, {}, None))
    epoch = newest.epoch if METADATA in newest.finalized else None
    nodes = tuple(Node(number, KIND, one.supported) for number, one in told.items())
    return features_of(State(newest.finalized, epoch, nodes))


def broker_configs(session: Session, brokers: Iterable[int], before: BrokerConfigs | None) -> BrokerConfigs:
    """Return what these brokers tell of their configurations, beside what others told C(before).

    One that does not answer keeps what it told before, and its cause. Raises a StreamopsError where none answers.
    """
    shared = Shared()
    told = dict(before.told) if before else {}
    failed: dict[int, StreamopsError] = {}
    asked = sorted(brokers)
    for number in asked:
        try:
            found = describe_configs(session, BROKER, {str(number): None})
        except StreamopsError as error:
            failed[number] = error
        else:
            told[number] = Told(time.time(), shared.settings(found.get(str(number), {})))
    if asked and len(failed) == len(asked):
        raise failed[asked[0]]
    return BrokerConfigs(told, {number: why_not(BROKERS, error) for number, error in failed.items()})
