# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a broker on this machine would get the keys of an issuer of tokens, asked as the broker asks at its start."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, Optional

from .._client.issuer import LIMIT, Answer, ask

#: Kinds of keys that are public (RFC 7518, section 6.1; RFC 8037): with one of those alone nobody signs a token.
_PUBLIC = ("RSA", "EC", "OKP")


def ask_issuer(
    jwks_url: str,
    ca: str,
    clock_skew: int,
    fetch: Optional[Callable[[str, str], Answer]] = None,
    clock: Callable[[], float] = time.time,
) -> dict[str, Any]:
    """Return {problem, keys, behind, clock_skew} of the issuer whose keys are at C(jwks_url).

    ca -- the CAs that its certificate must lead to, in PEM; those of the machine where it is empty. clock_skew -- the
    seconds that its clock may differ.
    problem -- why a broker would get no key; empty where it gets one. keys -- how many can verify a signature. behind
    -- seconds that the clock of the issuer is behind this one, below 0 when ahead; None where it does not say.
    """
    unknown = {"keys": 0, "behind": None, "clock_skew": clock_skew}
    try:
        answer = (fetch or ask)(jwks_url, ca)
    except ssl.SSLCertVerificationError as error:
        return {**unknown, "problem": f"its certificate is refused: {error.verify_message}"}
    except (OSError, http.client.HTTPException, ValueError) as error:
        return {**unknown, "problem": f"it does not answer: {str(error) or type(error).__name__}"}
    problem, keys = judge(answer)
    return {**unknown, "problem": problem, "keys": keys, "behind": _behind(answer.date, clock())}


def judge(answer: Answer) -> tuple[str, int]:
    """Return why no key can be taken from an answer ('' where one can), and how many keys verify signatures."""
    if answer.status != http.client.OK:
        return f"it answers with the status {answer.status} of HTTP", 0
    if len(answer.body) > LIMIT:
        return "its answer is longer than 1 MiB", 0
    try:
        listed = json.loads(answer.body)["keys"]
        keys = [key for key in listed if key.get("kty") in _PUBLIC and key.get("use", "sig") == "sig"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "its answer is no set of keys (JWKS, RFC 7517)", 0
    return ("" if keys else "its answer holds no public key for signatures"), len(keys)


def _behind(date: str, now: float) -> Optional[float]:
    try:
        return now - parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, IndexError):
        return None
