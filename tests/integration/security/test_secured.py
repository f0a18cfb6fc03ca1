"""A cluster with TLS between its nodes, passwords for clients and an authorizer, seen as its clients see it."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from tests.support.cluster import Cluster
from tests.support.modules import run_module
from tests.support.secured import PASSWORD, admin_connection, ca_file, client, secured_cluster
from tests.support.traffic import producing, read_all


def connection(cluster: Cluster) -> dict[str, Any]:
    return admin_connection(cluster, PASSWORD)


def refused(cluster: Cluster, **other: Any) -> str:
    """Why a client with these settings does not get in."""
    errors: list[str] = []
    settings = client(cluster, **other)
    settings = {name: value for name, value in settings.items() if value is not None}
    admin = AdminClient({**settings, "error_cb": lambda error: errors.append(str(error))})
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=4)
    admin.poll(1)
    return " ".join(errors)


@pytest.mark.full
def test_check_mode_before_the_first_installation_makes_neither_ca_nor_certificate(tmp_path: Path) -> None:
    fresh = secured_cluster(tmp_path / "fresh", PASSWORD)
    try:
        run = fresh.playbook("site.yml", "--check", "--diff").ok()
        assert run.changed > 0
        assert PASSWORD not in run.output
        assert [path.name for path in fresh.directory.iterdir()] == ["extra-vars.yml"]
    finally:
        fresh.destroy()


@pytest.mark.full
def test_a_second_run_changes_nothing_and_the_proof_passes(secured: Cluster) -> None:
    again = secured.playbook(spark_validation_enabled=True, spark_validation_records=2000).ok()
    assert again.changed in (0, 1), "the job's own topic is made by its first run"
    assert "verdict pass" in again.output
    assert secured.playbook().ok().changed == 0


def test_the_administrator_gets_in_and_others_do_not(secured: Cluster) -> None:
    assert AdminClient(client(secured)).list_topics(timeout=10).topics
    assert "uthentication failed" in refused(secured, sasl_password="wrong")
    assert "uthentication failed" in refused(secured, sasl_username="nobody")
    assert "nsupported" in refused(secured, sasl_mechanism="PLAIN")
    assert refused(secured, security_protocol="PLAINTEXT", sasl_mechanism=None)
    assert "SSL" in refused(secured, ssl_ca_location=None)


#: How a node ends a handshake. Not ConnectionRefusedError: where no node listens, none refuses anything.
REFUSED = (ssl.SSLError, ConnectionResetError, BrokenPipeError)


def handshake(port: int, context: ssl.SSLContext) -> str:
    """The version of TLS that a node agrees to; it may also refuse only once something is sent."""
    with (
        socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        secure.settimeout(5)
        secure.sendall(b"\0\0\0\0")
        secure.recv(1)
        return str(secure.version())


@pytest.mark.parametrize("offset", [1, 2], ids=["broker", "controller"])
def test_nodes_take_only_certificates_of_their_ca(secured: Cluster, offset: int, tmp_path: Path) -> None:
    port = secured.port("kafka1", offset)
    nobody = ssl.create_default_context(cafile=ca_file(secured))
    with pytest.raises(ssl.SSLError, match="certificate"):
        handshake(port, nobody)
    foreign = ssl.create_default_context(cafile=ca_file(secured))
    key, certificate = foreign_certificate(tmp_path)
    foreign.load_cert_chain(certificate, key)
    with pytest.raises(REFUSED):
        handshake(port, foreign)
    node = ssl.create_default_context(cafile=ca_file(secured))
    node.load_cert_chain(secured.directory / "ca" / "kafka2.pem", secured.directory / "ca" / "kafka2.key")
    handshake(port, node)


def foreign_certificate(directory: Path) -> tuple[Path, Path]:
    """A node's name, signed by itself."""
    key, certificate = directory / "foreign.key", directory / "foreign.pem"
    run_module("community.crypto.openssl_privatekey", {"path": str(key)})
    request = run_module("community.crypto.openssl_csr_pipe", {"privatekey_path": str(key), "common_name": "kafka2"})
    wish = {"path": str(certificate), "provider": "selfsigned", "privatekey_path": str(key)}
    run_module("community.crypto.x509_certificate", {**wish, "csr_content": request["csr"]})
    return key, certificate


@pytest.mark.parametrize("offset", [0, 1, 2], ids=["client", "broker", "controller"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_1], ids=["1.2", "1.1"])
def test_old_versions_of_tls_are_refused(secured: Cluster, version: ssl.TLSVersion, offset: int) -> None:
    context = ssl.create_default_context(cafile=ca_file(secured))
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = version
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    context.load_cert_chain(secured.directory / "ca" / "kafka2.pem", secured.directory / "ca" / "kafka2.key")
    for node in secured.nodes:
        with pytest.raises(REFUSED):
            handshake(secured.port(node, offset), context)
        modern = ssl.create_default_context(cafile=ca_file(secured))
        modern.load_cert_chain(secured.directory / "ca" / "kafka2.pem", secured.directory / "ca" / "kafka2.key")
        assert handshake(secured.port(node, offset), modern) == "TLSv1.3"


