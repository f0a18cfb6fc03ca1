# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""From lock file or Apache's archive to one verified archive in the cache, and from a lock to a directory of jars."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass

from . import layout, maven, source
from . import lock as _lock
from . import tar as archive_tar
from .cache import Cache, exclusive, workplace
from .errors import InvalidInput, JarMismatch


@dataclass(frozen=True)
class Spec:
    """What release is wanted: from a lock file (C(lock) is set), or from C(src) with C(sha512)."""

    version: str
    launcher: str
    lock: _lock.Lock | None = None
    lock_path: str = ""
    src: str = ""
    sha512: str = ""
    product: layout.Product = layout.KAFKA

    @property
    def launcher_sha256(self) -> str:
        """SHA-256 of the launcher's text."""
        return hashlib.sha256(self.launcher.encode()).hexdigest()

    @property
    def name(self) -> str:
        """The name of the release, known before anything is fetched."""
        if self.lock is None:
            return layout.name_from_archive(self.version, self.sha512, self.launcher_sha256, self.product)
        return layout.name_from_lock(self.version, self.lock.digests, self.launcher_sha256, self.product)

    @property
    def tools(self) -> list[str]:
        """The operator tools by name, less those whose jar cannot be had from Maven."""
        names = layout.tool_names(self.launcher, self.version, self.product)
        return layout.runnable(names, self.version) if self.lock and self.product is layout.KAFKA else names

    @property
    def files(self) -> Mapping[str, str] | None:
        """All files with their digests, where a lock file tells them."""
        if self.lock is None:
            return None
        return layout.files_of_lock(self.lock.digests, self.launcher_sha256, self.product)


@dataclass(frozen=True)
class Means:
    """How things are fetched: the Maven command and its settings file, and bounds in seconds."""

    runner: maven.Runner
    executable: str = "mvn"
    settings: str = ""
    download_timeout: float = 900
    lock_timeout: float = 900


def read_lock(path: str, version: str = "", product: str = "") -> _lock.Lock:
    """Read a lock file; InvalidInput where it is unreadable or for another version or product than the wanted one."""
    lock = _lock.parse(read_text(path, "Lock file"), path)
    if product and lock.name != product:
        raise InvalidInput(
            f"Lock file {path}", f"it is for {lock.name}, wanted is {product}", "Name the lock file of the product."
        )
    if version and lock.version != version:
        raise InvalidInput(
            f"Lock file {path}",
            f"it is for version {lock.version}, wanted is {version}",
            "Name the lock file of the wanted version.",
        )
    return lock


def read_text(path: str, what: str) -> str:
    """Read a file of the collection; InvalidInput says which one is missing."""
    try:
        # newline="": the text is digested, so not one of its bytes may change.
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{what} {path}", f"it cannot be read: {error}", "Check the path.") from error


def cached(spec: Spec, cache: Cache) -> str | None:
    """The SHA-256 of the archive in the cache, checked in full; None where there is none. Raises DamagedArchive."""
    path = cache.archive(spec.name)
    return archive_tar.verify(path, spec.name, spec.tools, spec.files) if os.path.exists(path) else None


def ensure(spec: Spec, cache: Cache, means: Means) -> tuple[str, bool]:
    """Have the archive in the cache; returns its SHA-256 and whether it had to be made."""
    cache.prepare()
    with exclusive(os.path.join(cache.locks, f"{spec.name}.lock"), means.lock_timeout):
        found = cached(spec, cache)
        if found is not None:
            return found, False
        with workplace(cache.staging, spec.name) as work:
            libs = os.path.join(work, "libs")
            if spec.lock is None:
                path = source.local_copy(spec.src, spec.sha512, cache.downloads, means.download_timeout)
                source.extract_jars(path, source.shown(spec.src), spec.version, libs, spec.product)
            else:
                _fetch(spec.lock, work, means)
                check_jars(spec.lock, spec.lock_path, libs)
            return _publish(spec, cache, work), True


def _fetch(lock: _lock.Lock, work: str, means: Means) -> None:
    artifacts = [jar.artifact for jar in lock.jars]
    maven.fetch(artifacts, work, means.runner, means.executable, means.settings)


def _publish(spec: Spec, cache: Cache, work: str) -> str:
    """Pack the jars of the workplace; the digest goes beside the archive first, so that no archive is without one."""
    packed, path = os.path.join(work, "release.tar"), cache.archive(spec.name)
    libs = os.path.join(work, "libs")
    sha256 = archive_tar.write(packed, spec.name, libs, spec.launcher, spec.tools, spec.product)
    sidecar = os.path.join(work, "sidecar")
    with open(sidecar, "w", encoding="utf-8") as file:
        file.write(f"{sha256}  {os.path.basename(path)}\n")
    os.replace(sidecar, archive_tar.sidecar_of(path))
    os.replace(packed, path)
    return sha256


def check_jars(lock: _lock.Lock, lock_path: str, libs: str) -> None:
    """Compare every jar with the lock; JarMismatch names all that differ."""
    problems = _lock.mismatches(lock.digests, archive_tar.digests_in(libs))
    if problems:
        raise JarMismatch(
            f"{lock.name} {lock.version} from Maven, lock file {lock_path}",
            problems,
            len(lock.jars),
            "Delete these artifacts from the local Maven repository (~/.m2/repository unless the settings say "
            "otherwise) and run again; if they come back, the repository serves something else than was locked.",
        )


def jars_to_fetch(lock: _lock.Lock, directory: str) -> dict[str, str | None]:
    """The jars that are missing in a directory or not those of the lock, with the digest found there."""
    found = archive_tar.digests_in(directory)
    return {jar.file: found.get(jar.file) for jar in lock.jars if found.get(jar.file) != jar.sha256}


def ensure_jars(lock: _lock.Lock, lock_path: str, directory: str, means: Means) -> None:
    """Download the jars of the lock into a directory, each whole and checked; other files stay as they are."""
    parent = os.path.dirname(os.path.abspath(directory))
    os.makedirs(parent, exist_ok=True)
    with exclusive(os.path.join(parent, f".{os.path.basename(directory)}.lock"), means.lock_timeout):
        wanted = jars_to_fetch(lock, directory)
        if not wanted:
            return
        with workplace(parent, f".{os.path.basename(directory)}") as work:
            _fetch(lock, work, means)
            check_jars(lock, lock_path, os.path.join(work, "libs"))
            os.makedirs(directory, exist_ok=True)
            for name in wanted:
                os.replace(os.path.join(work, "libs", name), os.path.join(directory, name))
