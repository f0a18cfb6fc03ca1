# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What would be lost if a broker came back with empty disks, or if another broker took its place. Pure.

A follower takes over the log of its leader, whatever it has itself. So an empty broker refills as long as another one
leads; where it leads itself, the others throw away what they have. It leads again where the controller counts on it
alone: it is the last member of the ISR, the only eligible leader (KIP-966), or, after it has registered as unclean,
the last leader that was known. So every partition needs a live leader other than the empty broker. Where there is
none, somebody who knows what is in the topic decides, by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._cluster.snapshot import STATE_TOPIC
from ...module_utils._core.names import KAFKAS_OWN, allowed_instead, capped

CONSENT = "kafka_replace_lost_topics"
#: With it somebody who is not in sync may lead. A topic whose value is not known is taken for one that has it.
UNCLEAN = "unclean.leader.election.enable"
_NAME = re.compile(r"[A-Za-z0-9._-]+\Z")
_WRITE = "write it as [orders, payments] or orders,payments, with commas between the names, each by itself"
#: What stands for nothing in YAML and Python, and is the name of a topic only inside of a list.
_NOTHING = ("null", "Null", "NULL", "None", "none", "~")
#: Topics and ranges of partitions that one message names.
_TOPICS, _RANGES = 50, 20


#: Kinds of a loss that no broker that is down can make good.
_GONE = ("only", "last", "unknown")


@dataclass(frozen=True)
class Loss:
    """A partition that cannot do without what was on the disks of a broker.

    kind -- only: the broker has its only replica; last: no other broker is in sync or eligible; elsewhere: others are,
    and they are down; unknown: nobody is known to be in sync; counted: the leader still counts the broker as in sync.
    holders -- brokers that are down and have its data.
    """

    topic: str
    index: int
    kind: str
    holders: tuple[int, ...] = ()


def losses(cluster: Mapping[str, Any], broker: int) -> list[Loss]:
    """The partitions that would lose data if this broker came back with empty disks.

    cluster -- the result of cluster_info, with partitions, and with the topics' unclean.leader.election.enable.
    """
    found = (_loss(one, broker, _alive(cluster)) for one in _partitions(cluster) if broker in one["replicas"])
    return [one for one in found if one is not None]


def consented(cluster: Mapping[str, Any], broker: int, consent: Any, outlived: bool = False) -> list[dict[str, Any]]:
    """The partitions of the topics in C(consent) whose last copy was on this broker, for an unclean election.

    One whose data is on brokers that are down is not among them: it is led again as soon as one of these is back.
    outlived -- only those with a replica on another broker that is alive: it is behind, and has what is left.
    """
    named, alive = topic_names(consent), _alive(cluster) - {broker}
    replicas = {(one["topic"], one["partition"]): alive.intersection(one["replicas"]) for one in _partitions(cluster)}
    return [
        {"topic": one.topic, "partition": one.index}
        for one in losses(cluster, broker)
        if one.topic in named and one.kind in _GONE and (replicas[one.topic, one.index] or not outlived)
    ]


def leaderless(cluster: Mapping[str, Any], broker: int) -> list[Loss]:
    """The partitions of this broker that nobody leads, so that no other broker can copy them."""
    alive = _alive(cluster)
    unled = (one for one in _partitions(cluster) if broker in one["replicas"] and one["leader"] not in alive)
    return [
        Loss(one["topic"], one["partition"], "elsewhere" if _counted(one) else "unknown", tuple(sorted(_counted(one))))
        for one in unled
    ]


def topic_names(given: Any) -> list[str]:
    """The topics of kafka_replace_lost_topics: a list, or text of -e: names with commas between them, in [] or not."""
    if given is None:
        return []
    listed = _names_in(given.strip()) if isinstance(given, str) else given
    if not isinstance(listed, (list, tuple)) or not all(isinstance(one, str) for one in listed):
        raise ValueError(f"{CONSENT} is no list of topics: {given!r}; {_WRITE}")
    names = [one.strip() for one in listed if one.strip()]
    for name in names:
        allowed = allowed_instead(name)
        if allowed:
            raise ValueError(f"{CONSENT} names {name!r}, which no topic can be called (allowed: {allowed}); {_WRITE}")
    return names


def _names_in(text: str) -> Any:
    """Return what text means: JSON, or names with commas between them, in brackets as in YAML or without."""
    if text in _NOTHING:
        return None
    if not text.startswith("["):
        return text.split(",")
    try:
        return json.loads(text)
    except ValueError:
        names = [one.strip().strip("'\"") for one in text.removeprefix("[").removesuffix("]").split(",")]
        return names if text.endswith("]") and all(_NAME.match(one) for one in names) else text


def replace_refusal(cluster: Mapping[str, Any], broker: Any, consent: Any = ()) -> str:
    """Say why this broker must not come back with empty disks; empty when nothing is lost without consent."""
    named = topic_names(consent)
    refused = [one for one in losses(cluster, int(broker)) if one.topic not in named]
    if not refused:
        return ""
    holders = sorted({holder for one in refused for holder in one.holders})
    topics = sorted({one.topic for one in refused})
    first = (
        f"start broker {', '.join(map(str, holders))} first: what it holds is in sync. Where its disk is gone too, "
        "replace it first. "
        if holders
        else ""
    )
    allowed = f" ({CONSENT} names {', '.join(named)} alone)" if named else ""
    return (
        f"broker {broker} may have the last copy of data{allowed}. With empty disks it would lead these partitions, "
        "and the others would delete what they have; or they would have no leader.\n"
        + _lines(refused, int(broker))
        + f"fix: {first}Bring back the old disk of broker {broker}, or its machine, and run site.yml: it starts with "
        "its data, and the others copy from it. A topic that is not needed can be deleted instead.\n"
        "Only when this data is gone for good, name every topic whose remaining data may be lost, as in\n"
        f"  -e '{json.dumps({CONSENT: topics[:_TOPICS]})}'\n"
        "Topics that are not named stay refused."
    )