def test_a_key_of_the_ca_is_on_no_node_and_no_secret_in_a_file_of_one(secured: Cluster) -> None:
    # All that nodes have: configuration, data, logs, start records. The rest is the control node's.
    folders = [secured.directory / name for name in ("config", "data", "log", "run")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert {path.relative_to(secured.directory).parts[0] for path in files} == {"config", "data", "log", "run"}
    assert not [path for path in files if "ca.key" in path.name]
    ca_key = (secured.directory / "ca" / "ca.key").read_bytes()
    for path in files:
        content = path.read_bytes()
        assert ca_key not in content
        assert PASSWORD.encode() not in content, f"{path} holds the administrator's password"
    for node in secured.nodes:
        assert (secured.directory / "config" / node / "tls" / "keystore.pem").stat().st_mode & 0o777 == 0o440
        assert PASSWORD not in Path(f"/proc/{secured.pid(node)}/cmdline").read_text()


@pytest.mark.full
def test_a_run_shows_no_secret_however_talkative(secured: Cluster) -> None:
    key = (secured.directory / "ca" / "kafka1.key").read_text().splitlines()[1]
    shutil.rmtree(secured.directory / "config" / "kafka1" / "tls")
    run = secured.playbook("site.yml", "-vvv", "--diff").ok()
    assert run.changed > 0
    assert PASSWORD not in run.output
    assert "Gr3at" not in run.output
    assert key not in run.output


@pytest.mark.full
def test_a_certificate_issued_anew_rolls_through_and_no_send_fails(secured: Cluster) -> None:
    before = secured.pids()
    topic = {"name": "renewal", "partitions": 6, "replication_factor": 3}
    made = run_module("streamops.kafka.topics", {**connection(secured), "topics": [topic]})
    assert not made["failed"], made
    for name in ("kafka1.pem", "kafka2.pem", "kafka3.pem"):
        (secured.directory / "ca" / name).unlink()
    with producing(secured.bootstrap_servers, "renewal", settings=client(secured)) as ledger:
        run = secured.playbook().ok()
    assert "keystore.pem" in run.output, "the reason of the restart is named"
    assert all(secured.pid(node) != before[node] for node in secured.nodes)
    assert len(ledger.acknowledged) > 1000
    assert not ledger.failed
    assert not ledger.lost(read_all(secured.bootstrap_servers, "renewal", settings=client(secured)))
    assert secured.playbook().ok().changed == 0


def test_another_control_node_makes_no_ca_of_its_own(secured: Cluster, tmp_path: Path) -> None:
    stores = [secured.directory / "config" / node / "tls" / "truststore.pem" for node in secured.nodes]
    before, pids = [store.read_bytes() for store in stores], secured.pids()
    run = secured.playbook(kafka_tls_ca_dir=str(tmp_path / "ca"))
    assert (run.rc != 0, run.changed) == (True, 0)
    told = " ".join(run.output.split())
    known = x509.load_pem_x509_certificate(ca_file(secured).read_bytes()).fingerprint(hashes.SHA256())
    assert "ERROR different_ca (B32): - kafka1, kafka2, kafka3: kafka_tls_ca_dir: the node trusts another CA" in told
    assert known.hex(":").upper() in told
    assert f"the control node has none in {tmp_path / 'ca'}, so a new one would be made" in told
    assert f"to {tmp_path / 'ca'} on this one" in told
    assert not (tmp_path / "ca").exists()
    assert [store.read_bytes() for store in stores] == before
    assert secured.pids() == pids


@pytest.mark.full
def test_the_administrators_password_changes_under_way(secured: Cluster) -> None:
    new = "the n3xt one, of the administrator"

    def give(password: str, by: str) -> None:
        user = {"name": "admin", "password": password}
        done = run_module("streamops.kafka.users", {**admin_connection(secured, by), "users": [user]})
        assert done.get("updated") == ["admin"], done.get("msg")

    give(new, by=PASSWORD)
    try:
        assert "uthentication failed" in refused(secured)
        assert secured.playbook(kafka_admin_password=new).ok().changed == 0
    finally:
        give(PASSWORD, by=new)
    assert "uthentication failed" in refused(secured, sasl_password=new)
    assert AdminClient(client(secured)).list_topics(timeout=10).topics


def test_an_unknown_principal_of_the_cluster_may_do_nothing(secured: Cluster) -> None:
    user = {"name": "reader", "password": "readers-0wn"}
    made = run_module("streamops.kafka.users", {**connection(secured), "users": [user]})
    assert not made["failed"], made["msg"]
    reader = client(secured, sasl_username="reader", sasl_password="readers-0wn")
    assert AdminClient(reader).list_topics(timeout=10).topics == {}, "sees no topic"
    failures: list[Any] = []
    producer = Producer(reader)
    producer.produce("orders", b"x", on_delivery=lambda error, _: failures.append(error))
    producer.flush(10)
    # A timeout would be no refusal: it says nothing of rights.
    assert failures[0].name() == "TOPIC_AUTHORIZATION_FAILED"
    consumer = Consumer({**reader, "group.id": "readers"})
    consumer.subscribe(["orders"])
    message = consumer.poll(10)
    consumer.close()
    assert message is not None
    assert "AUTHORIZATION_FAILED" in message.error().name()


@pytest.mark.full
def test_a_user_gets_in_with_the_bundle_and_the_password(secured: Cluster) -> None:
    bundle = secured.directory / "bundle"
    user = {"name": "bundled", "password": "bundled-0wn"}
    wanted = {"kafka_users": [user], "kafka_resources_client_bundle_dir": str(bundle)}
    assert secured.playbook(**wanted).ok().changed > 0
    folder = bundle / "local" / "bundled"
    assert all("bundled-0wn" not in path.read_text() for path in folder.iterdir())
    tool = next((secured.directory / "install" / "releases").glob("*/bin/kafka-topics.sh"))
    command = [str(tool), "--bootstrap-server", secured.bootstrap_servers[0], "--command-config", "java.properties"]
    right = {**os.environ, "KAFKA_PASSWORD": "bundled-0wn"}
    done = subprocess.run([*command, "--list"], cwd=folder, env=right, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "", "sees no topic"
    assert secured.playbook(**wanted).ok().changed == 0
