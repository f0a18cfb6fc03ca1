"""Say what went wrong with a cluster, and whether it is a failure that is known to happen. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError

#: Characters of a failure that are shown.
_LONGEST = 200
#: Characters from which on a word is cut.
_WORD = 60


class Unreadable(Exception):
    """A topic cannot be read."""


def why_of(error: Exception) -> str:
    """Return what an error says, or its name where it says nothing."""
    return error.message if isinstance(error, StreamopsError) else str(error) or type(error).__name__


def shortened(why: str) -> str:
    """Return the beginning of what an error says, to the end of a word that is not very long."""
    if len(why) <= _LONGEST:
        return why
    whole, _blank, rest = why[: _LONGEST - 4].rpartition(" ")
    begun = whole if whole and len(rest) < _WORD else why[: _LONGEST - 4]
    return f"{begun.rstrip(' ,;:.')} ..."


def is_known(error: Exception) -> bool:
    """Return whether clusters and lines that fail raise it; of any other the log has to show where it came from."""
    return isinstance(error, (StreamopsError, Unreadable)) or type(error).__module__.startswith("kafka")
