# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a role may do, as the least operations on each kind of resource; docs/acls.md gives the reason of each.

READ, WRITE, DELETE and ALTER imply DESCRIBE, ALTER_CONFIGS implies DESCRIBE_CONFIGS (StandardAuthorizerData), so
those are never listed beside them. IDEMPOTENT_WRITE is not needed since Kafka 2.8 (KIP-679).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

#: One right of a role: kind of resource, operation, and the name and pattern type where the entry does not name it.
Right = tuple[str, str, "tuple[str, str] | None"]

_MIRROR_SOURCE: tuple[Right, ...] = (
    ("topic", "read", None),
    ("topic", "describe_configs", None),
    ("group", "describe", None),
    *(("topic", operation, ("mm2-offset-syncs.", "prefixed")) for operation in ("create", "read", "write")),
    ("topic", "describe_configs", ("mm2-offset-syncs.", "prefixed")),
)
_MIRROR_TARGET: tuple[Right, ...] = (
    *(("topic", operation, None) for operation in ("create", "read", "write", "alter", "alter_configs")),
    ("group", "read", None),
    *(("topic", operation, ("mm2-", "prefixed")) for operation in ("create", "read", "write", "describe_configs")),
    *(("topic", operation, ("heartbeats", "literal")) for operation in ("create", "write")),
)
#: The rights of each role. A right without a name is given on what the entry lists of that kind.
ROLES: Mapping[str, tuple[Right, ...]] = {
    "producer": (("topic", "write", None),),
    "consumer": (("topic", "read", None), ("group", "read", None)),
    "transactional": (("topic", "write", None), ("transactional_id", "write", None), ("group", "read", None)),
    "spark": (("topic", "read", None), ("topic", "write", None), ("group", "read", None)),
    "mirror_source": _MIRROR_SOURCE,
    "mirror_target": _MIRROR_TARGET,
    "mirror": tuple(dict.fromkeys((*_MIRROR_SOURCE, *_MIRROR_TARGET))),
}
#: The option of an entry that lists resources of a kind.
LISTED_BY = {"topic": "topics", "group": "groups", "transactional_id": "transactional_ids"}


def expand(role: str, listed: Mapping[str, Sequence[str]], pattern_type: str) -> Iterator[tuple[str, str, str, str]]:
    """The rights of a role as (resource type, resource, pattern type, operation).

    C(listed) holds names by LISTED_BY's options; C(pattern_type) holds for all of them.
    """
    for resource_type, operation, fixed in ROLES[role]:
        if fixed is not None:
            yield resource_type, fixed[0], fixed[1], operation
            continue
        for name in listed.get(LISTED_BY[resource_type]) or ():
            yield resource_type, name, pattern_type, operation


def role_violations(role: str, listed: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what is wrong with the lists of a role."""
    if role not in ROLES:
        yield f"role is {role}; {', '.join(ROLES)} are allowed"
        return
    kinds = {resource_type for resource_type, _operation, fixed in ROLES[role] if fixed is None}
    usable = [option for kind, option in LISTED_BY.items() if kind in kinds]
    for option in LISTED_BY.values():
        if listed.get(option) and option not in usable:
            yield f"role {role} has no use for {option}; {', '.join(usable)} are allowed"
    if not any(listed.get(option) for option in usable):
        yield f"role {role} names no resource; {', '.join(usable)} are allowed, at least one of them"
