"""The same on a cluster of which nodes show certificates and clients log in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.answers import ask, listeners
from tests.support.cluster import Cluster, said


def test_nodes_show_their_certificates_and_the_administrator_logs_in(secured: Cluster, tmp_path: Path) -> None:
    run = ask(secured, tmp_path).ok()
    assert run.changed == 0
    assert "could not ask" not in run.output
    assert run.output.count("from kafka2") == 2


@pytest.mark.full
@pytest.mark.parametrize(
    ("variables", "stage"),
    [({"advertised_host": "localhost"}, "tls"), ({}, "login")],
    ids=["a name that the certificate lacks", "a password that is wrong"],
)
def test_what_clients_of_a_secured_cluster_would_meet(
    secured: Cluster, tmp_path: Path, variables: dict[str, str], stage: str
) -> None:
    more = {} if variables else {"kafka_admin_password": "another one"}
    changed = listeners(secured, "CLIENT", **variables)
    run = ask(secured, tmp_path, "--limit", "kafka1", kafka_listeners=changed, **more)
    assert run.rc != 0
    assert f"does not answer the control node ({stage})" in said(run)
    assert "another one" not in run.output


@pytest.mark.full
def test_a_node_that_lacks_its_files_blames_no_other(secured: Cluster, tmp_path: Path) -> None:
    store = secured.directory / "config" / "kafka2" / "tls" / "truststore.pem"
    content = store.read_bytes()
    store.write_bytes(b"")
    try:
        run = ask(secured, tmp_path, "--limit", "kafka1").ok()
    finally:
        store.write_bytes(content)
    assert "kafka1: kafka2 could not ask: connection: the TLS files cannot be used" in said(run)
