# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Values of other people's installations as they may be shown: what is a secret by its name is masked.

Which name is a secret's, is the collection's one rule (_core/properties.py). Here secrets stand in words of command
lines and in variables of the environment too, where a name stands within the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .._core.properties import is_secret

#: What stands in place of a secret.
MASK = "********"
#: A value that is nothing but a question to a provider of configuration, such as ${file:/etc/secrets:key} (KIP-297).
_REFERENCE = re.compile(r"\s*\$\{[^{}\s]+:[^{}]*\}\s*")
#: A name before = or : within a word, such as -Djavax.net.ssl.keyStorePassword= or password= of an agent. It is tried
#: where a name begins alone, so that a long word takes no longer than its length.
_NAMED = re.compile(r"(?<![A-Za-z0-9_.\[\]-])([A-Za-z0-9_.\[\]-]+)[=:]")
#: Properties that hold names and addresses alone: a listener may be called TOKEN, and a host passwords, so what stands
#: behind their colon is no secret. Of a mirror each cluster has its bootstrap.servers (KIP-382).
_ADDRESSES = re.compile(
    r"(advertised\.)?listeners|listener\.security\.protocol\.map|controller\.quorum\.voters|([\w.-]+\.)?bootstrap\.servers"
    r"|zookeeper\.connect|max\.connections\.per\.ip\.overrides"
)
#: The password in an address, http://user:password@host.
_IN_ADDRESS = re.compile(r"(://[^/\s:@]*):[^/\s@]+@")


def is_reference(value: str) -> bool:
    """Tell whether a value only says where the secret is, and is none itself."""
    return _REFERENCE.fullmatch(value) is not None


def masked_value(name: str, value: str) -> str:
    """Return a value as it may be shown: of a secret's name the mask, unless it is empty or only refers to it."""
    if is_secret(name):
        return value if not value or is_reference(value) else MASK
    return value if _ADDRESSES.fullmatch(name) else masked_text(value)


def masked(values: Mapping[str, str]) -> dict[str, str]:
    """Return properties or variables, each value as it may be shown."""
    return {name: masked_value(name, value) for name, value in values.items()}


def secrets(values: Mapping[str, str]) -> list[str]:
    """Return the names whose values are masked, wholly or in a part."""
    return sorted(name for name, value in values.items() if masked_value(name, value) != value)


def masked_word(word: str) -> str:
    """Return a word of a command line without the value of a secret that it names.

    From the first name of a secret the rest of the word is masked, whatever stands in it.
    """
    for match in _NAMED.finditer(word):
        value = word[match.end() :]
        if is_secret(match[1]) and value:
            return word if is_reference(value) else word[: match.end()] + MASK
    return _IN_ADDRESS.sub(rf"\1:{MASK}@", word)


def masked_text(text: str) -> str:
    """Return a text of words, such as KAFKA_OPTS, without the values of secrets that it names.

    Behind a masked word everything is taken away up to the next option: a password with a blank has more words.
    """
    pieces = re.split(r"(\s+)", text)
    out: list[str] = []
    is_within = False
    for piece in pieces:
        if not piece or piece.isspace():
            if not is_within:
                out.append(piece)
            continue
        if is_within and not piece.lstrip("\"'").startswith("-"):
            continue
        if is_within:
            out.append(" ")
        shown = masked_word(piece)
        # The value may stand behind a blank.
        is_open = shown == piece and piece[-1] in "=:" and is_secret(piece[:-1])
        is_within = is_open or (shown != piece and shown.endswith(MASK))
        out.append(f"{piece}{MASK}" if is_open else shown)
    return "".join(out)
