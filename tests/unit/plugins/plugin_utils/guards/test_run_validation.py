"""Values of spark_validation with which no job can run."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.run_validation import OWN_TOPIC, faults, unfit
from spark_validation.smoke import config
from tests.support.cluster import ROOT


def named(**values: Any) -> list[str]:
    """The options that are refused, without the prefix of the role."""
    given = {f"spark_validation_{name}": value for name, value in values.items()}
    return [fault.name.removeprefix("spark_validation_") for fault in faults(given, brokers=3)]


def test_the_defaults_of_the_role_pass_and_the_own_topic_is_that_of_the_job() -> None:
    defaults = yaml.safe_load((ROOT / "roles" / "spark_validation" / "defaults" / "main.yml").read_text())
    plain = {name: value for name, value in defaults.items() if "{{" not in str(value)}
    assert list(faults(plain, brokers=3)) == []
    assert defaults["spark_validation_topic"] == config.OWN_TOPIC == OWN_TOPIC


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        ("run_id", ["", "mine"], ["../x", "a b", 5, "a" * 33]),
        ("audit_run_id", ["", "20261121T013632-1156"], ["..", "a/b"]),
        ("bootstrap_servers", [["a:1"], "a:1,b:2", ["[::1]:9092"]], [[], "", "a", ["a"], ["a:b"], {"a": 1}, 5]),
        ("master", ["local", "local[2]", "local[*]", "local[2,3]", "spark://a:7077"], ["", "lokal[2]", "local[x]", 2]),
        ("deploy_mode", ["client"], ["", "klient", 5]),
        ("shared_dir", ["", "hdfs:///tmp/proofs", "s3a://a/b", "file:/mnt/share"], ["/tmp/proofs", "hdfs", 5]),
        ("jars", [[], ["/a.jar"]], ["/a.jar", 5]),
        ("conf", [{}, {"a": 1}], ["a=1", ["a"], ""]),
        ("client_properties", [{}, {"a": "b"}], ["a=b", []]),
        ("output_dir", ["/out"], ["", " "]),
        ("python", ["/usr/bin/python3"], [""]),
    ],
)
def test_each_option_has_its_form(option: str, good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if named(**{option: value})] == []
    assert [value for value in bad if named(**{option: value}) != [option]] == []


@pytest.mark.parametrize("topic", ["", "a b", "..", "a" * 250, 5])
def test_a_topic_that_kafka_refuses_is_named(topic: Any) -> None:
    assert named(topic=topic, consent_topic=topic) == ["topic"]


def test_a_topic_of_others_needs_its_name_twice_unless_nothing_is_written() -> None:
    assert named(topic="orders") == named(topic="orders", consent_topic="order") == ["consent_topic"]
    assert named(topic="orders", consent_topic="orders") == named(topic="orders", audit_run_id="old") == []


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"records": 5}, ["records"]),
        ({"records": "6"}, []),
        ({"records": 100, "partitions": 101}, ["records"]),
        ({"records": "many", "partitions": -1}, []),
        ({"replication_factor": 4}, ["replication_factor"]),
        ({"replication_factor": 3}, []),
        ({"records": 1, "topic": "orders", "consent_topic": "orders"}, []),
        ({"records": 1, "audit_run_id": "old"}, []),
        ({"records": 5, "enabled": "no"}, []),
    ],
)
def test_numbers_are_compared_with_each_other_and_with_the_cluster(values: dict[str, Any], found: list[str]) -> None:
    assert named(**values) == found


def test_user_and_password_belong_together_and_neither_is_shown() -> None:
    given = {"spark_validation_password": "s3cret"}
    (fault,) = faults(given, 3)
    assert "s3cret" not in str(fault)
    assert named(user="smoke") == ["user"]
    assert named(user="smoke", password="s3cret") == []


def test_a_fault_is_one_sentence_with_the_hosts_that_have_it() -> None:
    values = {"spark_validation_records": 5}
    assert unfit({"kafka1": values, "kafka2": values, "kafka3": {}}, 3) == [
        "spark_validation_records: each partition needs a record (found: 5, allowed: 6 or more) on kafka1, kafka2. "
        "fix: correct the value, or remove it to get the default."
    ]


def test_a_driver_on_another_machine_needs_a_master_that_runs_it_and_a_directory_for_its_result() -> None:
    shared = "hdfs:///tmp/proofs"
    for master in ("local[2]", "spark://a:7077"):
        assert named(deploy_mode="cluster", master=master, shared_dir=shared) == ["deploy_mode"]
    assert named(deploy_mode="cluster") == ["deploy_mode"]
    assert named(deploy_mode="cluster", master="yarn") == ["shared_dir"]
    assert named(deploy_mode="cluster", master="yarn", shared_dir=shared) == []
    assert named(deploy_mode="client", master="yarn") == []
