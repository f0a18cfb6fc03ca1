# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a cluster holds as the lists that the modules topics, users, acls and quotas take.

Each entry is one of which its module would change nothing. What no entry can say is told as a sentence; the modules
leave alone what their lists do not name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Union

from .._acls.entries import CLUSTER_NAME, Binding, parse_entry
from .._acls.hosts import ANYWHERE
from .._cluster.snapshot import Partition
from .._configs.values import ConfigValue, TopicValue
from .._core.names import KAFKAS_OWN
from .._quotas.plan import DEFAULT, KEYS, KINDS, Entity, Quotas, as_kafka_takes_it, label, parse_specs, plan_quotas
from .._users.plan import Credentials

#: What an entry of a list has by name.
Entry = dict[str, Union[str, int, float, list[str], dict[str, str]]]
#: Topics that this collection keeps for itself begin so.
_OURS = "_streamops_"
#: What a move sets at a topic while it is under way (KIP-73), and takes away at its end.
_OF_MOVES = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
#: By the option of an entry its kind of entity, the other way round.
_OPTIONS = {kind: option for option, kind in KINDS.items()}


class Listed(NamedTuple):
    """A list of entries, and sentences on what they leave out."""

    entries: list[Entry]
    left: list[str]


def listed_topics(
    topics: Mapping[str, Sequence[Partition]],
    own: Mapping[str, Mapping[str, TopicValue]],
    moving: Union[Collection[str], None] = (),
) -> Listed:
    """Return the topics but those that Kafka and this collection keep for themselves.

    own -- by topic what it sets itself; moving -- topics of which a replica is moved now, which has more of them; None
    where that is not known
    """
    entries: list[Entry] = []
    left: list[str] = []
    if moving is None:
        left.append("which topics are moved now is not known, so the replication_factor of each is left out")
    for name in sorted(set(topics) - KAFKAS_OWN):
        if name.startswith(_OURS):
            continue
        counts = {len(partition.replicas) for partition in topics[name]}
        entry: Entry = {"name": name, "partitions": len(topics[name])}
        if moving is not None and name in moving:
            left.append(f"topic {name} is moved now, so its replication_factor is left out")
        elif len(counts) > 1:
            numbers = ", ".join(str(count) for count in sorted(counts))
            left.append(
                f"the partitions of topic {name} have {numbers} replicas, so its replication_factor is left out"
            )
        elif moving is not None:
            entry["replication_factor"] = next(iter(counts), 1)
        config = {key: setting.value for key, setting in sorted(own.get(name, {}).items()) if key not in _OF_MOVES}
        if said := {key: value for key, value in config.items() if value is not None}:
            entry["config"] = said
        left += [f"topic {name}: {key} is a secret, and stays as it is" for key in config if key not in said]
        entries.append(entry)
    return Listed(entries, left)


def listed_users(credentials: Credentials) -> Listed:
    """Return the credentials, each without its password: Kafka keeps none, and shows no hash."""
    return Listed(
        [
            {"name": user, "mechanism": mechanism, "iterations": iterations}
            for user, by_mechanism in sorted(credentials.items())
            for mechanism, iterations in sorted(by_mechanism.items())
        ],
        [],
    )


def listed_acls(bindings: Collection[Binding]) -> Listed:
    """Return the bindings, those of one principal on one resource as one entry."""
    together: dict[Binding, list[str]] = defaultdict(list)
    left: list[str] = []
    for binding in sorted(bindings):
        parsed, wrong = parse_entry(_acl(binding, [binding.operation]))
        if wrong or [again.meaning for again in parsed] != [binding.meaning]:
            why = "; ".join(wrong) or "kafka_acls would write its host otherwise"
            left.append(f"acl {binding} stays as it is: {why}")
        else:
            together[binding._replace(operation="")].append(binding.operation)
    return Listed([_acl(binding, operations) for binding, operations in together.items()], left)


