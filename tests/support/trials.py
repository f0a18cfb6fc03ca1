# SPDX-License-Identifier: GPL-3.0-or-later
"""Have Java and Kafka judge files of a node, and tell the outcome as a task would."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._node.trial import trial


def try_files(**given: Any) -> dict[str, Any]:
    """Return the result of a trial, with C(failed) and, where it refuses the files, C(msg)."""
    try:
        return {"failed": False, **trial({"java": "", "properties": None, "start": None, **given})}
    except StreamopsError as error:
        return {"failed": True, "msg": error.message}
