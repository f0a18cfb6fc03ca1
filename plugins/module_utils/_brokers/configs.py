# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Live broker configurations, the deciding half: what brokers show and what is wanted become the keys to set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._configs.value_bounds import bound_broken
from .._configs.values import ConfigValue, same_value
from .._core.diff import Change
from .._core.properties import PropertiesError, config_text

#: The name of the cluster-wide default in Kafka's protocol: the broker entity without an id.
DEFAULT = ""

#: Keys that brokers show only while they are set (Kafka's QuotaConfig.brokerQuotaConfigs, the same in 3.9 and 4.3): a
#: number of bytes per second, without limit where none is set.
LISTED_WHEN_SET = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
_UNSET = ConfigValue(None, "LONG")

#: By entity (a broker id as text, or DEFAULT): the keys to set; None takes the dynamic value away.
Desired = Mapping[str, Mapping[str, "str | None"]]


@dataclass(frozen=True)
class BrokerPlan:
    """The keys to set by entity, what that changes, or C(violations), in which case nothing may be changed.

    C(hidden) are sentences about brokers whose own dynamic value hides the cluster-wide default that is wanted, and
    C(slow) about values to be set that make the cluster slower or less safe.
    """

    settings: dict[str, dict[str, str | None]] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    violations: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()


def parse_desired(
    brokers: Mapping[Any, Any], default: Mapping[str, Any]
) -> tuple[dict[str, dict[str, str | None]], list[str]]:
    """Return what the parameters C(brokers) and C(default) ask for, and what cannot be understood in them."""
    desired: dict[str, dict[str, str | None]] = {}
    violations = []
    for entity, config in [*((str(broker), config) for broker, config in brokers.items()), (DEFAULT, default)]:
        if entity != DEFAULT and not entity.isdigit():
            violations.append(f"brokers: {entity!r} is not a broker id; a whole number is needed.")
            continue
        if not isinstance(config, Mapping):
            violations.append(f"{label(entity)}: {config!r} found; a dictionary of keys and values is needed.")
            continue
        for key, value in config.items():
            try:
                desired.setdefault(entity, {})[str(key)] = config_text(str(key), value)
            except PropertiesError as error:
                violations.append(f"{label(entity)}: {error}.")
    return desired, violations


def label(entity: str) -> str:
    """Name an entity for messages and diffs."""
    return "cluster default" if entity == DEFAULT else f"broker {entity}"


def plan_broker_configs(
    shown: Mapping[str, Mapping[str, ConfigValue]], desired: Desired, fenced: tuple[int, ...] = ()
) -> BrokerPlan:
    """Compare what each live broker shows (by its id as text) with what is desired."""
    shown = {broker: {**dict.fromkeys(LISTED_WHEN_SET, _UNSET), **view} for broker, view in shown.items()}
    violations = list(_violations(shown, desired, fenced))
    settings: dict[str, dict[str, str | None]] = {}
    changes = []
    hidden: list[str] = []
    for entity, config in desired.items():
        if entity != DEFAULT and entity not in shown:
            continue
        views = shown if entity == DEFAULT else {entity: shown[entity]}
        needed = {
            key: value
            for key, value in config.items()
            if any(not _is_set(entity, view.get(key), value, desired, key) for view in views.values())
        }
        if entity == DEFAULT:
            hidden += _hidden(shown, config)
        if needed:
            settings[entity] = needed
            before = {key: _before(views, key, entity == DEFAULT) for key in needed}
            after = {key: "(no dynamic value)" if value is None else value for key, value in needed.items()}
            changes.append(Change(label(entity), before, after))
    stops, slow = _beyond_bounds(settings)
    return BrokerPlan(settings, tuple(changes), (*violations, *stops), tuple(hidden), slow)


def _beyond_bounds(settings: Desired) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which values to be set a cluster cannot live with, and which make it slower or less safe, in sentences.

    What is set already is not judged: nothing is done about it, and to take it away must stay possible.
    """
    stops: list[str] = []
    slow: list[str] = []
    for entity, config in settings.items():
        for key, value in config.items():
            bound = bound_broken(key, value)
            if bound is not None:
                (stops if bound.stops else slow).append(
                    f"{label(entity)}: {key} is {value}, allowed: {bound.allowed}; beyond it {bound.why} "
                    f"({bound.source}). Correct the value, or set it to null to take it away."
                )
    return tuple(stops), tuple(slow)


def _is_set(entity: str, now: ConfigValue | None, wanted: str | None, desired: Desired, key: str) -> bool:
    """Return whether one broker shows what is wanted, and still will when the cluster default is as wanted."""
    if now is None:
        return False
    if wanted is None:
        return ("DYNAMIC_DEFAULT_BROKER" if entity == DEFAULT else "DYNAMIC_BROKER") not in now.by_source
    if entity == DEFAULT:
        return same_value(now.kind, _below_broker(now), wanted)
    default = desired.get(DEFAULT, {})
    if key in default and "DYNAMIC_BROKER" not in now.by_source:
        later = _below_default(now) if default[key] is None else default[key]
        return same_value(now.kind, later, wanted)
    return same_value(now.kind, now.value, wanted)


def _below_broker(now: ConfigValue) -> str | None:
    """The value that holds where a broker has no dynamic value of its own."""
    if "DYNAMIC_DEFAULT_BROKER" in now.by_source:
        return now.by_source["DYNAMIC_DEFAULT_BROKER"]
    return _below_default(now)


def _below_default(now: ConfigValue) -> str | None:
    """The value that holds without any dynamic one: that of server.properties, else Kafka's own default."""
    return now.by_source.get("STATIC_BROKER", now.by_source.get("DEFAULT"))


def _before(views: Mapping[str, Mapping[str, ConfigValue]], key: str, default: bool) -> str:
    shown = [view[key] for view in views.values() if key in view]
    values = {_below_broker(now) if default else now.value for now in shown}
    return ", ".join(sorted("(not set)" if value is None else value for value in values)) or "(unknown)"


def _violations(
    shown: Mapping[str, Mapping[str, ConfigValue]], desired: Desired, fenced: tuple[int, ...]
) -> Iterator[str]:
    for entity, config in desired.items():
        if entity != DEFAULT and entity not in shown:
            live = ", ".join(sorted(shown)) or "none"
            down = " It is registered but down: start it first." if int(entity) in fenced else ""
            yield f"{label(entity)}: not a live broker of this cluster; live are {live}.{down}"
            continue
        views = list(shown.values()) if entity == DEFAULT else [shown[entity]]
        for key in config:
            if any(view[key].sensitive for view in views if key in view):
                yield (
                    f"{label(entity)}: {key} is a secret, which Kafka never shows, so it cannot be compared. "
                    "Put it into the node's server.properties; a restart applies it."
                )
            elif not any(key in view for view in views):
                yield f"{label(entity)}: Kafka has no key {key}. Correct its name."


def _hidden(shown: Mapping[str, Mapping[str, ConfigValue]], config: Mapping[str, str | None]) -> Iterator[str]:
    for broker, view in shown.items():
        for key, wanted in config.items():
            own = view[key].by_source.get("DYNAMIC_BROKER") if key in view else None
            if own is not None and wanted is not None and not same_value(view[key].kind, own, wanted):
                yield (
                    f"broker {broker}: {key} has the dynamic value {own} of its own, which hides the cluster default "
                    f"{wanted}. Set it to null under brokers to take it away."
                )
