"""The client's side of SCRAM, held by the examples of the standards and by a server of a few lines."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._core.scram import (
    HASHES,
    ScramClient,
    ScramError,
    salted_password,
)


def test_the_example_of_rfc_7677_gives_its_proof_and_takes_its_signature() -> None:
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    server_first = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    assert client.final(server_first) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert client.proven(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def server(mechanism: str, password: str, first: bytes) -> tuple[bytes, bytes, bytes]:
    """The server-first-message, the proof that a broker expects, and its signature."""
    name = HASHES[mechanism]
    bare = first[3:].decode()
    answer = f"r={bare.split('r=')[1]}more,s={base64.b64encode(b'salt').decode()},i=1"
    without_proof = f"c=biws,r={bare.split('r=')[1]}more"
    signed = f"{bare},{answer},{without_proof}".encode()
    salted = salted_password(mechanism, password, b"salt", 1)
    key = hmac.digest(salted, b"Client Key", name)
    signature = hmac.digest(hashlib.new(name, key).digest(), signed, name)
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    final = f"{without_proof},p={base64.b64encode(proof).decode()}".encode()
    server_key = hmac.digest(salted, b"Server Key", name)
    return answer.encode(), final, b"v=" + base64.b64encode(hmac.digest(server_key, signed, name))


@given(st.sampled_from(sorted(HASHES)), st.text(min_size=1), st.text(min_size=1))
@settings(max_examples=50)
def test_the_same_password_is_proven_both_ways_whatever_its_letters(mechanism: str, name: str, password: str) -> None:
    client = ScramClient(mechanism, name.replace("\x00", ""), password, "nonce")
    answer, expected, signature = server(mechanism, password, client.first())
    assert client.final(answer) == expected
    assert client.proven(signature)


def test_another_password_gives_another_proof() -> None:
    client = ScramClient("SCRAM-SHA-512", "a", "wrong", "nonce")
    answer, expected, _signature = server("SCRAM-SHA-512", "right", client.first())
    assert client.final(answer) != expected


def test_comma_and_equals_sign_in_a_name_are_written_as_kafka_does() -> None:
    assert ScramClient("SCRAM-SHA-512", "a=b,c", "p", "n").first() == b"n,,n=a=3Db=2Cc,r=n"


@pytest.mark.parametrize(
    "message",
    [
        b"r=other,s=c2FsdA==,i=4096",
        b"r=nonce,s=c2FsdA==,i=4096",
        b"r=nonce2,i=4096",
        b"r=nonce2,s=c2FsdA==,i=many",
        b"r=nonce2,s=c2FsdA==,i=0",
        b"r=nonce2,s=c2FsdA==,i=100000000",
        b"\xff",
        b"",
    ],
)
def test_an_unlawful_first_message_of_a_server_is_refused(message: bytes) -> None:
    with pytest.raises(ScramError):
        ScramClient("SCRAM-SHA-512", "a", "p", "nonce").final(message)


def test_a_refusal_is_told_and_a_wrong_signature_is_an_error() -> None:
    client = ScramClient("SCRAM-SHA-512", "a", "p", "nonce")
    answer, _final, _signature = server("SCRAM-SHA-512", "p", client.first())
    client.final(answer)
    assert not client.proven(b"e=invalid-proof")
    with pytest.raises(ScramError):
        client.proven(b"v=c2FsdA==")
