# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest of each kind of node: its directories and files, which are secret, and what a change of each needs."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from ansible_collections.streamops.kafka.plugins.plugin_utils.node import kinds
from ansible_collections.streamops.kafka.plugins.plugin_utils.node.manifest import (
    KEYS,
    LIVE,
    RESTART,
    START,
    File,
    Manifest,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.node.texts import text
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.process import LOGIN_LOGGER
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import view
from tests.support.keytabs import keytab, record

READS = {"owner": "root", "group": "kafka"}
WRITES = {"owner": "kafka", "group": "kafka"}
LISTENERS = [
    {"name": "CLIENT", "port": 9092, "purpose": "clients"},
    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
]
SECURED = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"},
]


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, Any]:
    """The variables of a node whose certificate is on the control node."""
    for name in ("ca.pem", "a.pem", "a.key"):
        (tmp_path / name).write_bytes(f"{name} line\r\nlast\n\n".encode())
    return {
        "kafka_tls_source": "files",
        "kafka_tls_ca_file": str(tmp_path / "ca.pem"),
        "kafka_tls_certificate_file": str(tmp_path / "a.pem"),
        "kafka_tls_key_file": str(tmp_path / "a.key"),
    }


def model(*roles: str, **variables: Any) -> View:
    """The model of host a, alone in the groups of these names."""
    groups: dict[str, Any] = {role: ["a"] for role in roles}
    own = {
        "kafka_node_id": 1,
        "zookeeper_id": 1,
        "kafka_log_dirs": ["/d"],
        "zookeeper_data_log_dir": "/t",
        "kafka_version": "4.3.1",
        "zookeeper_version": "3.9.5",
        "kafka_listeners": LISTENERS,
        **variables,
    }
    return view({"a": own}, **groups)


def mirror(flow: dict[str, Any] | None = None, **variables: Any) -> View:
    """The model of mirror m, which carries one flow from west to east."""
    endpoint = {
        "protocol": "SASL_SSL",
        "mirror_protocol": "SASL_SSL",
        "mechanism": "SCRAM-SHA-512",
        "user": "mirror",
        "password": "geheim",
        "ca_file": variables.get("kafka_tls_ca_file", "/nonexistent"),
        "brokers": 1,
    }
    hosts: dict[str, Any] = {
        name: {
            "kafka_cluster_name": cluster,
            "kafka_node_id": 1,
            "__kafka_endpoint": {
                **endpoint,
                "cluster": cluster,
                "bootstrap_servers": [f"{name}:9092"],
                "mirror_bootstrap_servers": [f"{name}:9092"],
            },
        }
        for name, cluster in {"w": "west", "e": "east"}.items()
    }
    hosts["m"] = {"kafka_cluster_name": "east"}
    flows = [{"source": "west", "target": "east", "topics": ["orders"], **(flow or {})}]
    common = {"kafka_version": "3.9.2", "kafka_listeners": LISTENERS, "mirror_flows": flows, **variables}
    return view(hosts, brokers=["w", "e"], mirrors=["m"], host="m", **common)


def made(of: View) -> Manifest:
    """The whole manifest of a node."""
    return kinds.written(of, kinds.unwritten(of), lambda template: text(template, of, "managed"))


def at(manifest: Manifest, path: str) -> File:
    """The file at a path."""
    return next(file for file in manifest.files if file.path == path)


def listed(manifest: Manifest) -> dict[str, tuple[str, bool, str]]:
    """By path the mode of each file, whether it is secret, and what its change needs."""
    return {file.path: (file.access.mode, file.secret, file.needs) for file in manifest.files}


def started_with(service: str, config: str, logging: str, logging_needs: str) -> dict[str, tuple[str, bool, str]]:
    """The files that every node of a host a has."""
    return {
        "/etc/kafka/a/jvm.options": ("0640", False, KEYS),
        f"/etc/kafka/a/{logging}": ("0640", False, logging_needs),
        "/etc/kafka/a/start": ("0750", False, START),
        f"/etc/kafka/a/{service}.service": ("0640", False, START),
        f"/etc/kafka/a/{config}": ("0640", False, KEYS),
    }


