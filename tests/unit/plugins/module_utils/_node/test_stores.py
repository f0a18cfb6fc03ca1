"""Stores that Java itself reads: made of PEM files, left when they are there, looked at with keytool."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._node.stores import write_stores
from tests.support.certificate_files import LAYOUTS
from tests.support.certificates import issue


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """PEM files of a node and of its CA, and where the stores belong."""
    authority = issue("test CA", ca=True)
    certificate, key = issue("mirror1", authority, names=("127.0.0.1",)).write(tmp_path, "mirror1")
    ca, _ = authority.write(tmp_path, "ca")
    stores = {name: str(tmp_path / f"{name}.p12") for name in ("keystore", "truststore")}
    return {"key": str(key), "certificate": str(certificate), "ca": str(ca), **stores}


def keytool(store: str, password: str, *more: str) -> str:
    """What Java finds in a store."""
    command = ["keytool", "-list", "-storetype", "PKCS12", "-keystore", store, "-storepass:env", "PASSWORD", *more]
    done = subprocess.run(command, env={"PASSWORD": password, "PATH": "/usr/bin:/usr/local/bin"}, capture_output=True)
    return done.stdout.decode() + done.stderr.decode()


def test_java_reads_them(files: dict[str, str]) -> None:
    assert write_stores(files, "not a secret", dry_run=False)
    assert "node" in keytool(files["keystore"], "not a secret")
    assert "PrivateKeyEntry" in keytool(files["keystore"], "not a secret")
    assert "trustedCertEntry" in keytool(files["truststore"], "not a secret")
    assert "password was incorrect" in keytool(files["keystore"], "another")
    assert Path(files["keystore"]).stat().st_mode & 0o777 == 0o600


def test_what_is_there_is_left(files: dict[str, str]) -> None:
    assert write_stores(files, "one", dry_run=False)
    before = Path(files["keystore"]).read_bytes()
    assert not write_stores(files, "one", dry_run=False)
    assert Path(files["keystore"]).read_bytes() == before


def test_check_mode_writes_nothing(files: dict[str, str]) -> None:
    assert write_stores(files, "one", dry_run=True)
    assert not Path(files["keystore"]).exists()


def test_a_file_that_is_no_key_is_named_and_nothing_is_written(files: dict[str, str]) -> None:
    Path(files["key"]).write_text("no key")
    with pytest.raises(StreamopsError, match=r"keystore\.p12: .*nothing was written"):
        write_stores(files, "one", dry_run=False)
    assert not Path(files["keystore"]).exists()


@pytest.mark.parametrize("layout", ["root_first", "one_bundle", "two_keys", "with_comments", "with_the_issuer_twice"])
def test_java_finds_the_certificate_of_the_key_with_its_issuer(
    layout: str, files: dict[str, str], tmp_path: Path
) -> None:
    for name, content in zip(("certificate", "key", "ca"), LAYOUTS[layout](), strict=True):
        Path(files[name]).write_bytes(content)
    assert write_stores(files, "not a secret", dry_run=False)
    shown = keytool(files["keystore"], "not a secret", "-v")
    owners = re.findall(r"^Owner: (.*)$", shown, re.M)
    assert owners[:2] == ["CN=kafka1", "CN=between"]
    assert "PrivateKeyEntry" in shown
