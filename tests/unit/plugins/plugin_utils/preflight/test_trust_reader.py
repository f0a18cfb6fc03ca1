"""Which CA the nodes of a cluster trust, and which one a run would bring them: real stores in real files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes

from ansible_collections.streamops.kafka.plugins.module_utils._node.info import certificates
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_hosts
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.trust_reader import trust_facts
from tests.support.certificates import Issued, issue
from tests.support.preflight_inventories import CERTIFICATE_RULES
from tests.unit.plugins.plugin_utils.preflight.rules.test_hosts import host

OLD, NEW, OTHER = (issue(f"{name} CA", ca=True) for name in ("old", "new", "other"))
LEAVES = {
    (name, by.certificate.subject): issue(name, by=by, names=(name,))
    for name in ("kafka1", "kafka2", "kafka3")
    for by in (OLD, NEW)
}


def leaf(name: str, by: Issued) -> Issued:
    return LEAVES[name, by.certificate.subject]


def fingerprint(one: Issued) -> str:
    return one.certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def bundle(*cas: Issued) -> str:
    return "".join(one.pem().decode() for one in cas)


@dataclass
class Site:
    """Three nodes with their disks, and the files of one control node."""

    folder: Path
    variables: dict[str, Any] = field(default_factory=dict)
    started: dict[str, dict[str, str]] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    mirrors: tuple[str, ...] = ()
    # What the disk of a node says about the quorum.
    quorums: dict[str, dict[str, Any]] = field(default_factory=dict)

    def paths(self, node: str) -> list[str]:
        return [str(self.folder / node / "tls" / f"{name}store.pem") for name in ("trust", "key")]

    def install(self, node: str, trusted: str, shown: Issued) -> None:
        """The stores as the roles write them."""
        texts = (f"{trusted.rstrip()}\n", f"{shown.key_pem().decode().rstrip()}\n{shown.pem().decode().rstrip()}\n")
        for path, text in zip(self.paths(node), texts, strict=True):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text)

    def start(self, node: str) -> None:
        """From now on the process of the node has the stores that are on its disk now."""
        self.started[node] = {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in self.paths(node)}

    def installed(self, *cas: Issued, by: Issued, nodes: tuple[str, ...] = ("kafka1", "kafka2", "kafka3")) -> Site:
        for node in nodes:
            self.install(node, bundle(*cas), leaf(node, by))
            self.start(node)
        return self

    def brings(self, *cas: Issued, by: Issued) -> Site:
        """Files of the user."""
        control = self.folder / "control"
        control.mkdir(exist_ok=True)
        (control / "ca.pem").write_text(bundle(*cas))
        for node in ("kafka1", "kafka2", "kafka3"):
            leaf(node, by).write(control, node)
        return self.with_files("files", control)

    def brings_ca(self, ca: Issued | None, key: Issued | None = None) -> Site:
        """A development CA, or none yet."""
        control = self.folder / "ca"
        if ca is not None:
            control.mkdir(exist_ok=True)
            ca.write(control, "ca")
            (control / "ca.key").write_bytes((key or ca).key_pem())
        return self.with_files("development_ca", control)

    def with_files(self, source: str, control: Path) -> Site:
        self.variables = {
            "kafka_tls_source": source, "kafka_tls_ca_dir": str(control), "kafka_tls_ca_file": str(control / "ca.pem"),
            "kafka_tls_certificate_file": f"{control}/NODE.pem", "kafka_tls_key_file": f"{control}/NODE.key",
        }  # fmt: skip
        return self

    def told(self) -> list[str]:
        """What preflight says of the answers of these nodes."""
        return [one.sentence() for one in self.found()]

    def found(self) -> list[Violation]:
        """The violations of the rules on certificates."""
        asked = []
        for name in ("kafka1", "kafka2", "kafka3"):
            known = {key: value.replace("NODE", name) for key, value in self.variables.items()}
            known.update(kafka_cluster_name=self.clusters.get(name, "blue"))
            mirror = name in self.mirrors
            node = build_node(
                name, controller=not mirror, broker=not mirror, mirror=mirror, variables=known, undefined={}
            )
            stores = certificates(self.paths(name), self.started.get(name))
            asked.append((node, {"certificate_files": stores, "quorum": self.quorums.get(name)}))
        trust = trust_facts(asked)
        hosts = [host(number, trust=trust.get(f"kafka{number}")) for number in (1, 2, 3)]
        return [one for one in check_hosts(hosts) if one.name in CERTIFICATE_RULES]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_first_installation_trusts_nobody_yet(site: Site) -> None:
    assert site.brings_ca(None).told() == []
    assert site.brings_ca(OLD).told() == []
    assert site.brings(NEW, by=NEW).told() == []


def test_the_same_ca_again_is_fine(site: Site) -> None:
    site.installed(OLD, by=OLD)
    assert site.brings(OLD, by=OLD).told() == []
    assert site.brings_ca(OLD).told() == []


def test_a_first_installation_that_was_cut_goes_on_with_its_ca_and_no_other(site: Site) -> None:
    site.installed(OLD, by=OLD, nodes=("kafka1",))
    site.started.clear()
    assert site.brings_ca(OLD).told() == []
    (site.folder / "ca" / "ca.pem").unlink()
    assert len(site.told()) == 1
    assert site.brings_ca(NEW).told()[0].startswith("kafka1: kafka_tls_ca_dir: the node trusts another CA")


@pytest.mark.parametrize("running", [True, False])
def test_another_control_node_is_told_both_fingerprints_and_what_to_copy(site: Site, running: bool) -> None:
    site.installed(OLD, by=OLD)
    if not running:
        site.started.clear()
    (told,) = site.brings_ca(NEW).told()
    assert told.startswith("kafka1, kafka2, kafka3: kafka_tls_ca_dir: ")
    assert f"the node trusts CN=old CA (SHA-256 {fingerprint(OLD)})" in told
    assert f"the control node has CN=new CA (SHA-256 {fingerprint(NEW)})" in told
    assert "copy kafka_tls_ca_dir of the control node that made the CA, with all it holds (ca.pem, ca.key" in told
    assert f"to {site.folder / 'ca'} on this one" in told
    assert '"To change the CA" in docs/tls-sasl.md' in told


def test_no_new_ca_is_made_while_nodes_trust_one(site: Site) -> None:
    (told,) = site.installed(OLD, by=OLD).brings_ca(None).told()
    assert [one.name for one in site.found()] == ["different_ca"]
    assert fingerprint(OLD) in told
    assert f"the control node has none in {site.folder / 'ca'}, so a new one would be made" in told


def test_other_files_are_refused_too(site: Site) -> None:
    (told,) = site.installed(OLD, by=OLD).brings(NEW, by=NEW).told()
    assert told.startswith("kafka1, kafka2, kafka3: kafka_tls_ca_file: ")
    assert fingerprint(OLD) in told
    assert fingerprint(NEW) in told


def test_the_ca_changes_in_three_runs_in_this_order_only(site: Site) -> None:
    site.installed(OLD, by=OLD)
    assert site.brings(NEW, OLD, by=OLD).told() == []
    assert len(site.brings(NEW, OLD, by=NEW).told()) == 1, "certificates before all trust their CA"
    site.installed(NEW, OLD, by=OLD)
    assert site.brings(NEW, OLD, by=NEW).told() == []
    assert len(site.brings(NEW, by=NEW).told()) == 1, "trust is taken away while old certificates are shown"
    site.installed(NEW, OLD, by=NEW)
    assert site.brings(NEW, by=NEW).told() == []


BLANK, FORMED = {"leader": None, "epoch": 1, "records": False}, {"leader": 2, "epoch": 1, "records": True}


def test_while_no_quorum_has_ever_formed_the_ca_may_change(site: Site) -> None:
    site.installed(OLD, by=OLD).quorums = dict.fromkeys(("kafka1", "kafka2", "kafka3"), BLANK)
    assert site.brings(NEW, by=NEW).told() == []
    assert site.brings(OLD, NEW, by=NEW).told() == []
    assert site.brings_ca(None).told() == []
    for node in ("kafka1", "kafka2", "kafka3"):
        (other,) = replace(site, quorums={**site.quorums, node: FORMED}).brings(NEW, by=NEW).found()
        assert other.name == "different_ca"
    (unknown,) = replace(site, quorums={"kafka1": BLANK, "kafka2": BLANK}).brings(NEW, by=NEW).found()
    assert unknown.name == "different_ca"


def test_certificates_that_come_before_their_ca_are_told_from_another_ca(site: Site) -> None:
    (told,) = site.installed(OLD, by=OLD).brings(OLD, NEW, by=NEW).told()
    assert "certificates of a CA that the node does not trust yet" in told
    assert "issued by CN=new CA" in told
    assert f"the node trusts CN=old CA (SHA-256 {fingerprint(OLD)})" in told
    assert "run first with both CAs in the CA file and the certificates of the run before" in told
    assert "another CA" not in told


def test_from_the_development_ca_to_one_of_your_own(site: Site) -> None:
    site.installed(OLD, by=OLD).brings_ca(OLD)
    both = site.folder / "both.pem"
    both.write_text(bundle(OLD, NEW))
    site.variables["kafka_tls_ca_file"] = str(both)
    assert site.told() == []
    site.installed(OLD, NEW, by=OLD)
    assert site.told() == []
    assert site.brings(OLD, NEW, by=NEW).told() == []


def test_a_step_that_was_cut_is_finished_before_the_next(site: Site) -> None:
    site.installed(OLD, by=OLD)
    for node in ("kafka1", "kafka2", "kafka3"):
        site.install(node, bundle(NEW, OLD), leaf(node, OLD))
    site.start("kafka1")
    assert site.brings(NEW, OLD, by=OLD).told() == []
    (told,) = site.brings(NEW, OLD, by=NEW).told()
    assert [one.name for one in site.found()] == ["unfinished_ca_change"]
    assert "kafka2, kafka3 runs with other stores than are on its disk" in told
    assert "run again with the certificates and the CA file of the run before" in told


def test_the_last_step_waits_for_the_one_before_too(site: Site) -> None:
    site.installed(NEW, OLD, by=OLD)
    for node in ("kafka1", "kafka2", "kafka3"):
        site.install(node, bundle(NEW, OLD), leaf(node, NEW))
    assert site.brings(NEW, OLD, by=NEW).told() == []
    assert "takes the next step" in site.brings(NEW, by=NEW).told()[0]


@pytest.mark.parametrize("written", [1, 2, 3])
def test_the_last_step_that_was_cut_before_any_restart_is_run_again(site: Site, written: int) -> None:
    site.installed(NEW, OLD, by=NEW)
    for node in ("kafka1", "kafka2", "kafka3")[:written]:
        site.install(node, bundle(NEW), leaf(node, NEW))
    assert site.brings(NEW, by=NEW).told() == []


def test_the_disks_are_told_that_the_processes_have_not_taken_up(site: Site) -> None:
    site.installed(NEW, OLD, by=NEW)
    site.install("kafka1", bundle(NEW, OTHER), leaf("kafka1", NEW))
    (told,) = site.brings(NEW, by=NEW).told()
    assert told.startswith("kafka1, kafka2, kafka3: ")
    assert "kafka1 runs with other stores than are on its disk, which trusts" in told
    trusted = told.partition("which trusts")[2].partition("; this run")[0]
    assert [fingerprint(one) in trusted for one in (NEW, OTHER, OLD)] == [True, True, False]


def test_stores_that_were_overwritten_are_put_right_while_the_processes_have_the_old_ones(site: Site) -> None:
    site.brings(OLD, by=OLD).installed(OLD, by=OLD)
    for node in ("kafka1", "kafka2", "kafka3"):
        site.install(node, bundle(NEW), leaf(node, NEW))
    assert site.told() == []


def test_one_node_that_was_cut_off_is_put_right(site: Site) -> None:
    site.installed(OLD, by=OLD)
    site.install("kafka2", bundle(NEW), leaf("kafka2", NEW))
    site.start("kafka2")
    assert site.brings(OLD, by=OLD).told() == []
    assert site.brings(NEW, by=NEW).told()[0].startswith("kafka1, kafka3: ")


@pytest.mark.parametrize("running", [True, False])
def test_certificates_that_have_ended_keep_nothing_together(site: Site, running: bool) -> None:
    """No handshake succeeds any more, so nothing can be cut off."""
    for node in ("kafka1", "kafka2", "kafka3"):
        site.install(node, bundle(OLD), issue(node, by=OLD, days=-1))
        if running:
            site.start(node)
    assert site.brings(NEW, by=NEW).told() == []
    assert site.brings(NEW, OLD, by=NEW).told() == []
    assert site.brings(OLD, by=OLD).told() == []


def test_stopped_nodes_without_their_truststores_take_another_ca(site: Site) -> None:
    site.installed(OLD, by=OLD).brings(NEW, by=NEW)
    site.started.clear()
    assert len(site.told()) == 1
    for node in ("kafka1", "kafka2", "kafka3"):
        Path(site.paths(node)[0]).unlink()
    assert site.told() == []


def test_one_certificate_that_has_ended_does_not_open_the_others(site: Site) -> None:
    site.installed(OLD, by=OLD)
    site.install("kafka1", bundle(OLD), issue("kafka1", by=OLD, days=-1))
    site.start("kafka1")
    assert site.brings(NEW, by=NEW).told()[0].startswith("kafka1, kafka2, kafka3: ")


def test_a_ca_that_has_ended_still_keeps_nodes_together(site: Site) -> None:
    """Java asks for the dates of a chain without those of the CA that it trusts."""
    ended = issue("ended CA", ca=True, days=-1)
    for node in ("kafka1", "kafka2", "kafka3"):
        site.install(node, bundle(ended), issue(node, by=ended))
        site.start(node)
    assert len(site.brings(NEW, by=NEW).told()) == 1


def test_clusters_and_mirrors_are_judged_by_themselves(site: Site) -> None:
    site.installed(OLD, by=OLD)
    site.install("kafka3", bundle(NEW), leaf("kafka3", NEW))
    site.start("kafka3")
    site.clusters["kafka3"] = "green"
    assert site.brings(OLD, by=OLD).told()[0].startswith("kafka3: ")
    site.clusters.clear()
    site.mirrors = ("kafka3",)
    assert site.told()[0].startswith("kafka3: ")


def test_servers_whose_ca_only_others_trust_may_stay_so(site: Site) -> None:
    """Brokers trust the CA of the servers of ZooKeeper, which ask brokers for no certificate."""
    site.brings(OLD, NEW, by=OLD)
    site.installed(OLD, NEW, by=OLD)
    site.install("kafka3", bundle(NEW), leaf("kafka3", NEW))
    site.start("kafka3")
    control = site.folder / "control"
    leaf("kafka3", NEW).write(control, "kafka3")
    assert site.told() == []


def test_stores_that_a_process_does_not_use_say_nothing(site: Site) -> None:
    site.installed(OLD, by=OLD)
    site.started = {node: {"/elsewhere": "x"} for node in site.started}
    assert site.brings(NEW, by=NEW).told() == []


def test_a_development_ca_without_its_own_key_is_refused(site: Site) -> None:
    (told,) = site.brings_ca(OLD, key=NEW).told()
    assert [one.name for one in site.found()] == ["incomplete_ca"]
    assert "the development CA is incomplete" in told
    assert "ca.key is not the key of" in told
    (site.folder / "ca" / "ca.key").unlink()
    assert f"ca.pem without {site.folder}/ca/ca.key" in site.told()[0]
    site.variables["kafka_tls_ca_file"] = "/nowhere/both.pem"
    assert "kafka_tls_ca_file names /nowhere/both.pem, which does not exist" in site.told()[0]


def test_a_store_that_cannot_be_read_is_named(site: Site) -> None:
    site.installed(OLD, by=OLD).brings(OLD, by=OLD)
    trusted = Path(site.paths("kafka2")[0])
    trusted.unlink()
    trusted.mkdir()
    assert site.found()[0].name == "unreadable_stores"
    assert site.told()[0].startswith(
        "kafka2: a store of the node cannot be read (found: truststore.pem: Is a directory"
    )


def test_what_is_read_of_a_node_has_no_key(site: Site) -> None:
    site.installed(OLD, by=OLD)
    found = certificates(site.paths("kafka1"), None)
    assert "PRIVATE KEY" not in str(found)
    assert [len(one["certificates"]) for one in found.values()] == [1, 1]


def test_a_certificate_that_is_cut_off_does_not_take_the_key_behind_it_along(tmp_path: Path) -> None:
    store = tmp_path / "keystore.pem"
    cut = "-----BEGIN CERTIFICATE-----\nMIIBcut\n"
    store.write_bytes(cut.encode() + OLD.key_pem() + OLD.pem())
    found = certificates([str(store)], None)[str(store)]
    assert found["certificates"] == [OLD.pem().decode().rstrip()]


def test_a_ca_file_that_cannot_be_parsed_is_said_to_be_so(site: Site) -> None:
    site.installed(OLD, by=OLD).brings(OLD, by=NEW)
    ca = site.folder / "control" / "ca.pem"
    ca.write_text(bundle(OLD) + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
    (told,) = site.told()
    assert f"{ca}, which cannot be parsed as certificates in PEM form" in told
    assert "correct the file" in told
    assert "a new one would be made" not in told