@pytest.mark.parametrize(
    ("roles", "process_roles"),
    [(("brokers",), "broker"), (("controllers",), "controller"), (("brokers", "controllers"), "broker,controller")],
)
def test_a_plain_node_of_kafka_has_five_files(roles: tuple[str, ...], process_roles: str) -> None:
    of = model(*roles)
    found = made(of)
    assert listed(found) == started_with("kafka-a", "server.properties", "log4j2.yaml", LIVE)
    assert [one.plain() for one in found.directories] == [
        {"path": "/etc/kafka/a", "mode": "0750", **READS},
        {"path": "/var/log/kafka/a", "mode": "0750", **WRITES},
        {"path": "/var/log/kafka/a/heap-dumps", "mode": "0700", **WRITES},
        {"path": "/run/kafka/a", "mode": "0750", **WRITES},
    ]
    properties = at(found, "/etc/kafka/a/server.properties")
    assert properties.plain() == {"path": properties.path, "content": properties.content, "mode": "0640", **READS}
    assert properties.content.startswith("# managed\n")
    said = parse(properties.content)
    assert (said["process.roles"], said["node.id"]) == (process_roles, "1")
    assert found.wanted()["properties"] == said
    assert found.wanted()["jvm"] == list(of["jvm_arguments"])
    assert found.wanted()["files"] == {}
    assert at(found, "/etc/kafka/a/jvm.options").content == "# managed\n" + "".join(
        f"{one}\n" for one in of["jvm_arguments"]
    )


def test_a_server_of_zookeeper_has_the_login_of_its_clients_and_its_own_id() -> None:
    of = model("zookeepers", zookeeper_password="p")
    found = made(of)
    login = "/etc/kafka/a/zookeeper_jaas.conf"
    assert listed(found) == {
        **started_with("zookeeper-a", "zoo.cfg", "logback.xml", START),
        login: ("0440", True, RESTART),
    }
    assert 'user_kafka="p"' in at(found, login).content
    assert f"sha256sum '{login}' >> " in at(found, "/etc/kafka/a/start").content
    directories, myid = kinds.identity(of)
    assert [(one.path, one.access.mode) for one in directories] == [("/var/lib/kafka/a", "0700"), ("/t", "0700")]
    assert myid.plain() == {"path": "/var/lib/kafka/a/myid", "content": "1", "mode": "0600", **WRITES}
    assert sorted(kinds.trial(of)) == ["java", "jvm_options", "name", "start", "user"], (
        "Kafka judges no properties of ZooKeeper"
    )


def test_krb5_conf_is_a_file_of_the_node_and_a_keytab_is_copied_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "a.keytab"
    file.write_bytes(keytab(record("kafka/a@R", 3)))
    said = {"realm": "R", "kdcs": ["kdc1"], "keytab_file": str(file)}
    given = {"kafka_sasl_mechanisms": ["SCRAM-SHA-512", "GSSAPI"], "kafka_kerberos": said}
    of = model("brokers", "controllers", kafka_listeners=SECURED, **given)
    found = made(of)
    krb5 = at(found, "/etc/kafka/a/krb5.conf")
    assert (krb5.access.mode, krb5.secret, krb5.needs) == ("0440", False, RESTART)
    assert of["keytab"] == {"file": str(file), "path": "/etc/kafka/a/kafka.keytab"}
    assert not [one for one in found.files if "keytab" in one.path]
    assert 'keyTab="/etc/kafka/a/kafka.keytab"' in str(of["properties"])
    wanted = {"path": "/etc/kafka/a/kafka.keytab", "user": "kafka", "principals": ["kafka/a@R"], "copied": 3}
    assert of["look"]["keytab"] == wanted
    elsewhere = {"realm": "R", "keytab_path": "/etc/krb5.keytab"}
    of = model("brokers", "controllers", kafka_listeners=SECURED, **{**given, "kafka_kerberos": elsewhere})
    assert (of["keytab"], of["krb5"]) == ({}, "")
    assert of["look"]["keytab"] == {"path": "/etc/krb5.keytab", "user": "kafka", "principals": ["kafka/a@R"]}


@pytest.mark.parametrize(
    ("mechanisms", "fields", "is_gone"),
    [
        ("SCRAM-SHA-512,GSSAPI", {"keytab_file": "/k"}, False),
        ("SCRAM-SHA-512,GSSAPI", {"keytab_path": "/etc/krb5.keytab"}, True),
        # Something else keeps it where ours was.
        ("SCRAM-SHA-512,GSSAPI", {"keytab_path": "/etc/kafka/a/kafka.keytab"}, False),
        ("SCRAM-SHA-512", {"keytab_file": "/k"}, True),
        ("SCRAM-SHA-512", {}, True),
    ],
)
def test_a_copied_keytab_is_old_once_the_node_reads_another_or_none(
    mechanisms: str, fields: dict[str, str], is_gone: bool
) -> None:
    said = {"realm": "R", "kdcs": ["kdc1"], **fields} if fields else {}
    given = {"kafka_sasl_mechanisms": mechanisms.split(","), "kafka_kerberos": said}
    of = model("brokers", "controllers", kafka_listeners=SECURED, **given)
    assert of["old_keytab"] == ("/etc/kafka/a/kafka.keytab" if is_gone else "")


