# SPDX-License-Identifier: GPL-3.0-or-later
"""A small issuer of tokens: an HTTPS server with its public keys and a token endpoint, and tokens of every kind."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.support.certificates import issue

AUDIENCE = "kafka"
#: Who may ask for tokens (client credentials) where a test names nobody, with the secret.
CLIENT, SECRET = "orders", "a secret of orders"
LIFETIME = 600


def encoded(content: bytes) -> str:
    """Base 64 for addresses without padding, as JSON Web Signatures have it (RFC 7515)."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


@dataclass
class Key:
    """A key of the issuer with the name that tokens refer to it by."""

    name: str
    private: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def public(self) -> dict[str, str]:
        """Return the public key as an entry of JWKS (RFC 7517)."""
        numbers = self.private.public_key().public_numbers()
        words = {"n": numbers.n, "e": numbers.e}
        shown = {
            name: encoded(number.to_bytes((number.bit_length() + 7) // 8, "big")) for name, number in words.items()
        }
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.name, **shown}

    def signed(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        """Return a token with this header and these claims."""
        text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        signature = self.private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{encoded(signature)}"


class _Server(ThreadingHTTPServer):
    """Says nothing of clients that refuse its certificate."""

    def handle_error(self, _request: Any, _address: Any) -> None:
        pass


class TokenIssuer:
    """Serves /keys and /token on a port of the loopback address until it is closed.

    keys -- those that it shows; the last one signs. clients -- who may ask for tokens, with the secret of each. served
    -- those of them that got one. asked -- the paths that were asked for. is_down -- whether it answers everything with
    an error, as behind a proxy.
    """

    def __init__(self, directory: Path, port: int, clients: Mapping[str, str] | None = None) -> None:
        """clients -- by default CLIENT alone."""
        authority = issue("CA of the issuer", ca=True)
        own, key = issue("localhost", by=authority, names=("localhost", "127.0.0.1")).write(directory, "issuer")
        self.ca_file = directory / "issuer-ca.pem"
        self.ca_file.write_bytes(authority.pem())
        self.url = f"https://localhost:{port}"
        self.keys = [Key("first")]
        self.clients = clients or {CLIENT: SECRET}
        self.served: set[str] = set()
        self.asked: list[str] = []
        self.is_down = False
        self._server = _Server(("127.0.0.1", port), _handler(self))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> TokenIssuer:
        """Serve."""
        self._thread.start()
        return self

    def __exit__(self, *_problem: object) -> None:
        """Close the port."""
        self.close()

    def close(self) -> None:
        """Stop serving, as an issuer that is down."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def rotate(self, name: str, keeps: bool = True) -> None:
        """Sign with a new key from now on; keeps -- whether the old ones are still shown."""
        self.keys = [*(self.keys if keeps else ()), Key(name)]

    def token(self, key: Key | None = None, header: dict[str, Any] | None = None, **claims: Any) -> str:
        """Return a token that brokers take, or one with another key, header or claims; None leaves a claim out."""
        signer, now = key or self.keys[-1], int(time.time())
        said = {"iss": self.url, "aud": AUDIENCE, "sub": CLIENT, "iat": now, "exp": now + LIFETIME, **claims}
        named = {"alg": "RS256", "typ": "JWT", "kid": signer.name, **(header or {})}
        return signer.signed(named, {claim: value for claim, value in said.items() if value is not None})

    def unsigned(self) -> str:
        """Return a token that nobody signed, with the claims of a good one."""
        claims = self.token().split(".")[1]
        return f"{encoded(json.dumps({'alg': 'none'}).encode())}.{claims}."

    def answer(self, path: str, form: str, credentials: str) -> tuple[int, dict[str, Any]]:
        """Return status and content for a path; form and credentials are those of a client that wants a token."""
        self.asked.append(path)
        if self.is_down:
            return 503, {"error": "temporarily_unavailable"}
        if path == "/keys":
            return 200, {"keys": [key.public() for key in self.keys]}
        if path != "/token":
            return 404, {"error": "not_found"}
        wanted = parse_qs(form).get("grant_type") == ["client_credentials"]
        shown = (
            (name, base64.b64encode(f"{name}:{secret}".encode()).decode()) for name, secret in self.clients.items()
        )
        client = next((name for name, text in shown if credentials == f"Basic {text}"), None)
        if not wanted or client is None:
            return 401, {"error": "invalid_client"}
        self.served.add(client)
        return 200, {"access_token": self.token(sub=client), "token_type": "Bearer", "expires_in": LIFETIME}


def _handler(issuer: TokenIssuer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers by the issuer alone, and writes no log."""

        def do_GET(self) -> None:
            self._answer("")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

        def _answer(self, form: str) -> None:
            status, content = issuer.answer(self.path, form, self.headers.get("Authorization", ""))
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: Any) -> None:
            pass

    return Handler
