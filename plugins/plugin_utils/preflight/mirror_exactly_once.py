# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what a flow promises: exactly-once (KIP-618), and the legacy engine, which ends with Kafka 3.9."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import LEGACY, Flow
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    UNDEFINED,
    Inventory,
    as_bool,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import (
    VARIABLE,
    flows,
    kafka_clusters,
    mirrors_of,
    violation,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_properties import without_prefix
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.replication import PRODUCTION_RF
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

LOG_FACTOR = "transaction.state.log.replication.factor"
#: Requests under way at once that an idempotent producer keeps in order (KIP-98, KAFKA-5494).
MOST_IN_FLIGHT = 5
#: The one kafka_version of the legacy engine's class: kafka.tools.MirrorMaker is gone in 4.0 (KIP-720).
LEGACY_LINE = "3.9"


def _exact(inventory: Inventory) -> list[Flow]:
    return [flow for flow in flows(inventory) if flow.exactly_once != "disabled"]


def engine(inventory: Inventory) -> Iterator[Violation]:
    """B38: the legacy engine is at-least-once, whatever it is told."""
    for flow in _exact(inventory):
        if flow.engine == LEGACY:
            yield violation(
                inventory, "B38", [flow.target], f"the legacy engine of {flow.pair} delivers at least once only",
                f"exactly_once {flow.exactly_once}", "exactly_once disabled, or engine mirror_maker_2",
                "use MirrorMaker 2, or take exactly_once out",
            )  # fmt: skip


def clients(inventory: Inventory) -> Iterator[Violation]:
    """B38: consumer and producer of an exactly-once flow are left as they must be."""
    for flow in _exact(inventory):
        for variable, key, value in _native(inventory, flow):
            for end, good, what, allowed in CLIENT_RULES:
                if flow.engine != LEGACY and key.endswith(end) and not good(value):
                    yield violation(
                        inventory, "B38", [flow.target], f"{flow.pair} is to be exactly-once, but {what}",
                        f"{key} {value}", allowed, "take the property out, or set exactly_once to disabled",
                        variable=variable,
                    )  # fmt: skip


def _native(inventory: Inventory, flow: Flow) -> Iterator[tuple[str, str, Any]]:
    """The native properties that the clients of a flow get, without their prefix, and the variable that has them."""
    for key, value in (flow.config or {}).items():
        yield f"{VARIABLE}, config of {flow.pair}", str(key), value
    for mirror in mirrors_of(inventory, flow.target):
        given = mirror.get("mirror_maker_config", {})
        for key, value in given.items() if isinstance(given, Mapping) else ():
            plain = without_prefix(str(key), [f"{flow.pair}."])
            # What begins with a cluster's name is about its clients: records are read from one end and written to
            # the other.
            source, target = f"{flow.source}.consumer.", f"{flow.target}.producer."
            if value is not UNDEFINED and plain.startswith(
                ("consumer.", "producer.", "source.", "target.", source, target)
            ):
                yield f"mirror_maker_config['{key}']", plain, value


def _all_acks(value: Any) -> bool:
    return str(value).strip().lower() in ("all", "-1")


def _few_in_flight(value: Any) -> bool:
    return (as_int(value) or 0) <= MOST_IN_FLIGHT


def _committed(value: Any) -> bool:
    return str(value).strip().lower() != "read_uncommitted"


#: End of a property, whether its value is good, what is wrong if not, what is allowed.
CLIENT_RULES: tuple[tuple[str, Callable[[Any], bool], str, str], ...] = (
    ("consumer.isolation.level", _committed, "its consumer reads what transactions took back", "read_committed"),
    ("producer.acks", _all_acks, "its producer does not wait for all copies in sync", "all"),
    ("producer.override.acks", _all_acks, "its producer does not wait for all copies in sync", "all"),
    ("producer.enable.idempotence", as_bool, "its producer may write a record twice", "true"),
    ("producer.override.enable.idempotence", as_bool, "its producer may write a record twice", "true"),
    (
        "producer.max.in.flight.requests.per.connection", _few_in_flight,
        "its producer cannot be idempotent with so many requests under way", f"{MOST_IN_FLIGHT} or fewer",
    ),
)  # fmt: skip


def transaction_log(inventory: Inventory) -> Iterator[Violation]:
    """B38: transactions are as safe as the log of the target's coordinator: three copies."""
    known = kafka_clusters(inventory)
    targets = dict.fromkeys(flow.target for flow in _exact(inventory) if flow.engine != LEGACY)
    for cluster in (known[target] for target in targets if target in known):
        default = min(PRODUCTION_RF, len(cluster.brokers))
        given = [as_int(node.config().get(LOG_FACTOR, default)) for node in cluster.brokers]
        factor = min((one for one in given if one is not None), default=default)
        if factor < PRODUCTION_RF:
            yield violation(
                inventory, "B38", [cluster.name],
                f"exactly-once into {cluster.name} hangs on a transaction log with few copies",
                f"{LOG_FACTOR} {factor} with {len(cluster.brokers)} brokers", f"{PRODUCTION_RF} or more",
                "have three brokers and three copies (the log keeps the number that it was made with), set"
                " exactly_once to disabled, or consent by adding B38 to preflight_accept",
                variable=f"kafka_config['{LOG_FACTOR}']",
                level=ERROR if cluster.production else WARNING, policy=True,
            )  # fmt: skip


def legacy_version(inventory: Inventory) -> Iterator[Violation]:
    """B39: the class of the legacy engine is gone in Kafka 4."""
    for flow in flows(inventory):
        for mirror in mirrors_of(inventory, flow.target) if flow.engine == LEGACY else ():
            version = mirror.text("kafka_version")
            if (as_int(version.split(".")[0]) or 0) >= 4:
                yield Violation(
                    "B39", ERROR, (mirror.name,), "kafka_version",
                    f"the legacy engine of {flow.pair} is not in this Kafka any more", version,
                    f"{LEGACY_LINE} on the mirror, whatever the clusters run",
                    "set engine to mirror_maker_2, or kafka_version of the mirror to 3.9.2",
                )  # fmt: skip


def legacy_alone(inventory: Inventory) -> Iterator[Violation]:
    """B39: a mirror is one process, and one of the legacy engine carries one flow."""
    carried = flows(inventory)
    for target in dict.fromkeys(flow.target for flow in carried if flow.engine == LEGACY):
        listed = [f"{flow.pair} ({flow.engine})" for flow in carried if flow.target == target]
        if len(listed) > 1:
            yield violation(
                inventory, "B39", [target], f"the mirrors next to {target} would carry more than the legacy engine can",
                ", ".join(listed), f"one flow into {target}, where its engine is {LEGACY}",
                "set engine to mirror_maker_2 for all of them, or enabled to false for all but one",
            )  # fmt: skip


RULES = (engine, clients, transaction_log, legacy_version, legacy_alone)
