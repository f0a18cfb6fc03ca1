"""A cluster with TLS between its nodes, passwords for clients and an authorizer, seen as its clients see it."""

from __future__ import annotations

import contextlib
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
from cryptography.hazmat.primitives import hashes, serialization

from tests.support import certificates
from tests.support.cluster import Cluster, until
from tests.support.forms import short
from tests.support.modules import run_module
from tests.support.planted import forms
from tests.support.secured import METRICS_LOGIN, PASSWORD, admin_connection, ca_file, client, secured_cluster
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


@pytest.mark.parametrize("offset", short([1, 2], 1), ids=["broker", "controller"])
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
    handshake(port, as_node(secured))


def foreign_certificate(directory: Path) -> tuple[Path, Path]:
    """A node's name, signed by itself."""
    key, certificate = directory / "foreign.key", directory / "foreign.pem"
    run_module("community.crypto.openssl_privatekey", {"path": str(key)})
    request = run_module("community.crypto.openssl_csr_pipe", {"privatekey_path": str(key), "common_name": "kafka2"})
    wish = {"path": str(certificate), "provider": "selfsigned", "privatekey_path": str(key)}
    run_module("community.crypto.x509_certificate", {**wish, "csr_content": request["csr"]})
    return key, certificate


#: The listeners of a node, by the offset of their ports.
LISTENERS = {"clients": 0, "brokers": 1, "controllers": 2}


@pytest.mark.parametrize("purpose", LISTENERS)
@pytest.mark.parametrize("node", short(["kafka1", "kafka2", "kafka3"], "kafka2"))
def test_every_listener_of_every_node_agrees_to_tls_1_3_and_to_nothing_older(
    secured: Cluster, node: str, purpose: str
) -> None:
    port = secured.port(node, LISTENERS[purpose])
    assert handshake(port, as_node(secured)) == "TLSv1.3"
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_1):
        old = as_node(secured)
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = version
        old.set_ciphers("DEFAULT@SECLEVEL=0")
        # The node's own alert: neither a port without a server nor this end's OpenSSL may pass for a refusal.
        with pytest.raises(ssl.SSLError, match="ALERT_PROTOCOL_VERSION"):
            handshake(port, old)


def as_node(cluster: Cluster) -> ssl.SSLContext:
    """The TLS of a node: it trusts the CA and shows the certificate of kafka2."""
    made = ssl.create_default_context(cafile=ca_file(cluster))
    made.load_cert_chain(cluster.directory / "ca" / "kafka2.pem", cluster.directory / "ca" / "kafka2.key")
    return made


#: Segments of topics hold what clients sent, also their words; all else that a node keeps is looked through.
SEGMENTS = {".log", ".index", ".timeindex"}


def kept(cluster: Cluster) -> list[Path]:
    """The files of all nodes: configuration, start records, data without the segments of topics, and logs."""
    found = [
        path
        for folder in ("config", "run", "data", "log")
        for path in (cluster.directory / folder).rglob("*")
        if path.is_file() and not (folder == "data" and path.suffix in SEGMENTS and "__cluster" not in str(path))
    ]
    for name in ("server.properties", "keystore.pem", "jvm.options", "meta.properties", "server.log", "pid"):
        assert [path for path in found if path.name == name], f"{name} is not looked at"
    return found


def content(path: Path) -> bytes:
    """The bytes of a file; none of one that the running node has renamed or deleted meanwhile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def test_no_file_of_a_node_holds_a_password_or_the_key_of_the_ca(secured: Cluster) -> None:
    ca_key = (secured.directory / "ca" / "ca.key").read_text().splitlines()[1]
    secrets = [PASSWORD, *PASSWORD.split('"')[::2], METRICS_LOGIN[1], ca_key]
    planted = [form for word in secrets if len(word) > 8 for form in forms(word.encode())]
    assert [path for path in kept(secured) if any(word in content(path) for word in planted)] == []


def test_a_key_is_in_the_keystore_of_its_node_alone_and_no_argument_is_a_password(secured: Cluster) -> None:
    for node in secured.nodes:
        key = (secured.directory / "ca" / f"{node}.key").read_bytes().splitlines()[1]
        store = secured.directory / "config" / node / "tls" / "keystore.pem"
        assert [path for path in kept(secured) if key in content(path)] == [store]
        assert store.stat().st_mode & 0o777 == 0o440
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
    # Of the default of 30 days: one ended yesterday, one ends just within them, and one after them.
    ages = {"kafka1": -1, "kafka2": 29, "kafka3": 31}
    old = {node: grow_old(secured, node, days) for node, days in ages.items()}
    with producing(secured.bootstrap_servers, "renewal", settings=client(secured)) as ledger:
        run = secured.playbook().ok()
    assert {node for node in ages if issued(secured, node) != old[node]} == {"kafka1", "kafka2"}
    # The metrics have the certificate too, in a keystore that their file names by its content.
    why = "file metrics-access.json changed, file keystore.pem changed"
    for node in secured.nodes:
        assert f"{node} restarted ({why})" in " ".join(run.output.split()), "the reason is named"
    assert all(secured.pid(node) != before[node] for node in secured.nodes)
    assert len(ledger.acknowledged) > 1000
    assert not ledger.failed
    assert not ledger.lost(read_all(secured.bootstrap_servers, "renewal", settings=client(secured)))
    assert secured.playbook().ok().changed == 0


def issued(cluster: Cluster, node: str) -> x509.Certificate:
    """The certificate of a node that the control node has."""
    return x509.load_pem_x509_certificate((cluster.directory / "ca" / f"{node}.pem").read_bytes())


def grow_old(cluster: Cluster, node: str, days: int) -> x509.Certificate:
    """Let a node's certificate on the control node end in so many days; the node keeps the one that it has."""
    ca = cluster.directory / "ca"
    old = certificates.aged(issued(cluster, node), certificates.read(ca, "ca"), days)
    (ca / f"{node}.pem").write_bytes(old.public_bytes(serialization.Encoding.PEM))
    return old


