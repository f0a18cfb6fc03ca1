# SPDX-License-Identifier: GPL-3.0-or-later
"""The page as page.yml installs it: beside a broker without logins, and beside one that ACLs protect."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import ssl
import stat
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._state.api import write_state
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import made_state_topic
from page.expected import Expected
from page.known.picture import Picture
from page.poll import take
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, until
from tests.support.groups import make_topic
from tests.support.kdc import NO_LIBRARY
from tests.support.keytabs import keytab, record
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.page import basic
from tests.support.secured import admin_connection, secured_cluster

SERVICE = "streamops-kafka-page"
PLAYBOOK = "playbooks/page.yml"
PASSWORD = "of-the-page-alone"
ADMIN = "of-the-administrator"
PAGE_USER = {"prometheus": "of-prometheus-alone"}
#: Seconds until the page has a picture; polls come every two.
PICTURE = 180


def inventory(directory: Path, **variables: Any) -> Path:
    """An inventory of one combined node and one page."""
    nodes: dict[str, Any] = {"kafka1": {"kafka_node_id": 1, "kafka_rack": "r1"}}
    groups = {"kraft_controllers": nodes, "kafka_brokers": nodes, "kafka_page": {"page1": {}}}
    topics = [{"name": "orders", "partitions": 2, "replication_factor": 1}]
    polls = {"kafka_page_interval": 2, "kafka_page_details_interval": 2}
    common = {**local_variables(), "kafka_topics": topics, **polls, "kafka_page_start_timeout": 300}
    return hosts_file(directory, groups, {**common, **variables})


@contextlib.contextmanager
def ended(cluster: Cluster) -> Iterator[Cluster]:
    """A cluster whose processes end with the test, the page among them."""
    try:
        yield cluster
    finally:
        with contextlib.suppress(OSError, ValueError):
            cluster.supervisorctl("stop", SERVICE)
        cluster.destroy()


def get(url: str) -> tuple[int, str]:
    """Status (0 when nothing listens) and text."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except urllib.error.URLError:
        return 0, ""


def operations(address: str) -> list[dict[str, Any]]:
    """The reports on the cluster local that the page lists."""
    found = json.loads(get(f"{address}/clusters/local/operations?format=json")[1])
    assert found["known"], found
    reports: list[dict[str, Any]] = found["reports"]
    return reports


def pid_of(cluster: Cluster) -> int:
    """The process of the page."""
    return int(cluster.supervisorctl("pid", SERVICE))


@pytest.mark.full
def test_it_shows_a_broker_and_a_second_run_changes_nothing(
    tmp_path: Path, kafka_release: Callable[[str], Path]
) -> None:
    base = free_port_base()
    # The port of node 1 for clients, as the inventory has it.
    broker = LoneBroker(kafka_release("4.3.1"), tmp_path / "broker", base + 10)
    broker.format("MkU3OEVBNTcwNTJENDM2Qk")
    broker.start()
    try:
        make_topic(broker.bootstrap_servers, "orders", 2, records=10)
        shelf = tmp_path / "reports"
        own = inventory(tmp_path / "inventory", kafka_page_port=base + 50, kafka_page_reports=str(shelf))
        with ended(Cluster(own, tmp_path / "run", base)) as cluster:
            assert cluster.playbook(PLAYBOOK).ok().changed > 0
            address = f"http://127.0.0.1:{base + 50}"
            until(lambda: get(f"{address}/health")[0] == 200, "a picture of the broker", PICTURE)
            text = get(f"{address}/metrics")[1]
            assert 'topic="orders"' in text
            assert 'cluster="local"' in text
            assert stat.S_IMODE(shelf.stat().st_mode) == 0o2750
            assert operations(address) == []
            (shelf / "status").mkdir()
            run = cluster.playbook("playbooks/status.yml", status_report=f"{shelf}/status/").ok()
            (one,) = operations(address)
            assert (one["kind"], one["clusters"]) == ("status", ["local"])
            assert f"Report       {shelf}/{one['name']}" in run.output
            assert one["result"] in run.output
            assert get(f"{address}{one['address']}") == (200, (shelf / one["name"]).read_text())
            before = pid_of(cluster)
            again = cluster.playbook(PLAYBOOK).ok()
            assert again.changed == 0, again.output
            assert pid_of(cluster) == before
    finally:
        broker.kill()


