"""The cause of a quorum that does not form, from lines that Kafka 4.3.1 logged."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.log_cause import CAUSES, ENDS, cause, distinct

REFUSED = [
    "[2026-11-22 18:15:38,851] ERROR Request OutboundRequest(correlationId=23, data=VoteRequestData(clusterId='4a7W'",
    "org.apache.kafka.common.errors.SslAuthenticationException: Failed to process post-handshake messages",
    "Caused by: javax.net.ssl.SSLHandshakeException: Received fatal alert: certificate_unknown",
]
PRINCIPAL = [
    "[2026-11-22 18:16:57,506] ERROR [ControllerApis nodeId=1] Unexpected error handling request RequestHeader(apiKey",
    "org.apache.kafka.common.errors.AuthorizerNotReadyException",
]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["Caused by: java.security.KeyStoreException: Certificate chain is not valid"],
         ["this node cannot load its key store", "issued by the next one"]),
        (REFUSED, ["another node refuses the certificate", "(Received fatal alert: certificate_unknown)"]),
        (PRINCIPAL, ["until the quorum has a leader", "AuthorizerNotReadyException", "majority of the controllers",
                     "is no super user", "kafka_tls_principal_rules"]),
        (["ERROR [RaftManager id=1] Unexpected error CLUSTER_AUTHORIZATION_FAILED in VOTE response"],
         ["the authorizer refuses another node", "compare the subjects"]),
        (["Caused by: CertificateException: No subject alternative names matching IP address 10.0.0.1 found"],
         ["does not name the address"]),
        (["Caused by: ValidatorException: PKIX path validation failed: x.CertPathValidatorException: name constraints"],
         ["does not accept the chain", "name constraints"]),
        (["Caused by: ValidatorException: PKIX path building failed: unable to find valid certification path"],
         ["leads to no CA which this one trusts"]),
        (["Caused by: ValidatorException: Extended key usage does not permit use for TLS server authentication"],
         ["may not be used", "serverAuth,clientAuth"]),
        (["Caused by: java.security.cert.CertificateExpiredException: NotAfter: Mon"], ["has ended"]),
        (["java.lang.InternalError: a fault occurred in a recent unsafe memory access operation in compiled Java code"],
         ["mapped into memory", "its disk is full", "make room"]),
        (["java.lang.InternalError: a fault occurred in an unsafe memory access operation"], ["its disk is full"]),
    ],
)  # fmt: skip
def test_the_cause_is_told_with_a_fix(lines: list[str], words: list[str]) -> None:
    told = cause(lines)
    assert all(word in told for word in [*words, "; fix: "]), told


def test_the_clearest_line_decides_wherever_it_stands() -> None:
    assert cause([*PRINCIPAL, *REFUSED]) == cause(REFUSED)
    handshake = ["org.apache.kafka.common.errors.SslAuthenticationException: SSL handshake failed"]
    assert cause([*PRINCIPAL, *handshake]) == cause(handshake)


def test_what_ends_a_process_is_told_apart_from_what_keeps_it_from_others() -> None:
    fault = "java.lang.InternalError: a fault occurred in a recent unsafe memory access operation in compiled Java code"
    assert "its disk is full" in cause([*REFUSED, fault], ENDS)
    assert cause(REFUSED, ENDS) == ""


def test_lines_without_a_known_cause_tell_none() -> None:
    assert cause(["ERROR Exiting Kafka due to fatal exception", "java.io.IOException: No space left"]) == ""
    assert all(meaning and fix for _pattern, meaning, fix in CAUSES)


def test_lines_that_differ_in_times_and_numbers_are_shown_once() -> None:
    many = [
        f"[2026-11-22 18:18:18,{n}] ERROR [RaftManager id=5] Unexpected error UNKNOWN in FETCH response: "
        f"InboundResponse(correlationId={n}, data=FetchResponseData(throttleTimeMs=0))"
        for n in range(100, 140)
    ]
    assert distinct([*many[:20], "Caused by: x", *many[20:]]) == ["Caused by: x", many[-1]]
