# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of preflight find in an inventory that was written for nodes of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play import Play
from ansible.template import Templar
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.reader import InventoryReader
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import ERROR, Violation
from tests.unit.plugins.plugin_utils.adopt.test_inventory import (
    COMBINED,
    LAYOUTS,
    WITH_ZOOKEEPER,
    loaded,
    machines_of,
    server,
    written,
)

#: Three combined nodes as the documentation of Apache has them.
THREE = (
    COMBINED.replace("node.id=1", "node.id={id}")
    .replace("localhost:9093\nlisteners", "k1.example.com:9093,k2.example.com:9093,k3.example.com:9093\nlisteners")
    .replace("://localhost", "://k{id}.example.com")
)
#: Brokers that log in to each other by SCRAM.
BETWEEN = (
    WITH_ZOOKEEPER.replace("SSL://:9094", "INNER://:9094")
    .replace(",SSL://k{id}.example.com:9094", ",INNER://k{id}.example.com:9094")
    .replace(
        "security.inter.broker.protocol=SSL",
        """inter.broker.listener.name=INNER
listener.security.protocol.map=SASL_SSL:SASL_SSL,INNER:SASL_SSL
sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512
listener.name.inner.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.inner.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username="admin" password="hunter2";""",
    )
)
#: The same at the one listener of all.
SHARED = """
process.roles=broker,controller
node.id={id}
controller.quorum.bootstrap.servers=k1:9093,k2:9093,k3:9093
controller.listener.names=CONTROLLER
listeners=CLIENT://:9092,CONTROLLER://:9093
advertised.listeners=CLIENT://k{id}:9092
listener.security.protocol.map=CLIENT:SASL_SSL,CONTROLLER:SSL
inter.broker.listener.name=CLIENT
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.client.sasl.enabled.mechanisms=PLAIN
listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
    username="kafka" password="hunter2" user_kafka="hunter2";
ssl.keystore.location=/etc/kafka/keystore.jks
ssl.keystore.password=hunter2
ssl.truststore.location=/etc/kafka/truststore.jks
ssl.truststore.password=hunter2
listener.name.controller.ssl.client.auth=required
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:kafka;User:CN=k1,O=x;User:CN=k2,O=x;User:CN=k3,O=x;User:admin
log.dirs=/var/lib/kafka/data
default.replication.factor=3
min.insync.replicas=2
"""
RELEASE = {"version": "3.9.2", "vendor": "apache", "summary": "3.9.2", "differing": [], "missing": []}
ENSEMBLE = {f"zk{number}": [server(number)] for number in (1, 2, 3)}
MACHINES: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]] = {
    "combined": LAYOUTS["combined"],
    "translated": LAYOUTS["translated"],
    "three combined": machines_of(THREE, "k"),
    "isolated": LAYOUTS["isolated"],
    "zookeeper": {**machines_of(WITH_ZOOKEEPER, "k", release=RELEASE), **ENSEMBLE},
    "static and many listeners": LAYOUTS["static and many listeners"],
    "SASL between brokers": {**machines_of(BETWEEN, "k", release=RELEASE), **ENSEMBLE},
    "one listener with SASL": machines_of(SHARED, "k"),
}
#: What each of them accepts, for what really is there.
ACCEPTED = {
    "combined": ["even_quorum", "few_brokers"],
    "translated": ["even_quorum", "few_brokers"],
    "three combined": ["low_min_isr", "few_replicas"],
    "isolated": ["low_min_isr", "few_replicas"],
    "zookeeper": ["low_min_isr", "few_replicas", "unprotected_acls"],
    "static and many listeners": [
        "min_isr_above_replicas",
        "few_replicas",
        "open_without_acl",
        "unencrypted_login",
    ],
    "SASL between brokers": ["low_min_isr", "few_replicas", "unprotected_acls"],
    "one listener with SASL": [],
}
#: Who the administrator is, which people fill in.
ADMINISTRATOR = ("kafka_admin_user: CHANGE-ME", "kafka_admin_user: admin")


def rules_of(files: Mapping[str, str], directory: Path) -> list[Violation]:
    """Return what the rules find in the files, when people have filled in what only they know."""
    for path, text in files.items():
        target = directory / path.removesuffix(".example")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace(*ADMINISTRATOR).replace("CHANGE-ME", "filled-in"))
    loader = DataLoader()
    hosts = InventoryManager(loader, [str(directory / "hosts.yml")])
    manager = VariableManager(loader, hosts)
    play = Play.load({"hosts": "all"}, loader=loader)
    task = SimpleNamespace(
        get_play=lambda: play, _role=None, environment=[], get_vars=dict, get_include_params=dict,
        get_search_path=lambda: [str(directory)], action="streamops.kafka.preflight", delegate_to=None,
    )  # fmt: skip
    action: Any = SimpleNamespace(_loader=loader, _templar=Templar(loader=loader), _task=task)
    variables = {"hostvars": HostVars(hosts, manager, loader), "groups": hosts.get_groups_dict()}
    reader = InventoryReader(action, variables)
    # Ansible finds its lookups by their whole names in a run only.
    of_control_node = {name: "/control" for name, value in reader._defaults.items() if "lookup(" in str(value)}
    reader._defaults = {**reader._defaults, **of_control_node}
    nodes = reader.nodes()
    return check_inventory(
        Inventory(
            nodes=tuple(nodes),
            known_variables=tuple(reader.read_variables()),
            peers=tuple(reader.peers(nodes)),
        )
    )


@pytest.mark.parametrize("layout", MACHINES)
def test_an_adopted_cluster_passes_as_it_is(layout: str, tmp_path: Path) -> None:
    inventory = written(MACHINES[layout], check=check_inventory)
    assert [str(finding) for finding in inventory.findings if finding.level == REFUSE] == []
    shared = loaded(inventory.files["group_vars/all/kafka.yml"])
    assert shared.get("preflight_accept", []) == ACCEPTED[layout]
    violations = rules_of(inventory.files, tmp_path)
    assert [violation.sentence() for violation in violations if violation.level == ERROR] == []
    # Nothing is accepted that is not there.
    assert {violation.name for violation in violations if violation.accepted} == set(ACCEPTED[layout])


def test_what_is_accepted_stands_beside_what_would_mend_it() -> None:
    text = written(MACHINES["isolated"], check=check_inventory).files["group_vars/all/kafka.yml"]
    before, _name, behind = text.partition("preflight_accept:\n")
    assert "# low_min_isr, until somebody does this: raise min.insync.replicas, or remove it\n" in before
    assert "b4, b5, b6: acks=all is answered when a single copy has the record (min.insync.replicas 1)" in before
    assert behind.startswith("  - low_min_isr\n  - few_replicas\n")


def test_what_no_rule_can_accept_is_a_limit_of_the_adoption() -> None:
    machines = machines_of(SHARED.replace("listener.name.client.plain", "# listener.name.client.plain"), "k")
    findings = written(machines, check=check_inventory).findings
    (finding,) = [finding for finding in findings if finding.level == REFUSE]
    assert "brokers would have to log in at the listener for clients" in finding.what
    assert "(rule no_broker_listener)" in finding.what
