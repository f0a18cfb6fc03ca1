# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook of a tuning asks the model for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.inventory_data import view

FLOW = {"source": "dc_a", "target": "dc_b", "topics": ["orders"], "topics_exclude": ["x"]}
LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
]
ASKED = {"tasks": [1, 2], "options": ["linger", "batch"], "rounds": 1, "run_seconds": 60}
PLAN = {"asked": ASKED, "plan": {"partitions": 6, "brokers": {"source": 3, "target": 3}}}
MACHINE = {"cores": 4, "round_trip": 0.02, "receive_bytes": 6_000_000}


def endpoint(cluster: str, protocol: str, has_authorizer: bool = True) -> dict[str, Any]:
    """What the brokers of a cluster say of it."""
    return {
        "cluster": cluster,
        "bootstrap_servers": [f"{cluster}:9092"],
        "protocol": protocol,
        "mirror_bootstrap_servers": [f"{cluster}:9095"],
        "mirror_protocol": protocol,
        "mechanism": "SCRAM-SHA-512",
        "user": "mirror",
        "password": "secret",
        "ca_file": f"/ca/{cluster}.pem",
        "brokers": 3,
        "has_authorizer": has_authorizer,
    }


def tune(
    host: str = "m1",
    protocol: str = "SASL_SSL",
    flow: dict[str, Any] | None = None,
    authorizers: tuple[str, ...] = ("dc_a", "dc_b"),
    **given: Any,
) -> Any:
    """What a mirror sees; m1 and m2 stand next to dc_b, and given variables are those of every host."""
    names = {"a1": "dc_a", "b1": "dc_b", "m1": "dc_b", "m2": "dc_b", "m3": "dc_a"}
    hosts: dict[str, Any] = {
        name: {"kafka_cluster_name": cluster, "kafka_node_id": 1} for name, cluster in names.items()
    }
    for name in ("a1", "b1"):
        hosts[name]["__kafka_endpoint"] = endpoint(names[name], protocol, names[name] in authorizers)
    common = {
        "kafka_listeners": LISTENERS,
        "mirror_user": "mirror",
        "mirror_password": "secret",
        "mirror_maker_heap_size": "1g",
    }
    found = view(
        hosts,
        brokers=["a1", "b1"],
        mirrors=["m1", "m2", "m3"],
        host=host,
        mirror_flows=[{**FLOW, **(flow or {})}],
        **{**common, "mirror_tune_flow": "dc_a->dc_b", **given},
    )
    return found["mirroring"]["tune"]


def row(number: int, tasks: int, rate: float, option: str = "", **settings: Any) -> dict[str, Any]:
    """A run that was measured."""
    kind = "option" if option else "tasks"
    run = {"number": number, "kind": kind, "round": 1, "tasks": tasks, "option": option, "settings": settings}
    return {**run, "label": "x", "bytes_per_second": rate, "records": 9, "seconds": 9.0, "busy": 1.0, "own": 0.5}


ROWS = [row(1, 1, 10e6), row(2, 2, 20e6)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mirror_tune_flow": "dc_b->dc_a"}, "no flow of mirror_flows; flows are dc_a->dc_b"),
        ({"mirror_tune_flow": ""}, "no flow of mirror_flows"),
        ({"flow": {"engine": "legacy"}}, "engine legacy"),
        ({"flow": {"enabled": False}}, "is not enabled"),
        ({"mirror_tune_mirror": "m3"}, "mirrors next to dc_b are m1, m2"),
        ({"mirror_external_clusters": {"dc_a": {}}}, "dc_a is a cluster of mirror_external_clusters"),
    ],
)
def test_what_the_inventory_does_not_have_is_refused(given: dict[str, Any], said: str) -> None:
    (found,) = tune(**given)["refusals"]
    assert said in found


def test_the_tuning_runs_on_the_first_mirror_of_the_target_or_on_the_one_that_is_named() -> None:
    assert tune()["refusals"] == []
    assert [tune(host)["is_host"] for host in ("m1", "m2", "m3")] == [True, False, False]
    assert [tune(host, mirror_tune_mirror="m2")["is_host"] for host in ("m1", "m2", "m3")] == [False, True, False]


def test_the_mirror_of_a_run_logs_in_as_the_role_s_does() -> None:
    found = tune(__mirror_maker_tune_plan=PLAN, _mirror_maker_tune_run=row(3, 2, 1, "linger", linger=100))
    text = found["properties"]
    assert "_streamops_tune_3.bootstrap.servers=dc_a:9095\n" in text
    assert "_streamops_tune_3.sasl.jaas.config=${file:/etc/kafka/mirror-dc_b/secrets.properties:dc_a.sasl" in text
    assert "dc_b.producer.linger.ms=100\n" in text
    assert "tasks.max=2\n" in text
    assert "secret\n" not in text
    assert found["addresses"] == ["dc_a:9095"]
    assert found["topics_exclude"] == ["x"]


def test_rights_are_given_where_the_mirror_logs_in() -> None:
    found = tune()["acls"]
    assert {one["principal"] for some in found.values() for one in some} == {"User:mirror"}
    assert len(found["dc_a"]) == 1
    assert tune(protocol="PLAINTEXT")["acls"] == {"dc_a": [], "dc_b": []}
    assert {one["principal"] for one in tune(protocol="SSL")["acls"]["dc_a"]} == {"User:m1"}


