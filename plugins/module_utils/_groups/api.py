# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Groups as their coordinators know them, and their offsets.

confluent-kafka leaves share groups out of its list, describes one as classic and dead without an error, and knows no
streams groups. So everything is asked by Kafka's own messages: each broker for the groups that it coordinates, then
each coordinator for all of its groups at once.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from .._client.session import Session
from .._cluster.api import live_brokers
from .._cluster.snapshot import Key
from .._core.bulk import parts
from .._core.errors import RequestFailedError
from .._logs.api import answer_of, by_topic
from .messages import definition
from .model import CONSUMER, SHARE, STREAMS, Group, Listed, Member, Offset, Offsets, listed_of

#: Groups in one request: brokers from 4.4 on refuse arrays of more than 1,000,000 elements.
_GROUPS = 500
#: Kafka's error GROUP_ID_NOT_FOUND.
_NOT_FOUND = 69
_DESCRIBED_BY = {CONSUMER: "ConsumerGroupDescribe", SHARE: "ShareGroupDescribe", STREAMS: "StreamsGroupDescribe"}


# -- groups ------------------------------------------------------------------------------------------------------


def list_groups(
    session: Session, mute: Mapping[int, str] = MappingProxyType({})
) -> tuple[list[Listed], dict[int, str]]:
    """All groups that the caller may see, and by broker why it did not tell its groups; a request to each broker.

    C(mute) are by id brokers that are known not to answer, with what happened: they are not asked.
    """
    from kafka.protocol.admin import ListGroupsRequest

    found: list[Listed] = []
    silent: dict[int, str] = {}
    for broker in live_brokers(session):
        if broker in mute:
            silent[broker] = mute[broker]
            continue
        what = f"list groups of broker {broker}"
        try:
            found += listed_of(session.sound(session.send(what, ListGroupsRequest(), broker), what).groups, broker)
        except RequestFailedError as error:
            silent[broker] = error.why
    return sorted(found, key=lambda one: one.name), silent


def coordinator_of(session: Session, group: str) -> int:
    """The id of the broker that coordinates a group, whether the group exists or not."""
    from kafka.protocol.metadata import FindCoordinatorRequest

    what = f"find coordinator of group {group}"
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group], min_version=4)
    return int(session.sound(session.send(what, request).coordinators[0], what).node_id)


def describe_groups(session: Session, listed: Iterable[Listed]) -> dict[str, Group]:
    """State and members of these groups, by name: for each coordinator and type a request for each 500 groups."""
    from kafka.protocol.admin import DescribeGroupsRequest

    found: dict[str, Group] = {}
    for kind, broker, some in _together(listed):
        names = [one.name for one in some]
        if kind in _DESCRIBED_BY:
            request = request_of(_DESCRIBED_BY[kind])(group_ids=names, include_authorized_operations=False)
        else:
            request = DescribeGroupsRequest(groups=names, include_authorized_operations=False)
        what = f"describe {kind} groups at broker {broker}"
        answered, why = answer_of(session, what, request, broker, lambda answer: answer.groups)
        by_name = {one.group_id: one for one in answered}
        for one in some:
            found[one.name] = _group(session, one, by_name[one.name]) if one.name in by_name else Group(one, error=why)
    return found


def _group(session: Session, listed: Listed, answer: Any) -> Group:
    # Before Kafka 4.0 a classic group that does not exist is described as dead, without an error (KIP-1043).
    if answer.error_code == _NOT_FOUND or answer.group_state == "Dead":
        return Group(listed, error="it was deleted between two requests", vanished=True)
    if answer.error_code:
        return Group(listed, error=session.explain("describe groups", answer, listed.name)[1])
    read = _classic_member if listed.type not in _DESCRIBED_BY else _member
    return Group(listed, answer.group_state, tuple(read(listed, one) for one in answer.members))


