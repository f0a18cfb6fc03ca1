# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The topics that a legacy mirror needs in its target before it starts. Pure.

Its producer makes no topics, and would wait for one that is not there. It chooses partitions anew, by the key: with as
many of them as the source has, records whose writer chose as Java's producer does keep theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...module_utils._mirror.flows import Flow, matches

Topic = Mapping[str, Any]


def legacy_topics(
    flow: Flow, source: Iterable[Topic], target: Iterable[Topic], declared: Iterable[Topic], brokers: int
) -> list[dict[str, Any]]:
    """The entries for the module topics, sorted: a flow's topics in the target, with partitions as in the source.

    source, target -- the topics of cluster_info (name, partition_count, replication_factors, config: the values to
    bring over). declared -- kafka_topics of the target, which keep the last word on configuration. brokers -- how many
    the target has, for copies of new topics; those of existing ones are not touched.
    Configuration follows the source where the flow says sync_topic_configs, else only new topics get it.
    ValueError names every topic that can never be equal.
    """
    known = {topic["name"]: topic for topic in target}
    wanted = {str(topic["name"]): topic for topic in declared}
    covered = sorted((topic for topic in source if matches(flow, topic["name"])), key=lambda topic: str(topic["name"]))
    problems = [p for topic in covered for p in _problems(flow, topic, known, wanted)]
    if problems:
        raise ValueError(
            "; ".join(problems)
            + ". With other numbers of partitions than the source's, records would change their partitions. No topic "
            "was changed"
        )
    return [_entry(flow, topic, known, wanted, brokers) for topic in covered]


def _problems(flow: Flow, topic: Topic, known: Mapping[str, Topic], wanted: Mapping[str, Topic]) -> Iterator[str]:
    name, count = topic["name"], int(topic["partition_count"])
    has = int(known[name]["partition_count"]) if name in known else 0
    asked = wanted.get(name) or {}
    if asked.get("state") == "absent":
        yield (
            f"topic {name} is mirrored by {flow.pair}, and kafka_topics of {flow.target} wants it absent; take that "
            "entry out, or name the topic in topics_exclude of the flow"
        )
    elif asked.get("partitions") is not None and int(asked["partitions"]) != count:
        yield (
            f"topic {name} has {count} partitions in {flow.source}, and kafka_topics of {flow.target} wants "
            f"{asked['partitions']}; say {count} there too, or leave partitions out"
        )
    elif has > count:
        yield (
            f"topic {name} has {count} partitions in {flow.source} and {has} in {flow.target}; give it {has} in "
            f"{flow.source}, delete it in {flow.target}, or name it in topics_exclude of {flow.pair}"
        )


def _entry(
    flow: Flow, topic: Topic, known: Mapping[str, Topic], wanted: Mapping[str, Topic], brokers: int
) -> dict[str, Any]:
    name = str(topic["name"])
    entry: dict[str, Any] = {"name": name, "partitions": int(topic["partition_count"]), "config": {}}
    if name not in known:
        entry["replication_factor"] = max(1, min(max(map(int, topic["replication_factors"])), brokers))
    if flow.sync_topic_configs or name not in known:
        said = (wanted.get(name) or {}).get("config") or {}
        entry["config"] = {key: value for key, value in topic["config"].items() if key not in said}
    return entry
