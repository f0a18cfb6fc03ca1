# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The old process of a node that was taken over, or is to be, and the file that says whose it was."""

from __future__ import annotations

import os

from .._core.commands import Rights, rights_of
from .._core.properties import READ_ENCODING, PropertiesError, parse
from .adopted import Adopted, AdoptedFileError, is_old, load, overrides
from .processes import arguments, credentials, first, read_text


def read(path: str) -> Adopted | None:
    """Return what the file says; None where there is none. Raises AdoptedFileError where it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return load(file.read(), path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise AdoptedFileError(
            f"{path} cannot be read: {why}. Nothing was changed. fix: run as the user that took the node over",
            path=path,
        ) from None


def old_process(adopted: Adopted) -> int | None:
    """Return the number of the old process; None where none runs."""
    return first(lambda pid, argv: is_old(argv, adopted, directory_of(pid)))


def directory_of(pid: int) -> str:
    """Return where a process runs; empty where this user may not see it."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def old_properties(adopted: Adopted, pid: int) -> dict[str, str]:
    """Return the properties of the old process by its file and its command line; empty where they cannot be read."""
    with rights_of(Rights(*credentials(pid)) if os.geteuid() == 0 else None):
        text = read_text(adopted.properties_file, READ_ENCODING)
    try:
        return {**parse(text), **overrides(arguments(pid))} if text is not None else {}
    except PropertiesError:
        return {}
