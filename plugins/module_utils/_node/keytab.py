# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whose keys are in a keytab, of which version and kind. The keys themselves are passed over and never kept. Pure.

The format is that of MIT Kerberos (doc/formats/keytab_file_format): two bytes of version, then records, each behind its
signed length. A length below 0 is a hole that a removed key has left.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .._core.names import capped

#: What a keytab may be long; one of a node has some hundred bytes.
LIMIT = 1 << 20
#: Kinds of keys by their number (IANA, Kerberos Encryption Type Numbers).
KINDS = {
    1: "des-cbc-crc",
    2: "des-cbc-md4",
    3: "des-cbc-md5",
    16: "des3-cbc-sha1",
    17: "aes128-cts-hmac-sha1-96",
    18: "aes256-cts-hmac-sha1-96",
    19: "aes128-cts-hmac-sha256-128",
    20: "aes256-cts-hmac-sha384-192",
    23: "rc4-hmac",
    24: "rc4-hmac-exp",
    25: "camellia128-cts-cmac",
    26: "camellia256-cts-cmac",
}
#: Those that are neither weak (RFC 6649, RFC 8429) nor unknown to Java (sun.security.krb5.internal.crypto.EType).
STRONG = (17, 18, 19, 20)
#: Bits of a mode by which others than owner and group may do something.
OTHERS = 0o007
_VERSION = b"\x05\x02"
_SHOWN = 4


class KeytabError(ValueError):
    """A file that is no keytab, or is cut off."""


@dataclass(frozen=True)
class Key:
    """A key of a keytab: whose, its version (kvno) and its kind, a number of KINDS."""

    principal: str
    version: int
    kind: int


def read_keys(content: bytes) -> list[Key]:
    """Read the keys of a keytab; KeytabError says what is wrong with it."""
    if content[:2] != _VERSION:
        raise KeytabError("it is no keytab of version 2, as ktutil and ktpass write it")
    return list(_keys(content))


def _keys(content: bytes) -> Iterator[Key]:
    place = len(_VERSION)
    while place + 4 <= len(content):
        (length,) = struct.unpack_from(">i", content, place)
        place += 4
        if length == 0:
            return
        if place + abs(length) > len(content):
            raise KeytabError("it is cut off in the middle of a key")
        if length > 0:
            try:
                yield _key(content[place : place + length])
            except (struct.error, UnicodeDecodeError):
                raise KeytabError("it holds a key that cannot be read") from None
        place += abs(length)


def _key(record: bytes) -> Key:
    """Read a record; struct.error where it is shorter than its own fields."""
    (components,) = struct.unpack_from(">H", record)
    place = 2
    names = []
    for _component in range(components + 1):
        (length,) = struct.unpack_from(">H", record, place)
        (name,) = struct.unpack_from(f"{length}s", record, place + 2)
        names.append(name.decode())
        place += 2 + length
    # The type of the name and the time stand before the version.
    version, kind, length = struct.unpack_from(">BHH", record, place + 8)
    place += 8 + 5 + length
    if place > len(record):
        raise struct.error
    if len(record) - place >= 4:
        # Above 255 the version stands behind the key.
        version = struct.unpack_from(">I", record, place)[0] or version
    return Key(f"{'/'.join(names[1:])}@{names[0]}", version, kind)


def newest(keys: Iterable[Key], principal: str) -> int:
    """Return the newest version of the keys of a principal, 0 without any."""
    return max((key.version for key in keys if key.principal == principal), default=0)


def fault(keys: Iterable[Key], principal: str) -> str:
    """Say why a service of this name lets nobody in with these keys; empty where it does."""
    keys = list(keys)
    version = newest(keys, principal)
    if not version:
        held = list(dict.fromkeys(key.principal for key in keys))
        return f"it has no key of {principal}, but of {capped(held, _SHOWN)}" if held else "it holds no key"
    kinds = [key.kind for key in keys if (key.principal, key.version) == (principal, version)]
    if not any(kind in STRONG for kind in kinds):
        named = ", ".join(KINDS.get(kind, f"kind {kind}") for kind in kinds)
        return f"the newest keys of {principal} (kvno {version}) are weak or unknown to Java: {named}"
    return ""
