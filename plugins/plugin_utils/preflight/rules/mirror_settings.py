# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on settings that have one owner: those that all mirrors of a target share, and those of topics."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._mirror.flows import LEGACY, SEPARATOR, Flow, matches, remote_topic
from ...inventory.model import Inventory
from ...mirrors.external import VARIABLE as EXTERNAL
from ..by_value import disagreement
from ..mirror_flows import VARIABLE, flows, kafka_clusters, mirrors_of, where
from ..rule import WARNING, Problem, rule

#: The mirrors of a target run what the one among them that leads has written down, paths included.
SHARED = (
    *("kafka_config_dir", "mirror_maker_config", "mirror_maker_tasks_max", "mirror_maker_refresh_seconds"),
    *("mirror_maker_offset_flush_seconds", "mirror_maker_rebalance_delay_seconds", EXTERNAL),
)
#: Not copied from the source, so they stay the target's own (DefaultConfigPropertyFilter of 4.3.1).
OF_THE_TARGET = (
    *("min.insync.replicas", "unclean.leader.election.enable", "message.timestamp.type"),
    *("follower.replication.throttled.replicas", "leader.replication.throttled.replicas"),
    *("message.timestamp.difference.max.ms", "log.message.timestamp.before.max.ms"),
    "log.message.timestamp.after.max.ms",
)


@rule(fix="set the variable once, in the group_vars of the mirrors")
def mirrors_disagree(inventory: Inventory) -> Iterator[Problem]:
    """The mirrors of one target have different settings; they all run what one of them has written down."""
    for target in dict.fromkeys(mirror.cluster for mirror in inventory.mirrors):
        mirrors = mirrors_of(inventory, target)
        for variable in SHARED:
            found = disagreement(mirrors, variable)
            if found is not None:
                what = f"the mirrors of {target} disagree, and share what one of them has written down"
                yield Problem(mirrors, what, found, variable=variable)


@rule(
    variable=VARIABLE,
    fix="set them at the topic of the source, or sync_topic_configs of the flow to false",
    level=WARNING,
)
def topic_settings_overwritten(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_topics` of a target sets what `sync_topic_configs` of a flow copies from the source again."""
    known = kafka_clusters(inventory)
    for flow in flows(inventory):
        if flow.engine == LEGACY or not flow.sync_topic_configs or flow.target not in known:
            continue
        for topic in known[flow.target].topics():
            owned = sorted(set(map(str, topic.config)) - set(OF_THE_TARGET))
            if owned and _is_copy(flow, topic.name):
                what = f"{flow.pair} would overwrite what kafka_topics sets at {topic.name}"
                yield Problem(where(inventory, flow.target), what, f"{', '.join(owned)} with sync_topic_configs")


def _is_copy(flow: Flow, name: str) -> bool:
    """Return whether a topic of the target is the copy of one that the flow's patterns cover."""
    original = name if flow.keeps_names else name[len(flow.source + SEPARATOR) :]
    return bool(original) and matches(flow, original) and remote_topic(flow, original) == name
