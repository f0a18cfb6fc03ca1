# SPDX-License-Identifier: GPL-3.0-or-later
"""The process of a node: its class, its Java arguments, its logs, and its service."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.inventory_data import view

FLOW = {"source": "other", "target": "kafka", "topics": ["t"]}
LEGACY = {**FLOW, "engine": "legacy"}


def seen(role: str, key: str = "process", **variables: Any) -> Any:
    """A part of the model of host a, alone in a group of this name."""
    groups: dict[str, Any] = {role: ["a"]}
    own = {"kafka_node_id": 1, "zookeeper_id": 1, "kafka_log_dirs": ["/d"], "kafka_heap_size": "2g", **variables}
    return view({"a": own}, **groups)[key]


@pytest.mark.parametrize(
    ("role", "flow", "main_class", "config_file", "arguments_file", "ready_line"),
    [
        ("brokers", FLOW, "kafka.Kafka", "server.properties", "", ""),
        ("controllers", FLOW, "kafka.Kafka", "server.properties", "", ""),
        ("zookeepers", FLOW, "org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg", "", ""),
        (
            "mirrors",
            FLOW,
            "org.apache.kafka.connect.mirror.MirrorMaker",
            "mm2.properties",
            "",
            "Kafka MirrorMaker started",
        ),
        ("mirrors", LEGACY, "kafka.tools.MirrorMaker", "consumer.properties", "arguments", "Successfully joined group"),
    ],
)
def test_what_is_started(
    role: str, flow: dict[str, Any], main_class: str, config_file: str, arguments_file: str, ready_line: str
) -> None:
    found = seen(role, mirror_flows=[flow])
    assert found["main_class"] == main_class
    assert (found["config_file"], found["arguments_file"]) == (config_file, arguments_file)
    assert found["ready_line"] == ready_line


@pytest.mark.parametrize(
    ("role", "title", "service", "product"),
    [
        ("brokers", "Apache Kafka 4.3.1 (broker 1 of kafka)", "kafka-a", "kafka"),
        ("zookeepers", "Apache ZooKeeper 3.9.5 (server 1 of kafka)", "zookeeper-a", "zookeeper"),
        ("mirrors", "Apache Kafka 4.3.1 (MirrorMaker next to the brokers of kafka)", "mirror-maker-a", "kafka"),
    ],
)
def test_what_it_is_called(role: str, title: str, service: str, product: str) -> None:
    found = seen(role, kafka_version="4.3.1", zookeeper_version="3.9.5")
    assert (found["title"], found["service"], found["product"]) == (title, service, product)


def test_a_combined_node_has_both_roles_in_its_title() -> None:
    found = view({"a": {"kafka_node_id": 1, "kafka_version": "4.3.1"}}, brokers=["a"], controllers=["a"])["process"]
    assert found["title"] == "Apache Kafka 4.3.1 (broker and controller 1 of kafka)"


def test_each_service_manager_has_a_file_of_its_own() -> None:
    found = seen("brokers")
    assert (found["service_file"], found["template"]) == ("/etc/systemd/system/kafka-a.service", "kafka.service.j2")
    copy = {"name": "kafka-a.service", "path": "/etc/systemd/system/kafka-a.service", "mode": "0644", "owner": "root"}
    assert found["copies"] == [copy]
    found = seen("brokers", kafka_service_manager="supervisor", kafka_config_dir="/c")
    assert found["service_file"] == "/c/supervisor/conf.d/kafka-a.conf"
    assert found["template"] == "supervisor.program.conf.j2"


def test_a_broker_whose_old_session_keeps_it_away_is_started_again_until_that_has_ended() -> None:
    retries = seen("brokers", kafka_mode="zookeeper")["start_retries"]
    assert sum(range(retries + 1)) > 18, "zookeeper.session.timeout.ms, in seconds"
    assert seen("brokers")["start_retries"] == 0
    assert seen("zookeepers")["start_retries"] == 0


@pytest.mark.parametrize(
    ("role", "version", "file", "option"),
    [
        ("brokers", "4.3.1", "log4j2.yaml", "-Dlog4j2.configurationFile=/etc/kafka/a/log4j2.yaml"),
        ("brokers", "3.9.2", "log4j.properties", "-Dlog4j.configuration=file:/etc/kafka/a/log4j.properties"),
        ("zookeepers", "3.9.2", "logback.xml", "-Dlogback.configurationFile=/etc/kafka/a/logback.xml"),
    ],
)
def test_how_it_logs(role: str, version: str, file: str, option: str) -> None:
    archive = {
        "kafka_install_source": "archive",
        "kafka_archive_sha512": "0" * 128,
        "zookeeper_archive_sha512": "0" * 128,
    }
    assert seen(role, kafka_version=version)["logging_file"] == file
    assert option in seen(role, "jvm_arguments", kafka_version=version, **archive)


def test_loggers_of_their_own_are_those_of_a_node_or_of_a_mirror() -> None:
    assert [name for name, _file, _level in seen("brokers")["loggers"]][:2] == [
        "org.apache.kafka.controller",
        "kafka.controller",
    ]
    assert [level for _name, _file, level in seen("mirrors")["loggers"]] == ["WARN"]


def test_logins_are_logged_where_clients_choose_a_mechanism() -> None:
    def files(*mechanisms: str, protocol: str = "SASL_PLAINTEXT", role: str = "brokers") -> list[str]:
        listeners = [
            {"name": "CLIENT", "port": 9092, "purpose": "clients", "protocol": protocol},
            {"name": "BROKER", "port": 9094, "purpose": "brokers"},
            {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
        ]
        wanted = {"kafka_listeners": listeners, "kafka_sasl_mechanisms": [*mechanisms]}
        return [file for _name, file, _level in seen(role, **wanted)["loggers"]]

    both = ("SCRAM-SHA-512", "OAUTHBEARER")
    assert "logins" in files(*both)
    assert "logins" not in files("SCRAM-SHA-512")
    assert "logins" not in files(*both, protocol="PLAINTEXT")
    assert "logins" not in files(*both, role="controllers")
    assert "logins" not in files(*both, role="mirrors")


def test_the_heap_of_a_mirror_is_not_that_of_a_node() -> None:
    heaps = {"kafka_heap_size": "6g", "mirror_maker_heap_size": "512m"}
    assert seen("brokers", "jvm_arguments", **heaps)[:2] == ["-Xms6g", "-Xmx6g"]
    assert seen("mirrors", "jvm_arguments", **heaps)[:2] == ["-Xms512m", "-Xmx512m"]


@pytest.mark.parametrize(
    ("version", "begins"),
    [
        ("4.3.1", "-Dorg.apache.kafka.allowed.login.modules="),
        ("4.2.0", "-Dorg.apache.kafka.allowed.login.modules="),
        ("4.1.2", "-Dorg.apache.kafka.disallowed.login.modules="),
        ("3.9.2", "-Dorg.apache.kafka.disallowed.login.modules="),
    ],
)
def test_login_modules_that_reach_out_are_not_loaded(version: str, begins: str) -> None:
    archive = {"kafka_install_source": "archive", "kafka_archive_sha512": "0" * 128}
    arguments = seen("brokers", "jvm_arguments", kafka_version=version, **archive)
    assert [one for one in arguments if "login.modules" in one and one.startswith(begins)]
    assert "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" in arguments
    assert not [one for one in seen("zookeepers", "jvm_arguments") if "kafka.sasl" in one or "login.modules" in one]


def test_brokers_that_take_tokens_may_ask_the_issuer_and_nobody_else() -> None:
    tokens = {
        "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "OAUTHBEARER"],
        "kafka_oauth": {"issuer": "i", "jwks_url": "https://id.example.com/keys", "audience": ["kafka"]},
    }
    asked = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="
    clients = [{"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"}]
    others = [{"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"}]
    brokers = seen("brokers", "jvm_arguments", kafka_listeners=[*clients, *others], **tokens)
    assert [one for one in brokers if one.startswith(asked)] == [f"{asked}https://id.example.com/keys"]
    for wanted in ({**tokens, "kafka_listeners": others}, {"kafka_oauth": tokens["kafka_oauth"]}):
        assert asked in seen("brokers", "jvm_arguments", **wanted)


def test_java_reads_the_krb5_conf_of_brokers_that_take_tickets() -> None:
    clients = [{"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"}]
    said = {"realm": "EXAMPLE.COM", "keytab_path": "/k", "kdcs": ["kdc1"]}
    given = {"kafka_sasl_mechanisms": ["SCRAM-SHA-512", "GSSAPI"], "kafka_listeners": clients}
    option = "-Djava.security.krb5.conf="

    def read(**wanted: Any) -> list[str]:
        arguments = seen("brokers", "jvm_arguments", **{**given, **wanted})
        return [argument.removeprefix(option) for argument in arguments if argument.startswith(option)]

    assert read(kafka_kerberos=said)[0].endswith("/krb5.conf")
    assert "kdc = kdc1" in seen("brokers", "krb5", **given, kafka_kerberos=said)
    assert read(kafka_kerberos={**said, "kdcs": [], "krb5_file": "/etc/krb5/own.conf"}) == ["/etc/krb5/own.conf"]
    assert read(kafka_kerberos={**said, "kdcs": []}) == [], "Java finds /etc/krb5.conf by itself"
    assert read(kafka_kerberos=said, kafka_sasl_mechanisms=["SCRAM-SHA-512"]) == []


def test_arguments_of_the_user_come_after_ours_and_before_the_class_path() -> None:
    arguments = seen("brokers", "jvm_arguments", kafka_jvm_options=["-XX:MaxGCPauseMillis=50"])
    assert arguments[-3:-1] == ["-XX:MaxGCPauseMillis=50", "-cp"]
    assert arguments[-1].startswith('"/opt/kafka/releases/kafka-')
    assert arguments[-1].endswith('/libs/*"')


def test_the_log_of_the_collector_is_bounded_as_the_other_logs_are() -> None:
    arguments = seen("brokers", "jvm_arguments", kafka_log_max_files="3", kafka_log_max_size_mb=7)
    assert "-Xlog:gc*:file=/var/log/kafka/a/gc.log:time,tags:filecount=3,filesize=7M" in arguments


@pytest.mark.parametrize(
    ("role", "variables", "named"),
    [
        ("brokers", {"kafka_mode": "zookeeper", "zookeeper_password": "p"}, True),
        ("brokers", {"kafka_mode": "zookeeper"}, False),
        ("brokers", {"zookeeper_password": "p"}, False),
        ("zookeepers", {"zookeeper_password": "p"}, True),
        ("mirrors", {"kafka_mode": "zookeeper", "zookeeper_password": "p"}, False),
    ],
)
def test_only_who_logs_in_at_zookeeper_has_a_jaas_file(role: str, variables: dict[str, Any], named: bool) -> None:
    wanted = ["-Djava.security.auth.login.config=/etc/kafka/a/zookeeper_jaas.conf"] if named else []
    assert [one for one in seen(role, "jvm_arguments", **variables) if "login.config" in one] == wanted
    assert bool(seen(role, "jaas", **variables)) is named
