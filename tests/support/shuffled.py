"""The inventories of this repository in any order of hosts, groups and lists, and all files that they render."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    GROUPS,
    PAGE_GROUP,
    PROMETHEUS_GROUP,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.task import TaskReader
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.cluster import Cluster, Run
from tests.support.other_order import place

ROOT = Path(__file__).resolve().parents[2]
REVERSED = "reversed"
#: The lists of an inventory whose order means nothing.
LISTS = (
    "kafka_acls",
    "kafka_plain_users",
    "kafka_quotas",
    "kafka_super_users",
    "kafka_tls_client_names",
    "kafka_topics",
    "kafka_users",
    "mirror_flows",
)
#: What is chosen or listed of all hosts besides: who does what is done once, where the lock is, whom firewalls let in.
PARTS = (
    "bootstrap_servers",
    "connection",
    "endpoint",
    "firewall_rules",
    "first",
    "lock",
    "services",
    "super_users",
)
#: The lists of files of a manifest.
FILES = ("start_files", "secret_start_files", "other_files", "secret_other_files", "note")


def tree(directory: Path) -> dict[str, Any]:
    """An inventory as data: by file below its directory what is in it."""
    found = sorted(path for path in directory.rglob("*.yml"))
    return {str(path.relative_to(directory)): yaml.safe_load(path.read_text()) for path in found}


def write(found: Mapping[str, Any], directory: Path) -> None:
    """Writes an inventory that is data, see `tree`, into a directory."""
    for name, content in found.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(yaml.safe_dump(content, sort_keys=False))


def molecule(scenario: str) -> dict[str, Any]:
    """The inventory of a scenario of molecule as data."""
    shared, own = (
        yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", path.read_text()))
        for path in (ROOT / ".config/molecule/config.yml", ROOT / "molecule" / scenario / "molecule.yml")
    )
    groups: dict[str, Any] = {}
    inventory = own["provisioner"]["inventory"]
    for platform in own["platforms"]:
        for group in platform["groups"]:
            variables = inventory.get("host_vars", {}).get(platform["name"])
            groups.setdefault(group, {"hosts": {}})["hosts"][platform["name"]] = variables
    files = {"hosts.yml": groups, "group_vars/all/shared.yml": shared["provisioner"]["inventory"]["group_vars"]["all"]}
    for group, variables in inventory.get("group_vars", {}).items():
        files[f"group_vars/{group}/own.yml"] = variables
    files["group_vars/all/scenario.yml"] = {"molecule_yml": {"scenario": {"name": scenario}}}
    return files


def shuffled(content: Any, word: str, lists: bool = False) -> Any:
    """The same with all mappings, and the lists of LISTS, in an order that a word decides; the empty one keeps it."""
    if not word:
        return content
    if isinstance(content, Mapping):
        keys = _turned(content, word)
        return {key: shuffled(content[key], word, key in LISTS) for key in keys}
    if isinstance(content, list) and lists:
        return _turned(content, word)
    return content


def _turned(items: Iterable[Any], word: str) -> list[Any]:
    """The items in the order of a word, of which the word REVERSED is sure to be another one."""
    if word == REVERSED:
        return list(reversed(list(items)))
    return sorted(items, key=lambda one: place(json.dumps(one, sort_keys=True), word))


class Rendered:
    """What an inventory renders on each of its hosts, as its roles have it; no host is asked anything."""

    def __init__(self, files: Mapping[str, Any], directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)
        secrets = directory / "files" / "any.pem"
        secrets.parent.mkdir(parents=True)
        secrets.write_text("a key, a certificate and a CA\n")
        # What no inventory of the repository has: local folders, sealed values, and certificates.
        self._more = {
            "kafka_local_dir": "/srv/local",
            **dict.fromkeys(("vault_kafka_admin_password", "vault_spark_validation_password"), "a"),
            **dict.fromkeys(("kafka_tls_ca_file", "kafka_tls_certificate_file", "kafka_tls_key_file"), str(secrets)),
        }
        for name, content in files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(yaml.safe_dump(content, sort_keys=False))
        sources = [str(directory / name) for name in files if "/" not in name]
        self._loader = DataLoader()
        self._inventory = InventoryManager(self._loader, sources)
        self._manager = VariableManager(self._loader, self._inventory)
        self._hostvars = HostVars(self._inventory, self._manager, self._loader)
        self.hosts = [host.name for host in self._inventory.get_hosts()]
        groups = self._inventory.get_groups_dict()
        self.nodes = list(dict.fromkeys(host for group in GROUPS.values() for host in groups.get(group, ())))
        self.beside = {group: groups.get(group, []) for group in (PAGE_GROUP, PROMETHEUS_GROUP)}
        for host in groups.get("kafka_brokers", ()):
            self._manager.set_nonpersistent_facts(host, {"__kafka_endpoint": self.view(host)["endpoint"]})

    def _variables(self, host: str) -> dict[str, Any]:
        found = self._manager.get_vars(host=self._inventory.get_host(host))
        play = {"hostvars": self._hostvars, "ansible_play_hosts_all": self.hosts, "ansible_managed": "managed"}
        return {**found, **self._more, **play}

    def view(self, host: str) -> View:
        """The model as a host sees it."""
        variables = self._variables(host)
        return View(TaskReader(Templar(loader=self._loader, variables=variables), variables))

    def of(self, host: str) -> dict[str, Any]:
        """All files of a node by path, what its process is compared with, and PARTS of its model."""
        model = self.view(host)
        manifest = model["manifest"]
        files = [file for name in FILES for file in manifest[name]]
        parts = {name: _part(model, name) for name in PARTS}
        if "broker" in model["node"]["roles"]:
            parts["bundle"] = _by_path(model["client_bundle"]["files"])
        return {"files": _by_path(files), "wanted": _data(manifest["wanted"]), **parts}


def everything(files: Mapping[str, Any], directory: Path, word: str) -> dict[str, Any]:
    """By host all that an inventory renders in the order of a word, and what is chosen of it, as data.

    Lists of files are by path, since no file depends on which was written before it; all else is in its order.
    """
    made = Rendered({name: shuffled(content, word) for name, content in files.items()}, directory)
    found = {host: made.of(host) for host in sorted(made.nodes)}
    for host in sorted(made.beside[PAGE_GROUP]):
        found[f"page of {host}"] = _data(made.view(host)["page"]["configuration"])
    for host in sorted(made.beside[PROMETHEUS_GROUP]):
        written = made.view(host)["prometheus"]["written"]
        found[f"prometheus of {host}"] = _by_path([*written["files"], *written["secret_files"]])
    return found


def _part(model: View, name: str) -> Any:
    """A part of the model; why it cannot be made, where an inventory has to be filled in first."""
    try:
        return _data(model[name])
    except ValueError as problem:
        return str(problem)


def _by_path(files: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {one["path"]: one["content"] for one in files}


def _data(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _data(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_data(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def inventory(name: str) -> dict[str, Any]:
    """The files of an inventory by its name: a shipped one, a scenario of molecule, or one that is made here."""
    if name in MADE:
        return {"hosts.yml": MADE[name]}
    if name.startswith("molecule/"):
        return molecule(name.partition("/")[2])
    # It is named beside that of a cluster.
    beside = {"beside.yml": tree(ROOT / "inventories/watching")["hosts.yml"]} if name == "watching" else {}
    return {**tree(ROOT / "inventories" / ("local" if beside else name)), **beside}


#: Names and ids whose orders differ, in lists that have more than one entry each.
_MANY = {
    "kraft_controllers": {"hosts": dict.fromkeys(("b1", "b2", "b3", "e1", "w1"))},
    "kafka_brokers": {
        "hosts": {
            f"b{n}": {
                "kafka_node_id": number,
                "ansible_host": f"10.0.0.{number}",
                "kafka_rack": f"r{n % 3}",
                "kafka_log_dirs": [f"/disk2/b{n}", f"/disk1/b{n}"],
            }
            for n, number in {1: 10, 2: 2, 3: 30, 4: 4}.items()
        },
        "children": {"east": None, "west": None},
    },
    "east": {
        "hosts": {f"e{n}": {"kafka_node_id": 9 - n, "ansible_host": f"10.0.2.{n}"} for n in (1, 2)},
        "vars": {"kafka_cluster_name": "east"},
    },
    "west": {
        "hosts": {f"w{n}": {"kafka_node_id": 9 - n, "ansible_host": f"10.0.8.{n}"} for n in (1, 2)},
        "vars": {"kafka_cluster_name": "west"},
    },
    "mirror_makers": {"hosts": {"m2": {"ansible_host": "10.0.1.2"}, "m1": {"ansible_host": "10.0.1.1"}}},
    "clients": {"hosts": {"c1": {"ansible_host": "10.0.3.1"}, "c2": {"ansible_host": "10.0.3.2"}}},
    "all": {
        "vars": {
            "kafka_mode": "kraft_combined",
            "kafka_profile": "development",
            "kafka_heap_size": "1g",
            "kafka_tls_source": "files",
            "kafka_authorizer": True,
            "kafka_firewall": True,
            "kafka_firewall_client_groups": ["clients"],
            "kafka_admin_password": "a",
            "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "PLAIN"],
            "kafka_plain_users": [{"name": "z", "password": "1"}, {"name": "a", "password": "2"}],
            "kafka_super_users": ["z", "a", "CN=m"],
            "kafka_users": [{"name": "u2", "password": "1"}, {"name": "u1", "password": "2"}],
            "kafka_acls": [{"principal": "User:u2", "role": "producer", "topics": ["t"]}],
            "kafka_jvm_options": ["-XX:MaxGCPauseMillis=50", "-XX:MaxGCPauseMillis=40"],
            "kafka_config": {"ssl.cipher.suites": ["TLS_B", "TLS_A"], "metric.reporters": ["z.Z", "a.A"]},
            "kafka_listeners": [
                {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
                {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
                {"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"},
            ],
            "mirror_flows": [
                {"source": "west", "target": "kafka", "topics": ["z", "a"]},
                {"source": "east", "target": "kafka", "topics": ["b"]},
                {"source": "kafka", "target": "east", "topics": ["k"]},
            ],
            "mirror_user": "mirror",
            "mirror_password": "m",
        }
    },
}
MADE: dict[str, Any] = {
    "many": _MANY,
    "zookeeper": {
        "zookeeper": {"hosts": {f"z{n}": {"zookeeper_id": 10 - n, "ansible_host": f"10.0.4.{n}"} for n in (1, 2, 3)}},
        "kafka_brokers": {
            "hosts": {f"k{n}": {"kafka_node_id": 20 - n, "ansible_host": f"10.0.5.{n}"} for n in (1, 2, 3)}
        },
        "all": {
            "vars": {
                **{name: _MANY["all"]["vars"][name] for name in ("kafka_heap_size", "kafka_super_users")},
                "kafka_mode": "zookeeper",
                "kafka_version": "3.9.2",
                "kafka_authorizer": True,
                "zookeeper_chroot": "/one",
                "zookeeper_password": "p",
                "kafka_listeners": [{"name": "CLIENT", "port": 9092, "purpose": "clients"}],
            }
        },
    },
    "legacy": {
        "kraft_controllers": {"children": {"kafka_brokers": None}},
        "kafka_brokers": {"children": {"one": None, "two": None}},
        "one": {"hosts": {f"a{n}": {"kafka_node_id": 10 - n, "ansible_host": f"10.0.6.{n}"} for n in (1, 2, 3)},
                "vars": {"kafka_cluster_name": "one"}},
        "two": {"hosts": {f"b{n}": {"kafka_node_id": 10 - n, "ansible_host": f"10.0.7.{n}"} for n in (1, 2, 3)}},
        "mirror_makers": {"hosts": {"m1": None, "m2": None}},
        "all": {
            "vars": {
                "kafka_cluster_name": "two",
                "kafka_mode": "kraft_combined",
                "kafka_version": "3.9.2",
                "kafka_heap_size": "1g",
                "kafka_listeners": [
                    {"name": "CLIENT", "port": 9092, "purpose": "clients"},
                    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
                ],
                "mirror_flows": [
                    {"source": "one", "target": "two", "topics": ["z", "a"], "engine": "legacy"},
                    {"source": "two", "target": "one", "topics": ["b"], "enabled": False},
                ],
            }
        },
    },
}  # fmt: skip


def with_reversed_hosts(cluster: Cluster, directory: Path) -> Cluster:
    """A cluster of inventories/local by an inventory in this directory whose hosts come in the reverse order."""
    found = inventory("local")
    hosts = found["hosts.yml"]["kafka_brokers"]["hosts"]
    found["hosts.yml"]["kafka_brokers"]["hosts"] = dict(reversed(hosts.items()))
    write(found, directory)
    return Cluster(directory, cluster.directory, cluster.port_base, cluster.variables)


def second_run(cluster: Cluster, directory: Path) -> Run:
    """A run with the hosts in the reverse order, after one with all of it, which changed and restarted nothing."""
    before = cluster.pids()
    # Inventories of others come in any order of hosts, and that means nothing.
    turned = with_reversed_hosts(cluster, directory)
    assert list(turned.identities) == list(reversed(cluster.nodes))
    run = turned.playbook().ok()
    assert run.changed == 0, run.output
    assert cluster.pids() == before
    return run
