# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a node gets of the files of its certificate: its key, its certificate with the issuers in order, nothing else.

Kafka refuses a store with two keys, or one in which a certificate was not issued by the next one, and refuses it only
when the node starts. Files that are in order already are taken as they are, comments included, so that no node restarts
for them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import lru_cache

from .chain import arranged
from .pem import PemError, blocks, certificates, keys, public, text_of


def stored(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the texts of key, certificate and truststore (the CAs) as a node gets them, without an end of line.

    Where one of them cannot be read, which the rules of the inventory refuse, all stay as they are.
    """
    return dict(_stored(files["key"], files["certificate"], files["truststore"]))


@lru_cache(maxsize=64)
def _stored(key: bytes, certificate: bytes, truststore: bytes) -> tuple[tuple[str, str], ...]:
    texts = {
        name: content.decode("utf-8", "replace").rstrip()
        for name, content in (("key", key), ("certificate", certificate), ("truststore", truststore))
    }
    try:
        there, chain, trusted = keys(key), certificates(certificate), certificates(truststore)
    except PemError:
        return tuple(texts.items())
    shown = arranged(chain, [one for _text, one in there], trusted, datetime.datetime.now(datetime.UTC))
    if not _holds(key, ["PRIVATE KEY"]):
        fitting = [text for text, one in there if public(one) == public(shown[0])]
        texts["key"] = next(iter(fitting), there[0][0])
    if chain != shown or not _holds(certificate, ["CERTIFICATE"] * len(shown)):
        texts["certificate"] = "\n".join(text_of(one) for one in shown)
    if not _holds(truststore, ["CERTIFICATE"] * len(trusted)):
        texts["truststore"] = "\n".join(text_of(one) for one in trusted)
    return tuple(texts.items())


def _holds(content: bytes, labels: list[str]) -> bool:
    """Return whether a file holds these blocks alone, in an encoding that can be written as it is."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return [label for label, _text in blocks(content)] == labels
