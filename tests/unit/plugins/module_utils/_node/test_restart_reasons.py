"""A node restarts for what its process was started with, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._core.compared import declare
from ansible_collections.streamops.kafka.plugins.module_utils._node.restart_reasons import (
    live_properties,
    reason_line,
    restart_reasons,
)

BROKER = {"process.roles": "broker,controller"}


def started(properties: dict[str, str] | None = None, **other: Any) -> dict[str, Any]:
    return {"properties": {**BROKER, **(properties or {})}, "jvm": [], "files": {}, "limits": {}, **other}


def reasons_of(before: dict[str, str], after: dict[str, Any]) -> list[dict[str, Any]]:
    return restart_reasons(started(before), {"properties": {**BROKER, **after}}, running=True)


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ({"a": "1"}, {"a": 1}, []),
        ({"log.dirs": "/a"}, {"log.dirs": "/b"}, ["log.dirs"]),
        ({"a": "1"}, {}, ["a"]),
        ({}, {"a": "1"}, ["a"]),
        ({"a": "true"}, {"a": True}, []),
        # Kafka takes these live: changed and added need no restart, removed does.
        ({"num.io.threads": "8"}, {"num.io.threads": 16}, []),
        ({}, {"num.io.threads": 16}, []),
        ({"num.io.threads": "8"}, {}, ["num.io.threads"]),
        # Cluster-level: never.
        ({"min.insync.replicas": "1"}, {"min.insync.replicas": 2}, []),
        ({}, {"min.insync.replicas": 2}, []),
        ({"min.insync.replicas": "1"}, {}, []),
    ],
)
def test_properties(before: dict[str, str], after: dict[str, Any], names: list[str]) -> None:
    assert [one["name"] for one in reasons_of(before, after)] == names


def test_a_reason_says_from_and_to() -> None:
    assert reasons_of({"log.dirs": "/a"}, {"log.dirs": "/b"}) == [
        {"kind": "property", "name": "log.dirs", "from": "/a", "to": "/b"}
    ]


def test_an_isolated_controller_takes_nothing_live() -> None:
    before = started({"process.roles": "controller", "num.io.threads": "8"})
    wanted = {"properties": {"process.roles": "controller", "num.io.threads": "16"}}
    assert [one["name"] for one in restart_reasons(before, wanted, running=True)] == ["num.io.threads"]
    assert live_properties(before, wanted, running=True) == {}


def test_what_kafka_takes_live_is_overridden_until_the_next_start_and_no_longer() -> None:
    wanted = {"properties": {**BROKER, "num.io.threads": 16, "log.dirs": "/b", "min.insync.replicas": 2}}
    older = started({"num.io.threads": "8", "background.threads": "3", "log.dirs": "/a"})
    assert live_properties(older, wanted, running=True) == {"num.io.threads": "16", "background.threads": None}
    newer = started({"num.io.threads": "16", "log.dirs": "/a"})
    assert live_properties(newer, wanted, running=True) == {"num.io.threads": None}
    assert live_properties(older, wanted, running=False) == {"num.io.threads": None}


def test_a_changed_secret_is_a_reason_that_shows_neither_value() -> None:
    found = restart_reasons(
        started({"ssl.key.password": "old-secret"}),
        {"properties": declare({**BROKER, "ssl.key.password": "new-secret"})},
        running=True,
    )
    assert [one["name"] for one in found] == ["ssl.key.password"]
    assert "sha256" not in str(found)
    assert "old-secret" not in str(found)


def test_an_unchanged_secret_is_no_reason() -> None:
    wanted = {"properties": declare({**BROKER, "ssl.key.password": "same"})}
    assert restart_reasons(started({"ssl.key.password": "same"}), wanted, running=True) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["-Xmx1g"], ["-Xmx1g"], []),
        (["-Xmx1g"], ["-Xmx2g"], [("-Xmx", "1g", "2g")]),
        (["-XX:+UseG1GC"], ["-XX:-UseG1GC"], [("-XX:UseG1GC", "+", "-")]),
        (["-XX:MaxGCPauseMillis=20"], [], [("-XX:MaxGCPauseMillis", "20", None)]),
        (["-cp", "/a/*"], ["-cp /b/*"], [("class path", "/a/*", "/b/*")]),
        (["-Da=x y"], ['"-Da=x y"'], []),
        (["-Da=1", "-Db=1"], ["-Db=1", "-Da=1"], [("order of the arguments", "-Da -Db", "-Db -Da")]),
    ],
)
def test_java_arguments(before: list[str], after: list[str], expected: list[tuple[str, Any, Any]]) -> None:
    found = restart_reasons(started(jvm=before), {"jvm": after}, running=True)
    assert [(one["name"], one["from"], one["to"]) for one in found] == expected
    assert all(one["kind"] == "jvm" for one in found)


def test_watched_files_changed_added_and_removed() -> None:
    found = restart_reasons(
        started(files={"/same": "1", "/changed": "1", "/gone": "1"}),
        {"files": {"/same": "1", "/changed": "2", "/new": "3"}},
        running=True,
    )
    assert [(one["name"], one["from"], one["to"]) for one in found] == [
        ("/changed", "1", "2"),
        ("/gone", "1", None),
        ("/new", None, "3"),
    ]


def test_what_is_not_wanted_is_not_compared() -> None:
    assert restart_reasons(started({"a": "1"}, jvm=["-Xmx1g"], files={"/a": "1"}), {}, running=True) == []


def test_a_process_without_a_record_must_be_started_by_the_service() -> None:
    found = restart_reasons(None, {"properties": {}}, running=True)
    assert [one["kind"] for one in found] == ["record"]


def test_a_node_that_does_not_run_has_no_reason_to_restart() -> None:
    assert restart_reasons(None, {"properties": {"a": "1"}}, running=False) == []
    assert restart_reasons(started(), {"properties": {"a": "1"}}, running=False) == []


TEXTS = st.dictionaries(st.sampled_from(["a", "log.dirs", "num.io.threads", "x.password"]), st.text(max_size=3))


@given(TEXTS, TEXTS)
def test_every_difference_is_either_a_reason_or_applied_live_or_cluster_level(
    before: dict[str, str], after: dict[str, str]
) -> None:
    wanted = {"properties": {**BROKER, **after}}
    restarts = {one["name"] for one in restart_reasons(started(before), wanted, running=True)}
    overrides = live_properties(started(before), wanted, running=True)
    live = {key for key, value in overrides.items() if value is not None}
    differing = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert restarts | live == differing
    assert not restarts & live


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"kafka_limit_nofile": "1024"}, 1024, []),
        ({"kafka_limit_nofile": "1024"}, 2048, [("kafka_limit_nofile", "1024", "2048")]),
        # A record of an older start script, which is no reason of its own.
        ({}, 2048, []),
    ],
)
def test_another_limit_is_a_reason_where_the_old_one_is_known(
    before: dict[str, str], after: int, found: list[tuple[str, str, str]]
) -> None:
    reasons = restart_reasons(started(limits=before), {"limits": {"kafka_limit_nofile": after}}, running=True)
    assert [(one["name"], one["from"], one["to"]) for one in reasons] == found


@pytest.mark.parametrize(("before", "after"), [("a" * 64, "b" * 64), (None, "b" * 64), ("a" * 64, None)])
def test_a_reason_in_words_has_no_digest_of_a_file(before: str | None, after: str | None) -> None:
    wanted = {"files": {"/k/jaas.conf": after} if after else {}}
    (file,) = restart_reasons(started(files={"/k/jaas.conf": before} if before else {}), wanted, running=True)
    assert reason_line(file) == "file /k/jaas.conf: changed"
