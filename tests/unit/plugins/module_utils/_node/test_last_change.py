"""What changed last in start files is named without a secret, and only where there is something to go back to."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import Generations
from ansible_collections.streamops.kafka.plugins.module_utils._node.last_change import changes, last_change

OLD = {
    "server.properties": "a=1\nssl.keystore.password=old\n",
    "jvm.options": "-cp\n/o/kafka-4.3.1-0123456789ab/libs/*\n",
}
NEW = {**OLD, "server.properties": "a=1\nmax.connections=2\nssl.keystore.password=new\n"}


def taken_up(directory: Path, name: str, texts: dict[str, str]) -> Generations:
    found = Generations(str(directory))
    found.stage(name, lambda at: [Path(at, one).write_text(text) for one, text in texts.items()])
    found.switch()
    return found


def test_each_property_and_each_other_file_is_a_line() -> None:
    lines = changes(OLD, {**NEW, "start": "exec java\n"})
    assert lines == [
        "property max.connections: (not set) -> 2",
        "property ssl.keystore.password: (secret) -> (another secret)",
        "file start",
    ]
    assert changes(OLD, OLD) == []


def test_properties_that_cannot_be_read_are_a_file_that_differs() -> None:
    assert changes({"server.properties": "a=\\u12\n"}, {"server.properties": "a=1\n"}) == ["file server.properties"]


def test_it_is_told_of_what_is_not_proven_and_of_what_was_proven_last(tmp_path: Path) -> None:
    found = taken_up(tmp_path, "20261126T100000Z", OLD)
    found.prove()
    assert last_change(found) is None
    found = taken_up(tmp_path, "20261126T144501Z", NEW)
    unproven = last_change(found)
    assert unproven is not None
    assert (unproven["since"], unproven["same_release"]) == ("20261126T144501Z", True)
    found.prove()
    assert last_change(found) == unproven


def test_another_release_is_told(tmp_path: Path) -> None:
    taken_up(tmp_path, "1", {"jvm.options": "-cp\n/o/kafka-4.2.0-0123456789ab/libs/*\n"}).prove()
    found = taken_up(tmp_path, "2", OLD)
    assert (last_change(found) or {})["same_release"] is False
