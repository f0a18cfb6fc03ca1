# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Apache's own archive as the source: fetched, checked by SHA-512 before it is opened, its jars taken out safely."""

from __future__ import annotations

import http.client
import os
import posixpath
import re
import shutil
import tarfile
import tempfile
import time
import urllib.error
import urllib.parse
from typing import IO

from ansible.module_utils.urls import open_url

from . import layout
from .errors import ArchiveError, ChecksumMismatch, DownloadFailed
from .tar import digest_file

# Apache's libs/ also holds sources, documentation and tests of Kafka itself: nothing that belongs on a class path.
_NOT_RUNTIME = re.compile(r"-(sources|javadoc|scaladoc|test|tests|test-sources)\.jar$")
# Ten times what Kafka 4.3 takes (about 130 MB packed): a bound against filling the disk, not a limit to tune.
_MAX_BYTES = 2 * 1024**3
_MAX_MEMBERS = 20_000
# Seconds without one byte after which a server counts as gone.
_STALL = 30
_CHUNK = 1024 * 1024


def is_url(source: str) -> bool:
    """Return whether the source is fetched over HTTP rather than read from the control node."""
    return source.startswith(("http://", "https://"))


def shown(source: str) -> str:
    """The source as it may be printed: without user, password and query."""
    if not is_url(source):
        return source
    parts = urllib.parse.urlsplit(source)
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def local_copy(source: str, sha512: str, downloads: str, seconds: float) -> str:
    """The path of a file with this SHA-512: the local file itself, or one in C(downloads), fetched if it is not there.

    Raises ChecksumMismatch, DownloadFailed or ArchiveError; no file is left behind then. C(seconds) bounds the
    whole download.
    """
    if not is_url(source):
        if not os.path.isfile(source):
            raise ArchiveError(
                f"Archive {source}", "there is no such file on the control node", "Check kafka_archive_src."
            )
        check(source, source, sha512)
        return source
    target = os.path.join(downloads, f"{sha512}.tgz")
    if os.path.exists(target):
        check(target, target, sha512, f"; delete {target} and run again")
        return target
    handle, partial = tempfile.mkstemp(dir=downloads, prefix=".partial-")
    try:
        with os.fdopen(handle, "wb") as file:
            _download(source, file, time.monotonic() + seconds)
        check(shown(source), partial, sha512)
        os.replace(partial, target)
    finally:
        if os.path.exists(partial):
            os.unlink(partial)
    return target


def check(name: str, path: str, sha512: str, hint: str = "") -> None:
    """Compare the SHA-512 of a file; ChecksumMismatch also tells a web page from an archive."""
    found = digest_file(path, "sha512")
    if found == sha512:
        return
    with open(path, "rb") as file:
        head = file.read(512).lstrip().lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml")):
        hint = "; it is a web page, not an archive: a login or an error page" + hint
    elif not head.startswith(b"\x1f\x8b"):
        hint = "; it is not a gzip file" + hint
    raise ChecksumMismatch(f"Archive {name}", sha512, found, os.path.getsize(path), hint)


def _download(source: str, target: IO[bytes], deadline: float) -> None:
    """Ansible's own client, with its proxies and logins; get_url bounds neither the whole time nor the size."""
    name, fix = f"Archive {shown(source)}", "Check kafka_archive_src and that the control node reaches it."
    received = 0
    try:
        # Some servers send a .tgz with Content-Encoding: gzip; it is wanted as it was published.
        with open_url(source, timeout=_STALL, decompress=False) as answer:
            expected = answer.headers.get("Content-Length")
            for chunk in iter(lambda: answer.read1(_CHUNK), b""):
                received += len(chunk)
                if received > _MAX_BYTES or time.monotonic() > deadline:
                    limit = "its time limit" if received <= _MAX_BYTES else f"{_MAX_BYTES} bytes"
                    raise DownloadFailed(name, f"the download passed {limit} after {received} bytes", fix)
                target.write(chunk)
    except urllib.error.HTTPError as error:
        raise DownloadFailed(name, f"the server answered {error.code} {error.reason}", fix) from error
    except (OSError, http.client.HTTPException) as error:
        raise DownloadFailed(name, f"the download broke off after {received} bytes: {error}", fix) from error
    if expected and int(expected) != received:
        raise DownloadFailed(name, f"the download is cut: expected {expected} bytes, found {received}", fix)


def extract_jars(path: str, name: str, version: str, target: str, product: layout.Product = layout.KAFKA) -> None:
    """Take the jars of libs/ (of ZooKeeper lib/) out of an archive of Apache's layout into the directory C(target).

    The caller has checked the SHA-512. Raises ArchiveError where the archive holds anything that leaves its own
    directory, a device, or another version than C(version).
    """
    os.makedirs(target)
    total = 0
    try:
        with tarfile.open(path, "r:gz") as tar:
            for count, member in enumerate(tar):
                problem = unsafe(member)
                total += member.size
                if problem or count > _MAX_MEMBERS or total > _MAX_BYTES:
                    raise _refusal(name, problem or f"it unpacks to more than any {product.title} takes")
                parts = member.name.split("/")
                if len(parts) == 3 and parts[1] == product.jar_directory and member.name.endswith(".jar"):
                    _take(tar, member, name, os.path.join(target, parts[2]))
    except (tarfile.TarError, EOFError, OSError) as error:
        raise _refusal(name, f"it cannot be read as a gzip tar file: {error}") from error
    _check_version(name, version, os.listdir(target), product)


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str, target: str) -> None:
    if _NOT_RUNTIME.search(member.name):
        return
    content = tar.extractfile(member) if member.isreg() else None
    if content is None:
        raise _refusal(name, f"{member.name} is not a plain file")
    with open(target, "wb") as file:
        shutil.copyfileobj(content, file, _CHUNK)


def unsafe(member: tarfile.TarInfo) -> str:
    """Say why a member may not be in an archive, or nothing: paths and links that leave it, devices and pipes."""
    parts = member.name.split("/")
    if member.name.startswith("/") or ".." in parts:
        return f"{member.name} leads out of the archive"
    if member.isdir() or member.isreg():
        return ""
    if not (member.issym() or member.islnk()):
        return f"{member.name} is a device or a pipe"
    base = posixpath.dirname(member.name) if member.issym() else ""
    landing = posixpath.normpath(posixpath.join(base, member.linkname))
    if landing.startswith(("/", "..")) or landing.split("/")[0] != parts[0]:
        return f"{member.name} is a link that leads out of the archive, to {member.linkname}"
    return ""


def _check_version(name: str, version: str, jars: list[str], product: layout.Product) -> None:
    wanted = f"{product.core}-{version}.jar"
    pattern = re.escape(product.cores).replace(r"\*", "[0-9]+") + r"-[0-9.]+\.jar"
    cores = sorted(jar for jar in jars if re.fullmatch(pattern, jar))
    if len(cores) != 1 or not cores[0].endswith(f"-{version}.jar"):
        found = ", ".join(cores) or f"no {product.cores}.jar"
        directory = product.jar_directory
        raise _refusal(name, f"expected {product.title} {version} ({directory}/{wanted}), found {found}")


def _refusal(name: str, why: str) -> ArchiveError:
    return ArchiveError(f"Archive {name}", why, "Use the binary archive that Apache publishes, and its SHA-512.")
