"""Judge a login: what a digest of a password is, what a request says, and whether they fit. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Cost of a digest: N (rounds and memory), r (size of a block), p (how often). r=8 and p=1 are what RFC 7914, section
#: 2, finds good; with N=16384 one check takes 16 MiB and some 50 ms, and hashlib needs no other C(maxmem) for it. OWASP
#: asks for p=5 at this N for passwords that people choose; those of this service are made by a generator.
N, R, P = 16384, 8, 1
#: Bytes of the derived key.
LENGTH = 32
#: Bytes of a salt, least and most; RFC 7914 gives no bound, NIST SP 800-132, section 5.1, asks for 16.
SALT_BYTES = (16, 64)
#: Longest user and password in bytes that are looked at.
LONGEST = 1024
#: What OpenSSL lets a derivation use unless it is told otherwise (EVP_PBE_scrypt), in bytes.
_MEMORY = 32 * 1024 * 1024
#: Most work of one check, as a multiple of the one above, so that a login cannot cost seconds.
_WORK = 4


@dataclass(frozen=True)
class Scrypt:
    """A digest as it is stored: cost, salt and derived key."""

    n: int
    r: int
    p: int
    salt: bytes = field(repr=False)
    key: bytes = field(repr=False)

    @property
    def cost(self) -> tuple[int, int, int]:
        """N, r and p."""
        return self.n, self.r, self.p


def digest(password: str, salt: bytes) -> str:
    """Return the digest of a password with a salt of 16 to 64 bytes, as C(users) of the configuration has it.

    Its form is scrypt$N$r$p$SALT$KEY, with salt and key in hexadecimal. It is hashlib.scrypt of the password in UTF-8
    with n=16384, r=8, p=1, dklen=32. Raises ValueError for another length of salt, and for an empty password.
    """
    least, most = SALT_BYTES
    if not least <= len(salt) <= most or not password:
        raise ValueError(f"a digest needs a password and a salt of {least} to {most} bytes")
    key = hashlib.scrypt(password.encode(), salt=salt, n=N, r=R, p=P, dklen=LENGTH)
    return f"scrypt${N}${R}${P}${salt.hex()}${key.hex()}"


def scrypt_of(text: str) -> Scrypt:
    """Return the parts of a digest; ValueError says what is wrong, and never repeats the digest."""
    parts = text.split("$")
    if len(parts) != 6 or parts[0] != "scrypt":
        raise ValueError("is not of the form scrypt$N$r$p$SALT$KEY")
    if not all(one.isascii() and one.isdecimal() and len(one) < 10 for one in parts[1:4]):
        raise ValueError("has an N, r or p that is no number")
    n, r, p = (int(one) for one in parts[1:4])
    if n & (n - 1) or n < N or r < R or p < P:
        raise ValueError(f"is too cheap: N is a power of 2 from {N}, r is at least {R}, p is at least {P}")
    # The sum of OpenSSL's own check, so that what is taken here can be computed.
    if 128 * r * (n + 2 + p) > _MEMORY or n * r * p > _WORK * N * R * P:
        raise ValueError(f"is too costly: lower N, r and p, to {N}, {R} and {P} as the role sets them")
    try:
        salt, key = bytes.fromhex(parts[4]), bytes.fromhex(parts[5])
    except ValueError:
        raise ValueError("has a salt or a key that is not hexadecimal") from None
    if not SALT_BYTES[0] <= len(salt) <= SALT_BYTES[1] or len(key) != LENGTH:
        raise ValueError(f"needs a salt of {SALT_BYTES[0]} to {SALT_BYTES[1]} bytes and a key of {LENGTH}")
    return Scrypt(n, r, p, salt, key)


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
    is derived and compared (all have one cost, which the configuration ensures), and the answer is no all the same.
    """
    known = users.get(user)
    scrypt = known or next(iter(users.values()))
    found = hashlib.scrypt(password, salt=scrypt.salt, n=scrypt.n, r=scrypt.r, p=scrypt.p, dklen=LENGTH)
    return hmac.compare_digest(found, scrypt.key) and known is not None
