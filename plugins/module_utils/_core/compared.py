# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Properties as they are compared: secrets as digests, and values that are sets in any order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import (
    PropertiesError,
    is_secret,
    parse,
    value_text,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.unordered import form, same


def same_text(before: str, after: str) -> bool:
    """Tell whether two files differ in nothing but the order within values that are sets, line by line."""
    old, new = before.split("\n"), after.split("\n")
    return len(old) == len(new) and all(map(_same_line, old, new))


def _same_line(before: str, after: str) -> bool:
    if before == after:
        return True
    try:
        old, new = parse(before), parse(after)
    except PropertiesError:
        return False
    return len(old) == 1 and old.keys() == new.keys() and all(same(key, old[key], new[key]) for key in old)


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
