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

ROLE = ROOT / "roles" / "mirror_maker"
OLD, NEW = "0123456789abcdef", "fedcba9876543210"


def model(host: str, digest: str) -> dict[str, Any]:
    """The model of a mirror with this store."""
    settings = {"kafka_config_dir": "/etc/kafka", "kafka_cluster_name": "dc_b"}
    known = {"settings": settings, "node": {"host": host}, "stores": {"digest": digest}}
    mirroring = Mirroring(known, {host: settings}.__getitem__, {}, Results({host: settings}.__getitem__, host), [host])
    return {**known, "mirroring": mirroring}


def templated(value: Any, host: str, digest: str) -> Any:
    """A value of the role as a mirror with this store has it."""
    known = {"_model": model(host, digest), "inventory_hostname": host}
    return Templar(loader=DataLoader(), variables=known).template(trust_as_template(value))


def password_file(host: str, digest: str) -> str:
    """Where the password is."""
    return str(model(host, digest)["mirroring"]["rest_secrets_file"])


def test_a_new_key_leaves_the_password_of_the_old_one_to_files_from_before() -> None:
    assert password_file("mirror1", OLD) != password_file("mirror1", NEW)


def test_only_older_passwords_of_the_mirror_itself_are_removed() -> None:
    tasks = yaml.safe_load((ROLE / "tasks" / "old_stores.yml").read_text())
    options = next(task["ansible.builtin.find"] for task in tasks if "Find passwords" in task["name"])
    (wanted,), (kept,) = (
        [templated(one, "mirror1", NEW) for one in options[name]] for name in ("patterns", "excludes")
    )
    there = [password_file(host, digest) for host in ("mirror1", "mirror11", "mirror1-b") for digest in (OLD, NEW)]
    # The last is that of an installation from before there was one for each key.
    names = [*(path.rpartition("/")[2] for path in there), "rest-mirror11.properties", "rest-mirror1.properties"]
    gone = [name for name in names if re.match(wanted, name) and not re.match(kept, name)]
    assert gone == [f"rest-{OLD}-mirror1.properties", "rest-mirror1.properties"]