def test_stores_are_files_when_all_files_of_the_certificate_are_there(tls: dict[str, Any]) -> None:
    of = model("brokers", "controllers", kafka_listeners=SECURED, **tls)
    found = made(of)
    assert found.directories[-1].plain() == {"path": "/etc/kafka/a/tls", "mode": "0750", **READS}
    truststore, keystore = (at(found, f"/etc/kafka/a/tls/{name}.pem") for name in ("truststore", "keystore"))
    assert truststore.plain() == {"path": truststore.path, "content": "ca.pem line\r\nlast\n", "mode": "0440", **READS}
    assert (truststore.secret, keystore.secret) == (False, True)
    assert keystore.content == "a.key line\r\nlast\na.pem line\r\nlast\n" == of["keystore"]
    assert found.wanted()["files"] == {
        file.path: hashlib.sha256(file.content.encode()).hexdigest() for file in (keystore, truststore)
    }
    assert [file.path for file in found.other_files()] == [truststore.path, keystore.path], (
        "not in its directory itself"
    )
    assert kinds.trial(of)["stores"] == {"keystore": keystore.path, "truststore": truststore.path}
    (Path(tls["kafka_tls_key_file"])).unlink()
    without = model("brokers", "controllers", kafka_listeners=SECURED, **tls)
    assert "stores" not in kinds.trial(without)


def test_properties_with_a_password_are_a_secret_file() -> None:
    users = [{"name": "orders", "password": "geheim"}]
    of = model(
        "brokers",
        "controllers",
        kafka_listeners=SECURED,
        kafka_sasl_mechanisms=["PLAIN"],
        kafka_plain_users=users,
        kafka_admin_password="x",
    )
    found = of["manifest"]
    assert [one["path"] for one in found["secret_start_files"]] == ["/etc/kafka/a/server.properties"]
    assert "geheim" in found["secret_start_files"][0]["content"]
    assert "geheim" not in json.dumps(found["start_files"]) + json.dumps(found["wanted"])


@pytest.mark.parametrize("password", ["", "geheim"])
def test_who_may_read_the_metrics_is_a_reason_to_restart_and_the_rules_are_not(password: str) -> None:
    of = model("brokers", "controllers", kafka_metrics_enabled=True, kafka_metrics_password=password)
    found = made(of)
    rules, access = "/etc/kafka/a/metrics.yml", "/etc/kafka/a/metrics-access.json"
    assert listed(found)[rules] == ("0440", bool(password), LIVE)
    assert at(found, rules).content.startswith("# managed\n")
    assert "lowercaseOutputName: true\n" in at(found, rules).content
    assert list(found.wanted()["files"]) == ([access] if password else [])
    if password:
        assert listed(found)[access] == ("0440", True, RESTART)
        assert json.loads(at(found, access).content) == of["metrics"]["access"]


def test_a_mirror_has_its_passwords_in_files_of_their_own(tls: dict[str, Any]) -> None:
    of = mirror(**tls)
    found = made(of)
    shared = "/etc/kafka/mirror-east"
    rest = f"{shared}/rest-{of['stores']['digest']}-m.properties"
    beside = {path: what for path, what in listed(found).items() if path.startswith(shared)}
    assert beside == {
        f"{shared}/truststore-east.pem": ("0440", False, RESTART),
        f"{shared}/truststore-west.pem": ("0440", False, RESTART),
        f"{shared}/secrets.properties": ("0440", True, RESTART),
        rest: ("0440", True, RESTART),
    }
    assert at(found, f"{shared}/truststore-west.pem").content == "ca.pem line\r\nlast\n"
    assert found.directories[-1].plain() == {"path": shared, "mode": "0750", **READS}
    assert {file.path for file in found.other_files()} == {*beside, *(of["paths"][one] for one in tls_stores())}
    assert parse(at(found, rest).content) == {"password": of["stores"]["password"]}
    said = parse(at(found, "/etc/kafka/m/mm2.properties").content)
    assert said["listeners.https.ssl.keystore.password"] == f"${{file:{rest}:password}}"
    assert said["listeners.https.ssl.keystore.location"] == f"/etc/kafka/m/rest-{of['stores']['digest']}-keystore.p12"
    assert "geheim" not in at(found, "/etc/kafka/m/mm2.properties").content
    assert "geheim" in at(found, f"{shared}/secrets.properties").content


def tls_stores() -> tuple[str, str]:
    """The names of the paths of a node's own stores."""
    return ("truststore", "keystore")


def test_a_property_of_the_user_wins_over_that_of_the_rest_port(tls: dict[str, Any]) -> None:
    key = "listeners.https.ssl.client.auth"
    assert made(mirror(**tls)).properties[key] == "required"
    assert made(mirror(**tls, mirror_maker_config={key: "none"})).properties[key] == "none"


def test_without_certificates_a_mirror_trusts_none_and_has_one_file_of_passwords() -> None:
    found = made(mirror())
    assert [file.path for file in found.other_files()] == ["/etc/kafka/mirror-east/secrets.properties"]


