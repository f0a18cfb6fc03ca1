"""Compare names of fields however they are written: in any case, composed or not, with marks of JSON. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from ansible_collections.streamops.kafka.plugins.module_utils._core.service_settings import LONGEST_NAME

#: A character as JSON may write any, and as a text in a text does, where each mark is escaped again.
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
#: A name of a field that is longer is none of those given, however it is composed: Unicode composes a letter of four
#: at most. To normalize takes time by the square of the length.
_LONGEST = 4 * LONGEST_NAME


def normal(name: str) -> str:
    """Return a name as names are compared."""
    if name.isascii() or len(name) > _LONGEST:
        return name.casefold()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


class Mentions:
    """Finds names in texts that are no JSON. It finds rather too many: accents do not count."""

    def __init__(self, names: Collection[str]) -> None:
        # One pattern of all: a loop over hundreds of names for each short text would take most of the time.
        found = {_bare(one).replace("\\", "") or one for one in names}
        self._pattern = re.compile("|".join(map(re.escape, sorted(found))))

    def __call__(self, text: str) -> bool:
        """Return whether one of the names stands in a text."""
        if self._pattern.search(_bare(text)):
            return True
        return "\\" in text and bool(self._pattern.search(_bare(_unescaped(text))))


def _unescaped(text: str) -> str:
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    # Two of them may be one character.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\\", "")


def _bare(text: str) -> str:
    """Return a text in one case and without accents, character by character: normalize would sort them for minutes."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    return folded.translate({ord(one): _letters(one) for one in set(folded) if not one.isascii()})


def _letters(one: str) -> str:
    parts = unicodedata.normalize("NFKD", one).casefold()
    return "".join(part for part in parts if not unicodedata.combining(part))
