# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics, the doing half: reads the cluster, has it judge the plan before anything changes, applies it and waits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .._client.connection import denied
from .._client.session import Session
from .._client.settle import PAUSE, wait_until_none
from .._cluster.api import cordoned_brokers, hidden_topics, list_brokers, list_topics, live_brokers, topics_at
from .._cluster.snapshot import effective_min_isr
from .._configs.api import TOPIC, alter_configs, describe_configs
from .._configs.judge import judge_configs
from .._core.applied import Applied
from .._core.bulk import batches, failures, refused
from .._core.diff import diff_of
from .._core.errors import RefusedError, StreamopsError, warn
from .._core.names import capped
from .api import TopicSpec, create_topics, delete_topics, grow_topics
from .desired import CLEANUP_POLICY, DesiredTopic, TopicState, grows, parse_specs
from .plan import (
    CONFIGURED,
    CREATED,
    DELETED,
    GROWN,
    Asked,
    Brokers,
    Plan,
    Step,
    TopicPlan,
    changes_of,
    growth_requests,
    plan_topic,
    plan_topics,
    records,
)

if TYPE_CHECKING:
    from .._cluster.snapshot import Partition
    from .placement import Replicas

#: Topics that one warning names.
_NAMED = 10
#: Answers that say that the broker asked is behind: the topic was created or deleted a moment ago.
_BEHIND = {"TOPIC_ALREADY_EXISTS", "UNKNOWN_TOPIC_OR_PARTITION"}


