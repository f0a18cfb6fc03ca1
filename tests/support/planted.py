"""The forms in which a secret that a test planted could show itself. Only the standard library: containers run it."""

from __future__ import annotations

import base64

#: How a keytab begins in base64: its version 0x0502, and the zeros before the length of its first entry.
KEYTAB = b"BQIAAA"


def forms(word: bytes) -> list[bytes]:
    """The word itself, and what of it stays the same wherever it stands within what base64 encodes.

    base64 makes four letters of three bytes, so a word reads differently after 0, 1 or 2 other bytes; the letters
    at its ends depend on its neighbours and are left out. Needs a word of 8 bytes or more to be telling.
    """
    return [word, *(base64.b64encode(b"\0" * shift + word)[shift + 1 : -4] for shift in range(3))]
