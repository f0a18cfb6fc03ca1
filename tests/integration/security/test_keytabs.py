"""Keytabs that kadmin and ktutil of MIT Kerberos write, read by ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.keytab import Key, fault, read_keys
from tests.support.cluster import free_port_base
from tests.support.kdc import MISSING, REALM, Kdc
from tests.support.keytabs import AES128, AES256, RC4

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"no KDC: {MISSING}")
NAME = f"kafka/b1.example.com@{REALM}"


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    with Kdc(tmp_path_factory.mktemp("kdc"), free_port_base(8)) as kdc:
        yield kdc


def test_keys_of_kadmin_are_those_that_let_clients_in(kdc: Kdc) -> None:
    file = kdc.keytab("b1", "kafka/b1.example.com")
    kdc.admin(f"ktadd -k {file} {NAME}")
    keys = read_keys(file.read_bytes())
    assert keys == [Key(NAME, version, kind) for version in (2, 3) for kind in (AES256, AES128)]
    assert fault(keys, NAME) == ""
    assert "kafka/b2.example.com" in fault(keys, f"kafka/b2.example.com@{REALM}")
    kdc.kinit("kafka/b1.example.com", file)


def test_a_keytab_of_weak_keys_is_named(kdc: Kdc) -> None:
    file = kdc.keytab("weak", "kafka/weak", kinds="rc4-hmac:normal")
    keys = read_keys(file.read_bytes())
    assert [key.kind for key in keys] == [RC4]
    assert "rc4-hmac" in fault(keys, f"kafka/weak@{REALM}")


def test_ktutil_writes_large_versions_and_leaves_holes(kdc: Kdc, tmp_path: Path) -> None:
    file = tmp_path / "ktutil.keytab"
    add = "addent -password -p {} -k {} -e aes256-cts-hmac-sha1-96\nsecret\n"
    kdc.ktutil(f"{add.format(NAME, 70000)}{add.format(f'alice@{REALM}', 255)}wkt {file}\nq\n")
    assert read_keys(file.read_bytes()) == [Key(NAME, 70000, AES256), Key(f"alice@{REALM}", 255, AES256)]
    kdc.admin(f"ktrem -k {file} {NAME} all")
    assert read_keys(file.read_bytes()) == [Key(f"alice@{REALM}", 255, AES256)]
