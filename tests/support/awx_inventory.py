"""An inventory source of AWX: how it reads an inventory of a project, keeps it, and hands it to jobs.

Command and environment are those of RunInventoryUpdate in awx/main/tasks/jobs.py; what is kept and handed on is what
awx/main/management/commands/inventory_import.py and Inventory.get_script_data make of it. AWX takes no vault credential
for an inventory source, so nothing here knows the password of a vault.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Script = dict[str, Any]


class SyncFailed(Exception):
    """What ansible-inventory says where the sync of an inventory source fails."""


def sync(project: Path, source_path: str, work: Path) -> Script:
    """Read an inventory of a project as AWX does, and return the script that its jobs get."""
    source, output = project / source_path, work / "output.json"
    folder = source if source.is_dir() else source.parent
    command = ["ansible-inventory", "--list", "--export", "-i", str(source), "--output", str(output)]
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(work),
        "LANG": "C.UTF-8",
        "ANSIBLE_FORCE_COLOR": "True",
        "ANSIBLE_HOST_KEY_CHECKING": "False",
        "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
        "ANSIBLE_INVENTORY_EXPORT": "True",
        "ANSIBLE_VERBOSE_TO_STDERR": "True",
        "ANSIBLE_HOST_PATTERN_MISMATCH": "error",
        "ANSIBLE_COLLECTIONS_PATH": f"{work}/requirements_collections:{ROOT}/collections",
        "AWX_PRIVATE_DATA_DIR": str(work),
        "INVENTORY_SOURCE_ID": "8",
        "INVENTORY_UPDATE_ID": "9",
    }
    done = subprocess.run(
        [*command, "--playbook-dir", str(folder)],
        cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SyncFailed(done.stdout + done.stderr)
    return script(json.loads(output.read_text()))


def script(exported: Mapping[str, Any]) -> Script:
    """Return what jobs get of an export: all variables by host and group, hosts in the order of their names.

    The groups all and ungrouped are not kept as groups; the variables of all become those of the inventory.
    """
    hosts = exported.get("_meta", {}).get("hostvars", {})
    groups = {name: one for name, one in exported.items() if name not in ("_meta", "all", "ungrouped")}
    named = set(hosts) | {host for one in exported.values() for host in one.get("hosts", [])}
    kept = {
        name: {key: one[key] for key in ("hosts", "children", "vars") if one.get(key)} for name, one in groups.items()
    }
    towers = {"remote_tower_enabled": "true"}
    return {
        "all": {"vars": exported["all"].get("vars", {}), "hosts": sorted(named)},
        **kept,
        "_meta": {
            "hostvars": {host: {**hosts.get(host, {}), **towers, "remote_tower_id": number}
                         for number, host in enumerate(sorted(named), 1)}
        },
    }  # fmt: skip


def program(given: Script) -> str:
    """Return the file that AWX writes for a job."""
    return f"#! /usr/bin/env python3\n# -*- coding: utf-8 -*-\nprint({json.dumps(given)!r})\n"
