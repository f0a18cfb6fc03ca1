# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whose tokens brokers take (`kafka_oauth`), typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os.path import expanduser
from pathlib import Path

from ...module_utils._client.login import TOKENS, SaslLogin, url_fault
from .certificates import pem_certificates

MECHANISM = TOKENS
#: A claim that every token has (RFC 7519), which many issuers fill with the name of a client.
PRINCIPAL_CLAIM = "sub"
#: Kafka's default (SaslConfigs.DEFAULT_SASL_OAUTHBEARER_CLOCK_SKEW_SECONDS).
CLOCK_SKEW = 30


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


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()
