# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge whether a broker that somebody else started before runs with the properties that it had then."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass

from .._configs.dynamic import CLUSTER_LEVEL
from .._configs.values import ConfigValue, same_value
from .._core.compared import same
from .._core.errors import StreamopsError
from .._core.properties import is_secret

#: Kafka gives the one that is not set the value of the other (KafkaConfig.populateSynonyms).
_OF_ID = ("broker.id", "node.id")


@dataclass(frozen=True)
class Held:
    """A property that a broker holds.

    value -- None for a secret, and for what is not set and has no default; kind -- Kafka's type; is_set -- whether
    anything but Kafka's own default says it; is_secret -- nothing tells its value, which is never shown. Kafka takes
    each property that it does not know for a secret (KafkaConfig.maybeSensitive).
    """

    value: str | None = None
    kind: str = "STRING"
    is_set: bool = False
    is_secret: bool = False

    def is_same(self, name: str, other: Held) -> bool:
        """Tell whether both mean the same; of a secret no more is known than whether it is set."""
        if self.is_secret or other.is_secret:
            return self.is_set == other.is_set
        return same(name, self.value, other.value) or same_value(self.kind, self.value, other.value)

    def shown(self, hides: bool) -> str:
        """Return the value for people; hides -- it is that of a secret."""
        if hides:
            return "(secret)" if self.is_set else "(not set)"
        return "(not set)" if self.value is None else self.value or "(empty)"


@dataclass(frozen=True)
class Compared:
    """What became of the properties of a broker.

    identical -- how many it holds as before; secrets -- how many of these are secrets, of which no more is known than
    that they are set as before; planned -- those that differ and were to; others -- by name what differs and was not
    to, for people.
    """

    identical: int
    secrets: int
    planned: tuple[str, ...]
    others: Mapping[str, str]


class PropertiesDifferError(StreamopsError):
    """A broker holds properties otherwise than before, and nobody planned that."""


def held(values: Mapping[str, ConfigValue]) -> dict[str, Held]:
    """Return what a broker holds, by what it told."""
    return dict(_held(values, lasting=False))


def held_for_good(values: Mapping[str, ConfigValue]) -> dict[str, Held]:
    """Return what a broker holds once nothing is set live for it that its file says too.

    Such a live setting goes away with the first run of ours (live_properties of restart_reasons).
    """
    return dict(_held(values, lasting=True))


def _held(values: Mapping[str, ConfigValue], lasting: bool) -> Iterator[tuple[str, Held]]:
    for name, value in sorted(values.items()):
        hides = value.sensitive or is_secret(name)
        shown = _lasting(name, value) if lasting else value.value
        yield name, Held(None if hides else shown, value.kind, value.source != "DEFAULT", hides)


def _lasting(name: str, value: ConfigValue) -> str | None:
    by_source = value.by_source
    if name in CLUSTER_LEVEL or "DYNAMIC_BROKER" not in by_source or "STATIC_BROKER" not in by_source:
        return value.value
    return by_source.get("DYNAMIC_DEFAULT_BROKER", by_source["STATIC_BROKER"])


def plain(properties: Mapping[str, Held]) -> dict[str, dict[str, object]]:
    """Return properties as a result has them."""
    return {name: asdict(holds) for name, holds in properties.items()}


def of_plain(properties: Mapping[str, Mapping[str, object]]) -> dict[str, Held]:
    """Return the properties of a result."""
    return {
        name: Held(
            value=None if holds.get("value") is None else str(holds["value"]),
            kind=str(holds.get("kind", "STRING")),
            is_set=bool(holds.get("is_set")),
            is_secret=bool(holds.get("is_secret")),
        )
        for name, holds in properties.items()
    }


def compared(before: Mapping[str, Held], after: Mapping[str, Held], planned: Collection[str]) -> Compared:
    """Compare what a broker held with what it holds. planned -- names of properties that were to change.

    Some properties are told only where they are set, so one that is not told is not set.
    """
    wanted = {*planned, *(_OF_ID if any(name in planned for name in _OF_ID) else ())}
    both = {name: (before.get(name, Held()), after.get(name, Held())) for name in sorted({*before, *after})}
    alike = {name for name, (had, has) in both.items() if had.is_same(name, has)}
    hidden = {name for name, (had, has) in both.items() if had.is_secret or has.is_secret}
    return Compared(
        identical=len(alike),
        secrets=sum(both[name][1].is_set for name in alike & hidden),
        planned=tuple(name for name in both if name not in alike and name in wanted),
        others={
            name: f"{had.shown(name in hidden)} -> {has.shown(name in hidden)}"
            for name, (had, has) in both.items()
            if name not in alike and name not in wanted
        },
    )


def line(broker: int, result: Compared) -> str:
    """Say in a line how a broker came through."""
    secrets = f" ({result.secrets} secrets among them, of which only that they are set is known)"
    names = f" ({', '.join(result.planned)})" if result.planned else ""
    return (
        f"broker {broker}: {result.identical} properties identical{secrets if result.secrets else ''}, "
        f"{len(result.planned)} differ as planned{names}"
    )


def refuse_others(broker: int, result: Compared) -> None:
    """Raise PropertiesDifferError where something differs that was not to."""
    if not result.others:
        return
    listed = "".join(f"\n- {name}: {change}" for name, change in result.others.items())
    raise PropertiesDifferError(
        f"broker {broker} does not run with the properties that it had before, and the plan did not say so:{listed}\n"
        "This comparison changed nothing. fix: let the inventory say what the broker had; change it after the "
        "take-over.",
        broker=broker,
        others=dict(result.others),
    )