def test_a_cluster_without_an_authorizer_is_given_no_rights() -> None:
    # It would refuse them with SECURITY_DISABLED, and needs none.
    found = tune(authorizers=("dc_b",))["acls"]
    assert found["dc_a"] == []
    assert {one["principal"] for one in found["dc_b"]} == {"User:mirror"}


@pytest.mark.parametrize(
    ("given", "has"),
    [
        ({}, False),
        ({"kafka_authorizer": True}, True),
        ({"kafka_config": {"authorizer.class.name": "an.Authorizer"}}, True),
        ({"kafka_broker_config": {"authorizer.class.name": "an.Authorizer"}}, True),
        ({"kafka_authorizer": True, "kafka_config": {"authorizer.class.name": ""}}, False),
    ],
)
def test_a_cluster_says_whether_it_has_an_authorizer(given: dict[str, Any], has: bool) -> None:
    host = {"kafka_cluster_name": "dc_a", "kafka_node_id": 1, "kafka_listeners": LISTENERS, **given}
    assert view({"a1": host}, brokers=["a1"])["endpoint"]["has_authorizer"] is has


def test_the_parts_of_a_tuning_follow_each_other() -> None:
    found = tune(__mirror_maker_tune_plan=PLAN, __mirror_maker_tune_rows=ROWS)
    assert [run["tasks"] for run in found["tasks_runs"]] == [1, 2]
    assert [(run["number"], run["tasks"], run["settings"]) for run in found["option_runs"]][:2] == [
        (3, 2, {"linger": 0}),
        (4, 2, {"linger": 100}),
    ]
    assert found["together_runs"] == []
    better = [*ROWS, row(3, 2, 30e6, "linger", linger=100), row(4, 2, 40e6, "batch", batch=1048576)]
    (run,) = tune(__mirror_maker_tune_plan=PLAN, __mirror_maker_tune_rows=better)["together_runs"]
    assert (run["number"], run["settings"]) == (5, {"batch": 1048576, "linger": 100})


def test_a_tuning_without_a_knee_has_no_second_part() -> None:
    found = tune(__mirror_maker_tune_plan=PLAN, __mirror_maker_tune_rows=[{**ROWS[0], "bytes_per_second": None}])
    assert (found["option_runs"], found["together_runs"]) == ([], [])


def ended(records: int, ran: bool = True) -> Any:
    """The row of a run of which so many of five records came."""
    return tune(
        _mirror_maker_tune_run={"number": 1, "kind": "tasks"},
        __mirror_maker_tune_load={"records": 5},
        __mirror_maker_tune_measured={
            "records": records,
            "seconds": 2.0,
            "bytes_per_second": 7,
            "first_at": 10.0,
            "last_at": 12.0,
            "changed": False,
        },
        __mirror_maker_tune_stopped={
            "samples": [[10.0, 1.0, 1.0], [12.0, 5.0, 3.0]],
            "ran": ran,
            "complaints": ["Caused by: heap"],
        },
    )["row"]


def test_the_row_of_a_run_has_its_rate_and_the_cores_that_it_used() -> None:
    assert ended(5) == {
        "number": 1,
        "kind": "tasks",
        "records": 5,
        "seconds": 2.0,
        "bytes_per_second": 7,
        "busy": 2.0,
        "own": 1.0,
        "problem": "",
    }


def test_a_mirror_that_ended_on_its_way_has_no_rate_and_says_why() -> None:
    found = ended(3, ran=False)
    assert found["bytes_per_second"] is None
    assert found["problem"] == "its mirror ended by itself after 3 of 5 records; its last errors: Caused by: heap"


def test_a_slow_mirror_and_one_that_ended_with_its_work_done_keep_their_rates() -> None:
    assert (ended(3)["bytes_per_second"], ended(3)["problem"]) == (7, "")
    assert (ended(5, ran=False)["bytes_per_second"], ended(5, ran=False)["problem"]) == (7, "")


def test_a_run_that_brought_nothing_says_so() -> None:
    found = ended(0)
    assert found["bytes_per_second"] is None
    assert found["problem"] == "no record came through its mirror; its last errors: Caused by: heap"


def test_the_result_is_told_and_drawn(tmp_path: Path) -> None:
    left = {
        "__mirror_maker_tune_plan": PLAN,
        "__mirror_maker_tune_rows": ROWS,
        "__mirror_maker_tune_machine": MACHINE,
        "mirror_tune_report": str(tmp_path / "tune.html"),
    }
    cut = tune(**left)
    # The two runs of tasks are there, and of four values of linger and batch none.
    assert cut["lines"][0].startswith("Not finished 4 runs or more are missing")
    assert "4 runs or more are missing" in cut["report"][0]["content"]
    tried = [("linger", 0), ("linger", 100), ("batch", 65536), ("batch", 1048576)]
    others = [row(at, 2, 15e6, name, **{name: value}) for at, (name, value) in enumerate(tried, 3)]
    found = tune(**{**left, "__mirror_maker_tune_rows": [*ROWS, *others]})
    assert found["lines"][0].startswith("Knee         dc_a->dc_b: 2 tasks, 20.0 MB/s")
    assert "more_tasks" in found["lines"][1]
    (page,) = found["report"]
    assert page["path"] == str(tmp_path / "tune.html")
    assert "<svg" in page["content"]
