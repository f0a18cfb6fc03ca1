"""A source outside of the inventory, of which only an address and a login are known: mirrored, compared, refused."""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import read_flows
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.rights import mirror_acls
from tests.support.cluster import ROOT, free_port_base, until
from tests.support.lone_broker import LoneBroker
from tests.support.mirrored import SHIPPED, Mirrored
from tests.support.modules import run_module
from tests.support.shuffled import tree, write
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

ALIAS, USER, PASSWORD = "old_dc", "reader", "r1-long-and-random"
FLOW = {"source": ALIAS, "target": "dc_b", "topics": ["orders"]}
#: The audit of the flow alone, without the proof of the target that validate.yml begins with.
AUDIT = f"""
- import_playbook: {ROOT}/playbooks/_endpoints.yml
- hosts: mirror_makers
  gather_facts: false
  tasks:
    - include_role: {{name: streamops.kafka.mirror_maker, tasks_from: audit.yml}}
"""
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;"


@dataclass
class Pair:
    """The cluster of others, and the inventory with one node and one mirror."""

    others: LoneBroker
    own: Mirrored

    @property
    def origin(self) -> list[str]:
        """The address of the others' own administrators, who need no login there."""
        return [f"127.0.0.1:{self.others.port + 2}"]

    @property
    def external(self) -> dict[str, Any]:
        """What the operator was told of the cluster."""
        return {"bootstrap_servers": self.others.bootstrap_servers, "username": USER, "password": PASSWORD}

    @property
    def target(self) -> list[str]:
        """The address of the target."""
        return self.own.servers("dc_b")


def others(release: Path, directory: Path) -> LoneBroker:
    """A cluster with logins and ACLs; its mirrors get the rights of the documentation and no others."""
    port = free_port_base()
    return LoneBroker(
        release,
        directory,
        port,
        **{
            "listeners": f"SASL_PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{port + 1},"
            f"INTERNAL://127.0.0.1:{port + 2}",
            "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": SCRAM,
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        },
    )


def inventory(directory: Path) -> Mirrored:
    """The shipped inventory without its source, with one node in the target."""
    found = tree(SHIPPED)
    hosts = found["hosts.yml"]
    del hosts["dc_a"], hosts["dc_a_brokers"], hosts["kafka_brokers"]["children"]["dc_a_brokers"]
    del hosts["dc_b_brokers"]["hosts"]["b2"], hosts["dc_b_brokers"]["hosts"]["b3"], found["group_vars/dc_a.yml"]
    write(found, directory / "inventory")
    return Mirrored(directory / "inventory", directory / "run", free_port_base(), {"mirror_flows": [FLOW]})


@pytest.fixture(scope="module")
def pair(kafka_release: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both, up and mirroring."""
    folder = tmp_path_factory.mktemp("external")
    found = Pair(others(kafka_release("4.3.1"), folder / "others"), inventory(folder))
    found.own.variables["mirror_external_clusters"] = {ALIAS: found.external}
    try:
        cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        found.others.format(cluster_id, f"--add-scram=SCRAM-SHA-512=[name={USER},password={PASSWORD}]")
        found.others.start()
        orders = {"name": "orders", "partitions": 3, "replication_factor": 1}
        acls = mirror_acls(read_flows([FLOW]), ALIAS, [f"User:{USER}"])
        for module, wanted in (("topics", {"topics": [orders]}), ("acls", {"acls": acls})):
            made = run_module(f"streamops.kafka.{module}", {"bootstrap_servers": found.origin, **wanted})
            assert not made["failed"], made
        found.own.playbook().ok()
        yield found
    finally:
        found.own.destroy()
        found.others.kill()


def test_every_record_of_the_others_arrives_and_a_second_run_changes_nothing(pair: Pair) -> None:
    with producing(pair.origin, "orders") as ledger:
        until(lambda: len(ledger.acknowledged) > 5000, "records")
    assert not ledger.failed
    until(lambda: not ledger.lost(read_all(pair.target, f"{ALIAS}.orders")), "all records", timeout=120)
    found = read_all(pair.target, f"{ALIAS}.orders")
    assert set(found) == set(ledger.acknowledged)
    assert sum(found.values()) == len(ledger.acknowledged)
    again = pair.own.playbook().ok()
    assert again.changed == 0, again.output


def test_status_measures_the_flow_and_the_audit_counts_its_records(pair: Pair) -> None:
    status = pair.own.playbook("playbooks/status.yml").ok()
    assert f"{ALIAS}->dc_b" in status.output
    assert "Lag          0 records" in status.output
    playbook = pair.own.directory / "audit.yml"
    playbook.write_text(AUDIT)
    audit = pair.own.playbook(str(playbook), spark_validation_enabled=True).ok()
    assert f"mirror-{ALIAS}" in audit.output
    assert PASSWORD not in audit.output


def test_the_password_is_in_the_file_of_secrets_alone(pair: Pair) -> None:
    assert PASSWORD not in pair.own.start_files("mirror1")
    holding = [file for file in (pair.own.directory / "config").rglob("*") if file.is_file() and _holds(file)]
    assert {file.name for file in holding} == {"secrets.properties"}
    command = Path(f"/proc/{pair.own.pid('mirror1')}/cmdline").read_bytes()
    assert PASSWORD.encode() not in command


def _holds(file: Path) -> bool:
    return PASSWORD.encode() in file.read_bytes()


def test_a_wrong_password_is_told_and_the_mirror_goes_on(pair: Pair) -> None:
    before = pair.own.pids()
    wrong = {ALIAS: {**pair.external, "password": "w1-long-and-random"}}
    refused = pair.own.playbook("playbooks/mirrors.yml", mirror_external_clusters=wrong)
    told = " ".join(refused.output.split())
    assert refused.rc != 0
    assert f"{ALIAS} of mirror_external_clusters" in told
    assert "w1-long-and-random" not in told
    assert refused.changed == 0
    assert pair.own.pids() == before
    pair.own.playbook("playbooks/status.yml").ok()
    status = pair.own.playbook("playbooks/status.yml", mirror_external_clusters=wrong)
    assert status.rc != 0
    assert f"{ALIAS}->dc_b" in status.output


def test_an_alias_that_leads_to_the_target_is_refused(pair: Pair) -> None:
    before = pair.own.pids()
    own = {ALIAS: {"bootstrap_servers": ",".join(pair.target)}}
    refused = pair.own.playbook("playbooks/mirrors.yml", mirror_external_clusters=own)
    assert refused.rc != 0
    assert f"dc_b and {ALIAS} are one cluster" in " ".join(refused.output.split())
    assert refused.changed == 0
    assert pair.own.pids() == before
