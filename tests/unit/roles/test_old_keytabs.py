# SPDX-License-Identifier: GPL-3.0-or-later
"""Keytabs that were copied go where the model names them no more, after what read them was started anew."""

from __future__ import annotations

from typing import Any

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from tests.support.cluster import ROOT

ROLES = ROOT / "roles"


def tasks_of(path: str) -> list[dict[str, Any]]:
    """Return the tasks of a file of a role."""
    return list(yaml.safe_load((ROLES / path).read_text()))


def test_only_keytabs_that_are_named_no_more_are_removed() -> None:
    find, remove = tasks_of("_common/tasks/old_keytabs.yml")
    kept = {"directory": "/etc/kafka/mirror-b", "names": "*.keytab", "keytabs": [{"file": "/k", "path": "/m/a.keytab"}]}
    there = {"files": [{"path": "/m/a.keytab"}, {"path": "/m/gone.keytab"}]}
    known = {"_common_copied_keytabs": kept, "__common_old_keytabs": there}
    templar = Templar(loader=DataLoader(), variables=known)
    assert templar.template(trust_as_template(find["ansible.builtin.find"]["paths"])) == kept["directory"]
    assert templar.template(trust_as_template(find["ansible.builtin.find"]["patterns"])) == "*.keytab"
    assert templar.template(trust_as_template(remove["loop"])) == ["/m/gone.keytab"]


def test_mirrors_and_services_remove_theirs_after_their_start() -> None:
    for path in ("mirror_maker/tasks/old_stores.yml", "_common/tasks/python/old.yml"):
        (task,) = (task for task in tasks_of(path) if "_common_copied_keytabs" in task.get("vars", {}))
        assert set(task["vars"]["_common_copied_keytabs"]) == {"directory", "names", "keytabs"}, path
    for role, variables in (("mirror_maker", "_mirror_maker_canary_service"), ("kafka_page", "_kafka_page_service")):
        service = yaml.safe_load((ROLES / role / "vars" / "main.yml").read_text())[variables]
        assert {"config", "keytabs"} <= set(service)
