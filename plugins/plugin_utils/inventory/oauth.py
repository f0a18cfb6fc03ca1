# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whose tokens brokers take (`kafka_oauth`), typed, and what is wrong with the address of an issuer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from os.path import expanduser
from pathlib import Path
from urllib.parse import urlsplit

from ...module_utils._client.login import TOKENS, SaslLogin
from .certificates import pem_certificates

MECHANISM = TOKENS
#: A claim that every token has (RFC 7519), which many issuers fill with the name of a client.
PRINCIPAL_CLAIM = "sub"
#: Kafka's default (SaslConfigs.DEFAULT_SASL_OAUTHBEARER_CLOCK_SKEW_SECONDS).
CLOCK_SKEW = 30
#: What an address is written with: no blank and no quote, which the arguments of Java have another meaning for; no
#: comma, which stands between two allowed addresses; no fragment, which is never sent.
_URL = re.compile(r"[A-Za-z0-9._~!$&*+=:@%/?\[\]-]+")


@dataclass(frozen=True)
class TokenIssuer:
    """Whose tokens are taken, as `kafka_oauth` says it; what it leaves out is empty, or Kafka's default.

    ca_file -- on the control node, of the CAs of jwks_url and endpoint_url; empty for those of Java, or of the machine.
    clock_skew -- in seconds. endpoint_url, scope -- where our own clients get tokens, and what they ask for.
    """

    issuer: str = ""
    jwks_url: str = ""
    audience: tuple[str, ...] = ()
    principal_claim: str = PRINCIPAL_CLAIM
    ca_file: str = ""
    clock_skew: int = CLOCK_SKEW
    endpoint_url: str = ""
    scope: str = ""

    @classmethod
    def of(cls, value: object) -> TokenIssuer:
        """Read it from a value that the preflight has judged; what is none of its fields is passed over."""
        said = {key: field for key, field in value.items() if field} if isinstance(value, Mapping) else {}
        audience = said.get("audience", ())
        skew = value.get("clock_skew") if isinstance(value, Mapping) else None
        return cls(
            issuer=_text(said.get("issuer")),
            jwks_url=_text(said.get("jwks_url")),
            audience=tuple(map(_text, audience if isinstance(audience, (list, tuple)) else [audience])),
            principal_claim=_text(said.get("principal_claim")) or PRINCIPAL_CLAIM,
            ca_file=expanduser(_text(said.get("ca_file"))),
            clock_skew=skew if isinstance(skew, int) else CLOCK_SKEW,
            endpoint_url=_text(said.get("endpoint_url")),
            scope=_text(said.get("scope")),
        )

    def fault(self) -> str:
        """Say why no file may be written with it, "" where it may: the preflight does not see what is made at run time.

        Kafka takes an issuer, or an audience, that is empty for one that nobody checks.
        """
        if not (self.issuer and self.audience and all(self.audience)):
            return "kafka_oauth lacks the issuer or the audience, without which brokers take tokens made for others"
        unusable = url_fault(self.jwks_url)
        return f"brokers cannot take keys from kafka_oauth.jwks_url: {unusable}" if unusable else ""

    def login(self, mechanism: str, user: str, password: str) -> SaslLogin:
        """Return how one of our own clients logs in; the issuer matters where that is with a token."""
        return SaslLogin(mechanism, user, password, self.endpoint_url, self.scope, self.ca_file)

    def authorities(self) -> str:
        """Return the certificates of its file alone, in PEM; empty without a file. ValueError where it has none."""
        if not self.ca_file:
            return ""
        try:
            listed = pem_certificates(Path(self.ca_file).read_text(errors="replace"))
        except OSError as error:
            raise ValueError(f"kafka_oauth.ca_file {self.ca_file} cannot be read: {error.strerror}") from None
        if not listed:
            raise ValueError(f"kafka_oauth.ca_file {self.ca_file} holds no certificate in PEM form")
        return "\n".join(text.strip() for text in listed)


def url_fault(url: str, harm: str = "replace the keys") -> str:
    """Say why nobody can ask an issuer at an address, or must not; empty where one can. Never shows the address.

    What is fetched without TLS can be replaced on its way, and with other keys anybody signs tokens. harm -- what
    anybody could do who is on the way.
    """
    if not _URL.fullmatch(url):
        return "it holds a blank, a quote, a comma, a fragment or another character that no such address has"
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return "its host or its port cannot be read"
    if parts.scheme not in ("https", "http") or not host:
        return "it is no address of the form https://host/path"
    if "@" in parts.netloc:
        return "it holds a user or a password, which Kafka does not send and its logs show"
    if parts.scheme == "http" and not _is_loopback(host):
        return f"it begins with http://, so anybody on the way can {harm}"
    return ""


def _is_loopback(host: str) -> bool:
    """Return whether a host is the machine itself, whose connections nobody else sees."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()
