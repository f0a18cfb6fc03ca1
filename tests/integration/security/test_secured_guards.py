"""What a secured cluster bears and what it tells: guards of the JVM, floods of connections, its audit log, its logs."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from tests.support.cluster import Cluster, until
from tests.support.forms import short
from tests.support.modules import run_module
from tests.support.planted import forms
from tests.support.secured import PASSWORD, admin_connection, ca_file, client
from tests.support.traffic import Ledger, producing, read_all

# Addresses of this machine that no node of the cluster has, and the one that all of them have.
FLOODER, STRANGER, NODES = "127.0.0.2", "127.0.0.3", "127.0.0.1"
JAAS = "listener.name.client.scram-sha-512.sasl.jaas.config"
CURIOUS = {"name": "curious", "password": "curi0us-planted-5ecret"}


def test_every_node_was_started_with_the_guards_of_the_jvm(secured: Cluster) -> None:
    for node in secured.nodes:
        dumps = secured.directory / "log" / node / "heap-dumps"
        assert (
            f"@{secured.directory}/config/{node}/jvm.options" in Path(f"/proc/{secured.pid(node)}/cmdline").read_text()
        )
        arguments = (secured.record(node) / "jvm.options").read_text().splitlines()
        allowed = next(one for one in arguments if one.startswith("-Dorg.apache.kafka.allowed.login.modules="))
        assert "Jndi" not in allowed
        assert "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" in arguments
        assert {"-XX:+ExitOnOutOfMemoryError", "-XX:+HeapDumpOnOutOfMemoryError"} <= set(arguments)
        assert f"-XX:HeapDumpPath={dumps}/java.hprof" in arguments
        assert dumps.stat().st_mode & 0o777 == 0o700
        assert not [one for one in arguments if "jdwp" in one or "Xdebug" in one or "jmxremote" in one]


class Trap:
    """A server that nobody should ask: counts who connects."""

    def __init__(self) -> None:
        self.visitors = 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.server.getsockname()[1]
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.server.accept()[0].close()
                self.visitors += 1

    def module(self, name: str) -> str:
        """The JAAS text that has this login module ask the trap."""
        options = {
            "JndiLoginModule": f'user.provider.url="ldap://127.0.0.1:{self.port}/x" group.provider.url="ldap://x"',
            "LdapLoginModule": f'userProvider="ldap://127.0.0.1:{self.port}/x"',
            "KeyStoreLoginModule": f'keyStoreURL="http://127.0.0.1:{self.port}/x" keyStoreAlias="x"',
        }
        return f"com.sun.security.auth.module.{name} required {options[name]};"


@pytest.fixture
def trap() -> Iterator[Trap]:
    """A server on loopback that records whether anybody connects."""
    found = Trap()
    yield found
    found.server.close()


@pytest.mark.parametrize(
    "module", short(["JndiLoginModule", "LdapLoginModule", "KeyStoreLoginModule"], "JndiLoginModule")
)
def test_with_the_arguments_of_a_node_no_foreign_login_module_is_loaded(
    secured: Cluster, trap: Trap, module: str, tmp_path: Path
) -> None:
    arguments = (secured.record("kafka1") / "jvm.options").read_text().splitlines()
    # Without the agent of the metrics too, whose port the node has.
    taken = [line for line in arguments if not line.startswith(("-X", "#", "-javaagent"))]
    (tmp_path / "java").write_text("\n".join(taken))
    settings = f"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={trap.module(module)}\n"
    (tmp_path / "client.properties").write_text(settings)
    command = ["java", f"@{tmp_path}/java", "org.apache.kafka.tools.TopicCommand", "--list"]
    command += ["--bootstrap-server", secured.bootstrap_servers[0], "--command-config", f"{tmp_path}/client.properties"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert f"{module} is not allowed" in done.stdout + done.stderr
    assert trap.visitors == 0


@pytest.mark.full
def test_a_foreign_login_module_set_live_is_never_loaded(secured: Cluster, trap: Trap) -> None:
    """Kafka 4.3 keeps such a value when an administrator sets it; no listener logs in with it, and nobody is asked."""

    def alter(operation: AlterConfigOpType, value: str | None) -> None:
        entry = ConfigEntry(JAAS, value, incremental_operation=operation)
        broker = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
        admin = AdminClient(client(secured))
        (done,) = admin.incremental_alter_configs([broker]).values()
        done.result(30)

    refused = run_module(
        "streamops.kafka.broker_configs",
        {**admin_connection(secured, PASSWORD), "brokers": {"1": {JAAS: trap.module("JndiLoginModule")}}},
    )
    assert refused["failed"]
    assert "is a secret" in refused["msg"], "our own module sets none"
    alter(AlterConfigOpType.SET, trap.module("JndiLoginModule"))
    try:
        one = {"bootstrap_servers": secured.bootstrap_servers[0]}
        assert AdminClient(client(secured, **one)).list_topics(timeout=10).brokers
        secured.stop("kafka1")
        secured.start("kafka1")
        until(lambda: logs_in(client(secured, **one)), "kafka1 to take logins again")
    finally:
        alter(AlterConfigOpType.DELETE, None)
    assert trap.visitors == 0


def logs_in(settings: dict[str, object]) -> bool:
    try:
        return bool(AdminClient(settings).list_topics(timeout=5).brokers)
    except Exception:  # confluent-kafka raises its own exception for a time-out as for a refusal
        return False


@contextlib.contextmanager
def flood(port: int, source: str, count: int) -> Iterator[list[socket.socket]]:
    """Opens that many connections from one address, sends nothing, and holds them until the block ends."""
    held: list[socket.socket] = []
    try:
        for _ in range(count):
            held.append(socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(source, 0)))
            held[-1].setblocking(False)
        yield held
    finally:
        for one in held:
            one.close()


def still_open(connections: list[socket.socket]) -> int:
    """How many of them the other side has not closed."""

    def is_open(one: socket.socket) -> bool:
        try:
            return one.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    return sum(map(is_open, connections))


def rate(ledger: Ledger, seconds: float = 3) -> float:
    """Acknowledged records in a second, over some seconds from now."""
    before, begin = len(ledger.acknowledged), time.monotonic()
    time.sleep(seconds)
    return (len(ledger.acknowledged) - before) / (time.monotonic() - begin)


@pytest.mark.full
def test_a_flood_from_one_address_is_capped_and_others_go_on(
    secured: Cluster, record_property: Callable[[str, object], None]
) -> None:
    topic = {"name": "flooded", "partitions": 6, "replication_factor": 3}
    made = run_module("streamops.kafka.topics", {**admin_connection(secured, PASSWORD), "topics": [topic]})
    assert not made["failed"], made
    with producing(secured.bootstrap_servers, "flooded", settings=client(secured)) as ledger:
        until(lambda: len(ledger.acknowledged) > 2000, "the producer to be under way")
        before = rate(ledger)
        with flood(secured.port("kafka1"), FLOODER, 1000) as connections:
            until(lambda: still_open(connections) <= 500, "the connections over the limit to be closed")
            during = rate(ledger)
            assert still_open(connections) == 500
            assert version_from(secured, STRANGER) == "TLSv1.3", "another address gets in"
            reached = len(ledger.acknowledged)
            until(lambda: len(ledger.acknowledged) > reached + 5000, "5,000 more records to be acknowledged")
    record_property("throughput under the flood", f"{during / before:.2f} of {before:.0f} records/s")
    print(f"throughput under the flood: {during / before:.2f} of {before:.0f} records/s")
    assert not ledger.failed
    assert not ledger.lost(read_all(secured.bootstrap_servers, "flooded", settings=client(secured)))


@pytest.mark.full
def test_nodes_are_not_capped_by_address(secured: Cluster) -> None:
    """All nodes of this cluster have one address, and hold connections to each other from it."""
    with flood(secured.port("kafka1"), NODES, 700) as connections:
        # Java takes connections in order: once a later one is answered, none of these waits to be judged.
        assert version_from(secured, NODES) == "TLSv1.3"
        assert still_open(connections) == 700


def version_from(cluster: Cluster, source: str) -> str:
    """The version of TLS that a client from this address agrees on with kafka1."""
    context = ssl.create_default_context(cafile=ca_file(cluster))
    plain = socket.create_connection(("127.0.0.1", cluster.port("kafka1")), timeout=10, source_address=(source, 0))
    with context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
        return str(secure.version())


def test_a_refused_write_stands_in_the_audit_log(secured: Cluster) -> None:
    admin = admin_connection(secured, PASSWORD)
    looks = {"principal": "User:curious", "operations": ["describe"], "resource_type": "topic", "resource": "orders"}
    made = [
        run_module("streamops.kafka.users", {**admin, "users": [CURIOUS]}),
        run_module("streamops.kafka.acls", {**admin, "acls": [looks]}),
    ]
    assert not [one for one in made if one["failed"]], made
    settings = client(secured, sasl_username=CURIOUS["name"], sasl_password=CURIOUS["password"])
    producer = Producer({**settings, "message.timeout.ms": 5000})
    producer.produce("orders", b"x")
    producer.flush(10)
    line = re.compile(
        r"Principal = User:curious is Denied operation = WRITE from host = 127\.0\.0\.1 on resource = "
        r"Topic:LITERAL:orders for request = Produce"
    )
    logs = [secured.directory / "log" / node / "authorizer.log" for node in secured.nodes]
    until(lambda: any(line.search(log.read_text()) for log in logs), "the refusal to be logged")


def test_no_log_of_a_node_holds_a_secret(secured: Cluster) -> None:
    """It plants its own: a user who is made, logs in and is refused, each of which a node might log."""
    planted = "pl4nted-in-this-very-test"
    user = {"name": "planted", "password": planted}
    made = run_module("streamops.kafka.users", {**admin_connection(secured, PASSWORD), "users": [user]})
    assert not made["failed"], made
    mistyped = f"{planted}-and-mistyped"
    assert logs_in(client(secured, sasl_username="planted", sasl_password=planted))
    assert not logs_in(client(secured, sasl_username="planted", sasl_password=mistyped))
    key = (secured.directory / "ca" / "kafka1.key").read_text().splitlines()[1]
    words = [form for word in (PASSWORD, planted, mistyped, key) for form in forms(word.encode())]
    logs = [path for path in (secured.directory / "log").rglob("*") if path.is_file()]
    for node in secured.nodes:
        assert (secured.directory / "log" / node / "server.log") in logs
    assert b"Failed authentication" in b"".join(log.read_bytes() for log in logs), "the refusal was not logged"
    for log in logs:
        content = log.read_bytes()
        assert not [word for word in words if word in content], f"{log} holds a secret"


@pytest.mark.full
def test_acls_of_a_removed_flow_go_also_while_the_inventory_lists_none(secured: Cluster) -> None:
    admin = admin_connection(secured, PASSWORD)
    entry = {"operations": ["read"], "resource_type": "topic", "resource": "orders"}
    left, other = ({**entry, "principal": name} for name in ("User:ferry", "User:curious"))
    assert not run_module("streamops.kafka.acls", {**admin, "acls": [left, other]})["failed"]
    owned = {"kafka_acls": [], "kafka_acls_authoritative": True, "mirror_user": "ferry"}
    secured.playbook("site.yml", "--tags", "kafka_acls", **owned).ok()
    found = run_module("streamops.kafka.acls", {**admin, "acls": [left, other]}, check=True)
    assert found["added"] == 1, found
    assert found["unchanged"] == 1
