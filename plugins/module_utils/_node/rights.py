# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the user of a service may do with a file or directory, by its mode."""

from __future__ import annotations

import os
import pwd

READ, USE_DIRECTORY = 0o4, 0o3


def may(path: str, user: str, wanted: int) -> bool:
    """Tell whether a user may read a file (READ), or make files in a directory (USE_DIRECTORY), by its mode.

    Who is not there yet, and what has an access list, whose mode says little, are left to the start. An empty user is
    whoever runs this. OSError where the path cannot be looked at.
    """
    if not user:
        return os.access(path, wanted)
    try:
        who = pwd.getpwnam(user)
    except KeyError:
        return True
    if who.pw_uid == 0 or _has_access_list(path):
        return True
    status = os.stat(path)
    if who.pw_uid == status.st_uid:
        shift = 6
    else:
        shift = 3 if status.st_gid in os.getgrouplist(user, who.pw_gid) else 0
    return status.st_mode >> shift & wanted == wanted


def _has_access_list(path: str) -> bool:
    """Tell whether a path has an access list of POSIX beside its mode (acl(5))."""
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except OSError:  # The file system has none.
        return False
