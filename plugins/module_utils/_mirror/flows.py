# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What `mirror_flows` says: which topics go from which cluster into which, and under what names. Pure.

The names of topics, of internal topics and what is left out are those of MirrorMaker 2 (KIP-382); everything that asks
what a flow covers asks here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

MIRROR_MAKER_2, LEGACY = "mirror_maker_2", "legacy"
DEFAULT, IDENTITY = "default", "identity"
#: Words that a key of a flow takes.
WORDS = {
    "policy": (DEFAULT, IDENTITY),
    "engine": (MIRROR_MAKER_2, LEGACY),
    "exactly_once": ("disabled", "preparing", "enabled"),
}
#: What stands between the alias and the topic in a name made by the default policy (DefaultReplicationPolicy).
SEPARATOR = "."
#: Topics that are never mirrored: MirrorMaker's own exclusions (DefaultTopicFilter), Kafka's internal topics, and what
#: this collection keeps in a cluster about that cluster.
TOPICS_EXCLUDED = (r".*[\-.]internal", r".*\.replica", r"__.*", r"_streamops_.*")
#: Groups whose offsets are never translated (DefaultGroupFilter).
GROUPS_EXCLUDED = (r"console-consumer-.*", r"connect-.*", r"__.*")
#: Topics that MirrorMaker 2 keeps for itself, whatever the pattern says (ReplicationPolicy.isInternalTopic), and its
#: signs of life, which it mirrors by itself. What begins with a dot passes for internal too.
OWN_TOPICS = re.compile(r"\..*|mm2-.*|.*\.checkpoints\.internal|(.*\.)?heartbeats")
HEARTBEATS = "heartbeats"
#: Of the topic that says how far a mirror has come: the bytes of a segment, and its partitions, as many as Kafka makes
#: (DistributedConfig). Every start of a mirror reads it whole, and so do mirror_status and mirror_audit; compaction
#: leaves the segment alone that is written to, 1 GiB of it by default (KAFKA-15086). Both count when the topic is made.
OFFSETS_SEGMENT_BYTES = 50 * 1024 * 1024
OFFSETS_PARTITIONS = 25
#: An alias becomes a part of keys, of topic names and of consumer groups.
_ALIAS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Flow:
    """One entry of mirror_flows with its defaults: `topics` go from cluster `source` into cluster `target`.

    topics, groups -- regular expressions, each for whole names; the ..._exclude ones win, in addition to MirrorMaker's.
    exactly_once -- a setting of the target's mirrors (KIP-618), so the same for all flows into one target.
    config -- native properties of the flow; streams, consumer_config, producer_config -- of the legacy engine only.
    A flow is a key of mappings. Its mappings of properties cannot be hashed: they count when flows are compared.
    """

    source: str
    target: str
    topics: tuple[str, ...]
    topics_exclude: tuple[str, ...] = ()
    groups: tuple[str, ...] = (".*",)
    groups_exclude: tuple[str, ...] = ()
    policy: str = DEFAULT
    engine: str = MIRROR_MAKER_2
    exactly_once: str = "disabled"
    sync_group_offsets: bool = True
    sync_topic_configs: bool = True
    sync_topic_acls: bool = False
    heartbeats: bool = True
    untouched_source: bool = False
    enabled: bool = True
    audit: bool = True
    config: Mapping[str, Any] | None = field(default=None, hash=False)
    streams: int = 1
    consumer_config: Mapping[str, Any] | None = field(default=None, hash=False)
    producer_config: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def pair(self) -> str:
        """The flow as MirrorMaker writes it: source->target."""
        return f"{self.source}->{self.target}"

    @property
    def keeps_names(self) -> bool:
        """Return whether a topic has the same name in the target; the legacy engine knows no other way."""
        return self.policy == IDENTITY or self.engine == LEGACY


KEYS = tuple(key.name for key in fields(Flow))
REQUIRED = ("source", "target", "topics")
#: Keys that a service beside the mirrors takes: those that the page shows, and by which it and the canary find the
#: records of a flow.
SHOWN = (
    *("source", "target", "topics", "topics_exclude", "policy", "engine", "exactly_once", "heartbeats"),
    "untouched_source",
)
LISTS = ("topics", "topics_exclude", "groups", "groups_exclude")
_DICTS = ("config", "consumer_config", "producer_config")
#: Keys that are true or false, of which text is read as everywhere (_core/values.py).
BOOLEANS = (
    "sync_group_offsets",
    "sync_topic_configs",
    "sync_topic_acls",
    "heartbeats",
    "untouched_source",
    "enabled",
    "audit",
)
#: Keys of a flow that MirrorMaker 2 has no use for.
LEGACY_ONLY = ("streams", "consumer_config", "producer_config")


def matches(flow: Flow, topic: str) -> bool:
    """Say whether MirrorMaker mirrors a topic of the source: DefaultTopicFilter and isCycle of its connector decide."""
    if OWN_TOPICS.fullmatch(topic) or _any(TOPICS_EXCLUDED + flow.topics_exclude, topic):
        return False
    return _any(flow.topics, topic) and not _is_cycle(flow, topic)


