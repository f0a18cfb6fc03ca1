"""Who may do what in a cluster: its SCRAM users, ACLs and client quotas, without any secret. Pure.

What Kafka tells of a SCRAM user are mechanisms and iterations alone (KIP-554): salts and keys never leave the brokers.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import Quotas
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import Credentials

USERS, ACLS, QUOTAS = "users", "acls", "quotas"
#: The first Kafka that tells each (KIP-554, KIP-140, KIP-546).
_SINCE = {USERS: "2.7", ACLS: "0.11", QUOTAS: "2.6"}


@dataclass(frozen=True)
class Grants:
    """What a poll was told: rows of C(users), C(acls) and C(quotas), each None where it was not told.

    C(why), by USERS, ACLS and QUOTAS: why not, with the next step, in sentences. A user has C(name) and
    C(mechanisms), the iterations by mechanism. An ACL has the fields of a Binding. A quota has C(entity), a list of
    {type, name}, where the name None means all that have no quota of their own, and C(limits) by Kafka's name of each.
    """

    users: Sequence[Mapping[str, Any]] | None = None
    acls: Sequence[Mapping[str, Any]] | None = None
    quotas: Sequence[Mapping[str, Any]] | None = None
    why: Mapping[str, str] = field(default_factory=dict)


def user_rows(found: Credentials) -> list[dict[str, Any]]:
    """Return SCRAM users by name."""
    return [{"name": name, "mechanisms": dict(sorted(found[name].items()))} for name in sorted(found)]


def acl_rows(found: Iterable[Binding]) -> list[dict[str, Any]]:
    """Return ACLs in the order of principal, host and so on."""
    return [one._asdict() for one in sorted(found)]


def quota_rows(found: Quotas) -> list[dict[str, Any]]:
    """Return quotas by their entity, that of a default before those of names."""
    order = sorted(found, key=lambda entity: [(kind, name is not None, name or "") for kind, name in entity])
    return [
        {
            "entity": [{"type": kind, "name": name} for kind, name in entity],
            "limits": dict(sorted(found[entity].items())),
        }
        for entity in order
    ]


def why_not(what: str, error: StreamopsError) -> str:
    """Say why one of the three was not told, and the next step."""
    code = error.code if isinstance(error, RequestFailedError) else ""
    if code == "SECURITY_DISABLED":
        return (
            "This cluster has no authorizer, so there are no ACLs: every client that its listeners let in may do all. "
            "Next step: set kafka_authorizer: true for this cluster, as docs/security.md tells, and run site.yml."
        )
    if code == "UNSUPPORTED_VERSION":
        return (
            f"The brokers are older than Kafka {_SINCE[what]} and cannot tell this. "
            "Next step: upgrade the cluster (kafka_version)."
        )
    # A missing right, and a poll that ran out of time, name their fix themselves.
    fixed = isinstance(error, RequestFailedError) and (not error.passing or code == "POLL_TIMEOUT")
    more = "" if fixed else " Next step: look again after the next poll; if this stays, read the log of the brokers."
    return f"This was not told: {error.message.rstrip('.')}.{more}"
