"""What mirrors may do at each end of a flow: enough for its engine and its wishes, and no more."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import parse_entries
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import (
    read_flows,
)
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import parse_specs
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import rights

M = "User:mirror"


def one(source: str = "a", target: str = "b", **changes: Any) -> dict[str, Any]:
    return {"source": source, "target": target, "topics": ["orders", "audit[.].*"], **changes}


def allowed(cluster: str, *raw: dict[str, Any]) -> set[tuple[str, str, str]]:
    """(kind, resource, operation) of all bindings, a prefix with a star behind it; entries must be in order."""
    present, absent, violations = parse_entries(rights.mirror_acls(read_flows(raw), cluster, [M]))
    assert not violations
    assert not absent
    return {
        (one.resource_type, one.resource + ("*" if one.pattern_type == "prefixed" else ""), one.operation)
        for one in present
    }


def on(kind: str, resource: str, *operations: str) -> set[tuple[str, str, str]]:
    return {(kind, resource, operation) for operation in operations}


def workers(alias: str) -> set[tuple[str, str, str]]:
    topics = [f"mm2-{name}.{alias}.internal" for name in ("offsets", "configs", "status")]
    found = on("group", f"{alias}-mm2", "read")
    for topic in topics:
        found |= on("topic", topic, "create", "read", "write", "describe_configs")
    return found


READ_SOURCE = (
    on("topic", "orders", "read", "describe_configs")
    | on("topic", "audit.*", "read", "describe_configs")
    | on("group", "*", "describe")
)
SYNCS = on("topic", "mm2-offset-syncs.b.internal", "create", "read", "write")


def test_a_source_is_read_and_gets_offset_syncs_and_heartbeats() -> None:
    heartbeats = on("topic", "heartbeats", "create", "write", "read", "describe_configs")
    assert allowed("a", one()) == READ_SOURCE | SYNCS | heartbeats | workers("b-heartbeats")


def gap_rights(cluster: str, *raw: dict[str, Any]) -> set[tuple[str, str, str]]:
    present, _absent, violations = parse_entries(rights.gap_acls(read_flows(raw), cluster, [M]))
    assert not violations
    return {(one.resource_type, one.resource, one.operation) for one in present}


def test_who_looks_for_gaps_reads_the_topics_of_the_flow_and_what_the_mirror_wrote_down() -> None:
    topics = on("topic", "orders", "read", "describe_configs") | on("topic", "audit.", "read", "describe_configs")
    state = on("topic", "_streamops_state", "create", "read", "write", "describe_configs")
    notes = {
        ("topic", name, "read")
        for name in ("mm2-offsets.a.internal", "mm2-status.a.internal", "a.heartbeats", "a.checkpoints.internal")
    }
    assert gap_rights("a", one()) == topics | on("topic", "mm2-offset-syncs.b.internal", "read")
    assert gap_rights("b", one()) == state | notes
    assert gap_rights("a", one(untouched_source=True)) == topics
    assert gap_rights("b", one(untouched_source=True)) == state | notes | on(
        "topic", "mm2-offset-syncs.a.internal", "read"
    )
    assert gap_rights("c", one()) == set()


def test_an_untouched_source_is_only_read() -> None:
    untouched = one(untouched_source=True, heartbeats=False, groups=["app-.*"])
    assert allowed("a", untouched) == (READ_SOURCE - on("group", "*", "describe")) | on("group", "app-*", "describe")
    assert {operation for _kind, _name, operation in allowed("a", untouched)} == {
        "read",
        "describe",
        "describe_configs",
    }
    assert on("topic", "mm2-offset-syncs.a.internal", "create", "read", "write") <= allowed("b", untouched)


def test_a_target_is_written_under_the_names_of_the_policy() -> None:
    copy = ("create", "write", "alter", "alter_configs")
    expected = workers("a") | on("topic", "heartbeats", "create") | on("topic", "a.heartbeats", *copy)
    expected |= on("topic", "a.orders", *copy, "read") | on("topic", "a.audit.*", *copy, "read")
    expected |= on("topic", "a.checkpoints.internal", "create", "read", "write") | on("group", "*", "read")
    assert allowed("b", one()) == expected
    assert on("topic", "a.*", *copy) <= allowed("b", one(topics=[".*"]))
    identity = allowed("b", one(policy="identity"))
    assert on("topic", "orders", *copy, "read") | on("topic", "a.heartbeats", *copy) <= identity
    assert not on("topic", "a.orders", "write") & identity


def test_heartbeats_that_came_from_others_go_on() -> None:
    """A hub b with a way back to a: what c says of itself passes b, and what a says does not come back."""
    flows = [one(), one("c", "b"), one("b", "a")]
    copy = ("create", "write", "alter", "alter_configs")
    hub, end = allowed("b", *flows), allowed("a", *flows)
    assert on("topic", "c.heartbeats", "read", "describe_configs", *copy) <= hub
    assert on("topic", "b.heartbeats", *copy) | on("topic", "b.c.heartbeats", *copy) <= end
    named = {name for _kind, name, _operation in hub | end if name.endswith("heartbeats")}
    assert named == {"heartbeats", "a.heartbeats", "c.heartbeats", "b.heartbeats", "b.c.heartbeats"}
    assert not on("topic", "a.heartbeats", "read") & hub


def test_only_what_a_flow_needs() -> None:
    plain = allowed("b", one(sync_group_offsets=False, sync_topic_configs=False))
    assert not {right for right in plain if right[2] == "alter_configs"}
    assert {right for right in plain if right[0] == "group"} == on("group", "a-mm2", "read")
    assert not {right for right in plain if right[0] in ("cluster", "transactional_id")}


def test_acls_are_mirrored_with_rights_on_the_cluster() -> None:
    wished = one(sync_topic_acls=True)
    assert on("cluster", "kafka-cluster", "describe") <= allowed("a", wished)
    assert on("cluster", "kafka-cluster", "alter") <= allowed("b", wished)


@pytest.mark.parametrize("word", ["preparing", "enabled"])
def test_exactly_once_needs_transactions_in_the_target_only(word: str) -> None:
    wished = one(exactly_once=word)
    transactions = on("transactional_id", "connect-cluster-a-mm2", "write") | on("transactional_id", "a-mm2-*", "write")
    assert {right for right in allowed("b", wished) if right[0] == "transactional_id"} == transactions
    assert not {right for right in allowed("a", wished) if right[0] == "transactional_id"}


def test_active_active_needs_no_workers_of_the_other_side() -> None:
    both = allowed("a", one(), one("b", "a"))
    assert workers("b") <= both
    assert on("topic", "heartbeats", "create", "write", "read") <= both
    silent = allowed("b", one(), one("b", "a", heartbeats=False))
    assert not on("topic", "heartbeats", "write") & silent


def test_the_legacy_engine_reads_commits_and_writes() -> None:
    legacy = one(engine="legacy")
    group = on("group", "streamops-mirror-a-b", "read")
    assert allowed("a", legacy) == on("topic", "orders", "read") | on("topic", "audit.*", "read") | group
    assert allowed("b", legacy) == on("topic", "orders", "write") | on("topic", "audit.*", "write")


def test_clusters_and_flows_that_take_no_part() -> None:
    assert allowed("c", one()) == set()
    assert allowed("a", one(enabled=False)) == set()
    assert rights.mirror_acls(read_flows([one()]), "a", []) == []


def test_a_pattern_that_no_topic_can_match_needs_no_right() -> None:
    assert not {right for right in allowed("a", one(topics=["a b", "orders"])) if right[1] == "a b"}


def test_one_user_at_both_ends() -> None:
    for cluster in ("a", "b"):
        users = rights.mirror_users(read_flows([one()]), cluster, "mirror", "secret", ["SCRAM-SHA-256", "PLAIN"])
        assert users == [{"name": "mirror", "password": "secret", "mechanism": "SCRAM-SHA-256"}]
        assert parse_specs(users)[1] == []
    assert rights.mirror_users(read_flows([one()]), "c", "mirror", "secret", ["SCRAM-SHA-512"]) == []
    assert rights.mirror_users(read_flows([one()]), "a", "", "", ["SCRAM-SHA-512"]) == []
    assert rights.mirror_users(read_flows([one()]), "a", "mirror", "secret", ["PLAIN", "SCRAM-SHA-256"]) == []


def test_principals_are_the_user_and_mirrors_that_come_here() -> None:
    homes = {"m2": "b", "m1": "b", "other": "a"}
    assert rights.mirror_principals(read_flows([one()]), "a", "mirror", homes) == [M, "User:m1", "User:m2"]
    assert rights.mirror_principals(read_flows([one()]), "c", "mirror", homes) == []
    assert rights.mirror_principals(read_flows([one()]), "b", "", {}) == []
