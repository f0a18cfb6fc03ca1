# SPDX-License-Identifier: GPL-3.0-or-later
"""Keytabs as MIT Kerberos writes them (doc/formats/keytab_file_format), with keys of zeros."""

from __future__ import annotations

import struct

AES256, AES128, RC4 = 18, 17, 23
HOLE = struct.pack(">i", -12) + bytes(12)


def record(principal: str, version: int = 1, kind: int = AES256, long_version: int | None = None) -> bytes:
    """Return a key; long_version -- the version that stands behind it, as writers since MIT 1.14 add it."""
    name, _at, realm = principal.partition("@")
    parts = name.split("/")
    texts = b"".join(struct.pack(">H", len(text)) + text for text in (part.encode() for part in (realm, *parts)))
    key = bytes(32 if kind == AES256 else 16)
    behind = b"" if long_version is None else struct.pack(">I", long_version)
    fields = struct.pack(">IIBHH", 1, 0, version & 0xFF, kind, len(key))
    body = struct.pack(">H", len(parts)) + texts + fields + key + behind
    return struct.pack(">i", len(body)) + body


def keytab(*records: bytes) -> bytes:
    """Return a keytab of these records."""
    return b"\x05\x02" + b"".join(records)
