# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the files of a node say, as one digest for people to compare, from which no secret can be found. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from .._core.properties import PropertiesError, is_secret, parse


def content_digest(files: Iterable[Mapping[str, Any]]) -> str:
    """Return a SHA-256 of files, each {name, content, secret}; empty for none.

    A digest of a password is a way to find it by trying, so of a secret file only the properties that are no secret
    count, and of any other file no line that names one.
    """
    told = sorted((one["name"], _told(one)) for one in files)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest() if told else ""


def _told(one: Mapping[str, Any]) -> list[str]:
    if not one["secret"]:
        return [line for line in one["content"].splitlines() if not is_secret(line)]
    if not one["name"].endswith(".properties"):
        return []
    try:
        found = parse(one["content"])
    except PropertiesError:
        return []
    return sorted(f"{key}={value}" for key, value in found.items() if not is_secret(key))
