"""What a scenario is given to log in at: files of a real KDC, and how its users and tests log in there."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.keytab import fault, read_keys
from tests.support.kdc import MISSING, REALM
from tests.support.login_peer import kdc
from tests.support.machines import Machine, administrator_of, client_settings
from tests.support.planted import KEYTAB


@pytest.mark.skipif(bool(MISSING), reason=f"no KDC: {MISSING}")
def test_users_and_brokers_have_keytabs_that_the_watcher_would_know(tmp_path: Path) -> None:
    peer = kdc(tmp_path, "10.0.0.9", {"reader": "", "admin": ""}, {"broker1": "10.0.0.1"})
    assert set(peer.environment) == {"KRB5_CONFIG", "KRB5_KDC_PROFILE"}
    assert "kdc = 10.0.0.9:88" in (tmp_path / "krb5.conf").read_text()
    wanted = {"reader": "reader", "admin": "admin", "broker1": "kafka/10.0.0.1"}
    for name, principal in wanted.items():
        content = (tmp_path / f"{name}.keytab").read_bytes()
        assert fault(read_keys(content), f"{principal}@{REALM}") == ""
        assert base64.b64encode(content).startswith(KEYTAB)
    former, now = (read_keys((tmp_path / f"{name}.keytab").read_bytes()) for name in ("former", "reader"))
    assert max(key.version for key in former) < min(key.version for key in now)


def broker(mechanisms: list[str]) -> Machine:
    """A broker whose clients log in by these."""
    variables = {
        "kafka_sasl_mechanisms": mechanisms,
        "kafka_admin_user": "root",
        "kafka_admin_password": "planted-1",
        "kafka_tls_ca_file": "/ca.pem",
        "kafka_oauth": {"endpoint_url": "https://10.0.0.9/token", "ca_file": "/issuer.pem"},
        "kafka_kerberos": {"realm": REALM, "client_keytab_file": "/root.keytab"},
    }
    return Machine("broker1", "broker1", "10.0.0.1", ["kafka_brokers"], variables)


def test_the_administrator_logs_in_by_the_first_mechanism_and_writes_by_one_that_librdkafka_has() -> None:
    tickets = broker(["GSSAPI", "SCRAM-SHA-512"])
    assert administrator_of([tickets])["sasl_kerberos_principal"] == f"root@{REALM}"
    assert client_settings(administrator_of([tickets], writes=True))["sasl.mechanism"] == "SCRAM-SHA-512"
    tokens = administrator_of([broker(["OAUTHBEARER"])])
    assert tokens["sasl_oauthbearer_endpoint_url"] == "https://10.0.0.9/token"
    assert (tokens["sasl_username"], tokens["sasl_password"]) == ("root", "planted-1")
