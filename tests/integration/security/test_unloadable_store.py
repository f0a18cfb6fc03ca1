# SPDX-License-Identifier: GPL-3.0-or-later
"""A renewal that brings a running cluster a key which Kafka cannot load: no node stops for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.certificate_files import rsa_pss
from tests.support.certificates import read
from tests.support.cluster import Cluster

pytestmark = pytest.mark.full


def test_a_store_that_cannot_be_loaded_stops_no_node(secured: Cluster, tmp_path: Path) -> None:
    ca = read(secured.directory / "ca", "ca")
    for node in secured.nodes:
        rsa_pss(node, ca, f"DNS:{node},IP:127.0.0.1", tmp_path)
    stores = {node: secured.directory / "config" / node / "tls" / "keystore.pem" for node in secured.nodes}
    processes, before = secured.pids(), {node: path.read_bytes() for node, path in stores.items()}
    run = secured.playbook(
        kafka_tls_source="files",
        kafka_tls_ca_file=str(secured.directory / "ca" / "ca.pem"),
        kafka_tls_certificate_file=f"{tmp_path}/{{{{ inventory_hostname }}}}.pem",
        kafka_tls_key_file=f"{tmp_path}/{{{{ inventory_hostname }}}}.key",
    )
    assert run.rc != 0
    assert "would not start with the key and the certificates that this run would bring" in run.output
    assert "got RSASSA-PSS" in run.output
    assert secured.pids() == processes
    assert {node: path.read_bytes() for node, path in stores.items()} == before
