"""A cluster whose clients show certificates instead of passwords, and the change of the CA that all of them trust."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

from tests.support.certificates import issue
from tests.support.cluster import Cluster
from tests.support.modules import run_module
from tests.support.secured import secured_cluster
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

Files = tuple[Path, Path]


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes; administrator and clients show certificates of the development CA."""
    directory = tmp_path_factory.mktemp("certified")
    cluster = secured_cluster(
        directory,
        "",
        clients="SSL",
        kafka_tls_client_names=["orders"],
        kafka_acls=[{"principal": "User:orders", "role": "producer", "topics": ["orders"]}],
        kafka_resources_client_bundle_dir=str(directory / "bundle"),
    )
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def certificate(cluster: Cluster, name: str) -> Files:
    """Certificate and key that the development CA issued."""
    folder = cluster.directory / "ca" / ("" if name == "admin" or name in cluster.nodes else "clients")
    return folder / f"{name}.pem", folder / f"{name}.key"


def settings(cluster: Cluster, shown: Files | None, ca: Path | None = None) -> dict[str, Any]:
    """librdkafka's settings of who shows this certificate (None for none), and trusts this CA."""
    found = {
        "bootstrap.servers": ",".join(cluster.bootstrap_servers),
        "security.protocol": "SSL",
        "ssl.ca.location": str(ca or cluster.directory / "ca" / "ca.pem"),
        "socket.timeout.ms": 5000,
        "log_level": 0,
    }
    if shown is not None:
        found.update({"ssl.certificate.location": str(shown[0]), "ssl.key.location": str(shown[1])})
    return found


def refusal(client: dict[str, Any]) -> str:
    """Why a client with these settings does not get in."""
    errors: list[str] = []
    admin = AdminClient({**client, "error_cb": lambda error: errors.append(str(error))})
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=4)
    admin.poll(1)
    return " ".join(errors)


def test_a_second_run_changes_nothing(certified: Cluster) -> None:
    assert certified.playbook().ok().changed == 0


def test_only_who_shows_a_certificate_of_the_ca_gets_in(certified: Cluster, tmp_path: Path) -> None:
    admin = settings(certified, certificate(certified, "admin"))
    assert "orders" in AdminClient(admin).list_topics(timeout=10).topics
    assert "certificate" in refusal(settings(certified, None))
    foreign = issue("admin", by=issue("somebody else", ca=True)).write(tmp_path, "admin")
    assert refusal(settings(certified, foreign))
    assert refusal({**admin, "security.protocol": "PLAINTEXT"})


def test_a_client_refuses_a_node_whose_certificate_does_not_name_it(certified: Cluster) -> None:
    admin = settings(certified, certificate(certified, "admin"))
    unnamed = f"localhost:{certified.port('kafka1')}"
    assert "certificate verify failed" in refusal({**admin, "bootstrap.servers": unnamed})


def test_a_client_may_do_what_the_acls_of_its_name_allow(certified: Cluster) -> None:
    orders = settings(certified, certificate(certified, "orders"))
    told: list[Any] = []
    producer = Producer({**orders, "message.timeout.ms": 10000})
    for topic in ("orders", "payments"):
        producer.produce(
            topic, b"x", key=b"k", on_delivery=lambda error, message: told.append((message.topic(), error))
        )
    producer.flush(20)
    errors = dict(told)
    assert errors["orders"] is None
    assert errors["payments"] is not None
    assert set(AdminClient(orders).list_topics(timeout=10).topics) == {"orders"}


def test_the_bundle_works_with_the_key_and_certificate_of_the_client(
    certified: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = certified.directory / "bundle" / "local" / "orders"
    assert not [path for path in folder.iterdir() if "PRIVATE KEY" in path.read_text()]
    shown, key = certificate(certified, "orders")
    (folder / "client.pem").write_text(key.read_text() + shown.read_text())
    tool = next((certified.directory / "install" / "releases").glob("*/bin/kafka-topics.sh"))
    command = [str(tool), "--bootstrap-server", certified.bootstrap_servers[0], "--command-config", "java.properties"]
    done = subprocess.run([*command, "--list"], cwd=folder, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["orders"]
    monkeypatch.chdir(folder)
    lines = [line for line in Path("librdkafka.properties").read_text().splitlines() if not line.startswith("#")]
    assert set(AdminClient(dict(line.split("=", 1) for line in lines)).list_topics(timeout=10).topics) == {"orders"}


def test_the_ca_changes_in_three_runs_and_no_send_of_either_client_fails(certified: Cluster, tmp_path: Path) -> None:
    """From the development CA to another one; two clients, of which one shows its old certificate until the second run
    is over, and one its new certificate from the end of the first on."""
    new = issue("the new CA", ca=True)
    for node in certified.nodes:
        issue(node, by=new, names=(node, "127.0.0.1")).write(tmp_path, node)
    shown = issue("admin", by=new).write(tmp_path, "admin")
    both, only = tmp_path / "both.pem", tmp_path / "new.pem"
    only.write_bytes(new.pem())
    both.write_bytes(new.pem() + (certified.directory / "ca" / "ca.pem").read_bytes())
    make_topics(certified, "early", "late")
    trust = {"kafka_tls_ca_file": str(both)}
    issued = {
        "kafka_tls_source": "files",
        "kafka_tls_certificate_file": f"{tmp_path}/{{{{ inventory_hostname }}}}.pem",
        "kafka_tls_key_file": f"{tmp_path}/{{{{ inventory_hostname }}}}.key",
        "kafka_admin_certificate_file": str(shown[0]),
        "kafka_admin_key_file": str(shown[1]),
    }
    before, after = (settings(certified, pair, both) for pair in (certificate(certified, "admin"), shown))
    with contextlib.ExitStack() as late, contextlib.ExitStack() as early:
        first = early.enter_context(producing(certified.bootstrap_servers, "early", settings=before))
        rolled(certified, trust)
        assert (certified.directory / "bundle" / "local" / "orders" / "ca.pem").read_text() == both.read_text()
        second = late.enter_context(producing(certified.bootstrap_servers, "late", settings=after))
        rolled(certified, {**trust, **issued})
        early.close()
        rolled(certified, {**issued, "kafka_tls_ca_file": str(only)})
    for ledger, topic in ((first, "early"), (second, "late")):
        assert len(ledger.acknowledged) > 1000
        assert not ledger.failed
        assert not ledger.lost(read_all(certified.bootstrap_servers, topic, settings=after))
    assert refusal({**before, "ssl.ca.location": str(only)}), "a certificate of the old CA opens nothing any more"
    assert certified.playbook().ok().changed == 0


def make_topics(cluster: Cluster, *names: str) -> None:
    """Topics of three copies, made by the module as the administrator."""
    shown = certificate(cluster, "admin")
    connection = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": "SSL",
        "ssl_ca_location": str(cluster.directory / "ca" / "ca.pem"),
        "ssl_certificate_location": str(shown[0]),
        "ssl_key_location": str(shown[1]),
    }
    topics = [{"name": name, "partitions": 6, "replication_factor": 3} for name in names]
    made = run_module("streamops.kafka.topics", {**connection, "topics": topics})
    assert not made["failed"], made


def rolled(cluster: Cluster, variables: dict[str, Any]) -> None:
    """Runs the site with these variables from now on; every node restarts for one of its stores."""
    before = cluster.pids()
    cluster.variables.update(variables)
    run = cluster.playbook(timeout=1200).ok()
    assert "store.pem" in run.output, "the reason of the restart is named"
    after = cluster.pids()
    assert all(after[node] != before[node] for node in cluster.nodes)
