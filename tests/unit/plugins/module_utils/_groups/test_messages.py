"""The messages that kafka-python does not have: their definitions, and that they pass through the library unharmed."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups.api import request_of
from ansible_collections.streamops.kafka.plugins.module_utils._groups.messages import definition

NAMES = (
    "ConsumerGroupDescribe",
    "ShareGroupDescribe",
    "StreamsGroupDescribe",
    "DescribeShareGroupOffsets",
    "AlterShareGroupOffsets",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["request", "response"])
def test_a_definition_names_itself(name: str, kind: str) -> None:
    found = definition(name, kind)
    assert (found["name"].lower(), found["type"]) == (f"{name}{kind}".lower(), kind)


def test_a_nullable_field_is_null_by_default() -> None:
    fields = {one["name"]: one for one in definition("StreamsGroupDescribe", "response")["fields"][1]["fields"]}
    assert fields["Topology"]["nullableVersions"] == "0+"
    assert "nullableVersions" not in fields["GroupId"]


def test_a_request_is_encoded_as_kafka_writes_it() -> None:
    asked = request_of("ConsumerGroupDescribe")(group_ids=["g1"], include_authorized_operations=False)
    # A compact array of one compact string, a boolean, no tagged fields.
    assert bytes(asked.encode(version=0)) == b"\x02\x03g1\x00\x00"


def test_a_class_is_made_once() -> None:
    assert request_of("ShareGroupDescribe") is request_of("ShareGroupDescribe")


def test_an_answer_is_decoded_with_its_lag() -> None:
    response = request_of("DescribeShareGroupOffsets").answered_by
    group, topic = response.Group, response.Group.Topic
    part = topic.Partition(partition_index=2, start_offset=5, leader_epoch=1, lag=7, error_code=0, error_message=None)
    name = topic(topic_name="orders", topic_id="00000000-0000-0000-0000-000000000001", partitions=[part])
    answer = response(throttle_time_ms=0, groups=[group(group_id="g", topics=[name], error_code=0, error_message=None)])
    found = response.decode(bytes(answer.encode(version=1)), version=1).groups[0].topics[0].partitions[0]
    assert (found.partition_index, found.start_offset, found.lag) == (2, 5, 7)
    older = response.decode(bytes(answer.encode(version=0)), version=0).groups[0].topics[0].partitions[0]
    assert older.lag == -1
