# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what a flow promises: exactly-once (KIP-618), and the legacy engine, which ends with Kafka 3.9."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....module_utils._mirror.flows import LEGACY, Flow
from ....module_utils._release.releases import LEGACY_MIRROR, like, newest_that_runs
from ...inventory.model import Inventory
from ...inventory.variables import as_bool, as_int
from ..mirror_flows import VARIABLE, flows, kafka_clusters, mirrors_of, where
from ..rule import BY_PROFILE, Problem, rule
from .mirror_properties import without_prefix
from .replication import PRODUCTION_RF

LOG_FACTOR = "transaction.state.log.replication.factor"
#: Requests under way at once that an idempotent producer keeps in order (KIP-98, KAFKA-5494).
MOST_IN_FLIGHT = 5


def _exact(inventory: Inventory) -> list[Flow]:
    return [flow for flow in flows(inventory) if flow.exactly_once != "disabled"]


@rule(variable=VARIABLE, fix="use MirrorMaker 2, or remove exactly_once")
def exactly_once_with_legacy_engine(inventory: Inventory) -> Iterator[Problem]:
    """A flow is to be exactly-once, but its engine is legacy, which delivers at least once."""
    for flow in _exact(inventory):
        if flow.engine == LEGACY:
            what = f"the legacy engine of {flow.pair} delivers at least once only"
            yield Problem(where(inventory, flow.target), what, f"exactly_once {flow.exactly_once}")


@rule(fix="remove the property, or set exactly_once to disabled")
def exactly_once_clients(inventory: Inventory) -> Iterator[Problem]:
    """A property of an exactly-once flow breaks it: a consumer with `read_uncommitted`, or a producer without
    `acks=all` and idempotence."""
    for flow in _exact(inventory):
        for variable, key, value in _native(inventory, flow):
            for end, good, what, allowed in CLIENT_RULES:
                if flow.engine != LEGACY and key.endswith(end) and not good(value):
                    text = f"{flow.pair} is exactly-once, but {what}"
                    yield Problem(where(inventory, flow.target), text, f"{key} {value}", allowed, variable=variable)


def _native(inventory: Inventory, flow: Flow) -> Iterator[tuple[str, str, Any]]:
    """The native properties that the clients of a flow get, without their prefix, and the variable that has them."""
    for key, value in (flow.config or {}).items():
        yield f"{VARIABLE}, config of {flow.pair}", str(key), value
    for mirror in mirrors_of(inventory, flow.target):
        for one in mirror.written():
            plain = without_prefix(one.key, [f"{flow.pair}."])
            # What begins with a cluster's name is about its clients: records are read from one end and written to
            # the other.
            source, target = f"{flow.source}.consumer.", f"{flow.target}.producer."
            if plain.startswith(("consumer.", "producer.", "source.", "target.", source, target)):
                yield one.variable, plain, one.value


def _all_acks(value: Any) -> bool:
    return str(value).strip().lower() in ("all", "-1")


def _few_in_flight(value: Any) -> bool:
    return (as_int(value) or 0) <= MOST_IN_FLIGHT


def _committed(value: Any) -> bool:
    return str(value).strip().lower() != "read_uncommitted"


#: End of a property, whether its value is good, what is wrong if not, what is allowed.
CLIENT_RULES: tuple[tuple[str, Callable[[Any], bool], str, str], ...] = (
    ("consumer.isolation.level", _committed, "its consumer reads records of aborted transactions", "read_committed"),
    *(
        rule
        for producer in ("producer.", "producer.override.")
        for rule in (
            (f"{producer}acks", _all_acks, "its producer does not wait for all copies in sync", "all"),
            (f"{producer}enable.idempotence", as_bool, "its producer may write a record twice", "true"),
        )
    ),
    (
        "producer.max.in.flight.requests.per.connection",
        _few_in_flight,
        "its producer cannot be idempotent with so many requests under way",
        f"{MOST_IN_FLIGHT} or fewer",
    ),
)


@rule(
    variable=f"kafka_config['{LOG_FACTOR}']",
    allowed=f"{PRODUCTION_RF} or more",
    fix="use three brokers and three copies (the log keeps the number that it was made with), or set exactly_once to"
    " disabled",
    level=BY_PROFILE,
    acceptable=True,
)
def few_transaction_log_replicas(inventory: Inventory) -> Iterator[Problem]:
    """The target of an exactly-once flow keeps its transaction log in fewer than 3 copies."""
    known = kafka_clusters(inventory)
    targets = dict.fromkeys(flow.target for flow in _exact(inventory) if flow.engine != LEGACY)
    for cluster in (known[target] for target in targets if target in known):
        given = [cluster.properties(node)[LOG_FACTOR] for node in cluster.brokers]
        factors = [(factor, one) for one in given if (factor := as_int(one.value)) is not None]
        for factor, one in sorted(factors, key=lambda pair: pair[0])[:1]:
            if factor < PRODUCTION_RF:
                what = f"exactly-once into {cluster.name} depends on a transaction log with few copies"
                found = f"{LOG_FACTOR} {factor} with {len(cluster.brokers)} brokers"
                variable = one.variable if one.origin else None
                yield Problem(where(inventory, cluster.name), what, found, variable=variable)


@rule(
    variable="kafka_version",
    fix=f"set engine to mirror_maker_2, or kafka_version of the mirror to {newest_that_runs(LEGACY_MIRROR).version}",
)
def legacy_engine_version(inventory: Inventory) -> Iterator[Problem]:
    """The legacy engine runs on a mirror of Kafka 4, which no longer has it."""
    for flow in flows(inventory):
        for mirror in mirrors_of(inventory, flow.target) if flow.engine == LEGACY else ():
            version = mirror.text("kafka_version")
            known = like(version)
            if known and LEGACY_MIRROR not in known.runs:
                yield Problem(mirror, f"this Kafka version no longer has the legacy engine of {flow.pair}", version)


@rule(
    variable=VARIABLE,
    fix="set engine to mirror_maker_2 for all of them, or enabled to false for all but one",
)
def legacy_engine_shared(inventory: Inventory) -> Iterator[Problem]:
    """A flow with the legacy engine shares its target with another flow; one process of it carries one flow."""
    carried = flows(inventory)
    for target in dict.fromkeys(flow.target for flow in carried if flow.engine == LEGACY):
        listed = [f"{flow.pair} ({flow.engine})" for flow in carried if flow.target == target]
        if len(listed) > 1:
            yield Problem(
                where(inventory, target),
                f"the mirrors next to {target} would carry more than the legacy engine can",
                found=", ".join(listed),
                allowed=f"one flow into {target}, where its engine is {LEGACY}",
            )
