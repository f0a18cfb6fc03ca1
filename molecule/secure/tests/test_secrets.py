"""Passwords that were planted in the inventory, and keys: no file may hold one that others could read."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.support.machines import Machine
from tests.support.planted import forms

# Every planted secret holds this word.
MARKS = [form.decode() for form in forms(b"planted-")]
# The whole machine without the kernel's own file systems, the packages of the distribution and our own look.
ROOTS = ["/etc", "/home", "/opt", "/root", "/run", "/srv", "/tmp", "/usr/local", "/var"]


def found(node: Machine, patterns: list[str]) -> str:
    """Files of the machine that hold one of these texts."""
    # The patterns go in by standard input: grep's own arguments would be found by the watcher.
    look = ["grep", "-rlsaF", "-f", "-", "--devices=skip", *ROOTS]
    return node.run("sh", "-c", f"{' '.join(look)} || test $? -le 2", given="\n".join(patterns), timeout=180)


def test_no_file_of_a_machine_holds_a_password(node: Machine) -> None:
    assert found(node, MARKS) == ""


def test_the_search_finds_what_is_there(nodes: list[Machine]) -> None:
    nodes[0].run("sh", "-c", "cat > /var/tmp/canary", given=base64.b64encode(b"x: planted-canary").decode())
    assert found(nodes[0], MARKS) == "/var/tmp/canary"
    nodes[0].run("rm", "/var/tmp/canary")


def test_the_journal_holds_no_password(node: Machine) -> None:
    journal = node.run("journalctl", "--no-pager", "-o", "cat")
    assert node.service in journal or node.name in journal
    assert not [mark for mark in MARKS if mark in journal]


def test_a_key_is_in_the_keystore_and_nowhere_else(node: Machine, ca_directory: Path) -> None:
    own = (ca_directory / f"{node.name}.key").read_text().splitlines()[1]
    store = f"{node.directories[1]}/{node.name}/tls/keystore.pem"
    assert found(node, [own]) == store
    assert node.run("stat", "-c", "%U %G %a", store) == f"root {node.group} 440"
    assert found(node, [(ca_directory / "ca.key").read_text().splitlines()[1]]) == "", "the key of the CA"


@pytest.mark.parametrize("name", ["server.properties", "tls", "keystore.pem"])
def test_other_users_of_the_machine_cannot_read_the_configuration(node: Machine, name: str) -> None:
    path = f"{node.directories[1]}/{node.name}/{'tls/' * (name == 'keystore.pem')}{name}"
    assert "Permission denied" in node.fails("setpriv", "--reuid=nobody", "--clear-groups", "ls", "-l", path)
