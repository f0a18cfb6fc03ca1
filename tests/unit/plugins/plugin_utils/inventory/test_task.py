# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of all hosts as a task sees them, read from a real inventory of Ansible."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.task import TaskReader
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View

HOSTS = {
    "k1": {"ansible_host": "10.0.0.1", "kafka_node_id": 1, "kafka_gate_timeout": "10"},
    "k2": {"ansible_host": "10.0.0.2", "kafka_node_id": 2, "kafka_prove": False},
}


@pytest.fixture
def reader(tmp_path: Path) -> Any:
    """Reads as a task of a host, k1 unless told, with these variables besides those of the inventory."""
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"kafka_brokers": {"hosts": HOSTS}}))
    loader = DataLoader()
    inventory = InventoryManager(loader, [str(tmp_path / "hosts.yml")])
    manager = VariableManager(loader, inventory)
    hostvars = HostVars(inventory, manager, loader)

    def read(task_of: str = "k1", **more: Any) -> TaskReader:
        variables = {**manager.get_vars(host=inventory.get_host(task_of)), "hostvars": hostvars, **more}
        return TaskReader(Templar(loader=loader, variables=variables), variables)

    return read


def test_what_a_host_leaves_out_has_the_default_of_its_spec_templated_for_that_host(reader: Any) -> None:
    assert [reader().read(host)["kafka_log_dirs"] for host in HOSTS] == [["/var/lib/kafka/k1"], ["/var/lib/kafka/k2"]]
    assert [reader().read(host)["kafka_gate_timeout"] for host in HOSTS] == [10, 30]


def test_what_a_play_says_holds_for_all_hosts_and_wins_over_the_inventory(reader: Any) -> None:
    said = reader(kafka_gate_timeout="99", kafka_data_dir=trust_as_template("/d/{{ kafka_cluster_name }}"))
    assert [said.read(host)["kafka_gate_timeout"] for host in HOSTS] == [99, 99]
    assert said.read("k2")["kafka_log_dirs"] == ["/d/kafka/k2"]


@pytest.mark.parametrize("host", ["k1", "k2"])
def test_what_a_play_says_wins_whichever_host_of_the_inventory_says_it_too(reader: Any, host: str) -> None:
    said = reader(kafka_prove=trust_as_template("{{ true }}"), task_of=host)
    assert [said.read(host)["kafka_prove"] for host in HOSTS] == [True, True]
    assert View(said)["provers"] == ["k1", "k2"]


def test_the_default_of_a_role_is_beneath_what_the_inventory_says_of_another_host(reader: Any) -> None:
    said = reader(kafka_gate_timeout=30, task_of="k2")
    assert [said.read(host)["kafka_gate_timeout"] for host in HOSTS] == [10, 30]


def test_a_delegated_task_moves_no_host_to_the_control_node(reader: Any) -> None:
    said = reader(ansible_connection="local", ansible_host="127.0.0.1", ansible_port=2222)
    assert [node["machine"] for node in View(said)["nodes"]] == ["10.0.0.1", "10.0.0.2"]
    assert said.read("k1").get("ansible_port") is None


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({}, "Ansible managed"),
        ({"ansible_managed": "ours"}, "ours"),
        ({"ansible_managed": trust_as_template("{{ template_path }} for {{ kafka_node_id }}")}, "start.j2 for 1"),
    ],
)
def test_the_line_of_ansible_is_that_of_its_template_module(
    reader: Any, tmp_path: Path, said: dict[str, Any], line: str
) -> None:
    template = tmp_path / "start.j2"
    template.touch()
    assert reader(**said).managed(str(template)) == line


def test_the_line_of_ansible_may_have_the_placeholders_of_its_configuration(
    reader: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ansible.constants.config.get_config_value", lambda _name: "{file} by {uid} in %Y")
    template = tmp_path / "start.j2"
    template.touch()
    assert re.fullmatch(r"start\.j2 by \S+ in 20\d\d", reader().managed(str(template)))
