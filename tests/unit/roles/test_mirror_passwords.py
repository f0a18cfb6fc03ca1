# SPDX-License-Identifier: GPL-3.0-or-later
"""The password of the stores that a mirror shows at its REST port: each key has its own, until no mirror needs it."""

from __future__ import annotations

import re
from typing import Any

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.mirroring import Mirroring
from ansible_collections.streamops.kafka.plugins.plugin_utils.run.results import Results
from tests.support.cluster import ROOT

OLD, NEW = "0123456789abcdef", "fedcba9876543210"


def model(host: str, digest: str) -> dict[str, Any]:
    """The model of a mirror with this store."""
    settings = {"kafka_config_dir": "/etc/kafka", "kafka_cluster_name": "dc_b"}
    known = {"settings": settings, "node": {"host": host}, "stores": {"digest": digest}}
    mirroring = Mirroring(known, {host: settings}.__getitem__, {}, Results({host: settings}.__getitem__, host), [host])
    return {**known, "mirroring": mirroring}


def password_file(host: str, digest: str) -> str:
    """Where the password is."""
    return str(model(host, digest)["mirroring"]["rest_secrets_file"])


def test_a_new_key_leaves_the_password_of_the_old_one_to_files_from_before() -> None:
    assert password_file("mirror1", OLD) != password_file("mirror1", NEW)


def looked_for(kind: str) -> tuple[list[str], list[str]]:
    """Where a node of this kind that has proven its files looks for stores and passwords, and the names."""
    tasks = yaml.safe_load((ROOT / "roles" / "_common" / "tasks" / "roll" / "proven.yml").read_text())
    options = next(task["ansible.builtin.find"] for task in tasks if task.get("register") == "__common_stores")
    known = {
        "_model": {"paths": {"config": "/etc/kafka/mirror1"}, "mirroring": {"shared_dir": "/etc/kafka/mirror-dc_b"}},
        "_common_kind": kind,
        "inventory_hostname": "mirror1",
    }
    templar = Templar(loader=DataLoader(), variables=known)
    paths = templar.template(trust_as_template(options["paths"]))
    return list(paths), [templar.template(trust_as_template(pattern)) for pattern in options["patterns"]]


def test_a_mirror_looks_at_passwords_of_its_own_alone() -> None:
    paths, patterns = looked_for("mirror")
    assert paths == ["/etc/kafka/mirror1", "/etc/kafka/mirror-dc_b"]
    there = [password_file(host, digest) for host in ("mirror1", "mirror11", "mirror1-b") for digest in (OLD, NEW)]
    # The last is that of an installation from before there was one for each key.
    names = [*(path.rpartition("/")[2] for path in there), "rest-mirror11.properties", "rest-mirror1.properties"]
    # What start files name stays (test_old_keytabs.py).
    own = [name for name in names if any(re.match(pattern, name) for pattern in patterns)]
    assert own == [f"rest-{OLD}-mirror1.properties", f"rest-{NEW}-mirror1.properties", "rest-mirror1.properties"]


def test_stores_of_the_metrics_and_of_the_rest_port_are_looked_at_and_no_others() -> None:
    paths, patterns = looked_for("kafka")
    assert paths == ["/etc/kafka/mirror1"]
    names = [f"metrics-{OLD}-keystore.p12", f"rest-{OLD}-truststore.p12", "keystore.p12", "my-rest-1.p12"]
    assert [name for name in names if any(re.match(pattern, name) for pattern in patterns)] == names[:2]