def ensure_topics(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Make the topics what the parameters say, wait until every broker knows; return the module's result."""
    timeout = params["timeout"]
    specs, misunderstood = parse_specs(params["topics"])
    plan = _decide(session, specs, misunderstood, params, timeout)
    if plan.topics and not check:
        applied = Applied[Step]("topic", " ".join)
        settle = partial(_wait, plans=plan.topics, timeout=timeout)
        with applied.truthful(lambda done: changes_of(plan.topics, done), diff, _named, settle):
            _apply(session, plan.topics, applied)
            settle(session)
    result: dict[str, Any] = {
        "changed": bool(plan.topics),
        "created": [topic.spec.name for topic in plan.topics if topic.creates],
        "grown": [topic.spec.name for topic in plan.topics if topic.growth and not topic.creates],
        "configured": [topic.spec.name for topic in plan.topics if topic.config and not topic.creates],
        "deleted": [topic.spec.name for topic in plan.topics if topic.delete],
        "unchanged": len(specs) - len(plan.topics),
        "replication_differs": [
            {**differs._asdict(), "partitions": list(differs.partitions)} for differs in plan.replication_differs
        ],
    }
    for differs in plan.replication_differs:
        some = [str(number) for number in differs.partitions]
        has = (
            f"not all partitions have {differs.wanted} replicas: partition {capped(some, _NAMED)} has another number, "
            f"the fewest are {differs.found}"
            if some
            else f"its replication factor is {differs.found} and not {differs.wanted}"
        )
        warn(
            f"topic {differs.name}: {has}. Only a reassignment changes it (module reassignment), so it was left as it "
            "is."
        )
    alike: dict[tuple[int, int], list[str]] = {}
    for name, least, factor in plan.all_in_sync:
        alike.setdefault((least, factor), []).append(name)
    for (least, factor), names in alike.items():
        asked = effective_min_isr(least, factor)
        warn(
            f"topic {capped(names, _NAMED)}: min.insync.replicas is {least} and the replication factor {factor}"
            + (f", so Kafka asks for {asked} in-sync replica(s)" if asked < least else "")
            + ". While one broker is down, partitions with a replica on it refuse writes with acks=all. "
            + (f"Set min.insync.replicas to {factor - 1}, or add replicas." if factor > 1 else "Add replicas.")
        )
    if diff:
        result["diff"] = diff_of(topic.change for topic in plan.topics)
    return result


def _named(done: Sequence[Step]) -> dict[str, list[str]]:
    """Return the topics of what was done, as the module's result names them: a new one is only created."""
    created = {name for kind, name, *_total in done if kind == CREATED}
    return {
        field: list(
            dict.fromkeys(
                name for kind, name, *_total in done if kind == field and (field == CREATED or name not in created)
            )
        )
        for field in (CREATED, GROWN, CONFIGURED, DELETED)
    }


# -- deciding ----------------------------------------------------------------------------------------------------


def _decide(
    session: Session,
    specs: Sequence[DesiredTopic],
    misunderstood: Sequence[str],
    consent: Mapping[str, Any],
    timeout: float,
) -> Plan:
    """Plan against the cluster as it is and let it judge the plan; raise RefusedError with all violations."""
    asked = Asked(
        specs,
        allow_delete=consent["allow_delete"],
        allow_create=consent["allow_create"],
        allow_compacted_growth=consent["allow_compacted_growth"],
        most_new_replicas=consent["max_new_replicas_per_broker"],
    )
    deadline = time.monotonic() + timeout
    while True:
        state = _read(session, specs)
        hidden = hidden_topics(session, [spec.name for spec in specs if spec.name not in state and spec.name])
        if hidden:
            raise RefusedError(f"topics ({len(specs)} wanted)", [_cannot_see(session, name) for name in hidden])
        needed = any(
            spec.name not in state or spec.every_broker_leads or grows(spec, state[spec.name].partitions)
            for spec in specs
        )
        brokers = list_brokers(session) if needed else ()
        racks = {broker.id: broker.rack for broker in brokers if not broker.fenced}
        fenced = [broker.id for broker in brokers if broker.fenced]
        plan = plan_topics(state, asked, Brokers(racks, fenced, cordoned_brokers(session, racks)))
        judged = _judge(session, plan.topics)
        if not any(code in _BEHIND for _name, code, _why in judged) or time.monotonic() > deadline:
            break
        time.sleep(PAUSE)
    violations = [*misunderstood, *plan.violations]
    violations += refused((f"topic {name}", code, why) for name, code, why in judged)
    if violations:
        raise RefusedError(f"topics ({len(specs)} wanted)", violations)
    return plan


def _cannot_see(session: Session, name: str) -> str:
    why = denied(session.connection, "list topics", "TOPIC_AUTHORIZATION_FAILED", name)
    return f"topic {name}: whether it exists is not known. {why}."


def _read(session: Session, specs: Iterable[DesiredTopic]) -> dict[str, TopicState]:
    """Every topic of the cluster; those of the specs also with the keys that a spec, and its growth, must know."""
    listed = list_topics(session)
    here = [spec for spec in specs if spec.name in listed and not spec.absent]
    growing = {spec.name for spec in here if spec.every_broker_leads or grows(spec, len(listed[spec.name]))}
    keys = {spec.name: [*spec.config, *([CLEANUP_POLICY] if spec.name in growing else [])] for spec in here}
    keys = {name: needed for name, needed in keys.items() if needed}
    configs = describe_configs(session, TOPIC, keys) if keys else {}
    # A topic that one broker lists and another does not know yet: judge it as new; Kafka answers that it exists.
    return {
        name: _state(partitions, configs.get(name, {}))
        for name, partitions in listed.items()
        if name in configs or name not in keys
    }


def _state(partitions: Sequence[Partition], config: Mapping[str, Any]) -> TopicState:
    factor = max((len(partition.replicas) for partition in partitions), default=0)
    return TopicState(len(partitions), factor, config, tuple(partition.replicas for partition in partitions))


def _judge(session: Session, plans: Sequence[TopicPlan]) -> list[tuple[str, str, str]]:
    """Return what Kafka would refuse, as (topic, error name, why), asked by requests that change nothing."""
    judged: dict[str, tuple[str, str]] = {}
    for creations in _creations(plans):
        judged.update(failures(create_topics(session, creations, validate_only=True)))
    # Of a growth in several steps only the first can be asked for: Kafka does not know the others' beginning.
    asked: set[str] = set()
    for totals in growth_requests(plan for plan in plans if not plan.creates):
        first = {name: total for name, total in totals.items() if name not in asked}
        asked.update(first)
        judged.update(failures(grow_topics(session, first, _places(plans), validate_only=True)))
    found = [(name, code, why) for name, (code, why) in judged.items()]
    return found + judge_configs(lambda c: alter_configs(session, TOPIC, c, validate_only=True), _reconfigured(plans))


def _creations(plans: Sequence[TopicPlan]) -> Iterator[list[TopicSpec]]:
    by_name = {plan.spec.name: plan for plan in plans if plan.creates}
    for batch in batches((name, records(plan)) for name, plan in by_name.items()):
        yield [_spec(by_name[name]) for name in batch]


def _spec(plan: TopicPlan) -> TopicSpec:
    factor = -1 if plan.spec.replication_factor is None else plan.spec.replication_factor
    config = {key: value for key, value in plan.config.items() if value is not None}
    return TopicSpec(plan.spec.name, plan.create_with or -1, factor, config, plan.placed)


def _places(plans: Iterable[TopicPlan]) -> dict[str, tuple[Replicas, ...]]:
    """The replicas of new partitions of topics that grow and whose partitions are placed by name."""
    return {plan.spec.name: plan.placed for plan in plans if plan.placed and not plan.creates}


def _reconfigured(plans: Iterable[TopicPlan]) -> dict[str, Mapping[str, str | None]]:
    return {plan.spec.name: plan.config for plan in plans if plan.config and not plan.creates}


# -- applying ----------------------------------------------------------------------------------------------------


def _apply(session: Session, plans: Sequence[TopicPlan], applied: Applied[Step]) -> None:
    for batch in batches((plan.spec.name, 1) for plan in plans if plan.delete):
        applied.ask([(DELETED, name) for name in batch], partial(delete_topics, session, batch), _name)
    for creations in _creations(plans):
        applied.ask([(CREATED, new.name) for new in creations], partial(create_topics, session, creations), _name)
    for totals in growth_requests(plans):
        steps = [(GROWN, name, str(total)) for name, total in totals.items()]
        applied.ask(steps, partial(grow_topics, session, totals, _places(plans)), _name)
    changes = _reconfigured(plans)
    for batch in batches((name, len(config)) for name, config in changes.items()):
        some = {name: changes[name] for name in batch}
        applied.ask([(CONFIGURED, name) for name in batch], partial(alter_configs, session, TOPIC, some), _name)


def _name(step: Step) -> str:
    return step[1]


# -- waiting -----------------------------------------------------------------------------------------------------


def _wait(session: Session, plans: Sequence[TopicPlan], timeout: float) -> None:
    """Return when every live broker knows the topics as wanted and sees a leader for each of their partitions."""
    open_plans: dict[int, list[TopicPlan]] = {}

    def missing() -> list[str]:
        """Return what the live brokers do not see yet."""
        names: list[str] = []
        # Anew at each look: a broker that went down is not waited for, one that came is.
        for broker in live_brokers(session):
            open_plans[broker], found = _behind(session, broker, open_plans.get(broker, list(plans)))
            names += found
        return names

    wait_until_none(f"topics ({len(plans)} changed)", missing, timeout)


def _behind(session: Session, broker: int, plans: list[TopicPlan]) -> tuple[list[TopicPlan], list[str]]:
    """The plans that one broker does not see fulfilled, and what it misses of each."""
    if not plans:
        return [], []
    try:
        seen = topics_at(session, broker, [plan.spec.name for plan in plans])
        keys = {name: config for name, config in _reconfigured(plans).items() if name in seen}
        configs = describe_configs(session, TOPIC, keys, broker) if keys else {}
    except StreamopsError as error:
        return plans, [f"broker {broker}: {error.message}"]
    behind, missing = [], []
    for plan in plans:
        name = plan.spec.name
        found = list(_missing(plan, seen.get(name), configs.get(name, {})))
        if found:
            behind.append(plan)
            missing += [f"topic {name}: broker {broker} {what}" for what in found]
    return behind, missing


def _missing(plan: TopicPlan, seen: Sequence[Partition] | None, config: Mapping[str, Any]) -> Iterator[str]:
    # What was set at creation came in the same record batch as the topic; only later settings are compared.
    spec = replace(plan.spec, config={} if plan.creates else plan.config)
    left = plan_topic(spec, None if seen is None else _state(seen, config))
    if left is not None and left.delete:
        yield "still lists it"
    elif left is not None and left.creates:
        yield "does not know it"
    elif left is not None and left.growth:
        yield f"knows {left.growth[0]} of its {left.growth[1]} partitions"
    elif left is not None:
        yield f"does not show its new {', '.join(left.config)}"
    leaderless = [partition.index for partition in seen or () if partition.leader is None]
    if leaderless and not plan.delete:
        yield f"sees no leader of partition {capped([str(index) for index in leaderless], 10)}"
