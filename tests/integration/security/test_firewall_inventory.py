"""From an inventory to the rules of its machines, through Ansible itself; and what the preflight refuses before."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import BIN, ROOT, Run, environment, parse_recap

ALL: dict[str, Any] = {
    "kafka_cluster_name": "blue",
    "kafka_firewall": True,
    "kafka_firewall_admin_addresses": ["bastion", "10.9.0.1"],
}
GREEN: dict[str, Any] = {
    "kafka_cluster_name": "green",
    "kafka_firewall_admin_addresses": ["10.9.0.2"],
    "kafka_listeners": [
        {"name": "APPS", "port": 19092, "purpose": "clients", "networks": ["10.20.0.0/16", "fd20::/16"]},
        {"name": "CTRL", "port": 19093, "purpose": "controllers"},
    ],
}
# Two clusters; controller1, broker1 and green1 share a machine.
HOSTS: dict[str, dict[str, Any]] = {
    "kraft_controllers": {
        "controller1": {"kafka_node_id": 1, "ansible_host": "10.0.0.1"},
        "green1": {"kafka_node_id": 1, "ansible_host": "10.0.0.1", **GREEN},
    },
    "kafka_brokers": {
        "broker1": {"kafka_node_id": 11, "ansible_host": "10.0.0.1"},
        "broker2": {"kafka_node_id": 12, "ansible_host": "10.0.0.2", "kafka_firewall_addresses": ["10.1.0.2"]},
        "green1": {},
    },
    "spark_gateway": {"gateway": {"ansible_host": "10.0.0.21"}},
    "others": {"bastion": {"ansible_host": "10.0.0.22"}},
}
SHOW = f"""
- hosts: kraft_controllers:kafka_brokers
  gather_facts: false
  tasks:
    - name: Bring the variables of the role
      ansible.builtin.import_role: {{name: streamops.kafka._common, tasks_from: machine.yml}}
      tags: [never]
    - name: Write down the rules of each machine
      ansible.builtin.copy:
        content: "{{{{ _model.firewall_rules }}}}"
        dest: "{{{{ inventory_dir }}}}/{{{{ inventory_hostname }}}}.rules.json"
        mode: "0600"
      delegate_to: localhost
      vars: {{role_path: {ROOT}/roles/_common, ansible_connection: local}}
      when: _model.first.firewall
"""
PREFLIGHT = """
- hosts: kraft_controllers:kafka_brokers
  gather_facts: false
  tasks:
    - name: Check the inventory
      streamops.kafka.preflight:
      run_once: true
"""


def played(folder: Path, playbook: str, **variables: Any) -> Run:
    """A run of this playbook on the inventory, with these variables for all hosts."""
    children = {group: {"hosts": hosts} for group, hosts in HOSTS.items()}
    (folder / "hosts.json").write_text(json.dumps({"all": {"vars": {**ALL, **variables}, "children": children}}))
    (folder / "play.yml").write_text(playbook)
    command = [str(BIN / "ansible-playbook"), "-i", str(folder / "hosts.json"), str(folder / "play.yml")]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return Run(done.returncode, done.stdout, parse_recap(done.stdout))


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, list[str]]]:
    """The host that brings a machine's firewall -> port -> sources."""
    folder = tmp_path_factory.mktemp("firewall")
    played(folder, SHOW).ok()
    return {
        path.name.split(".")[0]: {rule["port"]: rule["sources"] for rule in json.loads(path.read_text())}
        for path in folder.glob("*.rules.json")
    }


def test_one_host_of_each_machine_brings_the_rules_of_all_its_nodes(rules: dict[str, dict[int, list[str]]]) -> None:
    assert {host: sorted(ports) for host, ports in rules.items()} == {
        "controller1": [9092, 9093, 9094, 19092, 19093],
        "broker2": [9092, 9094],
    }


def test_sources_follow_from_groups_variables_and_defaults_of_each_cluster(
    rules: dict[str, dict[int, list[str]]],
) -> None:
    shared = rules["controller1"]
    assert shared[9092] == ["10.0.0.1", "10.0.0.21", "10.0.0.22", "10.1.0.2", "10.9.0.1"]
    assert shared[9093] == shared[9094] == ["10.0.0.1", "10.1.0.2"]
    assert shared[19092] == ["10.0.0.1", "10.0.0.21", "10.9.0.2", "10.20.0.0/16", "fd20::/16"]
    assert shared[19093] == ["10.0.0.1"]
    assert rules["broker2"][9092] == shared[9092]


def test_the_preflight_resolves_names_and_refuses_what_would_not_hold(tmp_path: Path) -> None:
    wrong = {
        "kafka_firewall_admin_addresses": ["bastion", "no such name"],
        "kafka_firewall_networks": {"clients": ["10.1.2.3/16"]},
        "ansible_port": 9094,
        "kafka_service_manager": "supervisor",
    }
    run = played(tmp_path, PREFLIGHT, **wrong)
    assert run.rc != 0
    assert run.changed == 0
    told = " ".join(run.output.split())
    for part in (
        "ERROR unresolvable_address:",
        "ERROR bad_network:",
        "the control node finds no address of no such name",
        "write 10.1.0.0/16, or the one address that is meant",
        "listener BROKER has the administration port of its machine",
        "the firewall needs systemd",
    ):
        assert part in told, part
    assert "no address of bastion" not in told