@pytest.mark.full
@pytest.mark.skipif(bool(NO_LIBRARY), reason=NO_LIBRARY)
def test_by_kerberos_it_gets_its_keytab_and_the_package_of_the_system(tmp_path: Path) -> None:
    """No broker is needed: the page answers without a picture."""
    base, files = free_port_base(), {}
    for name in ("admin", "streamops-page", "kafka/127.0.0.1"):
        files[name] = tmp_path / f"{name.partition('/')[0]}.keytab"
        files[name].write_bytes(keytab(record(f"{name}@EXAMPLE.COM")))
        files[name].chmod(0o600)
    kerberos = {"realm": "EXAMPLE.COM", "kdcs": ["127.0.0.1:1"], "keytab_file": str(files["kafka/127.0.0.1"])}
    listeners = [
        {"name": name, "host": "127.0.0.1", "purpose": purpose, "port": base + place, "protocol": protocol}
        for place, (name, purpose, protocol) in enumerate(
            [("CLIENT", "clients", "SASL_SSL"), ("CONTROLLER", "controllers", "SSL"), ("BROKER", "brokers", "SSL")]
        )
    ]
    own = inventory(
        tmp_path / "inventory",
        kafka_page_port=base + 50,
        kafka_listeners=listeners,
        kafka_tls_source="development_ca",
        kafka_tls_ca_dir=str(tmp_path / "ca"),
        kafka_sasl_mechanisms=["GSSAPI"],
        kafka_kerberos={**kerberos, "client_keytab_file": str(files["admin"])},
        kafka_page_keytab_file=str(files["streamops-page"]),
    )
    # site.yml makes the CA, of which the page takes a copy.
    (tmp_path / "ca").mkdir()
    (tmp_path / "ca" / "ca.pem").write_text("no certificate is needed\n")
    with ended(Cluster(own, tmp_path / "run", base)) as cluster:
        cluster.playbook(PLAYBOOK).ok()
        assert get(f"http://127.0.0.1:{base + 50}/health")[0] == 503
        (copied,) = (tmp_path / "run").rglob("local-client.keytab")
        assert copied.read_bytes() == files["streamops-page"].read_bytes()
        assert stat.S_IMODE(copied.stat().st_mode) == 0o600
        krb5 = copied.with_name("krb5.conf")
        assert "kdc = 127.0.0.1:1" in krb5.read_text()
        environment = Path(f"/proc/{pid_of(cluster)}/environ").read_bytes().split(b"\0")
        assert f"KRB5_CONFIG={krb5}".encode() in environment
        (python,) = (tmp_path / "run").rglob("venv-*-system/bin/python")
        subprocess.run([python, "-c", "import gssapi, kafka"], check=True)
        before = pid_of(cluster)
        files["streamops-page"].write_bytes(keytab(record("streamops-page@EXAMPLE.COM", version=2)))
        assert cluster.playbook(PLAYBOOK).ok().changed == 1
        assert copied.read_bytes() == files["streamops-page"].read_bytes()
        assert pid_of(cluster) == before


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A broker of which only ACLs allow anything, installed by site.yml, and a host for the page."""
    directory = tmp_path_factory.mktemp("page-playbook")
    secured = secured_cluster(directory / "run", ADMIN)
    port = secured.port_base + 50
    own = inventory(directory / "inventory", kafka_page_password=PASSWORD, kafka_page_port=port)
    with ended(dataclasses.replace(secured, inventory=own)) as one:
        one.playbook().ok()
        yield one


def has_picture(cluster: Cluster) -> bool:
    """Whether the page has a picture of the cluster."""
    return get(f"http://127.0.0.1:{cluster.port_base + 50}/health")[0] == 200


def every_question_has_an_answer(cluster: Cluster) -> None:
    """Keep a record in the state topic, as a move does, and see that the page reads it and all else."""
    with Session(Connection.from_params(admin_connection(cluster, ADMIN))) as admin:
        made_state_topic(admin)
        write_state(admin, "of-a-test", {"any": "value"})
    assert untold(cluster) == []

    def metrics() -> str:
        return get(f"http://127.0.0.1:{cluster.port_base + 50}/metrics")[1]

    def polls() -> int:
        found = re.search(r'^kafka_lag_polls_total{cluster="local"} (\d+)$', metrics(), re.MULTILINE)
        return int(found[1]) if found else 0

    before = polls()
    until(lambda: polls() >= before + 2, "a poll that began after the record was there", PICTURE)
    assert "streamops_page_cluster_status{" in metrics()
    assert 'kind="untold"' not in metrics()


def a_missing_right_is_a_finding_and_spoils_no_picture(cluster: Cluster) -> None:
    """Take away all that the user may beyond describe, and give it back."""
    beyond = [
        {"resource_type": "cluster", "operation": "describe_configs"},
        {"resource_type": "topic", "resource": "*", "operation": "describe_configs"},
        {"resource_type": "topic", "resource": "_streamops_state", "operation": "read"},
    ]

    def have(state: str) -> None:
        acls = [{"principal": "User:streamops-page", "state": state, **one} for one in beyond]
        changed = run_module("streamops.kafka.acls", {**admin_connection(cluster, ADMIN), "acls": acls})
        assert changed["changed"], changed

    have("absent")
    try:
        wanted = ("the record of a move", "min.insync.replicas and throttles of topics", "throttles of brokers")
        until(lambda: len(untold(cluster)) == len(wanted), "the rights to be gone", PICTURE)
        for what, found in zip(wanted, untold(cluster), strict=True):
            assert found.startswith(f"unknown: {what}")
            assert "User:streamops-page has no right to do this" in found
        poor = polled(cluster)
        assert "it needs the operation describe_configs on the cluster. Fix: grant it" in poor.details.why["quotas"]
        assert (list(poor.details.why), poor.details.configs) == (["configs", "quotas"], None)
        assert poor.details.acls
    finally:
        have("present")
    until(lambda: untold(cluster) == [], "the rights to be back", PICTURE)


def access_is_told_without_a_secret(cluster: Cluster) -> None:
    """Limit a client, and see quotas, ACLs and users, in a poll and as the page serves them."""
    limits = [{"user": "<default>", "consumer_byte_rate": 10_000_000}]
    made = run_module("streamops.kafka.quotas", {**admin_connection(cluster, ADMIN), "quotas": limits})
    assert made["changed"], made

    def told() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(get(f"{address}?format=json")[1])
        return found

    address = f"http://127.0.0.1:{cluster.port_base + 50}/clusters/local/access"
    until(lambda: bool(told()["quotas"]), "the quota on the page", PICTURE)
    found = told()
    assert found["quotas"] == [
        {"entity": [{"type": "user", "name": None}], "limits": {"consumer_byte_rate": 10_000_000.0}}
    ]
    own = [one for one in found["acls"] if one["principal"] == "User:streamops-page"]
    assert {
        "principal": "User:streamops-page", "host": "*", "permission": "allow", "operation": "read",
        "resource_type": "topic", "resource": "_streamops_state", "pattern_type": "literal",
    } in own  # fmt: skip
    users = {one["name"]: one["mechanisms"] for one in found["users"]}
    assert {name: list(some) for name, some in users.items() if name in ("admin", "streamops-page")} == {
        "admin": ["SCRAM-SHA-512"], "streamops-page": ["SCRAM-SHA-512"],
    }  # fmt: skip
    assert users["streamops-page"]["SCRAM-SHA-512"] >= 8192
    text = get(address)[1]
    assert "User:streamops-page" in text
    for secret in (ADMIN, PASSWORD):
        assert secret not in text + json.dumps(found)


def polled(cluster: Cluster) -> Picture:
    """Poll as the page does."""
    login = {"sasl_username": "streamops-page", "sasl_password": PASSWORD}
    connection = Connection.from_params({**admin_connection(cluster, ADMIN), **login})
    return take("local", connection, Expected(), 300)


def untold(cluster: Cluster) -> list[str]:
    """Return what had no answer in a poll."""
    seen = polled(cluster)
    assert seen.logs["orders"]
    assert [one["name"] for one in seen.cluster["topics"] if one["name"] == "orders"]
    assert all(one["disk_total_bytes"] for one in seen.cluster["brokers"])
    return [one["what"] for one in seen.cluster["findings"] if one["kind"] == "untold"]


@pytest.mark.full
def test_its_user_sees_a_cluster_that_allows_nothing_else(cluster: Cluster) -> None:
    looked = cluster.playbook(PLAYBOOK, "--check", "--diff").ok()
    assert looked.changed > 0
    assert not has_picture(cluster)

    made = cluster.playbook(PLAYBOOK, "--diff").ok()
    assert PASSWORD not in looked.output + made.output
    until(lambda: has_picture(cluster), "a picture of the cluster", PICTURE)
    assert 'topic="orders"' in get(f"http://127.0.0.1:{cluster.port_base + 50}/metrics")[1]
    config = cluster.directory / "config" / "streamops-page" / "page.json"
    assert config.stat().st_mode & 0o777 == 0o600
    assert list(json.loads(config.read_text())["clusters"]) == ["local"]

    every_question_has_an_answer(cluster)
    access_is_told_without_a_secret(cluster)
    a_missing_right_is_a_finding_and_spoils_no_picture(cluster)

    for playbook in (PLAYBOOK, "playbooks/resources.yml"):
        again = cluster.playbook(playbook).ok()
        assert again.changed == 0, again.output
    assert cluster.playbook(PLAYBOOK, "--check").ok().changed == 0


@pytest.mark.full
def test_it_restarts_for_what_it_reads_and_then_asks_for_a_login_over_tls(cluster: Cluster) -> None:
    cluster.playbook(PLAYBOOK).ok()
    before = pid_of(cluster)
    more = {"kafka_page_users": PAGE_USER, "kafka_page_tls_source": "development_ca"}
    made = cluster.playbook(PLAYBOOK, **more).ok()
    assert made.changed > 0
    assert pid_of(cluster) != before
    trusted = ssl.create_default_context(cafile=str(cluster.directory / "ca" / "ca.pem"))
    address = f"https://127.0.0.1:{cluster.port_base + 50}/metrics"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(address, timeout=30, context=trusted)
    asked = urllib.request.Request(address, headers=basic("prometheus", PAGE_USER["prometheus"]))
    with urllib.request.urlopen(asked, timeout=30, context=trusted) as answer:
        assert answer.status == 200
    assert cluster.playbook(PLAYBOOK, **more).ok().changed == 0
