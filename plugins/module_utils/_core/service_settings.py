# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the services take of their settings: the page and the canary refuse anything else at their start, and preflight
refuses it before."""

from __future__ import annotations

import re

#: Clusters, users and trusted proxies at most: each cluster has a thread and a picture in memory.
MOST = 50
#: The lists of who may read which records, with the entries of each at most. A reader is a user.
RECORDS = {"readers": MOST, "topics": 500, "masked": 500}
#: Groups of a cluster that may be named.
MOST_GROUPS = 1000
#: Characters of the longest name of a cluster, a user or a field.
LONGEST_NAME = 100
# Made by tools/make_defaults of argument specs and ranges: where a service listens, and of its numbers the default, the
# least and the most. Times are in seconds.
PAGE_HOST = "127.0.0.1"
PAGE_NUMBERS = {
    "port": (9406, 1, 65535),
    "interval": (30, 1, 3600),
    "poll_timeout": (60, 1, 3600),
    "stale_after": (300, 1, 86400),
    "details_interval": (600, 1, 86400),
    "series_limit": (100000, 0, 10000000),
}
CANARY_HOST = "127.0.0.1"
CANARY_NUMBERS = {
    "port": (9407, 1, 65535),
    "interval": (60, 5, 3600),
    "late_after": (120, 1, 43200),
    "missing_after": (21600, 1, 43200),
    "offset_flush": (10, 1, 86400),
}
# End of what is made.
#: Characters of a name or an address that is bound; what they mean the system says at the start.
_HOST = re.compile(r"[0-9A-Za-z._:%-]{1,253}")
#: What names topics whose records may be read: a name (Topic.java), or its beginning with "*" behind it.
TOPICS = re.compile(r"[A-Za-z0-9._-]{1,249}|[A-Za-z0-9._-]{0,249}\*")


def is_name(name: str, longest: int = LONGEST_NAME) -> bool:
    """Return whether a cluster, a user or a field may be called so: printable, not too long, no blanks around it."""
    return 1 <= len(name) <= longest and name.isprintable() and name == name.strip()


def is_user(name: str) -> bool:
    """Return whether a user of the page may be called so; a colon ends the user in HTTP basic (RFC 7617)."""
    return is_name(name) and ":" not in name


def is_bound_host(text: str) -> bool:
    """Return whether the page may try to listen there."""
    return bool(_HOST.fullmatch(text))


def is_directory_of_reports(path: str) -> bool:
    """Return whether reports may lie there: an absolute path, or an empty text for no reports."""
    return not path or (path.startswith("/") and "\0" not in path)