@pytest.mark.full
def test_a_node_whose_certificate_has_ended_is_refused_until_the_next_run_renews_it(secured: Cluster) -> None:
    ended = grow_old(secured, "kafka1", -1)
    key = (secured.directory / "ca" / "kafka1.key").read_text().rstrip()
    wear(secured, "kafka1", f"{key}\n{ended.public_bytes(serialization.Encoding.PEM).decode()}")
    # The others refuse it as a voter, so its broker never comes to the clients; its own quorum listener is there.
    with pytest.raises(ssl.SSLCertVerificationError, match="certificate has expired"):
        handshake(secured.port("kafka1", LISTENERS["controllers"]), as_node(secured))
    secured.playbook().ok()
    assert issued(secured, "kafka1") != ended
    assert handshake(secured.port("kafka1"), as_node(secured)) == "TLSv1.3"
    assert secured.playbook().ok().changed == 0


def wear(cluster: Cluster, node: str, store: str) -> None:
    """Give a node another key and certificate behind the roles' back, and restart it."""
    keystore = cluster.directory / "config" / node / "tls" / "keystore.pem"
    keystore.chmod(0o640)
    keystore.write_text(store)
    keystore.chmod(0o440)
    cluster.stop(node)
    cluster.supervisorctl("start", cluster.service(node))
    port = cluster.port(node, LISTENERS["controllers"])
    until(lambda: listens(port), f"the quorum listener of {node}", 180)


def listens(port: int) -> bool:
    """Whether a connection to this port is taken."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=30):
        return True
    return False


@pytest.mark.full
def test_no_node_talks_to_one_whose_certificate_names_another_host(secured: Cluster) -> None:
    """The other nodes are asked, by their logs: a test with a client would prove the client."""
    keystore = secured.directory / "config" / "kafka3" / "tls" / "keystore.pem"
    own = keystore.read_text()
    ca = certificates.read(secured.directory / "ca", "ca")
    liar = certificates.issue("kafka3", by=ca, names=("10.99.99.99",))
    logs = {node: secured.directory / "log" / node / "server.log" for node in ("kafka1", "kafka2")}
    before = {node: log.stat().st_size for node, log in logs.items()}
    say = "No subject alternative names matching IP address 127.0.0.1 found"
    wear(secured, "kafka3", (liar.key_pem() + liar.pem()).decode())
    try:
        for node, log in logs.items():
            until(lambda log=log, node=node: say in log.read_text()[before[node] :], f"the refusal of {node}", 240)
    finally:
        wear(secured, "kafka3", own)
    assert secured.playbook().ok().changed == 0


@pytest.mark.full
def test_another_control_node_makes_no_ca_of_its_own(secured: Cluster, tmp_path: Path) -> None:
    stores = [secured.directory / "config" / node / "tls" / "truststore.pem" for node in secured.nodes]
    before, pids = [store.read_bytes() for store in stores], secured.pids()
    run = secured.playbook(kafka_tls_ca_dir=str(tmp_path / "ca"))
    assert (run.rc != 0, run.changed) == (True, 0)
    told = " ".join(run.output.split())
    known = x509.load_pem_x509_certificate(ca_file(secured).read_bytes()).fingerprint(hashes.SHA256())
    assert "ERROR different_ca: - kafka1, kafka2, kafka3: kafka_tls_ca_dir: the node trusts another CA" in told
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
