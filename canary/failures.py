"""Say what went wrong with a cluster, and whether it is a failure that is known to happen. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError


class Unreadable(Exception):
    """A topic cannot be read."""


def why_of(error: Exception) -> str:
    """Return what an error says, or its name where it says nothing."""
    return error.message if isinstance(error, StreamopsError) else str(error) or type(error).__name__


def is_known(error: Exception) -> bool:
    """Return whether clusters and lines that fail raise it; of any other the log has to show where it came from."""
    return isinstance(error, (StreamopsError, Unreadable)) or type(error).__module__.startswith("kafka")
