# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Tokens of an issuer for our own logins: asked for by client credentials, kept until shortly before their end."""

from __future__ import annotations

import base64
import http.client
import json
import math
import re
import ssl
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from .issuer import LIMIT, Answer, ask
from .login import SaslLogin, url_fault

#: What a token is written with (b64token of RFC 6750, section 2.1): nothing that ends a part of a login.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
#: The part of its life for which a token is shown, as Kafka's own clients have it (sasl.login.refresh.window.factor).
_USED = 0.8
#: Seconds that a token is kept whose end the issuer does not say, which it should (RFC 6749, section 5.1).
_UNSAID = 30
#: Seconds for which a failure is repeated without a question: many connections want a token at the same moment.
_PAUSE = 3.0
#: Most characters of an issuer's own words.
_WORDS = 200


class TokenError(ValueError):
    """There is no token. C(fix) is set for what no repetition mends."""

    def __init__(self, why: str, fix: str = "") -> None:
        super().__init__(why)
        self.fix = fix


class Tokens:
    """The tokens of one login, for all threads."""

    def __init__(
        self,
        login: SaslLogin,
        question: Callable[..., Answer] = ask,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._login, self._question, self._clock = login, question, clock
        self._lock = threading.Lock()
        self._token, self._until = "", 0.0
        self._failure: TokenError | None = None

    def token(self) -> str:
        """Return a token that still holds for a while; TokenError when the issuer gives none."""
        with self._lock:
            if self._clock() < self._until:
                if self._failure is not None:
                    raise TokenError(str(self._failure), self._failure.fix)
                return self._token
            try:
                self._token, seconds = fetched(self._login, self._question)
                self._failure, self._until = None, self._clock() + seconds * _USED
            except TokenError as error:
                self._failure, self._until = error, self._clock() + _PAUSE
                raise
            return self._token


@lru_cache(maxsize=64)
def tokens_of(login: SaslLogin) -> Tokens:
    """Return the tokens of a login, the same ones in all of the process."""
    return Tokens(login)


def fetched(login: SaslLogin, question: Callable[..., Answer] = ask) -> tuple[str, float]:
    """Ask for a token once; return it with the seconds that it holds. Raises TokenError, which shows no secret."""
    form = {"grant_type": "client_credentials", **({"scope": login.scope} if login.scope else {})}
    # As Java and librdkafka send them, without the encoding of RFC 6749, section 2.3.1.
    shown = base64.b64encode(f"{login.username}:{login.password or ''}".encode()).decode()
    who = f"no token for the client {login.username}"
    if fault := url_fault(login.endpoint_url, "read its secret"):
        fix = "Set sasl_oauthbearer_endpoint_url to the token endpoint of the issuer, as in https://HOST/PATH."
        raise TokenError(f"{who}: sasl_oauthbearer_endpoint_url cannot be asked: {fault}", fix)
    try:
        # Comments may have any encoding, and OpenSSL takes ASCII alone.
        authorities = Path(login.ca_file).read_text("ascii", "ignore") if login.ca_file else ""
    except OSError as error:
        fix = f"Set sasl_oauthbearer_ca_location to a file that can be read (now {login.ca_file})."
        raise TokenError(f"{who}: its CA file cannot be read: {error.strerror}", fix) from error
    if login.ca_file and "-----BEGIN" not in authorities:
        fix = f"Set sasl_oauthbearer_ca_location to the CA of the issuer (now {login.ca_file})."
        raise TokenError(f"{who}: its CA file holds no certificate in PEM form", fix)
    try:
        answer = question(login.endpoint_url, authorities, form, f"Basic {shown}")
    except ssl.SSLCertVerificationError as error:
        known = login.ca_file or "the certificates of this machine"
        fix = f"Set sasl_oauthbearer_ca_location to the CA of the issuer (now {known})."
        raise TokenError(f"{who}: the issuer's certificate is refused: {error.verify_message}", fix) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise TokenError(f"{who}: the issuer does not answer: {str(error) or type(error).__name__}") from error
    return _judged(answer, who)


def _judged(answer: Answer, who: str) -> tuple[str, float]:
    content = _content(answer)
    if answer.status != http.client.OK:
        words = " ".join(str(content.get(name) or "") for name in ("error", "error_description")).strip()
        said = f": {''.join(filter(str.isprintable, words))[:_WORDS]}" if words else ""
        # What the issuer has against the question (RFC 6749, section 5.2), not that it is busy.
        is_final = 400 <= answer.status < 500 and answer.status not in (408, 429)
        fix = "Correct sasl_username, sasl_password, sasl_oauthbearer_endpoint_url and sasl_oauthbearer_scope."
        raise TokenError(f"{who}: the issuer answers with the status {answer.status}{said}", fix if is_final else "")
    token = content.get("access_token")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        fix = "Set sasl_oauthbearer_endpoint_url to the token endpoint of the issuer."
        raise TokenError(f"{who}: the answer of the issuer holds no access_token", fix)
    try:
        seconds = float(content.get("expires_in", _UNSAID))
    except (TypeError, ValueError, OverflowError):
        return token, _UNSAID
    return token, max(0.0, seconds) if math.isfinite(seconds) else _UNSAID


def _content(answer: Answer) -> dict[str, Any]:
    """Return the object in an answer; empty where it is none."""
    try:
        content = json.loads(answer.body) if len(answer.body) <= LIMIT else {}
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
