# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Properties as they are compared: secrets as digests, and values that are sets in any order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from .properties import PropertiesError, is_secret, parse, value_text
from .unordered import form, forms

#: By what runs, the file whose properties are compared one by one: those that the start record keeps as such. Every
#: other file is compared as it is written, as the record does by its digest: else a file could give a reason to restart
#: and never be replaced.
JUDGED_BY_PROPERTY = ("server.properties", "zoo.cfg", "mm2.properties", "consumer.properties")


def same_file(name: str, before: str | None, after: str | None) -> bool:
    """Tell whether two texts of a file differ in nothing but the order within values that are sets."""
    if before == after or before is None or after is None:
        return before == after
    if name.rpartition("/")[2] not in JUDGED_BY_PROPERTY:
        return False
    try:
        return forms(parse(before)) == forms(parse(after)) and _remarks(before) == _remarks(after)
    except PropertiesError:
        return False


def _remarks(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("#", "!"))]


def declare(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return properties as text with each secret replaced by "sha256:<16 hex digits>", to compare without showing.

    The digest covers the key too, so that one password used twice does not show as such, and is the same for all orders
    of a value that is a set. Values that already are such a digest stay: declaring twice changes nothing.
    """
    declared: dict[str, str] = {}
    for key, value in properties.items():
        text = value_text(str(key), value)
        declared[str(key)] = _digest(str(key), text) if is_secret(str(key)) else text
    return declared


def _digest(key: str, text: str) -> str:
    if re.match(r"sha256:[0-9a-f]{16}\Z", text):
        return text
    # surrogatepass: a lone surrogate is legal in a Java string and must not end in a traceback.
    data = (f"{key}\0{form(key, text)}").encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(data).hexdigest()[:16]
