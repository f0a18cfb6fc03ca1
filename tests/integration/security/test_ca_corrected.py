# SPDX-License-Identifier: GPL-3.0-or-later
"""A first installation whose certificates Java refuses: no quorum forms, and another CA puts it right."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509

from tests.support.certificates import Issued, issue
from tests.support.secured import PASSWORD, secured_cluster

NODES = ("kafka1", "kafka2", "kafka3")


def write(folder: Path, ca: Issued, *between: Issued) -> None:
    """The CA, and for each node a certificate of the last one between with its chain."""
    ca.write(folder, "ca")
    for node in NODES:
        certificate, _key = issue(node, by=[ca, *between][-1], names=(node, "127.0.0.1")).write(folder, node)
        certificate.write_bytes(b"".join([certificate.read_bytes(), *(one.pem() for one in reversed(between))]))


@pytest.mark.full
def test_while_no_quorum_has_formed_another_ca_is_taken(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    own = {
        "kafka_tls_source": "files",
        "kafka_tls_ca_file": str(files / "ca.pem"),
        "kafka_tls_certificate_file": f"{files}/{{{{ inventory_hostname }}}}.pem",
        "kafka_tls_key_file": f"{files}/{{{{ inventory_hostname }}}}.key",
    }
    cluster = secured_cluster(tmp_path / "cluster", PASSWORD, **own)
    # Of two certificates in between the first one forbids the second (pathLenConstraint).
    root = issue("first CA", ca=True)
    narrow = issue("narrow", by=root, ca=None, extensions=(x509.BasicConstraints(ca=True, path_length=0),))
    write(files, root, narrow, issue("too much", by=narrow, ca=True))
    try:
        failed = cluster.playbook()
        assert failed.rc != 0
        assert "pathLenConstraint" in failed.output
        write(files, issue("second CA", ca=True))
        cluster.playbook().ok()
        assert all(cluster.alive(node) for node in NODES)
        write(files, issue("third CA", ca=True))
        refused = cluster.playbook()
        assert refused.rc != 0
        assert refused.changed == 0
        assert "different_ca" in refused.output
    finally:
        cluster.destroy()
