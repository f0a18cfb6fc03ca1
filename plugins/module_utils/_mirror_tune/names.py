# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Names of everything that a tuning of a mirror makes, by which a later run finds what a killed one left. Pure.

All begin with C(_streamops_), which no flow of this collection mirrors (TOPICS_EXCLUDED), so that a flow with C(.*)
does not copy the load, and a flow back does not copy the copies.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._mirror.flows import LOAD, PREFIX, own_topics

#: Each key of the load begins with it: a topic with other records was not filled by a tuning.
MARK = b"streamops-tune-"


def alias(number: int) -> str:
    """The name under which a run's mirror knows the source. Each run has its own, so it begins at the first record."""
    return f"{PREFIX}{number}"


def copy_topic(number: int) -> str:
    """The topic of the target that a run fills."""
    return f"{alias(number)}.{LOAD}"


def group(number: int) -> str:
    """The group of Connect's workers of a run in the target."""
    return f"{alias(number)}-mm2"


def with_load(names: Iterable[str]) -> list[str]:
    """The topics among these that hold the load or a copy of it, sorted."""
    return [name for name in own_topics(names) if name.endswith(LOAD)]


def own_acls(principal: str, is_source: bool) -> list[dict[str, object]]:
    """Return what a tuning's mirror may do at one end, as the module acls has it (plugin_utils/mirrors/rights.py)."""
    if is_source:
        return [_entry(principal, "topic", LOAD, "literal", ["read", "describe_configs"])]
    states = [f"mm2-{name}.{PREFIX}" for name in ("offsets", "configs", "status", "offset-syncs")]
    keeps = ["create", "read", "write", "describe_configs"]
    return [
        _entry(principal, "topic", PREFIX, "prefixed", ["create", "read", "write", "alter", "alter_configs"]),
        *(_entry(principal, "topic", one, "prefixed", keeps) for one in states),
        _entry(principal, "group", PREFIX, "prefixed", ["read"]),
    ]


def _entry(principal: str, kind: str, resource: str, pattern: str, operations: list[str]) -> dict[str, object]:
    return {
        "principal": principal,
        "resource_type": kind,
        "resource": resource,
        "pattern_type": pattern,
        "operations": operations,
    }
