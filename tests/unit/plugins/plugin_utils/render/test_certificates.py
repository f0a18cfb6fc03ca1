# SPDX-License-Identifier: GPL-3.0-or-later
"""The key, the certificate and the CAs of a node, as they are read on the control node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.certificates import certificates, keystore


@pytest.fixture
def tls(tmp_path: Path) -> dict[str, Any]:
    """The variables of a node whose certificate is on the control node."""
    for name in ("ca.pem", "a.pem", "a.key"):
        (tmp_path / name).write_bytes(f"{name} line\r\nlast\n\n".encode())
    return {
        "kafka_tls_source": "files",
        "kafka_tls_ca_file": str(tmp_path / "ca.pem"),
        "kafka_tls_certificate_file": str(tmp_path / "a.pem"),
        "kafka_tls_key_file": str(tmp_path / "a.key"),
    }


@pytest.mark.parametrize("missing", ["kafka_tls_ca_file", "kafka_tls_certificate_file", "kafka_tls_key_file"])
def test_a_certificate_of_which_a_file_is_missing_is_none(tls: dict[str, Any], missing: str) -> None:
    assert sorted(certificates(tls)) == ["certificate", "key", "truststore"]
    assert certificates({**tls, "kafka_tls_source": ""}) == {}
    assert certificates({**tls, missing: "/nonexistent"}) == {}


def test_a_home_directory_is_that_of_the_control_node(tls: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path(tls["kafka_tls_ca_file"]).parent))
    assert certificates({**tls, "kafka_tls_ca_file": "~/ca.pem"}) == certificates(tls)


def test_a_keystore_ends_with_an_end_of_line() -> None:
    assert keystore({"key": "k", "certificate": "c", "truststore": "t"}) == "k\nc\n"
