# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the mirrors of mirror_flows need in a cluster: a login, and the least ACLs. Pure.

Entries have the form of kafka_users and kafka_acls. The rights are read off apache/kafka: what the connectors, their
tasks and Connect's workers ask of each side (MirrorSourceConnector, MirrorCheckpointConnector,
MirrorHeartbeatConnector, DistributedConfig, Worker; KIP-618 for exactly once). READ and WRITE imply DESCRIBE;
IDEMPOTENT_WRITE is not needed since Kafka 2.8 (KIP-679), and listing groups needs no right on the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._acls.entries import resource_violations
from ...module_utils._client.login import chosen
from ...module_utils._cluster.snapshot import STATE_TOPIC
from ...module_utils._mirror.flows import HEARTBEATS, LEGACY, SEPARATOR, Flow, legacy_group, offsets_topic, remote_topic
from ...module_utils._mirror.records import checkpoints_topic, heartbeats_topic, status_topic
from ...module_utils._mirror.trail import syncs_topic
from ...module_utils._users.plan import MECHANISMS
from .heartbeats import emits, heartbeat_topics, heartbeat_workers, reverse_herders
from .patterns import ANY, LITERAL, PREFIXED, Resource, resources

#: Operations on resources of one kind: (kind, resources, operations).
Right = tuple[str, "list[Resource]", "tuple[str, ...]"]


def mirror_users(
    flows: Sequence[Flow], cluster: str, user: str, password: str, mechanisms: Sequence[str]
) -> list[dict[str, Any]]:
    """The SCRAM user that mirrors log in as, when this cluster is an end of a flow: as kafka_users has it.

    mechanisms -- kafka_sasl_mechanisms; mirrors log in by the first, as the administrator does. Empty without a user,
    or where that is not a SCRAM one (the users of PLAIN are kafka_plain_users).
    """
    mechanism = chosen(mechanisms)
    if not user or mechanism not in MECHANISMS or not _ends(flows, cluster):
        return []
    return [{"name": user, "password": password, "mechanism": mechanism}]


def mirror_principals(flows: Sequence[Flow], cluster: str, user: str, certificates: Mapping[str, str]) -> list[str]:
    """Return who comes as a mirror: the user, and mirrors with certificates by name (kafka_tls_principal_rules).

    certificates -- mirror host -> the cluster that it stands next to; those that this cluster never sees are left out.
    """
    own = _ends(flows, cluster)
    targets = {flow.target for flow in own}
    names = [user] if user and own else []
    return [
        f"User:{name}" for name in (*names, *sorted(host for host in certificates if certificates[host] in targets))
    ]


def mirror_acls(flows: Sequence[Flow], cluster: str, principals: Sequence[str]) -> list[dict[str, Any]]:
    """Return what mirrors may do here, as source and as target of the enabled flows: as kafka_acls has it."""
    return _acls(_rights(flows, cluster), principals)


def gap_acls(flows: Sequence[Flow], cluster: str, principals: Sequence[str]) -> list[dict[str, Any]]:
    """Return what one may do here who looks for gaps of the enabled flows (mirror_gaps): as kafka_acls has it."""
    return _acls((right for flow in _ends(flows, cluster) for right in _gap_rights(flow, cluster)), principals)


def _gap_rights(flow: Flow, cluster: str) -> Iterator[Right]:
    """Positions and offset syncs are read, and the last committed record of a log that ends in a marker.

    Of flows of MirrorMaker 2: nobody watches others. A topic that is there already has its configuration compared.
    """
    is_source = flow.source == cluster
    if is_source:
        # Whether a topic is compacted decides what a deleted record proves.
        yield "topic", resources(flow.topics), ("read", "describe_configs")
    else:
        yield "topic", [(STATE_TOPIC, LITERAL)], ("create", "read", "write", "describe_configs")
        signs = [
            offsets_topic(flow),
            status_topic(flow.source),
            heartbeats_topic(flow.source),
            checkpoints_topic(flow.source),
        ]
        yield "topic", [(name, LITERAL) for name in signs], ("read",)
    if is_source != flow.untouched_source:
        yield "topic", [(syncs_topic(flow), LITERAL)], ("read",)


def _acls(given: Iterable[Right], principals: Sequence[str]) -> list[dict[str, Any]]:
    rights: dict[tuple[str, Resource], dict[str, None]] = {}
    for kind, where, operations in given:
        for resource in where:
            if not any(resource_violations(kind, *resource)):
                rights.setdefault((kind, resource), {}).update(dict.fromkeys(operations))
    return [
        _entry(principal, kind, resource, list(operations))
        for principal in principals
        for (kind, resource), operations in rights.items()
    ]


