# SPDX-License-Identifier: GPL-3.0-or-later
"""The project that users copy (awx/project), read as AWX reads it: its playbooks, its inventory, its secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.awx_inventory import SyncFailed, program, sync
from tests.support.cluster import ROOT

PROGRAMS = Path(sys.executable).parent
SOURCE = yaml.safe_load((ROOT / "awx" / "data" / "settings.yml").read_text())["awx_inventory_path"]
SECRET = "planted-in-a-vault"
#: What a job has besides the inventory, and no more.
JOB = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project as its first step makes it."""
    return Path(shutil.copytree(ROOT / "awx" / "project", tmp_path / "project"))


@pytest.fixture
def password(tmp_path: Path) -> Path:
    """The file with the password of the vault."""
    file = tmp_path / "password"
    file.write_text("opens\n")
    return file


def run(*words: str | Path, cwd: Path) -> str:
    """Run a program of Ansible that must succeed, and return what it printed."""
    command = [str(PROGRAMS / words[0]), *map(str, words[1:])]
    done = subprocess.run(command, cwd=cwd, env=JOB, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sealed_values(project: Path, password: Path) -> None:
    """Seal the values of the example one by one, as it says."""
    example = project / "inventory" / "group_vars" / "all" / "vault.yml.example"
    names = list(yaml.safe_load(example.read_text()))
    words = [word for name in names for word in ("--name", name)] + [SECRET] * len(names)
    sealed = run("ansible-vault", "encrypt_string", "--vault-password-file", password, *words, cwd=project)
    example.with_name("vault.yml").write_text(f"---\n{sealed}")


def test_every_playbook_finds_that_of_the_collection(project: Path) -> None:
    playbooks = sorted((project / "playbooks").glob("*.yml"))
    listed = run("ansible-playbook", "-i", "inventory/hosts", "--syntax-check", *playbooks, cwd=project)
    assert [line for line in listed.splitlines() if line.startswith("playbook: ")] == [
        f"playbook: {p}" for p in playbooks
    ]


def test_values_that_are_sealed_one_by_one_come_through_awx_to_a_job(
    project: Path, password: Path, tmp_path: Path
) -> None:
    sealed_values(project, password)
    synced = sync(project, SOURCE, tmp_path)
    assert set(synced["kraft_controllers"]["hosts"]) == {"controller1", "controller2", "controller3"}
    assert "__ansible_vault" in synced["all"]["vars"]["vault_kafka_admin_password"]
    assert SECRET not in str(synced)
    inventory = tmp_path / "hosts"
    inventory.write_text(program(synced))
    inventory.chmod(0o700)
    show = ["-m", "ansible.builtin.debug", "-a", "var=[kafka_users,kafka_admin_password]"]
    shown = run("ansible", "-i", inventory, "broker4", *show, "--vault-password-file", password, cwd=tmp_path)
    assert shown.count(SECRET) == 2, shown
    assert "CHANGE-ME" not in shown


def test_a_file_that_is_sealed_as_a_whole_ends_the_sync(project: Path, password: Path, tmp_path: Path) -> None:
    example = project / "inventory" / "group_vars" / "all" / "vault.yml.example"
    vault = Path(shutil.copy(example, example.with_name("vault.yml")))
    run("ansible-vault", "encrypt", "--vault-password-file", password, vault, cwd=project)
    with pytest.raises(SyncFailed, match="Attempting to decrypt but no vault secrets found"):
        sync(project, SOURCE, tmp_path)
