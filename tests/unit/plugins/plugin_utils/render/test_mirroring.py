# SPDX-License-Identifier: GPL-3.0-or-later
"""What mirror_flows mean for a mirror, and for the clusters at both ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.inventory_data import view
from tests.support.status_seen import DRILL

FLOW = {"source": "dc_a", "target": "dc_b", "topics": ["orders"]}
LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
]


def endpoint(cluster: str) -> dict[str, Any]:
    """What the brokers of a cluster say of it."""
    return {
        "cluster": cluster,
        "bootstrap_servers": [f"{cluster}:9092"],
        "protocol": "SASL_SSL",
        "mirror_bootstrap_servers": [f"{cluster}:9095"],
        "mirror_protocol": "SASL_SSL",
        "mechanism": "SCRAM-SHA-512",
        "user": "mirror",
        "password": "secret",
        "ca_file": f"/ca/{cluster}.pem",
        "brokers": 1,
    }


def mirroring(host: str = "m1", flow: dict[str, Any] | None = None, left: Any = None, **common: Any) -> Any:
    """What a host sees of one flow from a1 to b1, which m1 carries; left is what tasks left on m1."""
    names = {"a1": "dc_a", "b1": "dc_b", "m1": "dc_b"}
    hosts: dict[str, Any] = {
        name: {"kafka_cluster_name": cluster, "kafka_node_id": 1, "__kafka_endpoint": endpoint(cluster)}
        for name, cluster in names.items()
    }
    del hosts["m1"]["__kafka_endpoint"]
    hosts["m1"] |= left or {}
    hosts["b1"]["kafka_topics"] = [{"name": "orders", "config": {"retention.ms": 7}}]
    given = {"kafka_listeners": LISTENERS, "mirror_user": "mirror", "mirror_password": "secret", **common}
    flows = [{**FLOW, **(flow or {})}]
    return view(hosts, brokers=["a1", "b1"], mirrors=["m1"], host=host, mirror_flows=flows, **given)["mirroring"]


def test_a_mirror_has_its_files_from_what_both_clusters_said() -> None:
    found = mirroring(mirror_maker_config={"tasks.max": 3})
    assert [flow["source"] for flow in found["flows"]] == ["dc_a"]
    assert list(found["endpoints"]) == ["dc_a", "dc_b"]
    properties = found["properties"]
    assert properties["dc_a.bootstrap.servers"] == ["dc_a:9095"]
    assert properties["dc_b.bootstrap.servers"] == ["dc_b:9092"]
    assert properties["listeners"] == "http://m1:8443"
    assert properties["tasks.max"] == 3
    assert found["secrets_file"] == "/etc/kafka/mirror-dc_b/secrets.properties"
    assert found["secrets_file"] in properties["dc_a.sasl.jaas.config"]
    assert sorted(found["secrets"]) == ["dc_a.sasl.jaas.config", "dc_b.sasl.jaas.config"]
    assert found["trusts"] == {"dc_a": "/ca/dc_a.pem", "dc_b": "/ca/dc_b.pem"}
    assert found["shows_certificate"] is False
    assert found["is_legacy"] is False
    assert found["positions"] == {"dc_a->dc_b": {"offsets_topic": "mm2-offsets.dc_a.internal"}}


def test_a_flow_that_is_not_in_order_is_an_error_of_the_template() -> None:
    with pytest.raises(ValueError, match=r"mirror_flows\[0\]\.topics: is required"):
        mirroring(flow={"topics": None})["flows"]


LEGACY = {"engine": "legacy", "consumer_config": {"fetch.min.bytes": 1}}
TOPIC = {
    "name": "orders",
    "partition_count": 2,
    "replication_factor": 3,
    "replication_factors": [3],
    "config": {"retention.ms": "5"},
}


def test_a_legacy_mirror_has_two_files_and_the_topics_of_its_source() -> None:
    seen = {"results": [{"item": "dc_a", "topics": [TOPIC]}, {"item": "dc_b", "topics": []}]}
    found = mirroring(flow=LEGACY, left={"__mirror_maker_legacy_seen": seen}, kafka_version="3.9.2")
    assert found["is_legacy"] is True
    assert found["legacy"]["consumer"]["fetch.min.bytes"] == 1
    assert "/etc/kafka/m1/producer.properties" in " ".join(found["legacy"]["words"])
    (topic,) = found["legacy_topics"]
    assert (topic["partitions"], topic["replication_factor"]) == (2, 1)
    # The cluster's own declaration has the last word.
    assert topic["config"] == {}


def test_two_names_of_one_cluster_are_noticed() -> None:
    ids = [{"item": "dc_a", "cluster_id": "x"}, {"item": "dc_b", "cluster_id": "x"}]
    assert (
        "dc_a and dc_b are one cluster"
        in mirroring(left={"__mirror_maker_clusters": {"results": ids}})["same_clusters"][0]
    )


OLD = {"bootstrap_servers": "old1:9092", "username": "reader", "password": "r1-hidden"}


def outside(entry: dict[str, str] | None = None, **left: Any) -> Any:
    """What m1 sees of a flow from a cluster outside of the inventory."""
    found = {"old": OLD if entry is None else entry, "unused": {"bootstrap_servers": "x:1"}}
    return mirroring(flow={"source": "old"}, left=left, mirror_external_clusters=found, kafka_cluster_id="own")


def test_a_source_outside_of_the_inventory_has_its_endpoint_from_the_variable() -> None:
    found = outside()
    assert list(found["endpoints"]) == ["dc_b", "old"]
    assert found["external"] == ["old"]
    properties = found["properties"]
    assert properties["old.bootstrap.servers"] == ["old1:9092"]
    assert properties["old.security.protocol"] == "SASL_PLAINTEXT"
    # Nobody here knows how many brokers there are.
    assert properties["old->dc_b.offset-syncs.topic.replication.factor"] == -1
    assert properties["old.config.storage.replication.factor"] == -1
    assert "r1-hidden" not in str(properties)
    assert "User:reader in old: read, describe_configs on topic orders" in found["external_rights"]
    assert outside({"bootstrap_servers": "old1:9092"})["external_rights"] == []


def test_a_source_outside_of_the_inventory_that_is_a_cluster_of_it_is_noticed() -> None:
    ids = [{"item": "old", "cluster_id": "own"}, {"item": "dc_b", "cluster_id": "other"}]
    (told,) = outside(__mirror_maker_clusters={"results": ids})["same_clusters"]
    assert "old of mirror_external_clusters leads to dc_a of this inventory" in told
    failed = [{"item": "old", "msg": "refused"}, {"item": "dc_b", "cluster_id": "other"}]
    (told,) = outside(__mirror_maker_clusters={"results": failed})["external_failures"]
    assert "old of mirror_external_clusters cannot be read: refused" in told


def test_what_was_looked_at_is_told_and_audited() -> None:
    look = {
        "flow": "dc_a->dc_b",
        "topics": [{"source": "orders", "target": "dc_a.orders", "lag": 4, "partitions": [{"source_end": 9}]}],
        "partitions_done": 1,
        "partitions_total": 2,
        "lag": 4,
        "heartbeat_age_ms": 1000,
        "checkpoint_age_ms": None,
        "problems": [],
    }
    found = mirroring(left={"__mirror_maker_look": look})
    assert found["lines"][1] == "Lag          4 records (orders 4)"
    assert found["pairs"] == [{"source": "orders", "target": "dc_a.orders"}]
    gaps = {"flow": "dc_a->dc_b", "lines": ["orders-0: gone"], "gaps": [{"certain": True, "records": 3}]}
    found = mirroring(left={"__mirror_maker_look": look, "__mirror_maker_gaps": gaps})
    assert found["lines"][-1] == "Gap          orders-0: gone"
    assert found["gaps"] == gaps["gaps"]
    of_another = {"__mirror_maker_look": look, "__mirror_maker_gaps": {**gaps, "flow": "dc_c->dc_b"}}
    assert len(mirroring(left=of_another)["lines"]) == 4


@pytest.mark.parametrize(
    ("left", "lines"),
    [
        ({}, []),
        ({"skipped": True, "msg": "not asked"}, []),
        ({"failed": True, "msg": "no right."}, ["Drill        not known: no right."]),
        ({"drill": None, "days": None}, ["Drill        none yet (mirror_drill.yml)"]),
        (
            {"drill": DRILL.as_data(), "days": 50},
            [
                "Drill        passed 50 days ago: RPO 0, RTO 31 s, 12 records read again (more than 45 days: run "
                "mirror_drill.yml again)"
            ],
        ),
    ],
)
def test_a_status_has_a_line_about_the_last_drill_where_its_target_was_asked(
    left: dict[str, Any], lines: list[str]
) -> None:
    assert mirroring(left={"__mirror_maker_drill": left})["drill_lines"] == lines


def test_a_status_names_start_files_that_a_mirror_did_not_come_back_with() -> None:
    files = {"staged": None, "failed": "2", "why_failed": "no.such.Rep\nmore", "edited": []}
    note, step = mirroring(left={"__mirror_maker_runs": {"start_files": files}})["start_file_lines"]
    assert note == (
        "Note         m1 did not come back with its last new start files and runs with those from before: no.such.Rep"
    )
    assert step.startswith("Next         start_files_failed: ")
    assert mirroring(left={"__mirror_maker_runs": {"unreachable": True}})["start_file_lines"] == []
    assert mirroring()["start_file_lines"] == []


def test_a_cluster_makes_the_user_of_mirrors_unless_the_inventory_does() -> None:
    (user,) = mirroring("a1")["users"]
    assert (user["name"], user["password"]) == ("mirror", "secret")
    assert mirroring("a1", kafka_users=[{"name": "mirror", "password": "own"}])["users"] == []
    plain = [{**one, "protocol": "PLAINTEXT"} for one in LISTENERS]
    assert mirroring("a1", kafka_listeners=plain)["users"] == []


def principals(host: str, **common: Any) -> set[str]:
    """To whom the ACLs of a cluster are given."""
    return {entry["principal"] for entry in mirroring(host, kafka_authorizer=True, **common)["acls"]}


def test_a_cluster_allows_mirrors_what_they_need_but_no_super_user() -> None:
    assert mirroring("b1")["acls"] == []
    assert principals("b1") == {"User:mirror"}
    assert principals("b1", kafka_super_users=["mirror"]) == set()
    certificates = [{**one, "protocol": "SSL"} for one in LISTENERS]
    assert principals("b1", kafka_listeners=certificates) == {"User:mirror", "User:m1"}


def test_acls_of_mirrors_are_owned_also_when_their_last_flow_is_gone() -> None:
    common = {"kafka_authorizer": True, "kafka_listeners": LISTENERS, "mirror_user": "mirror"}
    gone = mirroring("b1", {**FLOW, "enabled": False}, **common)
    assert gone["acls"] == []
    assert gone["acl_owners"] == ["User:mirror"]
    assert mirroring("b1", **common, kafka_super_users=["mirror"])["acl_owners"] == []
    assert mirroring("b1", mirror_user="mirror")["acl_owners"] == []


def test_a_failover_is_planned_by_a_mirror_next_to_the_target_of_its_flow() -> None:
    planned = mirroring(kafka_failover=" dc_a->dc_b ")["failover"]
    assert (planned["refusals"], planned["mirrors"]) == ([], ["m1"])
    assert planned["flow"]["topics"] == ["orders"]
    # Of clusters without such a mirror the same is refused, and there is no flow to look at.
    other = mirroring(kafka_failover="dc_b->dc_a")["failover"]
    assert other["refusals"]
    assert (other["mirrors"], other["flow"]) == ([], {})


def test_a_step_of_a_failover_reaches_the_source_of_a_flow_that_is_disabled() -> None:
    disabled = {"enabled": False}
    given = {"kafka_failover": "dc_a->dc_b", "kafka_failover_step": " next ", "kafka_failover_operator": "alice"}
    taken = mirroring(flow=disabled, **given)
    failover = taken["failover"]
    assert (failover["refusals"], failover["step"], failover["is_enabled"]) == ([], "next", False)
    assert failover["flow"]["source"] == "dc_a"
    assert list(taken["endpoints"]) == ["dc_a", "dc_b"]
    planned = mirroring(flow=disabled, kafka_failover="dc_a->dc_b")
    assert planned["failover"]["refusals"]
    assert list(planned["endpoints"]) == []
    # The failback too, whose flow stays disabled.
    back = mirroring(flow=disabled, kafka_failover="dc_a->dc_b", kafka_failover_source="returned")
    assert (back["failover"]["refusals"], back["failover"]["is_returned"], back["failover"]["is_lost"]) == (
        [],
        True,
        False,
    )
    assert list(back["endpoints"]) == ["dc_a", "dc_b"]


def test_the_offsets_of_a_failover_are_a_file_of_the_control_node() -> None:
    groups = [{"name": "billing", "topics": []}]
    left = {"__mirror_maker_failover": {"offsets_there": groups}}
    planned = mirroring(kafka_failover="dc_a->dc_b", kafka_failover_offsets=" /tmp/offsets.json ", left=left)
    (file,) = planned["failover"]["offsets_file"]
    assert file["path"] == "/tmp/offsets.json"
    assert json.loads(file["content"]) == {"groups": groups}
