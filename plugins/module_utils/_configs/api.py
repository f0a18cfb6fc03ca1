# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Configurations of topics, of brokers, and of all brokers by default: read and changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._client.session import Session
from .._core.bulk import parts
from .._core.errors import RequestFailedError
from .values import SOURCES, TYPES, ConfigValue, TopicConfigs, topic_configs_of

#: Kafka's resource types (ConfigResource.Type).
TOPIC, BROKER = 2, 4
#: Kafka's operations of an incremental change (AlterConfigOp.OpType).
_SET, _DELETE = 0, 1
#: Values that one answer about topics may have, and how many keys a topic has without any named (Kafka 4.3: 32).
_ENTRIES, _KEYS = 32_000, 32
#: Kafka's error UNKNOWN_TOPIC_OR_PARTITION.
_UNKNOWN_TOPIC = 3


def describe_configs(
    session: Session, kind: int, wanted: Mapping[str, Iterable[str] | None], at: int | None = None
) -> dict[str, dict[str, ConfigValue]]:
    """The values of these keys (None = all) per name: topics, broker ids, or '' for the cluster-wide default.

    C(at) asks one broker for its view of topics or of the default; without it any one.
    Topics that do not exist are left out, and so are keys that Kafka does not know.
    """
    return {
        name: {entry.name: _config_value(entry) for entry in entries}
        for name, entries in _described(session, kind, wanted, at)
    }


def topic_configs(session: Session, topics: Iterable[str], keys: Iterable[str] | None = None) -> TopicConfigs:
    """Return what these topics set of these keys (None = all), and what holds where they do not.

    Topics that do not exist are left out. One request for each 1,000 topics, or for each 32,000 keys of topics where
    keys are named: of a topic a broker tells about 32 keys in 2.5 KB, and all of an answer is in memory at once.
    """
    wanted = None if keys is None else sorted(set(keys))
    size = _ENTRIES // (len(wanted) if wanted else _KEYS)
    return topic_configs_of(
        one for part in parts(topics, size) for one in _described(session, TOPIC, dict.fromkeys(part, wanted), None)
    )


def _described(
    session: Session, kind: int, wanted: Mapping[str, Iterable[str] | None], at: int | None
) -> Iterator[tuple[str, Any]]:
    """Yield names with the entries of an answer, for describe_configs and topic_configs."""
    from kafka.protocol.admin import DescribeConfigsRequest

    for node, names in _by_node(kind, wanted).items():
        resources = [(kind, name, None if wanted[name] is None else list(wanted[name] or ())) for name in names]
        request = DescribeConfigsRequest(resources=resources, include_synonyms=True, min_version=1)
        for result in session.send("describe configs", request, at if node is None else node).results:
            if result.error_code == _UNKNOWN_TOPIC:
                continue  # Created or deleted just now: the broker asked does not know it (yet, or any more).
            name = result.resource_name
            if result.error_code:
                raise RequestFailedError("configs of", name, *session.explain("configs of", result, name))
            yield name, result.configs


def topic_values(session: Session, topics: Iterable[str], keys: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """The effective values of these keys by topic; nothing is asked without keys."""
    wanted = sorted(set(keys))
    found = describe_configs(session, TOPIC, dict.fromkeys(topics, wanted)) if wanted else {}
    return {name: {key: one.value for key, one in values.items()} for name, values in found.items()}


def alter_configs(
    session: Session, kind: int, changes: Mapping[str, Mapping[str, str | None]], validate_only: bool = False
) -> dict[str, Any]:
    """Set these keys (None = back to the default) and touch no other; per name None or (Kafka's error, why)."""
    from kafka.protocol.admin import IncrementalAlterConfigsRequest

    outcomes: dict[str, Any] = {}
    for node, names in _by_node(kind, changes).items():
        resources = [
            (kind, name, [(key, _DELETE if value is None else _SET, value) for key, value in changes[name].items()])
            for name in names
        ]
        request = IncrementalAlterConfigsRequest(resources=resources, validate_only=validate_only)
        what = "alter configs"
        if validate_only and node is None:
            answer = session.ask(what, request, lambda found: [one.error_code for one in found.responses])
        else:
            answer = session.send(what, request, node)
        for result in answer.responses:
            outcomes[result.resource_name] = session.outcome(what, result, result.resource_name)
    return outcomes


def _by_node(kind: int, names: Iterable[str]) -> dict[int | None, list[str]]:
    """Names by the broker that must be asked: each broker for itself, any one for topics and the default ('')."""
    nodes: dict[int | None, list[str]] = {}
    for name in names:
        nodes.setdefault(int(name) if kind == BROKER and name else None, []).append(name)
    return nodes


def _config_value(entry: Any) -> ConfigValue:
    return ConfigValue(
        value=entry.value,
        kind=TYPES.get(entry.config_type, "STRING"),
        source=SOURCES.get(entry.config_source, "UNKNOWN"),
        sensitive=bool(entry.is_sensitive),
        by_source={SOURCES.get(s.source, "UNKNOWN"): s.value for s in entry.synonyms or () if s.name == entry.name},
    )
