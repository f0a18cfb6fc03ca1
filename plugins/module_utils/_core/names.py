# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Names: cut lists of them, what may be meant by one, what strays into one, which of them Kafka takes for topics."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

#: Of topics, as those below (org.apache.kafka.common.internals.Topic).
LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")
#: The directory of a partition gets "-<partition>" added, and 255 bytes are the most that a file system takes.
MAX_NAME_LENGTH = 249
#: Those that a broker tells as internal (Topic.INTERNAL_TOPICS). A user's own topic may begin with two underscores too.
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
#: Those that Kafka keeps for itself: the metadata log and the index of tiered storage are not told as internal.
KAFKAS_OWN = INTERNAL | {"__cluster_metadata", "__remote_log_metadata"}


def near(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: up to five names like it, nothing where there are none."""
    found = difflib.get_close_matches(name, sorted(known), n=5, cutoff=0.6)
    return f" (names like it: {', '.join(found)})" if found else ""


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The one known name that is most like this one; None when none is as like as C(cutoff), from 0 to 1."""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def capped(names: Sequence[str], limit: int = 20) -> str:
    """Return the names joined by commas, at most ``limit`` of them and then how many more there are."""
    text = ", ".join(names[:limit])
    return text if len(names) <= limit else f"{text} and {len(names) - limit} more"


def allowed_instead(name: str) -> str | None:
    """Return what the name of a topic that Kafka refuses would have to be; None for one that it takes."""
    if name in (".", ".."):
        return "a name other than '.' and '..'"
    if not LEGAL_NAME.fullmatch(name):
        return "letters, digits, '.', '_' and '-' of ASCII"
    if len(name) > MAX_NAME_LENGTH:
        return f"at most {MAX_NAME_LENGTH} characters (this one has {len(name)})"
    return None


def is_part_of_name(text: str) -> bool:
    """Tell whether a topic can have this name, or a name that begins with it: the prefix of a pattern may be a dot."""
    return text in (".", "..") or allowed_instead(text) is None


#: What to do about a stray character.
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
