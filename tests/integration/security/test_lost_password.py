# SPDX-License-Identifier: GPL-3.0-or-later
"""A lost administrator's password is set anew with the certificate of a node, as docs/at-night.md says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.cluster import Cluster
from tests.support.modules import run_module
from tests.support.secured import PASSWORD, admin_connection

NEW = "another-0ne"


def set_by_node(cluster: Cluster, folder: Path, password: str) -> None:
    """Set the administrator's password as somebody does who is root on a broker's machine."""
    stores = cluster.directory / "config" / "kafka1" / "tls"
    settings = folder / "node.properties"
    settings.write_text(
        "security.protocol=SSL\n"
        f"ssl.keystore.type=PEM\nssl.keystore.location={stores}/keystore.pem\n"
        f"ssl.truststore.type=PEM\nssl.truststore.location={stores}/truststore.pem\n"
    )
    # The listener of the brokers, where a node is what its certificate says: a super user.
    server = f"127.0.0.1:{cluster.port('kafka1', 1)}"
    program = next((cluster.directory / "install" / "releases").glob("*/bin/kafka-configs.sh"))
    words = ["--bootstrap-server", server, "--command-config", str(settings), "--alter", "--entity-type", "users"]
    secret = f"SCRAM-SHA-512=[iterations=8192,password={password}]"
    subprocess.run([str(program), *words, "--entity-name", "admin", "--add-config", secret], check=True, timeout=120)


def answers(cluster: Cluster, password: str) -> bool:
    """Tell whether the administrator gets in with a password."""
    return not run_module("streamops.kafka.cluster_info", {**admin_connection(cluster, password), "topics": []})[
        "failed"
    ]


@pytest.mark.full
def test_a_node_sets_the_password_of_the_administrator_anew(secured: Cluster, tmp_path: Path) -> None:
    assert answers(secured, PASSWORD)
    try:
        set_by_node(secured, tmp_path, NEW)
        assert answers(secured, NEW)
        assert not answers(secured, PASSWORD)
    finally:
        back = {**admin_connection(secured, NEW), "users": [{"name": "admin", "password": PASSWORD}]}
        given_back = run_module("streamops.kafka.users", back)
    assert not given_back["failed"], given_back
    assert answers(secured, PASSWORD)
