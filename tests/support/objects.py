# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster holds beside records, read whole into one value that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._acls.api import describe_acls
from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers, list_topics, topic_ids
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import (
    BROKER,
    describe_configs,
    topic_configs,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import KAFKAS_OWN
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import describe_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import Entity
from ansible_collections.streamops.kafka.plugins.module_utils._users.api import describe_credentials

#: Where each of what is set live in brokers is set, by the entity that is asked: '' is the cluster-wide default.
_LIVE = {True: "DYNAMIC_DEFAULT_BROKER", False: "DYNAMIC_BROKER"}


@dataclass(frozen=True)
class Topic:
    """A topic: its id, the replicas of each partition in their order, and what it sets itself."""

    id: str
    replicas: tuple[tuple[int, ...], ...]
    config: dict[str, str | None]


@dataclass(frozen=True)
class Objects:
    """All objects of a cluster, Kafka's own topics left out.

    users -- the iterations of each mechanism; brokers -- what is set live, by broker id and '' for the whole cluster
    """

    topics: dict[str, Topic]
    acls: frozenset[Binding]
    users: dict[str, dict[str, int]]
    quotas: dict[Entity, dict[str, float]]
    brokers: dict[str, dict[str, str | None]]


def objects_of(connection: dict[str, Any]) -> Objects:
    """Read them; connection -- as modules take it."""
    with Session(Connection.from_params(connection)) as session:
        listed = {name: parts for name, parts in list_topics(session).items() if name not in KAFKAS_OWN}
        ids, configs = topic_ids(session), topic_configs(session, listed).own
        entities = ["", *(str(broker.id) for broker in list_brokers(session))]
        live = describe_configs(session, BROKER, dict.fromkeys(entities))
        return Objects(
            topics={
                name: Topic(
                    ids[name],
                    tuple(part.replicas for part in sorted(parts, key=lambda part: part.index)),
                    {key: value.value for key, value in configs[name].items()},
                )
                for name, parts in listed.items()
            },
            acls=frozenset(describe_acls(session)),
            users=describe_credentials(session),
            quotas=describe_quotas(session),
            brokers={
                entity: {
                    key: value.by_source[_LIVE[not entity]]
                    for key, value in live[entity].items()
                    if _LIVE[not entity] in value.by_source
                }
                for entity in entities
            },
        )
