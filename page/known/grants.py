"""Who may do what in a cluster, its SCRAM users, ACLs and client quotas as rows without any secret. Pure.

What Kafka tells of a SCRAM user are mechanisms and iterations alone (KIP-554): salts and keys never leave the brokers.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import Quotas
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import Credentials

#: The first Kafka that tells each part of the details (KIP-226, KIP-554, KIP-140, KIP-546; drills are records, whose
#: ends KIP-79 tells).
_SINCE = {"configs": "1.1", "brokers": "1.1", "users": "2.7", "acls": "0.11", "quotas": "2.6", "drills": "0.10.1"}
_NO_AUTHORIZER, _TOO_OLD = "SECURITY_DISABLED", "UNSUPPORTED_VERSION"


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


def never_tells(error: StreamopsError) -> bool:
    """Return whether a cluster has nothing to tell as it is, so that what it told before holds no more."""
    return isinstance(error, RequestFailedError) and error.code in (_NO_AUTHORIZER, _TOO_OLD)


def why_not(what: str, error: StreamopsError) -> str:
    """Say why a part of the details was not told, and the next step."""
    code = error.code if isinstance(error, RequestFailedError) else ""
    if code == _NO_AUTHORIZER:
        return (
            "This cluster has no authorizer, so there are no ACLs: every client that its listeners let in may do all. "
            "Next step: set kafka_authorizer: true for this cluster, as docs/security.md tells, and run site.yml."
        )
    if code == _TOO_OLD:
        return (
            f"The brokers are older than Kafka {_SINCE[what]} and cannot tell this. "
            "Next step: upgrade the cluster (kafka_version)."
        )
    # A missing right, and a poll that ran out of time, name their fix themselves.
    fixed = isinstance(error, RequestFailedError) and (not error.passing or code == "POLL_TIMEOUT")
    more = "" if fixed else " Next step: look again after it was asked again; if this stays, read the brokers' logs."
    return f"This was not told: {error.message.rstrip('.')}.{more}"
