# SPDX-License-Identifier: GPL-3.0-or-later
"""Which stores are tried, and what of the words of Kafka's tool is a fault of theirs.

tests/integration/security/test_store_trial.py has the tools of two releases load stores.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from ansible_collections.streamops.kafka.plugins.module_utils._node.store_trial import client_properties, judged, needs

STORES: dict[str, Any] = {name: {"path": f"/n/{name}.pem", "content": "x"} for name in ("keystore", "truststore")}
OURS = "ssl.keystore.location=/n/keystore.pem\nssl.truststore.location=/n/truststore.pem\nssl.client.auth=required\n"
NOT_LOADED = """org.apache.kafka.common.KafkaException: Failed to create new KafkaAdminClient
\tat org.apache.kafka.clients.admin.KafkaAdminClient.createInternal(KafkaAdminClient.java:553)
Caused by: org.apache.kafka.common.errors.InvalidConfigurationException: Invalid PEM keystore configs
Caused by: java.security.KeyStoreException: Certificate chain is not valid
"""
NOT_TRUSTED = """java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.SslAuthenticationException: no
Caused by: javax.net.ssl.SSLHandshakeException: PKIX path building failed
Caused by: sun.security.validator.ValidatorException: PKIX path building failed
Caused by: sun.security.provider.certpath.SunCertPathBuilderException: unable to find valid certification path
"""
NO_CIPHER = "Caused by: javax.net.ssl.SSLHandshakeException: Received fatal alert: handshake_failure\n"


@pytest.mark.parametrize(
    ("said", "connected", "fault", "why_not"),
    [
        (NOT_LOADED, False, "Certificate chain is not valid", ""),
        (NOT_TRUSTED, True, "unable to find valid certification path", ""),
        # The server of the trial is not the node.
        (NO_CIPHER, True, "", "javax.net.ssl.SSLHandshakeException: Received fatal alert: handshake_failure"),
        ("", False, "", "the JVM ended with 1 without an answer"),
        ("Error: Could not find or load main class x", False, "", "the JVM ended with 1 without an answer"),
    ],
)
def test_only_what_kafka_has_against_the_stores_is_a_fault(
    said: str, connected: bool, fault: str, why_not: str
) -> None:
    assert judged(said, connected, 1) == (fault, why_not)


def test_only_stores_that_the_properties_name_are_tried() -> None:
    assert needs(OURS, STORES)
    assert not needs("", STORES)
    assert not needs(f"{OURS}ssl.keystore.location=/own.p12\n", STORES)
    # What a provider of the service would give is not known here.
    assert not needs(f"{OURS}ssl.key.password=${{env:WORD}}\n", STORES)


def test_a_client_has_the_settings_of_the_node_and_looks_for_no_name() -> None:
    more = f"{OURS}ssl.protocol=TLSv1.3\nssl.endpoint.identification.algorithm=https\nlog.dirs=/d\n"
    found = parse(client_properties(more, {"keystore": "/t/k", "truststore": "/t/t"}))
    assert found["ssl.keystore.location"] == "/t/k"
    assert found["ssl.truststore.location"] == "/t/t"
    assert found["ssl.protocol"] == "TLSv1.3"
    assert found["ssl.endpoint.identification.algorithm"] == ""
    assert not {"ssl.client.auth", "log.dirs"} & set(found)