def _classic_member(listed: Listed, member: Any) -> Member:
    from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

    assigned: dict[str, tuple[int, ...]] = {}
    # Other protocols (Kafka Connect's) have assignments of their own.
    if listed.protocol == "consumer" and member.member_assignment:
        try:
            decoded = ConsumerProtocolAssignment.decode(member.member_assignment)
        except (struct.error, ValueError, IndexError):
            decoded = None  # A client may write what it likes here; the broker does not read it.
        if decoded is not None:
            assigned = {one.topic: tuple(sorted(one.partitions)) for one in decoded.assigned_partitions}
    return Member(member.member_id, member.client_id, _host(member), member.group_instance_id, assigned)


def _member(_listed: Listed, member: Any) -> Member:
    # Streams groups are assigned tasks of a topology, no partitions.
    assigned = {
        one.topic_name: tuple(sorted(one.partitions)) for one in getattr(member.assignment, "topic_partitions", ())
    }
    return Member(member.member_id, member.client_id, _host(member), getattr(member, "instance_id", None), assigned)


def _host(member: Any) -> str:
    """The address of a member; Kafka writes Java's form, with a slash before it."""
    return str(member.client_host).lstrip("/")


# -- offsets -----------------------------------------------------------------------------------------------------


def group_offsets(session: Session, listed: Iterable[Listed]) -> dict[str, Offsets]:
    """Return how far these groups have read, by name: for each coordinator a request for each 500 groups.

    For share groups that is their start offset, below which everything is acknowledged.
    """
    found: dict[str, Offsets] = {}
    for kind, broker, some in _together(listed):
        what = f"list offsets of {kind} groups at broker {broker}"
        request = _share_offsets(some) if kind == SHARE else _committed(some)
        answered, why = answer_of(session, what, request, broker, lambda answer: answer.groups)
        by_name = {one.group_id: one for one in answered}
        for one in some:
            if one.name not in by_name:
                found[one.name] = Offsets(error=why)
            elif by_name[one.name].error_code:
                found[one.name] = Offsets(error=session.explain(what, by_name[one.name], one.name)[1])
            else:
                found[one.name] = Offsets(dict(_offsets(session, kind, by_name[one.name])))
    return found


def _committed(groups: Iterable[Listed]) -> Any:
    from kafka.protocol.consumer import OffsetFetchRequest

    group = OffsetFetchRequest.OffsetFetchRequestGroup
    # From version 10 on topics have ids in place of names (KIP-848).
    wanted = [group(group_id=one.name, topics=None) for one in groups]
    return OffsetFetchRequest(groups=wanted, min_version=8, max_version=9)


def _share_offsets(groups: Iterable[Listed]) -> Any:
    request = request_of("DescribeShareGroupOffsets")
    return request(groups=[request.Group(group_id=one.name, topics=None) for one in groups])


def _offsets(session: Session, kind: str, answer: Any) -> Iterator[tuple[Key, Offset]]:
    for topic in answer.topics:
        for one in topic.partitions:
            name = topic.topic_name if kind == SHARE else topic.name
            error = session.explain("list offsets", one, name)[1] if one.error_code else ""
            if kind == SHARE:
                begun = one.start_offset if one.start_offset >= 0 else None
                yield (name, one.partition_index), Offset(begun, one.lag if begun is not None else None, error)
            else:
                reached = one.committed_offset if one.committed_offset >= 0 else None
                yield (name, one.partition_index), Offset(reached, None, error)


def _together(listed: Iterable[Listed]) -> Iterator[tuple[str, int, list[Listed]]]:
    """Groups that one request can ask for: type, coordinator, and at most 500 groups."""
    sorted_out: dict[tuple[str, int], list[Listed]] = {}
    for one in listed:
        sorted_out.setdefault((one.type, one.coordinator), []).append(one)
    for (kind, broker), some in sorted(sorted_out.items()):
        for part in parts(some, _GROUPS):
            yield kind, broker, part


# -- changes -----------------------------------------------------------------------------------------------------


