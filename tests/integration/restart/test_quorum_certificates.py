"""Certificates that a cluster cannot live with: another CA, and a quorum of controllers that cannot form."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.support.certificates import Issued, issue
from tests.support.cluster import Cluster
from tests.support.refused import assert_refused_untouched, message
from tests.support.secured import PASSWORD, secured_cluster

pytestmark = pytest.mark.full

ORGANIZATION = (x509.NameAttribute(NameOID.ORGANIZATION_NAME, "x"),)
SERVER_ONLY = (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),)


def cluster_of(folder: Path, inventory: str) -> Cluster:
    """A secured cluster whose certificates are files in `folder`/certificates; not installed yet."""
    files = folder / "certificates"
    files.mkdir()
    return secured_cluster(
        folder / "cluster",
        PASSWORD,
        inventory=inventory,
        kafka_tls_source="files",
        kafka_tls_ca_file=str(files / "ca.pem"),
        kafka_tls_certificate_file=f"{files}/{{{{ inventory_hostname }}}}.pem",
        kafka_tls_key_file=f"{files}/{{{{ inventory_hostname }}}}.key",
    )


def write(folder: Path, root: Issued, certificates: dict[str, Issued], behind: bytes = b"") -> None:
    """The certificates of nodes, with others behind each, and the CA."""
    files = folder / "certificates"
    (files / "ca.pem").write_bytes(root.pem())
    for node, issued in certificates.items():
        issued.write(files, node)
        (files / f"{node}.pem").write_bytes(issued.pem() + behind)


def test_certificates_that_no_quorum_forms_with_are_refused_before_any_change(tmp_path: Path) -> None:
    cluster, root = cluster_of(tmp_path, "local_isolated"), issue("root", ca=True)
    good = {node: issue(node, by=root, names=(node, "127.0.0.1")) for node in cluster.nodes}
    named = issue("controller1", by=root, names=("127.0.0.1",), more=ORGANIZATION)
    limited = issue("controller2", by=root, names=("127.0.0.1",), extensions=SERVER_ONLY)
    write(tmp_path, root, {**good, "controller1": named, "controller2": limited})
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    told = message(run)
    assert "2 errors" in told
    assert (
        "controller1: kafka_tls_certificate_file: the principal of the certificate of the node is no super user" in told
    )
    assert "becomes User:O=x,CN=controller1" in told
    assert "controller2: kafka_tls_certificate_file: the certificate may not be used for this connection" in told


@pytest.mark.parametrize("arguments", [(), ("--check",)], ids=["run", "check mode"])
def test_an_installation_that_was_cut_goes_on_with_no_other_ca(arguments: tuple[str, ...], tmp_path: Path) -> None:
    cluster, old = secured_cluster(tmp_path / "cluster", PASSWORD), issue("the old CA", ca=True)
    stores = cluster.directory / "config" / "kafka2" / "tls"
    stores.mkdir(parents=True)
    shown = issue("kafka2", by=old)
    (stores / "truststore.pem").write_bytes(old.pem())
    (stores / "keystore.pem").write_bytes(shown.key_pem() + shown.pem())
    run = cluster.playbook("site.yml", *arguments)
    assert (run.rc != 0, run.changed) == (True, 0)
    told = message(run)
    assert "kafka2: kafka_tls_ca_dir: the node trusts another CA than this run brings" in told
    assert old.certificate.fingerprint(hashes.SHA256()).hex(":").upper() in told
    assert f"the control node has none in {cluster.directory / 'ca'}, so a new one would be made" in told
    assert f"to {cluster.directory / 'ca'} on this one" in told
    assert sorted(path.name for path in cluster.directory.iterdir()) == ["config", "extra-vars.yml"]
    assert (stores / "truststore.pem").read_bytes() == old.pem()


@pytest.mark.parametrize("inventory", ["local_isolated", "local"])
def test_a_quorum_that_never_formed_is_told_why_and_forms_once_that_is_corrected(
    inventory: str, tmp_path: Path
) -> None:
    """The chain is one that only Java judges: a CA in it forbids the addresses of the nodes."""
    cluster, root = cluster_of(tmp_path, inventory), issue("root", ca=True)
    forbids = x509.NameConstraints(None, [x509.IPAddress(ipaddress.ip_network("127.0.0.0/8"))])
    between = issue("between", by=root, ca=True, extensions=(forbids,))
    controllers = [node for node in cluster.nodes if not node.startswith("broker")]
    try:
        bad = {node: issue(node, by=between, names=(node, "127.0.0.1")) for node in cluster.nodes}
        write(tmp_path, root, bad, behind=between.pem())
        first = cluster.playbook(kafka_start_timeout=120)
        assert first.rc != 0
        told = " ".join(first.output.split())
        for node in controllers:
            assert f"node {node}: " in told
        assert "and its quorum has no leader" in told
        assert "Its log says why: this node does not accept the chain of certificates that another one shows" in told
        assert "name constraints" in told
        assert not [node for node in cluster.nodes if node not in controllers and cluster.record(node).exists()]

        write(tmp_path, root, {node: issue(node, by=root, names=(node, "127.0.0.1")) for node in cluster.nodes})
        second = cluster.playbook().ok()
        # Ansible wraps long lines.
        assert "has never had a leader, so the node restarts without a gate" in " ".join(second.output.split())
        assert all(cluster.alive(node) for node in cluster.nodes)
        assert cluster.playbook().ok().changed == 0
    finally:
        cluster.destroy()
