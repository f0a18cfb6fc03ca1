# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The certificates in a node's PEM stores. A key that stands beside them is never returned."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

# Base 64 alone stands between: of a certificate that is cut off nothing behind it is taken along.
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----")
# More than any bundle of CAs that is used; the CAs of a whole distribution are a quarter of it.
_LIMIT = 1 << 20


def certificates(paths: Iterable[str], started: Mapping[str, str] | None) -> dict[str, dict[str, Any]]:
    """Return for each file {exists, certificates, sha256, started, error}.

    certificates -- in PEM, as they stand in the file. started -- the digest that the running process was started with,
    "" when it was started without the file, None when no process runs whose start record says so; the argument is what
    that record says. error -- why the file could not be read.
    """
    return {path: {**_content(path), "started": None if started is None else started.get(path, "")} for path in paths}


def _content(path: str) -> dict[str, Any]:
    found: dict[str, Any] = {"exists": True, "certificates": [], "sha256": None, "error": None}
    try:
        with open(path, "rb") as file:
            content = file.read(_LIMIT)
    except FileNotFoundError:
        return {**found, "exists": False}
    except OSError as problem:
        return {**found, "error": problem.strerror or str(problem)}
    listed = _CERTIFICATE.findall(content.decode("ascii", "replace"))
    return {**found, "certificates": listed, "sha256": hashlib.sha256(content).hexdigest()}