def commit_offsets(session: Session, broker: int, group: str, offsets: Mapping[Key, int]) -> dict[Key, Any]:
    """Commit these offsets for a group without members; per partition None or (Kafka's error name, why).

    C(broker) coordinates the group. The answer as a whole has no error: a refusal is in each partition.
    """
    from kafka.protocol.consumer import OffsetCommitRequest

    topic = OffsetCommitRequest.OffsetCommitRequestTopic
    wanted = [
        topic(
            name=name,
            partitions=[
                topic.OffsetCommitRequestPartition(
                    partition_index=index, committed_offset=offset, committed_leader_epoch=-1, committed_metadata=""
                )
                for (_name, index), offset in some.items()
            ],
        )
        for name, some in by_topic(offsets).items()
    ]
    what = f"alter offsets of group {group}"
    # No member and no generation: what is not in the group may commit only while it is empty (KIP-211). From version
    # 10 on topics have ids in place of names (KIP-848).
    request = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        group_instance_id=None,
        retention_time_ms=-1,
        topics=wanted,
        max_version=9,
    )
    answer = session.send(what, request, broker)
    return {
        (one.name, part.partition_index): session.outcome(what, part, one.name)
        for one in answer.topics
        for part in one.partitions
    }


def alter_share_offsets(session: Session, broker: int, group: str, offsets: Mapping[Key, int]) -> dict[Key, Any]:
    """Set the start offsets of a share group without members; per partition None or (Kafka's error name, why)."""
    message = request_of("AlterShareGroupOffsets")
    topic = message.Topic
    wanted = [
        topic(
            topic_name=name,
            partitions=[
                topic.Partition(partition_index=index, start_offset=offset) for (_name, index), offset in some.items()
            ],
        )
        for name, some in by_topic(offsets).items()
    ]
    what = f"alter offsets of share group {group}"
    answer = session.sound(session.send(what, message(group_id=group, topics=wanted), broker), what)
    return {
        (one.topic_name, part.partition_index): session.outcome(what, part, one.topic_name)
        for one in answer.responses
        for part in one.partitions
    }


def delete_offsets(session: Session, broker: int, group: str, keys: Iterable[Key]) -> dict[Key, Any]:
    """Take the offsets of these partitions away from a group; per partition None or (Kafka's error name, why)."""
    from kafka.protocol.consumer import OffsetDeleteRequest

    topic = OffsetDeleteRequest.OffsetDeleteRequestTopic
    wanted = [
        topic(name=name, partitions=[topic.OffsetDeleteRequestPartition(partition_index=key[1]) for key in some])
        for name, some in by_topic(dict.fromkeys(keys)).items()
    ]
    what = f"delete offsets of group {group}"
    answer = session.sound(session.send(what, OffsetDeleteRequest(group_id=group, topics=wanted), broker), what)
    return {
        (one.name, part.partition_index): session.outcome(what, part, one.name)
        for one in answer.topics
        for part in one.partitions
    }


def delete_group(session: Session, broker: int, group: str) -> dict[str, Any]:
    """Delete a group without members, with all its offsets; by its name None or (Kafka's error name, why)."""
    from kafka.protocol.admin import DeleteGroupsRequest

    what = f"delete group {group}"
    answer = session.send(what, DeleteGroupsRequest(groups_names=[group]), broker)
    return {one.group_id: session.outcome(what, one, group) for one in answer.results}


# -- messages ----------------------------------------------------------------------------------------------------


@functools.cache
def request_of(name: str) -> Any:
    """Return the class of a request that kafka-python does not have, for example C(ConsumerGroupDescribe).

    The library decodes its answer by the API key, of which it keeps a weak reference: the request keeps the class.
    """
    from kafka.protocol.api_message import ApiMessage

    made = {kind: _message(ApiMessage, definition(name, kind)) for kind in ("request", "response")}
    made["request"].answered_by = made["response"]
    return made["request"]


def _message(base: Any, defined: Mapping[str, Any]) -> Any:
    """Make a class of kafka-python from a definition.

    The library reads definitions from its own JSON files, by the name of the class, and lets the class replace what it
    read. A JSON file beside this one would not travel to a host with a module.
    """
    known = f"ListGroups{defined['type'].capitalize()}"
    made = type(base)(known, (base,), {"json_patch": classmethod(lambda _cls, _json: defined)})
    made.__name__ = made.__qualname__ = defined["name"]
    return made
