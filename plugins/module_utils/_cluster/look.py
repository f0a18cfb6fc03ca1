# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at a cluster that a module returns as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from .._client.session import Session
from .._configs.api import BROKER, describe_configs, topic_configs, topic_values
from .api import (
    describe_log_dirs,
    describe_quorum,
    disk_usage,
    finalized_features,
    list_brokers,
    list_reassignments,
    take_snapshot,
    with_eligible,
)
from .info import describe
from .log_dirs import brokers_described
from .snapshot import InFlight, Key, ids_alive, seen_moving


def cluster_info(session: Session, params: Mapping[str, Any], _check: bool, _diff: bool) -> dict[str, Any]:
    """Brokers, quorum, topics and what is not as it should be; the module's result."""
    topics = params["topics"]
    # Always all partitions: leader counts are of the whole cluster, and an older one shows a broker that is down
    # only through its replicas.
    detail = topics is None or bool(topics)
    before = list_reassignments(session) if params["sizes"] else {}
    quorum = describe_quorum(session) if params.get("include_quorum", True) else None
    snapshot = take_snapshot(session, quorum, min_insync=detail)
    moving: dict[Key, InFlight] = {}
    if params["sizes"]:  # What plans are made from: without its moves a partition shows too many replicas.
        partitions, moving = seen_moving(snapshot.partitions, before, list_reassignments(session))
        snapshot = replace(snapshot, partitions=partitions)
    if detail:
        snapshot = replace(snapshot, partitions=with_eligible(session, snapshot.partitions))
    names = {partition.topic for partition in snapshot.partitions if topics is None or partition.topic in topics}
    configs = topic_values(session, names, params["topic_configs"])
    held = disk_usage(session, ids_alive(snapshot.brokers)) if params["sizes"] else None
    features = {"features": finalized_features(session)}
    described = describe(snapshot, topics, params["include_partitions"], held, configs, moving)
    own = {"overrides": overrides(session, names, ids_alive(snapshot.brokers))} if params.get("overrides") else {}
    return {"changed": False, **described, **features, **own}


def log_dirs(session: Session, params: Mapping[str, Any], _check: bool, _diff: bool) -> dict[str, Any]:
    """Log directories of brokers; the module's result."""
    ask = partial(describe_log_dirs, session)
    found = brokers_described(list_brokers(session), params["brokers"], ask, params["topics"], params["replicas"])
    return {"changed": False, "brokers": found}


#: By the name of a broker, '' for all by default, whose own settings are asked for.
_SOURCES = {True: "DYNAMIC_BROKER", False: "DYNAMIC_DEFAULT_BROKER"}


def overrides(session: Session, topics: Iterable[str], brokers: Iterable[int]) -> list[dict[str, Any]]:
    """Return what these topics, these live brokers, and all brokers by default set themselves.

    Each as kind (topic or broker), name (empty for the default of all brokers), key and value, None for a secret.
    """
    own = topic_configs(session, topics).own
    found = [
        {"kind": "topic", "name": name, "key": key, "value": one.value}
        for name, settings in sorted(own.items())
        for key, one in sorted(settings.items())
    ]
    names: dict[str, None] = {"": None, **{str(one): None for one in brokers}}
    for name, values in describe_configs(session, BROKER, names).items():
        for key, value in sorted(values.items()):
            if value.source == _SOURCES[bool(name)]:
                shown = None if value.sensitive else value.value
                found.append({"kind": "broker", "name": name, "key": key, "value": shown})
    return found