def _acl(binding: Binding, operations: list[str]) -> Entry:
    """Return an entry without what holds anyway."""
    entry: Entry = {"principal": binding.principal, "operations": operations}
    if binding.permission != "allow":
        entry["permission"] = binding.permission
    entry["resource_type"] = binding.resource_type
    if (binding.resource_type, binding.resource) != ("cluster", CLUSTER_NAME):
        entry["resource"] = binding.resource
    if binding.pattern_type != "literal":
        entry["pattern_type"] = binding.pattern_type
    if binding.host != ANYWHERE:
        entry["host"] = binding.host
    return entry


def listed_quotas(quotas: Quotas) -> Listed:
    """Return the limits of each user, client and address."""
    spellings: dict[Entity, list[Entity]] = defaultdict(list)
    for entity in quotas:
        spellings[as_kafka_takes_it(entity)].append(entity)
    entries: list[Entry] = []
    left: list[str] = []
    for entity, limits in sorted(quotas.items(), key=lambda quota: label(quota[0])):
        entry = _quota(entity, limits)
        if why := ", ".join(_not_said(entity, limits, entry, len(spellings[as_kafka_takes_it(entity)]))):
            left.append(f"quota {label(entity)} stays as it is: {why}")
        else:
            entries.append(entry)
    return Listed(entries, left)


def _quota(entity: Entity, limits: Mapping[str, float]) -> Entry:
    entry: Entry = {_OPTIONS.get(kind, kind): DEFAULT if name is None else name for kind, name in entity}
    for key in KEYS:
        if key in limits:
            value = limits[key]
            entry[key] = int(value) if float(value).is_integer() else value
    return entry


def _not_said(entity: Entity, limits: Mapping[str, float], entry: Entry, spellings: int) -> Iterator[str]:
    """Yield why an entry would not keep these limits."""
    specs, wrong = parse_specs([entry])
    yield from wrong
    if not wrong and specs[0].entity != as_kafka_takes_it(entity):
        yield "its name means something else in kafka_quotas"
    if not wrong and plan_quotas({entity: limits}, specs).alterations:
        yield "kafka_quotas would set other limits"
    if spellings > 1:
        yield "its address is there in several spellings"
    yield from (f"{key} is a limit that kafka_quotas does not know" for key in limits if key not in KEYS)


@dataclass(frozen=True)
class Settings:
    """The settings of a broker, or of all by default.

    effective -- what holds, None for what is empty; secrets are left out. live -- what was set in the cluster itself,
    None for a secret; it wins over the file of the node.
    """

    effective: Mapping[str, Union[str, None]]
    live: Mapping[str, Union[str, None]]

    def result(self) -> dict[str, dict[str, Union[str, None]]]:
        """Return it as a module does."""
        return {"effective": dict(self.effective), "live": dict(self.live)}


def settings_of(values: Mapping[str, ConfigValue]) -> Settings:
    """Return the settings of a broker, by what it told of itself."""
    return Settings(_plain(values), _set_in(values, "DYNAMIC_BROKER"))


def settings_of_all(values: Mapping[str, ConfigValue], of_any: Mapping[str, ConfigValue]) -> Settings:
    """Return the settings of all brokers by default.

    values -- what is set for all; of_any -- what a broker told of itself: behind its own values it names those that
    hold without them.
    """
    effective = {
        key: value.by_source.get("DYNAMIC_DEFAULT_BROKER", value.by_source.get("DEFAULT"))
        for key, value in sorted(of_any.items())
        if not value.sensitive
    }
    return Settings(effective, _set_in(values, "DYNAMIC_DEFAULT_BROKER"))


def _plain(values: Mapping[str, ConfigValue]) -> dict[str, Union[str, None]]:
    return {key: value.value for key, value in sorted(values.items()) if not value.sensitive}


def _set_in(values: Mapping[str, ConfigValue], source: str) -> dict[str, Union[str, None]]:
    return {
        key: None if value.sensitive else value.by_source.get(source, value.value)
        for key, value in sorted(values.items())
        if source in value.by_source or value.source == source
    }
