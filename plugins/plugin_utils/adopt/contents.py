# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a cluster that others installed says of itself, as variables of its inventory; what these leave out is named.

Modules leave alone what their lists do not name. What was set live for a broker is another matter: once its file has
such a property, a run takes the live one away (restart_reasons.live_properties), so the inventory has to say it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from ...module_utils._configs.dynamic import CLUSTER_LEVEL, is_dynamic
from ...module_utils._core.names import capped
from ..findings import NOTE, REFUSE, Finding
from ..guards.foreign import ForeignNode, Process
from .clusters import ForeignCluster
from .inventory import Source, plain_value
from .written import Value

#: The name of what is set for all brokers (resources_info).
_ALL = "default"
_WHERE = "group_vars/all/resources.yml"
#: Sentences that a screen shows; the file has all.
_SHOWN = 5
_RIGHTS = "give kafka_admin_user the right to describe it"
_LISTS = ("topics", "users", "acls", "quotas")


class Settings(TypedDict):
    """Settings as resources_info returns them."""

    effective: Mapping[str, str | None]
    live: Mapping[str, str | None]


@dataclass(frozen=True)
class Contents:
    """What a cluster told of what it holds.

    more -- variables; kept -- lines about what these do not name; settings -- by the id of a broker, and of all by
    default.
    """

    more: Mapping[str, Value] = field(default_factory=dict)
    kept: Sequence[str] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)
    findings: Sequence[Finding] = ()


def contents(
    cluster: ForeignCluster, told: Process | None, topic_keys: Mapping[str, Collection[str]] | None = None
) -> Contents:
    """Return what resources_info told of a cluster; None where it was not asked.

    topic_keys -- by release what Kafka knows of topics: it keeps what an older one knew, and takes it no more
    """
    if told is None or told.get("failed"):
        why = "was not asked" if told is None else str(told.get("msg") or "did not answer").rstrip(". ")
        return Contents(findings=[_unknown(cluster.title, f" ({why})")])
    known = (topic_keys or {}).get(cluster.releases)
    left = [*told["left"], *_forgotten(told["topics"], known)]
    more: dict[str, Value] = {
        "kafka_topics": [_topic(entry, known) for entry in told["topics"]],
        "kafka_users": [],
        "kafka_acls": told["acls"],
        "kafka_quotas": told["quotas"],
    }
    users = [
        f"user {entry['name']} is kept with its password, which nothing tells ({entry['mechanism']}, "
        f"{entry['iterations']} iterations): name it in kafka_users only to set another one"
        for entry in told["users"]
    ]
    return Contents(more, [*users, *left], told["settings"], list(_findings(cluster, told, users, left)))


def _topic(entry: Mapping[str, Value], known: Collection[str] | None) -> Value:
    """Return an entry of kafka_topics with values as people write them."""
    config = {key: plain_value(value) for key, value in _config(entry) if known is None or key in known}
    rest = {key: value for key, value in entry.items() if key != "config"}
    return {**rest, "config": config} if config else rest


def _config(entry: Mapping[str, Value]) -> list[tuple[str, str]]:
    config = entry.get("config")
    return [(key, str(value)) for key, value in config.items()] if isinstance(config, Mapping) else []


def _forgotten(topics: Sequence[Mapping[str, Value]], known: Collection[str] | None) -> Iterator[str]:
    """Yield which settings of topics their release does not know."""
    for entry in topics if known is not None else ():
        for key, _value in _config(entry):
            if known is not None and key not in known:
                yield f"topic {entry['name']}: this release of Kafka does not know {key}, which stays as it is"


def _findings(cluster: ForeignCluster, told: Process, users: Sequence[str], left: Sequence[str]) -> Iterator[Finding]:
    for what in _LISTS:
        if what in told["unread"]:
            yield Finding(NOTE, f"{cluster.title}: its {what} are not written: {told['unread'][what]}", _RIGHTS)
    if "moves" in told["unread"]:
        yield Finding(
            NOTE, f"{cluster.title}: which topics are moved now cannot be read: {told['unread']['moves']}", _RIGHTS
        )
    if "settings" in told["unread"]:
        yield _unknown(cluster.title, f" ({told['unread']['settings']})")
    else:
        yield from _live_findings(cluster, told["settings"])
    if users:
        what = f"{cluster.title}: the passwords of its SCRAM users ({len(users)}) cannot be read"
        yield Finding(NOTE, f"{what}, so kafka_users is empty; they stay as they are, and {_WHERE} names them")
    yield from (Finding(NOTE, sentence) for sentence in left[:_SHOWN])
    if left[_SHOWN:]:
        yield Finding(NOTE, f"{len(left) - _SHOWN} more are left as they are; {_WHERE} names them")


def _unknown(whose: str, why: str) -> Finding:
    what = f"what was set live for the brokers of {whose} is not known{why}, and a take-over would take it away"
    return Finding(REFUSE, what, "let the control node ask the cluster, with the right to describe configurations")


def _live_findings(cluster: ForeignCluster, settings: Mapping[str, Settings]) -> Iterator[Finding]:
    """Tell what was set live that no file takes the place of, and brokers that did not tell."""
    for node in cluster.nodes:
        if "broker" in node.roles and str(node.node_id) not in settings:
            yield _unknown(node.title, "")
    of_all = settings.get(_ALL, Settings(effective={}, live={}))["live"]
    for name, told in sorted(settings.items()):
        for key, value in told["live"].items():
            if _lives_in_file(key) and of_all.get(key, value) != value:
                # Without its own the broker would take that of all, which wins over its file.
                what = f"{cluster.title}: {key} is set live for broker {name} ({value}) and for all ({of_all[key]})"
                fix = "take that for all away with the module broker_configs (null), and set it for each broker"
                yield Finding(REFUSE, f"{what}, and a take-over would take the former away", fix)
        whose = "all brokers" if name == _ALL else f"broker {name}"
        stays = [key for key in told["live"] if (key not in CLUSTER_LEVEL if name == _ALL else not _lives_in_file(key))]
        if stays:
            what = f"{cluster.title}: {capped(stays)} set live for {whose} stays there, and wins over any file"
            yield Finding(NOTE, what, "to change it, take it away with the module broker_configs first (null)")


def _lives_in_file(key: str) -> bool:
    """Tell whether a run takes what was set live for a broker away, once the file of the broker has it."""
    return is_dynamic(key) and key not in CLUSTER_LEVEL


def source_of(
    node: ForeignNode, connection: Mapping[str, Value], canonical: str, settings: Mapping[str, Settings]
) -> Source:
    """Return a node with what its cluster tells of it; a controller that is no broker has what holds without a file."""
    of_all = settings.get(_ALL, Settings(effective={}, live={}))
    if "broker" not in node.roles:
        effective = of_all["effective"] if "controller" in node.roles else {}
        return Source(node, connection, canonical, effective)
    own = settings.get(str(node.node_id), of_all)
    live = {
        **{key: value for key, value in of_all["live"].items() if is_dynamic(key)},
        **{key: value for key, value in own["live"].items() if _lives_in_file(key)},
    }
    told = {key: value for key, value in live.items() if value is not None}
    return Source(node, connection, canonical, own["effective"], told)
