"""An ensemble and brokers that know each other: TLS, logins, access rights; and everybody else refused."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import free_port_base
from tests.support.modules import run_module
from tests.support.zookeeper import ZookeeperCluster, shipped

# The scenario zookeeper secures its ensemble too, on machines.
pytestmark = pytest.mark.full

ADMIN_PASSWORD = 'Gr3at, [secret] "of" tests'
ZOOKEEPER_PASSWORD = 'an0ther "secret" \\ of tests'


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZookeeperCluster]:
    """Three servers that show certificates, three brokers that log in there, clients that log in at the brokers."""
    directory = tmp_path_factory.mktemp("secured")
    base = free_port_base()
    port = "{{{{ {0} + kafka_node_id | default(0) }}}}"
    listeners = [
        {
            "name": "CLIENT",
            "host": "127.0.0.1",
            "purpose": "clients",
            "protocol": "SASL_SSL",
            "port": port.format(base),
        },
        {
            "name": "BROKER",
            "host": "127.0.0.1",
            "purpose": "brokers",
            "protocol": "SSL",
            "port": port.format(base + 40),
        },
    ]
    variables = {
        "kafka_listeners": listeners,
        "kafka_tls_source": "development_ca",
        "kafka_tls_ca_dir": str(directory / "ca"),
        "kafka_admin_password": ADMIN_PASSWORD,
        "kafka_authorizer": True,
        "zookeeper_tls": True,
        "zookeeper_password": ZOOKEEPER_PASSWORD,
        "kafka_users": [{"name": "app", "password": "app of tests"}],
        "kafka_acls": [{"principal": "User:app", "role": "producer", "topics": ["orders"]}],
    }
    cluster = ZookeeperCluster(shipped(), directory, base, variables=variables)
    try:
        # Looking before the first installation works without a certificate.
        cluster.playbook("site.yml", "--check").ok()
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def ca(cluster: ZookeeperCluster) -> Path:
    """The certificate of the CA."""
    return cluster.directory / "ca" / "ca.pem"


def look(cluster: ZookeeperCluster, **options: Any) -> dict[str, Any]:
    """What zookeeper_info says to somebody who knows the password."""
    login = {"sasl_username": "kafka", "sasl_password": ZOOKEEPER_PASSWORD}
    return cluster.ensemble(**{"ssl_ca_location": str(ca(cluster)), **login, **options})


def test_who_knows_the_password_sees_the_ensemble_and_the_brokers(secured: ZookeeperCluster) -> None:
    found = look(secured, chroot="/local_zookeeper")
    assert found["healthy"], found
    assert [broker["id"] for broker in found["cluster"]["brokers"]] == [11, 12, 13]


def test_what_brokers_write_nobody_else_may_change(secured: ZookeeperCluster) -> None:
    paths = [
        "/brokers/ids/11",
        "/brokers/topics/orders",
        "/config/users/app",
        "/config/users/admin",
        "/kafka-acl/Topic/orders",
    ]
    found = look(secured, chroot="/local_zookeeper", acl_paths=paths)["acls"]
    assert set(found) == set(paths)
    for path, rights in found.items():
        strangers = [right for right in rights if right.startswith("world:")]
        assert strangers in ([], ["world:anyone:read"]), (path, rights)
        assert any(right.startswith("sasl:kafka:") for right in rights), (path, rights)
    assert not [right for right in found["/config/users/admin"] if right.startswith("world:")]


def test_the_login_of_the_brokers_may_change_all_that_a_migration_changes(secured: ZookeeperCluster) -> None:
    assert look(secured, chroot="/local_zookeeper", rights=True)["denied"] == []


def test_plain_connections_are_not_answered(secured: ZookeeperCluster) -> None:
    assert "imok" not in secured.word("zookeeper1", "ruok")
    assert not secured.ensemble()["healthy"]


@pytest.mark.parametrize("login", [{}, {"sasl_username": "kafka", "sasl_password": "wrong"}])
def test_who_does_not_log_in_reads_nothing(secured: ZookeeperCluster, login: dict[str, str]) -> None:
    found = secured.ensemble(chroot="/local_zookeeper", ssl_ca_location=str(ca(secured)), **login)
    assert found["failed"], found


def hello(cluster: ZookeeperCluster, port: int) -> bytes:
    """What a server answers to somebody who shows no certificate."""
    context = ssl.create_default_context(cafile=str(ca(cluster)))
    context.check_hostname = False
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain, context.wrap_socket(plain) as secure:
        secure.sendall(b"hello")
        answer = secure.recv(1)
    if not answer:
        raise ConnectionError("closed without an answer")
    return answer


def test_who_shows_no_certificate_is_refused_on_the_election_port(secured: ZookeeperCluster) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        hello(secured, secured.port("zookeeper1", 40))


def test_the_password_is_in_no_readable_file_no_argument_and_no_log(secured: ZookeeperCluster) -> None:
    for node in secured.nodes:
        jaas = secured.directory / "config" / node / "zookeeper_jaas.conf"
        assert jaas.stat().st_mode & 0o007 == 0
        assert "an0ther" not in Path(f"/proc/{secured.pid(node)}/cmdline").read_text()
        assert "an0ther" not in Path(f"/proc/{secured.pid(node)}/environ").read_text()
        for log in (secured.directory / "log" / node).glob("*.log"):
            assert "an0ther" not in log.read_text(errors="replace")


def test_a_second_run_changes_nothing_and_shows_no_secret(secured: ZookeeperCluster) -> None:
    run = secured.playbook("site.yml", "-vv").ok()
    assert run.changed == 0
    assert "an0ther" not in run.output
    assert "Gr3at" not in run.output


def test_clients_log_in_and_only_what_an_acl_allows_works(secured: ZookeeperCluster) -> None:
    login = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512", "ssl_ca_location": str(ca(secured))}
    asked = {"bootstrap_servers": secured.bootstrap_servers, "topics": [], **login}
    admin = run_module(
        "streamops.kafka.cluster_info", {**asked, "sasl_username": "admin", "sasl_password": ADMIN_PASSWORD}
    )
    assert [node["id"] for node in admin["nodes"]] == [11, 12, 13]
    wish = {"name": "other", "partitions": 1, "replication_factor": 1}
    app = run_module(
        "streamops.kafka.topics",
        {**asked, "topics": [wish], "sasl_username": "app", "sasl_password": "app of tests"},
    )
    assert app["failed"]
    assert "it needs the operation describe on the topic other" in app["msg"]


def test_a_running_ensemble_is_not_opened_in_passing(secured: ZookeeperCluster) -> None:
    opened = {"zookeeper_tls": False, "zookeeper_password": "", "kafka_authorizer": False, "kafka_acls": []}
    run = secured.playbook("site.yml", **opened)
    assert run.rc != 0
    assert "it is decided at the first installation" in " ".join(run.output.split())
    assert look(secured)["healthy"]