def place_refusal(cluster: Mapping[str, Any], broker: Any, consent: Any = ()) -> str:
    """Say why no other broker can take the place of this one, for people; empty when all it has can be copied."""
    if topic_names(consent):
        return (
            f"{CONSENT} does not apply with kafka_replaced_id: a partition without a leader cannot be copied to "
            "another broker, whatever is consented to. Leave it out; it is for a broker that comes back under its own "
            "id."
        )
    refused = leaderless(cluster, int(broker))
    if not refused:
        return ""
    holders = sorted({holder for one in refused for holder in one.holders}) or [int(broker)]
    return (
        f"replicas of broker {broker} belong to partitions without a leader. No broker can copy them: a new replica "
        "would stay empty, or lead with an empty log, and what is left of the data would be lost.\n"
        + _lines(refused, int(broker))
        + f"fix: start broker {', '.join(map(str, holders))} with its disks and run the same again."
        + _when_gone(sorted({one.topic for one in refused}), holders)
    )


def _when_gone(topics: list[str], holders: list[int]) -> str:
    """Say what to do with partitions whose data is gone for good: some topics are never deleted."""
    kept = [topic for topic in topics if topic in KAFKAS_OWN or topic == STATE_TOPIC]
    advice = " When the data is gone for good,"
    if len(kept) < len(topics):
        advice += " delete " + ("the other topics" if kept else "these topics") + " and create them again."
    if not kept:
        return advice
    brokers = ", ".join(map(str, holders))
    return advice + (
        f"\n{capped(kept, _TOPICS)} {'are' if len(kept) > 1 else 'is'} never deleted: bring broker {brokers} back "
        f"with empty disks, by playbooks/replace_node.yml without kafka_replaced_id, with kafka_replace_node=its host "
        f"and\n  -e '{json.dumps({CONSENT: kept[:_TOPICS]})}'\nthen run the same again."
    )


def _alive(cluster: Mapping[str, Any]) -> set[int]:
    return {node["id"] for node in cluster["nodes"] if not node["fenced"]}


def _partitions(cluster: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """All partitions; those without a leader with who is eligible, and whether somebody else may lead at need."""
    offline = {(one["topic"], one["partition"]): one for one in cluster["offline"]}
    for topic in cluster["topics"]:
        unclean = topic.get("config", {}).get(UNCLEAN) != "false"
        for one in topic["partitions"]:
            yield {"unclean": unclean, **one, **offline.get((one["topic"], one["partition"]), {})}


def _counted(partition: Mapping[str, Any]) -> set[int]:
    """The brokers that the controller would let lead: in sync or eligible, else the last that was known."""
    members = {*partition["isr"], *(partition.get("eligible_leaders") or ())}
    return members or set(partition.get("last_known_leaders") or ())


def _loss(partition: Mapping[str, Any], broker: int, alive: set[int]) -> Loss | None:
    topic, index, counted = partition["topic"], partition["partition"], _counted(partition)
    if partition["leader"] in alive - {broker}:
        # This answer may be behind; and a broker that is in sync is elected as soon as its leader fails.
        return Loss(topic, index, "counted") if broker in partition["isr"] else None
    others = counted - {broker}
    if others:
        if broker not in counted and not partition["unclean"]:
            # It cannot lead before one of the others is back, so it deletes nothing of theirs.
            return None
        return Loss(topic, index, "elsewhere", tuple(sorted(others)))
    if not counted:
        return Loss(topic, index, "unknown")
    return Loss(topic, index, "only" if list(partition["replicas"]) == [broker] else "last")


_WORDS = {
    "only": "broker {broker} has the only replica",
    "last": "broker {broker} is the last one in sync",
    "elsewhere": "no leader; broker {holders} has the data and is down",
    "unknown": "no leader, and no replica is known to be in sync",
    "counted": "the leader still counts broker {broker} as in sync (that ends seconds after it has stopped)",
}


def _lines(found: Iterable[Loss], broker: int) -> str:
    groups: dict[tuple[str, str, tuple[int, ...]], list[int]] = {}
    for one in sorted(found, key=lambda loss: (loss.topic, loss.kind, loss.holders, loss.index)):
        groups.setdefault((one.topic, one.kind, one.holders), []).append(one.index)
    lines = [
        f"- {topic}: partition{'s' if len(indexes) > 1 else ''} {ranges(indexes)}: "
        + _WORDS[kind].format(broker=broker, holders=", ".join(map(str, holders)))
        for (topic, kind, holders), indexes in groups.items()
    ]
    more = [f"- and {len(lines) - _TOPICS} more"] if len(lines) > _TOPICS else []
    return "".join(f"{line}\n" for line in [*lines[:_TOPICS], *more])


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as people write them: 0-3, 7."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return capped(["-".join(map(str, part)) for part in parts], _RANGES)
