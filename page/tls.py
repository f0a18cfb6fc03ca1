"""Check the certificate of the service, and take up a renewed one without a restart."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path

_LOG = logging.getLogger("page")
#: Seconds between two looks at the files.
LOOK_EVERY = 5.0


def wrong_pair(certificate: str, key: str) -> list[str]:
    """Return what is wrong with the files of a certificate and its key, each with the fix; empty when they serve."""
    wrong = []
    for name, path in (("tls_certificate", certificate), ("tls_key", key)):
        if why := _unreadable(Path(path)):
            wrong.append(f"{name} {path} cannot be read: {why}. Give its path, and the user of the service its file.")
    if wrong:
        return wrong
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(certificate)
    except (OSError, ValueError) as error:
        return [
            f"tls_certificate {certificate} has no certificate: {_why(error)}. Write it as PEM, its issuers after it."
        ]
    try:
        _load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), certificate, key)
    except (OSError, ValueError) as error:
        return [
            f"tls_key {key} does not serve with tls_certificate {certificate}: {_why(error)}. Write the key that "
            "belongs to it, as PEM and not encrypted."
        ]
    return []


def _unreadable(path: Path) -> str:
    try:
        # What is no file, as a pipe, might never end.
        if not path.is_file():
            return "it is not a file" if path.exists() else "there is no such file"
        with path.open("rb") as file:
            file.read(1)
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def _why(error: Exception) -> str:
    return (
        getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error) or "OpenSSL does not say why"
    )


def _load(context: ssl.SSLContext, certificate: str, key: str) -> None:
    # A password that is wrong for every key: without one OpenSSL asks for it on the terminal.
    context.load_cert_chain(certificate, key, password=lambda: b"\0")


class Renewal:
    """Takes up a renewed certificate: its file may be replaced while the service runs, which needs no restart.

    Every 5 seconds it looks at the time of change, the size and the inode of both files. When one of them differs and
    the two belong together, they are loaded into the context that new connections use; connections that are open keep
    theirs. While they do not belong together, as between the two steps of a renewal, the old pair serves on.
    """

    def __init__(self, certificate: str, key: str) -> None:
        """Note the files as they are now, before they are loaded for the first time."""
        self._certificate, self._key = certificate, key
        self._loaded = self._refused = self._stamp()

    async def run(self, context: ssl.SSLContext) -> None:
        """Look again and again until cancelled, and load what is new into C(context)."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self.look(context)
            except Exception:
                # Whatever goes wrong, the next look must come: without it the certificate would run out unseen.
                _LOG.exception("cannot read the certificate of the service")

    async def look(self, context: ssl.SSLContext) -> bool:
        """Load the files if they are others and serve; return whether they were loaded."""
        stamp = self._stamp()
        if stamp == self._loaded:
            return False
        if wrong := await asyncio.to_thread(wrong_pair, self._certificate, self._key):
            if stamp != self._refused:
                _LOG.error("reload of the certificate failed; still serving the old one: %s", " ".join(wrong))
            self._refused = stamp
            return False
        # In the thread of the loop: OpenSSL does not allow a context to change while a connection is made with it.
        _load(context, self._certificate, self._key)
        self._loaded = stamp
        _LOG.warning("reloaded the certificate from %s", self._certificate)
        return True

    def _stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stamp(Path(path)) for path in (self._certificate, self._key))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
