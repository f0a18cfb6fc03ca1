"""Passwords that were planted in the inventory, and keys: no file may hold one that others could read."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.support.machines import Machine
from tests.support.planted import KEYTAB, forms

# Every planted secret holds this word.
MARKS = [form.decode() for form in (*forms(b"planted-"), KEYTAB)]


def ca_directory(process: Machine) -> Path:
    """Where the control node keeps the CA and the certificates of its cluster."""
    return Path(process.variables["kafka_tls_ca_file"]).parent


def keystore(process: Machine) -> str:
    """The file that holds its key."""
    return f"{process.directories[1]}/{process.name}/tls/keystore.pem"


def test_no_file_of_a_node_holds_a_password(node: Machine) -> None:
    assert node.files_with(MARKS) == []


def test_the_search_finds_what_is_there(machines: dict[str, Machine]) -> None:
    node = next(one for one in machines.values() if one.is_node)
    node.run("sh", "-c", "cat > /var/tmp/canary", given=base64.b64encode(b"x: planted-canary").decode())
    assert node.files_with(MARKS) == ["/var/tmp/canary"]
    node.run("rm", "/var/tmp/canary")


def test_the_journal_holds_no_password_and_no_key(process: Machine) -> None:
    # It is asked, not searched as a file: long entries are packed there.
    journal = process.run("journalctl", "--no-pager", "-o", "cat", "--all")
    assert process.service in journal or process.name in journal
    own = (ca_directory(process) / f"{process.name}.key").read_text().splitlines()[1]
    assert not [mark for mark in (*MARKS, own, "PRIVATE KEY") if mark in journal]


def test_a_key_is_in_the_keystore_and_nowhere_else(process: Machine) -> None:
    own = (ca_directory(process) / f"{process.name}.key").read_text().splitlines()[1]
    assert process.files_with([own]) == [keystore(process)]
    assert process.run("stat", "-c", "%U %G %a", keystore(process)) == f"root {process.group} 440"
    assert process.files_with([(ca_directory(process) / "ca.key").read_text().splitlines()[1]]) == [], "the CA's key"


@pytest.mark.parametrize("name", ["properties", "tls", "keystore"])
def test_other_users_of_the_machine_cannot_read_the_configuration(process: Machine, name: str) -> None:
    store = keystore(process)
    path = {"properties": process.config_file, "tls": store.rpartition("/")[0], "keystore": store}[name]
    assert "Permission denied" in process.fails("setpriv", "--reuid=nobody", "--clear-groups", "ls", "-l", path)
