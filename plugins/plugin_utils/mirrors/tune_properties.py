# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the mirror of a tuning is started with: as the role starts the flow, with names of its own. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...module_utils._mirror.flows import DEFAULT, LOAD, PREFIX, Flow
from ...module_utils._mirror_tune.grid import OPTIONS
from ...module_utils._mirror_tune.names import alias
from .properties import mirror_properties

#: Only what MirrorMaker itself keeps; the role's exclusions would leave out the load as well.
_EXCLUDED = r".*[\-.]internal"
#: Beginnings of an operator's own properties that would have it listen beside the mirror of production.
_LISTENS = ("listeners", "rest.", "dedicated.mode.", "admin.listeners")
#: Properties of clients that a tuning tries, with their side in front.
_TRIED = [(option.side, key) for option in OPTIONS.values() for key in option.keys]
#: What a tuning decides by itself, behind any prefix of a cluster or a flow. An operator's own value would win in
#: MirrorMaker (mirrors/properties.py): one number of tasks for all runs, another name of the copy, or other topics than
#: the load. C(override.) is how a connector sets its clients (KIP-458).
_DECIDED = re.compile(
    r"(?:.*\.)?(?:tasks\.max|replication\.policy\..+|topics|topics\.exclude|topic\.filter\.class|"
    + "|".join(rf"{side}\.(?:override\.)?{re.escape(key)}" for side, key in _TRIED)
    + ")"
)


def tune_properties(
    flow: Flow,
    number: int,
    tasks: int,
    settings: Mapping[str, Any],
    clusters: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    version: str,
) -> dict[str, Any]:
    """All properties of the mirror of a run.

    flow -- that of production. number -- of the run. settings -- native properties of the run by side (Run.properties).
    clusters, options, version -- as mirror_properties takes them. An operator's own properties of the flow hold too,
    but not those that a tuning decides by itself: it compares with what the role sets.
    """
    source = alias(number)
    consumer = {key: value for key, value in settings.items() if key.startswith("consumer.")}
    producer = {f"{flow.target}.{key}": value for key, value in settings.items() if key.startswith("producer.")}
    own = {key: value for key, value in (flow.config or {}).items() if not _DECIDED.fullmatch(key)}
    copied = replace(
        flow,
        source=source,
        topics=(LOAD,),
        topics_exclude=(),
        groups=(f"{PREFIX}none",),
        groups_exclude=(),
        policy=DEFAULT,
        # Workers with exactly once ask each other over the REST port, which only the mirrors of production have.
        exactly_once="disabled",
        sync_group_offsets=False,
        sync_topic_configs=False,
        sync_topic_acls=False,
        heartbeats=False,
        untouched_source=True,
        enabled=True,
        config={**own, "topics.exclude": _EXCLUDED, **consumer},
    )
    return mirror_properties(
        [copied],
        flow.target,
        {source: clusters[flow.source], flow.target: clusters[flow.target]},
        {
            **options,
            "tasks_max": tasks,
            "nodes": 1,
            "rest_url": "",
            "rebalance_delay_seconds": 0,
            "config": {**_own(flow, source, options.get("config") or {}), **producer},
        },
        version,
    )


def _own(flow: Flow, source: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """An operator's top-level properties, with those of the source under the name that it has here."""
    found = {}
    for key, value in config.items():
        if key.startswith(_LISTENS) or _DECIDED.fullmatch(key):
            continue
        renamed = key
        for was, now in ((f"{flow.pair}.", f"{source}->{flow.target}."), (f"{flow.source}.", f"{source}.")):
            if key.startswith(was):
                renamed = now + key.removeprefix(was)
                break
        found[renamed] = value
    return found
