# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""SCRAM (RFC 5802) as Kafka speaks it: the client's side of a login, and what a broker keeps of a password.

Kafka takes names and passwords as UTF-8 without SASLprep (org.apache.kafka.common.security.scram.internals).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

#: Kafka's mechanisms (org.apache.kafka.clients.admin.ScramMechanism) and their hash.
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
#: More iterations than Kafka itself allows would only be asked for by somebody else's server.
_MAX_ITERATIONS = 100_000


class ScramError(ValueError):
    """The server's message is no lawful one."""


def salted_password(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    """Return what a broker keeps of a password: Hi(password, salt, iterations) of RFC 5802."""
    return hashlib.pbkdf2_hmac(HASHES[mechanism], password.encode(), salt, iterations)


class ScramClient:
    """The client's side of one login: C(first), then C(final) of the server's first message, then C(proven)."""

    def __init__(self, mechanism: str, name: str, password: str, nonce: str) -> None:
        self._mechanism = mechanism
        self._password = password
        self._nonce = nonce
        self._bare = f"n={name.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
        self._signature = b""

    def first(self) -> bytes:
        """The client-first-message."""
        return f"n,,{self._bare}".encode()

    def final(self, server_first: bytes) -> bytes:
        """The client-final-message with the proof that we know the password; ScramError for an unlawful answer."""
        fields = _fields(server_first)
        nonce = fields.get("r", "")
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise ScramError("the server answered with a nonce that is not ours")
        try:
            salt, iterations = base64.b64decode(fields["s"], validate=True), int(fields["i"])
        except (KeyError, ValueError, binascii.Error) as error:
            raise ScramError("the server gave no salt and iterations") from error
        if not 1 <= iterations <= _MAX_ITERATIONS:
            raise ScramError(f"the server asks for {iterations} iterations")
        without_proof = f"c=biws,r={nonce}"
        signed = f"{self._bare},{server_first.decode()},{without_proof}".encode()
        salted = salted_password(self._mechanism, self._password, salt, iterations)
        client_key = self._hmac(salted, b"Client Key")
        stored_key = hashlib.new(HASHES[self._mechanism], client_key).digest()
        proof = _xor(client_key, self._hmac(stored_key, signed))
        self._signature = self._hmac(self._hmac(salted, b"Server Key"), signed)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def proven(self, server_final: bytes) -> bool:
        """Return whether the server proved that it knows the password too; False when it refuses ours."""
        fields = _fields(server_final)
        if "e" in fields:
            return False
        try:
            signature = base64.b64decode(fields.get("v", ""), validate=True)
        except binascii.Error as error:
            raise ScramError("the server's signature cannot be read") from error
        if not self._signature or not hmac.compare_digest(signature, self._signature):
            raise ScramError("the server did not prove that it knows the password")
        return True

    def _hmac(self, key: bytes, message: bytes) -> bytes:
        return hmac.new(key, message, HASHES[self._mechanism]).digest()


def _xor(left: bytes, right: bytes) -> bytes:
    return (int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).to_bytes(len(left), "big")


def _fields(message: bytes) -> dict[str, str]:
    try:
        return dict(part.split("=", 1) for part in message.decode().split(",") if "=" in part)
    except UnicodeDecodeError as error:
        raise ScramError("the server's message is no text") from error
