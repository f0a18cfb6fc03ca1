"""Inventories with mistakes, and what a run that refused one has left: nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.support.cluster import ROOT, Cluster, Run, free_port_base

ONLY_PREFLIGHT = """\
- hosts: kraft_controllers:kafka_brokers
  gather_facts: false
  any_errors_fatal: true
  roles:
    - role: streamops.kafka.preflight
"""


def copy_of_local(folder: Path) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """A copy of inventories/local with its hosts and its group variables, to be changed and saved."""
    inventory = folder / "inventory"
    shutil.copytree(ROOT / "inventories" / "local", inventory)
    hosts = yaml.safe_load((inventory / "hosts.yml").read_text())
    return inventory, hosts, yaml.safe_load((inventory / "group_vars" / "all.yml").read_text())


def saved(folder: Path, hosts: dict[str, Any], variables: dict[str, Any]) -> Cluster:
    """The changed inventory as a cluster that writes below the folder."""
    inventory = folder / "inventory"
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    (inventory / "group_vars" / "all.yml").write_text(yaml.safe_dump(variables))
    return Cluster(inventory, folder / "run", free_port_base())


def preflight_only(cluster: Cluster, folder: Path, *arguments: str) -> Run:
    """A run of the role alone."""
    playbook = folder / "preflight.yml"
    playbook.write_text(ONLY_PREFLIGHT)
    return cluster.playbook(str(playbook), *arguments)


def message(run: Run) -> str:
    """The one error message of a run, with its line breaks taken out."""
    assert run.output.count("[ERROR]") == 1, run.output[-6000:]
    text = run.output.split("[ERROR]: Task failed: Action failed: ", 1)[1].split("Origin:", 1)[0]
    return " ".join(text.split())


def assert_refused_untouched(run: Run, cluster: Cluster) -> None:
    """The run failed, changed nothing, and left nothing in the cluster's folder."""
    assert run.rc != 0
    assert run.changed == 0
    assert [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]