def translates(flow: Flow, group: str) -> bool:
    """Say whether MirrorMaker 2 translates the offsets of a consumer group (DefaultGroupFilter)."""
    return _any(flow.groups, group) and not _any(GROUPS_EXCLUDED + flow.groups_exclude, group)


def remote_topic(flow: Flow, topic: str) -> str:
    """The name that a topic of the source has in the target."""
    return topic if flow.keeps_names and not _looks_like_heartbeats(flow, topic) else f"{flow.source}{SEPARATOR}{topic}"


def source_topic(flow: Flow, name: str) -> str | None:
    """The topic of the source that the flow mirrors under this name of the target; None where it mirrors none so."""
    names = (name.removeprefix(f"{flow.source}{SEPARATOR}"), name)
    return next((one for one in names if remote_topic(flow, one) == name and matches(flow, one)), None)


def _looks_like_heartbeats(flow: Flow, topic: str) -> bool:
    """Say whether MirrorMaker 2 renames it although names are kept (IdentityReplicationPolicy.looksLikeHeartbeat)."""
    return flow.engine == MIRROR_MAKER_2 and topic.endswith(HEARTBEATS)


def offsets_topic(flow: Flow) -> str:
    """The topic of the target in which MirrorMaker 2 keeps how far it has come (MirrorMakerConfig)."""
    return f"mm2-offsets.{flow.source}.internal"


def workers_group(flow: Flow) -> str:
    """Return the group of the mirrors that run a flow of MirrorMaker 2, in its target (MirrorMakerConfig)."""
    return f"{flow.source}-mm2"


def legacy_group(flow: Flow) -> str:
    """The consumer group of the legacy engine on the source, whose offsets say how far it has come."""
    return f"streamops-mirror-{flow.source}-{flow.target}"


def flows_into(flows: Iterable[Flow], target: str) -> list[Flow]:
    """The flows that the mirrors next to this cluster carry."""
    return [flow for flow in flows if flow.target == target and flow.enabled]


def _any(patterns: Iterable[str], name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _is_cycle(flow: Flow, topic: str) -> bool:
    """Return whether the topic came from the target; only names of the default policy tell (MirrorSourceConnector)."""
    return not flow.keeps_names and flow.target in topic.split(SEPARATOR)[:-1]


def value_complaints(key: str, value: Any) -> Iterator[str]:
    """Yield what is wrong with one value of a flow; of booleans and numbers, _mirror/reading.py judges the text."""
    if key in LISTS:
        yield from _pattern_complaints(value)
    elif key in _DICTS and not isinstance(value, Mapping):
        yield f"is a mapping of native properties, found {type(value).__name__}"
    elif key in WORDS and value not in WORDS[key]:
        yield f"is one of {', '.join(WORDS[key])}, found {value!r}"
    elif key in ("source", "target") and not _ALIAS.fullmatch(str(value)):
        yield f"is a kafka_cluster_name of letters, digits, dashes and underscores, found {value!r}"


def _pattern_complaints(value: Any) -> Iterator[str]:
    if not isinstance(value, (list, tuple)):
        yield f"is a list of regular expressions, found {value!r}"
        return
    for pattern in value:
        try:
            re.compile(str(pattern))
        except re.error as error:
            yield f"{pattern!r} is no regular expression: {error}"
        if "," in str(pattern):
            yield f"{pattern!r} has a comma, at which MirrorMaker cuts its list; write two patterns"


def problems_between(raw: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong between flows of which each is right: (where, what was found and is allowed)."""
    for number, item in enumerate(raw):
        if item["source"] == item["target"]:
            yield f"mirror_flows[{number}]", f"mirrors {item['source']} into itself; name two clusters"
    engines = Counter((item["source"], item["target"], item.get("engine") or MIRROR_MAKER_2) for item in raw)
    for (source, target, engine), times in engines.items():
        if times > 1:
            yield (
                "mirror_flows",
                f"{times} flows of engine {engine} from {source} into {target}; MirrorMaker has one for each pair: "
                "put their topics into one",
            )
    targets = {item["target"] for item in raw}
    for target in sorted(targets):
        chosen = sorted({item.get("exactly_once") or "disabled" for item in raw if item["target"] == target})
        if len(chosen) > 1:
            yield (
                "mirror_flows",
                f"flows into {target} differ in exactly_once ({', '.join(chosen)}); it is a setting of its mirrors, "
                "so say the same for all of them",
            )


PREFIX = "_streamops_tune_"
#: The topic of the source that holds the load.
LOAD = f"{PREFIX}load"
#: All of them, as Python and the option --topic of Kafka's tools read it: the load, copies, and what a mirror writes
#: into MirrorMaker's topics about a source (DefaultReplicationPolicy, MirrorMakerConfig).
PATTERN = (
    rf"{PREFIX}(load|[0-9]+[.]({PREFIX}load|checkpoints[.]internal))"
    rf"|mm2-(offsets|configs|status|offset-syncs)[.]{PREFIX}[0-9]+[.]internal"
)


def own_topics(names: Iterable[str], run: int = 0) -> list[str]:
    """Return the topics among these that a tuning made, sorted; only those of one run where its number is given."""
    mine = f"{PREFIX}{run}." if run else ""
    return sorted(name for name in names if re.fullmatch(PATTERN, name) and mine in name)