def test_a_legacy_mirror_is_judged_by_its_consumer_and_has_a_producer_and_words() -> None:
    found = made(mirror({"engine": "legacy", "consumer_config": {"fetch.min.bytes": 1}}))
    own = {path: what for path, what in listed(found).items() if path.startswith("/etc/kafka/m/")}
    assert own == {
        "/etc/kafka/m/jvm.options": ("0640", False, KEYS),
        "/etc/kafka/m/log4j.properties": ("0640", False, START),
        "/etc/kafka/m/start": ("0750", False, START),
        "/etc/kafka/m/mirror-maker-m.service": ("0640", False, START),
        # Its login is in it, by reference.
        "/etc/kafka/m/consumer.properties": ("0640", True, KEYS),
        "/etc/kafka/m/arguments": ("0640", False, RESTART),
        "/etc/kafka/m/producer.properties": ("0640", True, RESTART),
    }
    assert found.wanted()["properties"]["fetch.min.bytes"] == "1"
    words = at(found, "/etc/kafka/m/arguments").content
    assert "--producer.config\n/etc/kafka/m/producer.properties\n" in words
    assert parse(at(found, "/etc/kafka/m/producer.properties").content)["retries"] == "2147483647"


def test_the_note_says_who_has_had_data() -> None:
    note = kinds.note(model("brokers"))
    assert (note.path, note.access.mode) == ("/etc/kafka/a/has-data", "0644")
    assert note.content.startswith("# Written by Ansible when this node had started.\n")
    assert re.fullmatch(r"# streamops.kafka node: product=kafka id=\d+ cluster=\S+", note.content.splitlines()[-1])


def test_without_systemd_no_owner_is_changed_and_no_limit_is_given() -> None:
    found = made(model("brokers", "controllers", kafka_service_manager="supervisor"))
    assert {one.access.owner for one in (*found.directories, *found.files)} == {None}
    assert found.limits == {}
    with_systemd = made(model("brokers", "controllers", kafka_limit_nofile="4096"))
    assert with_systemd.limits == {"kafka_limit_nofile": 4096}
    assert "echo 'kafka_limit_nofile 4096' >> " in at(with_systemd, "/etc/kafka/a/start").content


def test_the_line_by_which_ansible_is_known_is_that_of_the_user() -> None:
    files = model("brokers", "controllers", ansible_managed="ours")["manifest"]["start_files"]
    assert {one["content"].splitlines()[0] for one in files if not one["path"].endswith("/start")} == {"# ours"}


@pytest.mark.parametrize(("version", "file"), [("4.3.1", "log4j2.yaml"), ("3.9.2", "log4j.properties")])
def test_a_broker_whose_clients_choose_a_mechanism_logs_what_they_choose(version: str, file: str) -> None:
    listeners = [{**LISTENERS[0], "protocol": "SASL_PLAINTEXT"}, LISTENERS[1]]

    def logging(*mechanisms: str) -> str:
        wanted = {"kafka_version": version, "kafka_listeners": listeners, "kafka_sasl_mechanisms": [*mechanisms]}
        return at(made(model("brokers", "controllers", **wanted)), f"/etc/kafka/a/{file}").content

    assert "logins" not in logging("SCRAM-SHA-512")
    content = logging("SCRAM-SHA-512", "PLAIN")
    assert "/var/log/kafka/a/logins.log" in content
    if file == "log4j2.yaml":
        said = yaml.safe_load(content)["Configuration"]
        (appender,) = (one for one in said["Appenders"]["RollingFile"] if one["name"] == "logins")
        assert appender["RegexFilter"]["onMismatch"] == "DENY"
        # Of the whole message (RegexFilter), so not of text that a client chose in the middle of another one.
        assert appender["RegexFilter"]["regex"] == "Using SASL mechanism .*"
        (logger,) = (one for one in said["Loggers"]["Logger"] if one["AppenderRef"]["ref"] == "logins")
        assert (logger["name"], logger["level"], logger["additivity"]) == (LOGIN_LOGGER[0], "DEBUG", False)
    else:
        said = parse(content)
        assert said[f"log4j.logger.{LOGIN_LOGGER[0]}"] == "DEBUG, logins"
        assert said[f"log4j.additivity.{LOGIN_LOGGER[0]}"] == "false"
        # What a client chose stands in two other lines (SaslServerAuthenticator): they do not pass, whatever it is.
        filters = [
            said.get(f"log4j.appender.logins.filter.{number}.{name}") for number in (1, 2, 3)
            for name in ("StringToMatch", "AcceptOnMatch")
        ]  # fmt: skip
        assert filters == ["requested by client", "false", "Failed during", "false", "Using SASL mechanism", "true"]
        assert said["log4j.appender.logins.filter.4"] == "org.apache.log4j.varia.DenyAllFilter"
