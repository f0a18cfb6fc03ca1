# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The archive that nodes unpack: the same files give the same bytes, and every use checks all of them."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Mapping, Sequence
from typing import IO, Any

from . import layout
from .errors import DamagedArchive

# 1980-01-01, the first moment that every archive format can hold.
_MTIME = 315532800
_CHUNK = 1024 * 1024


def digest_stream(stream: IO[bytes], name: str = "sha256") -> str:
    """The digest of all that a stream still holds."""
    digest = hashlib.new(name)
    for chunk in iter(lambda: stream.read(_CHUNK), b""):
        digest.update(chunk)
    return digest.hexdigest()


def digest_file(path: str, name: str = "sha256") -> str:
    """The digest of a file."""
    with open(path, "rb") as file:
        return digest_stream(file, name)


def digests_in(directory: str) -> dict[str, str]:
    """The SHA-256 of every jar in a directory, by file name; an absent directory has none."""
    names = os.listdir(directory) if os.path.isdir(directory) else []
    return {name: digest_file(os.path.join(directory, name)) for name in names if name.endswith(".jar")}


class _Hashing:
    """A file to write to that keeps the SHA-256 of what was written."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write on, and digest what is written."""
        self.sha256.update(data)
        return self._raw.write(data)


def write(
    target: str,
    name: str,
    libs: str,
    launcher: str,
    tools: Sequence[str],
    product: layout.Product = layout.KAFKA,
) -> str:
    """Write the archive of release C(name) to the file C(target); returns its SHA-256.

    C(libs) is the directory with the jars, C(launcher) the launcher's text, C(tools) the names that link to it.
    The manifest is the last member, so that its presence on a node marks a complete unpack.
    """
    launcher_bytes = launcher.encode()
    files = layout.files_of_lock(digests_in(libs), hashlib.sha256(launcher_bytes).hexdigest(), product)
    with open(target, "wb") as raw:
        hashing = _Hashing(raw)
        # The mode w| never seeks back, so the digest of what went by is the digest of the file.
        with tarfile.open(fileobj=hashing, mode="w|", format=tarfile.USTAR_FORMAT) as tar:  # type: ignore[call-overload]
            for directory in ("", "/bin", "/config", "/libs"):
                tar.addfile(_member(name + directory, tarfile.DIRTYPE, 0o755))
            _add_bytes(tar, f"{name}/{layout.LAUNCHER}", launcher_bytes, 0o755)
            for tool in sorted(tools):
                link = _member(f"{name}/bin/{tool}", tarfile.SYMTYPE, 0o777)
                link.linkname = "launcher"
                tar.addfile(link)
            for path in sorted(product.config_files):
                _add_bytes(tar, f"{name}/{path}", product.config_files[path].encode(), 0o644)
            for jar in sorted(path for path in files if path.startswith("libs/")):
                _add_file(tar, f"{name}/{jar}", os.path.join(libs, os.path.basename(jar)))
            _add_bytes(tar, f"{name}/{layout.MANIFEST}", layout.manifest(files).encode(), 0o644)
        raw.flush()
        os.fsync(raw.fileno())
    return hashing.sha256.hexdigest()


def _member(path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.mode, member.mtime = kind, mode, _MTIME
    member.uname = member.gname = "root"
    return member


def _add_bytes(tar: tarfile.TarFile, path: str, content: bytes, mode: int) -> None:
    member = _member(path, tarfile.REGTYPE, mode)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _add_file(tar: tarfile.TarFile, path: str, source: str) -> None:
    member = _member(path, tarfile.REGTYPE, 0o644)
    with open(source, "rb") as file:
        member.size = os.fstat(file.fileno()).st_size
        tar.addfile(member, file)


def sidecar_of(path: str) -> str:
    """The file beside an archive that holds its SHA-256, as sha256sum writes it."""
    return path + ".sha256"


def verify(path: str, name: str, tools: Sequence[str], expected: Mapping[str, str] | None) -> str:
    """Check the whole archive, then each member; returns its SHA-256, raises DamagedArchive.

    C(expected) are all files with their digests where they are known from a lock file; else the manifest inside
    the archive is believed, which the digest beside the archive covers.
    """
    sha256 = _verify_whole(path)
    files: dict[str, str] = {}
    links: list[str] = []
    manifest = None
    try:
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                if manifest is not None:
                    raise DamagedArchive(path, f"{member.name} comes after the manifest")
                inner = _inner_path(path, name, member)
                if inner == layout.MANIFEST:
                    manifest = layout.parse_manifest(_reader(tar, member).read().decode())
                elif member.isreg():
                    files[inner] = digest_stream(_reader(tar, member))
                elif member.issym():
                    links.append(inner)
    except (tarfile.TarError, ValueError) as error:
        raise DamagedArchive(path, f"it cannot be read: {error}") from error
    _compare(
        path,
        files,
        expected if expected is not None else manifest or {},
        "the lock file" if expected else "its manifest",
    )
    if manifest != files or links != sorted(f"bin/{tool}" for tool in tools):
        raise DamagedArchive(path, "its manifest or its tools are not those of this release")
    return sha256


def _verify_whole(path: str) -> str:
    try:
        with open(sidecar_of(path), encoding="utf-8") as file:
            recorded = file.read()
    except (OSError, ValueError) as error:
        raise DamagedArchive(path, f"the digest beside it cannot be read: {error}") from error
    found = digest_file(path)
    if not re.fullmatch(r"[0-9a-f]{64}  \S+\n", recorded) or recorded[:64] != found:
        raise DamagedArchive(path, f"expected sha256 {recorded[:64]!r} (from {sidecar_of(path)}), found {found!r}")
    return found


def _inner_path(path: str, name: str, member: tarfile.TarInfo) -> str:
    """The path inside the release; DamagedArchive for anything that may not be in such an archive."""
    inner = "" if member.name == name else member.name[len(name) + 1 :]
    if member.name != name and (not member.name.startswith(name + "/") or ".." in inner.split("/")):
        raise DamagedArchive(path, f"{member.name} lies outside {name}")
    allowed = member.isdir() or member.isreg() or (member.issym() and member.linkname == "launcher")
    if not allowed:
        raise DamagedArchive(path, f"{member.name} is neither a file, a directory nor a link to the launcher")
    return inner


def _reader(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[Any]:
    reader = tar.extractfile(member)
    if reader is None:
        raise ValueError(f"{member.name} has no content")
    return reader


def _compare(path: str, found: Mapping[str, str], expected: Mapping[str, str], by: str) -> None:
    wrong = sorted(name for name in set(found) | set(expected) if found.get(name) != expected.get(name))
    if wrong:
        name = wrong[0]
        why = f"{len(wrong)} files are not those of {by}, the first is {name}: "
        raise DamagedArchive(path, why + f"expected sha256 {expected.get(name)}, found {found.get(name)}")