def _entry(principal: str, kind: str, resource: Resource, operations: list[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"principal": principal, "operations": operations, "resource_type": kind}
    return entry if kind == "cluster" else {**entry, "resource": resource[0], "pattern_type": resource[1]}


def _ends(flows: Iterable[Flow], cluster: str) -> list[Flow]:
    return [flow for flow in flows if flow.enabled and cluster in (flow.source, flow.target)]


def _rights(flows: Sequence[Flow], cluster: str) -> Iterator[Right]:
    for flow in _ends(flows, cluster):
        if flow.engine == LEGACY:
            yield from _legacy(flow, cluster)
        elif flow.source == cluster:
            yield from _source(flow, heartbeat_topics(flows, flow.source, [flow.target]))
            if cluster in reverse_herders(flows, flow.target):
                yield from _workers(heartbeat_workers(flow.target))
                yield from _heartbeats(writes=True)
        else:
            yield from _target(flow, heartbeat_topics(flows, flow.source, [flow.target]))
            yield from _heartbeats(writes=emits(flows, flow.source, flow.target))


def _legacy(flow: Flow, cluster: str) -> Iterator[Right]:
    """Its topics are created before it starts, so it only reads, notes its offsets, and writes."""
    if flow.source == cluster:
        yield "topic", resources(flow.topics), ("read",)
        yield "group", [(legacy_group(flow), LITERAL)], ("read",)
    else:
        yield "topic", resources(flow.topics), ("write",)


def _source(flow: Flow, heartbeats: Sequence[str]) -> Iterator[Right]:
    yield "topic", resources(flow.topics), ("read", "describe_configs")
    if flow.heartbeats:
        yield "topic", [(name, LITERAL) for name in heartbeats], ("read", "describe_configs")
    # Their offsets are read; a group that may not be described is not even listed.
    yield "group", resources(flow.groups), ("describe",)
    if not flow.untouched_source:
        yield _offset_syncs(flow.target)
    if flow.sync_topic_acls:
        yield _cluster("describe")


def _target(flow: Flow, heartbeats: Sequence[str]) -> Iterator[Right]:
    yield from _workers(flow.source)
    # Made, filled, given more partitions and, where the flow says so, configured as the source's topics are.
    configures = ("alter_configs",) if flow.sync_topic_configs else ()
    signs = [(f"{flow.source}{SEPARATOR}{name}", LITERAL) for name in heartbeats if flow.heartbeats]
    copies = [*_copies(flow), *signs]
    yield "topic", copies, ("create", "write", "alter", *configures)
    # Where each group stands, written down and read again by a task that starts.
    yield "topic", [(f"{flow.source}.checkpoints.internal", LITERAL)], ("create", "read", "write")
    if flow.sync_group_offsets:
        # Committing for a group asks for READ on the group and on the topics.
        yield "topic", _copies(flow), ("read",)
        yield "group", resources(flow.groups), ("read",)
    if flow.untouched_source:
        yield _offset_syncs(flow.source)
    if flow.sync_topic_acls:
        yield _cluster("alter")
    if flow.exactly_once != "disabled":
        yield from _transactions(flow.source)


def _copies(flow: Flow) -> list[Resource]:
    """The topics of the target that a flow fills, under the names that its policy gives them."""
    if flow.keeps_names:
        return resources(flow.topics)
    prefix = remote_topic(flow, "")
    return [
        (prefix, PREFIXED) if resource == ANY else (prefix + resource[0], resource[1])
        for resource in resources(flow.topics)
    ]


def _workers(alias: str) -> Iterator[Right]:
    """Connect's workers of the pair alias->this cluster: their group, and where they keep what they know."""
    yield "group", [(f"{alias}-mm2", LITERAL)], ("read",)
    topics = [(f"mm2-{name}.{alias}.internal", LITERAL) for name in ("offsets", "configs", "status")]
    yield "topic", topics, ("create", "read", "write", "describe_configs")


def _heartbeats(writes: bool) -> Iterator[Right]:
    """The connector makes its topic even where it writes nothing."""
    yield "topic", [(HEARTBEATS, LITERAL)], ("create", "write") if writes else ("create",)


def _offset_syncs(other: str) -> Right:
    return "topic", [(f"mm2-offset-syncs.{other}.internal", LITERAL)], ("create", "read", "write")


def _cluster(operation: str) -> Right:
    """ACLs are read with DESCRIBE, and written with ALTER, of the cluster."""
    return "cluster", [("kafka-cluster", LITERAL)], (operation,)


def _transactions(source: str) -> Iterator[Right]:
    """The leader's own transactional id, and those of the tasks: group-connector-task (Worker.taskTransactionalId)."""
    group = f"{source}-mm2"
    yield "transactional_id", [(f"connect-cluster-{group}", LITERAL), (f"{group}-", PREFIXED)], ("write",)
