"""The passwords of the mirrors' user, which are in one file of each mirror, for its service alone; nowhere else."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.support.centres import Mirror
from tests.support.machines import Machine
from tests.support.planted import forms

MARKS = [form.decode() for form in forms(b"planted-")]
MIRRORS, CANARY = ([form.decode() for form in forms(f"planted-{name}".encode())] for name in ("mirror", "canary"))


@pytest.mark.parametrize("name", ["mirror1", "mirror2"])
def test_they_are_in_one_file_that_only_the_service_can_read(machines: dict[str, Machine], name: str) -> None:
    machine = machines[name]
    (path,) = machine.files_with(MIRRORS)
    assert path == f"{machine.directories[1]}/mirror-dc_b/secrets.properties"
    assert machine.run("stat", "-c", "%U %G %a", path) == f"root {machine.group} 440"
    assert "Permission denied" in machine.fails("setpriv", "--reuid=nobody", "--clear-groups", "cat", path)


def test_those_of_the_canary_are_in_one_file_that_only_it_can_read(machines: dict[str, Machine]) -> None:
    machine = machines["mirror1"]
    (path,) = machine.files_with(CANARY)
    assert path == f"{machine.directories[1]}/streamops-canary/mirror1/canary.json"
    assert machine.run("stat", "-c", "%U %G %a", path).strip() == "streamops-canary streamops-canary 600"
    place = path.rpartition("/")[0]
    assert machine.run("stat", "-c", "%U %G %a", place).strip() == "root streamops-canary 750"
    assert machines["mirror2"].files_with(CANARY) == []


@pytest.mark.parametrize("name", ["mirror1", "mirror2"])
def test_no_mirror_knows_an_administrator(machines: dict[str, Machine], name: str) -> None:
    assert machines[name].files_with([form.decode() for form in forms(b"planted-admin")]) == []


def test_mirrors_keep_none_in_the_topic_of_their_configuration(mirror: Mirror) -> None:
    values = contents(mirror, f"mm2-configs.{mirror.source.name}.internal")
    assert any("MirrorSourceConnector" in value for value in values), "the topic holds no configuration"
    assert [mark for mark in MARKS for value in values if mark in value] == []


def contents(mirror: Mirror, topic: str) -> list[str]:
    """What stands in a topic of one partition of the target, as text."""
    target = mirror.target
    consumer = Consumer({**target.settings, "bootstrap.servers": ",".join(target.servers), "group.id": "audit"})
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
        consumer.assign([TopicPartition(topic, 0, low)])
        found: list[str] = []
        for _ in range(60):
            messages = [message for message in consumer.consume(1000, timeout=1) if message.error() is None]
            found += [(message.value() or b"").decode(errors="replace") for message in messages]
            if messages and high <= 1 + (messages[-1].offset() or 0):
                return found
        raise AssertionError(f"{topic} was not read to its end {high} within a minute")
    finally:
        consumer.close()
