# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at all that a cluster holds and a later run of modules could change; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar, Union

from .._acls.api import describe_acls
from .._client.session import Session
from .._cluster.api import list_reassignments, list_topics, live_brokers
from .._configs.api import BROKER, describe_configs, topic_configs
from .._core.errors import RequestFailedError
from .._quotas.api import describe_quotas
from .._users.api import describe_credentials
from .listed import (
    Listed,
    Settings,
    listed_acls,
    listed_quotas,
    listed_topics,
    listed_users,
    settings_of,
    settings_of_all,
)

Answer = TypeVar("Answer")
#: What Kafka answers where no authorizer keeps ACLs.
_NO_AUTHORIZER = "SECURITY_DISABLED"


def resources_info(session: Session, _params: Mapping[str, object], _check: bool, _diff: bool) -> dict[str, object]:
    """Return what the cluster holds; the module's result."""
    unread: dict[str, str] = {}

    def read(what: str, ask: Callable[[], Answer], nothing: Answer) -> Answer:
        """Return an answer; where there is none, C(nothing), and C(unread) says why."""
        try:
            return ask()
        except RequestFailedError as error:
            if error.code != _NO_AUTHORIZER:
                unread[what] = error.why
            return nothing

    unknown_moves: Union[set[str], None] = None
    moving = read("moves", lambda: {topic for topic, _number in list_reassignments(session)}, unknown_moves)
    lists: dict[str, Listed] = {
        "topics": read("topics", lambda: _topics(session, moving), Listed([], [])),
        "users": read("users", lambda: listed_users(describe_credentials(session)), Listed([], [])),
        "acls": read("acls", lambda: listed_acls(describe_acls(session)), Listed([], [])),
        "quotas": read("quotas", lambda: listed_quotas(describe_quotas(session)), Listed([], [])),
    }
    unknown: dict[str, Settings] = {}
    settings = read("settings", lambda: _settings(session), unknown)
    return {
        "changed": False,
        **{name: listed.entries for name, listed in lists.items()},
        "settings": {name: of_broker.result() for name, of_broker in settings.items()},
        "left": [sentence for listed in lists.values() for sentence in listed.left],
        "unread": unread,
    }


def _topics(session: Session, moving: Union[Collection[str], None]) -> Listed:
    """Return the topics with their own configuration."""
    topics = list_topics(session)
    return listed_topics(topics, topic_configs(session, topics).own, moving)


def _settings(session: Session) -> dict[str, Settings]:
    """Return the settings of each live broker by its id, and of all by default by the name default."""
    names: dict[str, None] = {"": None, **{str(broker): None for broker in live_brokers(session)}}
    told = describe_configs(session, BROKER, names)
    of_all = told.pop("", {})
    settings = {name: settings_of(values) for name, values in told.items()}
    of_any = next(iter(told.values()), {})
    return {**settings, "default": settings_of_all(of_all, of_any)}
