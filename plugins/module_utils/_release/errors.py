# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What can go wrong while jars and archives are fetched, checked and packed.

All are raised before anything is unpacked on a node, so every message ends with the same promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core.errors import StreamopsError

UNTOUCHED = "Nothing was unpacked or kept, and what is installed is untouched."


class ArchiveError(StreamopsError):
    """Base: C(what) is the thing concerned, C(why) what is wrong with it, C(fix) what to do."""

    def __init__(self, what: str, why: str, fix: str, **fields: Any) -> None:
        end = "" if why.endswith("\n") else ". "
        super().__init__(f"{what}: {why}{end}{UNTOUCHED} {fix}", what=what, why=why, fix=fix, **fields)


class InvalidInput(ArchiveError):
    """A lock file, a launcher or a parameter that cannot be used."""


class JarMismatch(ArchiveError):
    """Jars that are missing or not those of the lock; C(problems) names every one with expected and found digest."""

    def __init__(self, what: str, problems: Sequence[str], total: int, fix: str) -> None:
        listed = "".join(f"\n- {line}" for line in problems)
        why = f"{len(problems)} of {total} jars are not those of the lock file:{listed}\n"
        super().__init__(what, why, fix, problems=list(problems))


class DamagedArchive(ArchiveError):
    """An archive in the cache that is not, byte for byte, what was once put there."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"Archive {path}", why, f"Delete {path} and run again: it is then made anew.", path=path)


class ChecksumMismatch(ArchiveError):
    """A file whose SHA-512 is not the given one."""

    def __init__(self, source: str, expected: str, found: str, size: int, hint: str) -> None:
        why = f"expected sha512 {expected}, found {found} ({size} bytes{hint})"
        fix = "Compare kafka_archive_sha512 with the checksum that Apache publishes beside the file, and fetch it anew."
        super().__init__(source, why, fix, expected=expected, found=found, bytes=size)


class MavenFailed(ArchiveError):
    """Maven is missing or could not fetch what the lock names."""


class DownloadFailed(ArchiveError):
    """A URL that did not deliver a whole file in time."""


class CacheBusy(ArchiveError):
    """Another run has held the cache for longer than this one may wait."""
