# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""White space that is not meant: the line end of a file in a vault becomes a part of a password or a name."""

from __future__ import annotations

import unicodedata

#: What to do about it.
STRAY_FIX = "take it away; in YAML write the value on one line, or |- in place of |, and echo -n into a vault"
_LINE_ENDS = "\r\n\x0b\x0c\x85\u2028\u2029"


def stray(text: str) -> str:
    """Tell which stray character a password or a name has, without showing it; empty for none.

    The same password is then typed without it, and the login fails: logins and files of Java keep it, or lose it.
    """
    if text.rstrip() and text[-1] in _LINE_ENDS:
        return "ends with a line end"
    if text.strip() and text != text.strip():
        return "begins with white space" if text[0].isspace() else "ends with white space"
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in text.strip()):
        return "holds a control character"
    return ""
