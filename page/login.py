"""Judge a login: what a digest of a password is, what a request says, and whether they fit. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Cost of digests: N (rounds and memory), r (size of a block), p (how often). r=8 and p=1 are what RFC 7914, section
#: 2, finds good; with N=16384 one check takes 16 MiB and some 50 ms, and hashlib needs no other C(maxmem) for it. OWASP
#: asks for p=5 at this N for passwords that people choose; those of this service are made by a generator.
N, R, P = 16384, 8, 1
#: Bytes of the derived key.
LENGTH = 32
#: Bytes of a salt, least and most; RFC 7914 gives no bound, NIST SP 800-132, section 5.1, asks for 16.
SALT_BYTES = (16, 64)
#: Longest user and password in bytes that are looked at.
LONGEST = 1024
_FORM = f"scrypt${N}${R}${P}$"


@dataclass(frozen=True)
class Scrypt:
    """A digest as it is stored: salt and derived key."""

    salt: bytes = field(repr=False)
    key: bytes = field(repr=False)


def digest(password: str, salt: bytes) -> str:
    """Return the digest of a password with a salt of 16 to 64 bytes, as C(users) of the configuration has it.

    Its form is scrypt$16384$8$1$SALT$KEY, with salt and key in hexadecimal. It is hashlib.scrypt of the password in
    UTF-8 with n=16384, r=8, p=1, dklen=32. Raises ValueError for another length of salt, and for an empty password.
    """
    least, most = SALT_BYTES
    if not least <= len(salt) <= most or not password:
        raise ValueError(f"a digest needs a password and a salt of {least} to {most} bytes")
    return f"{_FORM}{salt.hex()}${_derived(password.encode(), salt).hex()}"


def scrypt_of(text: str) -> Scrypt:
    """Return the parts of a digest; ValueError says what is wrong, and never repeats the digest."""
    salt_text, dollar, key_text = text.removeprefix(_FORM).partition("$")
    if not text.startswith(_FORM) or not dollar:
        raise ValueError(f"is not of the form {_FORM}SALT$KEY")
    try:
        salt, key = bytes.fromhex(salt_text), bytes.fromhex(key_text)
    except ValueError:
        raise ValueError("has a salt or a key that is not hexadecimal") from None
    if not SALT_BYTES[0] <= len(salt) <= SALT_BYTES[1] or len(key) != LENGTH:
        raise ValueError(f"needs a salt of {SALT_BYTES[0]} to {SALT_BYTES[1]} bytes and a key of {LENGTH}")
    return Scrypt(salt, key)


def credentials_of(header: bytes | None) -> tuple[str, bytes] | None:
    """Return user and password of an Authorization header (HTTP basic, RFC 7617); None when there are none in it."""
    kind, _blank, encoded = (header or b"").strip().partition(b" ")
    if kind.lower() != b"basic":
        return None
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        name = user.decode()
    except ValueError:
        return None
    return (name, password) if colon and max(len(user), len(password)) <= LONGEST else None


def is_right(users: Mapping[str, Scrypt], user: str, password: bytes) -> bool:
    """Return whether a password is the user's; C(users) is not empty.

    An unknown user costs as much as a known one, so the time of an answer tells no names: the digest of another user
    is derived and compared, and the answer is no all the same.
    """
    known = users.get(user)
    scrypt = known or next(iter(users.values()))
    return hmac.compare_digest(_derived(password, scrypt.salt), scrypt.key) and known is not None


def _derived(password: bytes, salt: bytes) -> bytes:
    return hashlib.scrypt(password, salt=salt, n=N, r=R, p=P, dklen=LENGTH)
