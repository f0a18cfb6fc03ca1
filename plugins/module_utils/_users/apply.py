# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""SCRAM users, the doing half: reads the credentials, tries passwords by logging in, sets what differs, and waits."""

from __future__ import annotations

import concurrent.futures
import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.settle import (
    live_brokers,
    wait_until_none,
    wait_until_seen,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import Applied
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change, diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    AccessRefusedError,
    ClusterUnreachableError,
    RefusedError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._users.login import (
    Login,
    UntriedError,
    log_in,
    try_logins,
)
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import (
    Credentials,
    Key,
    UserPlan,
    UserWish,
    changes_of,
    parse_wishes,
    plan_users,
    requests,
    to_prove,
)
from ansible_collections.streamops.kafka.plugins.module_utils._users.scram import salted_password

if TYPE_CHECKING:
    from ansible_collections.streamops.kafka.plugins.module_utils._client.admin import Admin

#: Credentials in one request; each is one record of the 10,000 that a controller takes.
_BATCH = 1_000
#: Bytes of a salt; Kafka's own tools take about as many.
_SALT_BYTES = 24


def ensure_users(
    admin: Admin,
    items: Sequence[Mapping[str, Any]],
    update_password: str,
    login: Login | None,
    timeout: float,
    check: bool,
    diff: bool,
) -> dict[str, Any]:
    """Give the users of the list their credentials, wait until every broker knows; return the module's result."""
    wishes, violations = parse_wishes(items)
    if violations:
        raise RefusedError(f"users ({len(items)} wanted)", violations)
    state = admin.credentials()
    logins, why = try_logins(login, to_prove(state, wishes, update_password))
    plan = plan_users(state, wishes, logins, update_password, _own(admin))
    if plan.violations:
        raise RefusedError(f"users ({len(items)} wanted)", plan.violations)
    if (plan.upserts or plan.deletions) and not check:
        applied = Applied[Key]("user", " by ".join)
        with applied.truthful(lambda done: _changes(state, plan, logins, done), diff):
            _apply(admin, plan, applied)
            _wait_for_login(_in_order(admin, plan), login, timeout)
            with _known_as(admin, plan, timeout) as known:
                wait_until_seen(
                    "users", live_brokers(known), lambda broker: _missing(plan, known.credentials(broker)), timeout
                )
    result: dict[str, Any] = {
        "changed": bool(plan.changes),
        "created": list(plan.created),
        "updated": list(plan.updated),
        "deleted": list(plan.deleted),
        "unchanged": plan.unchanged,
        "unproven": list(plan.unproven),
        "unproven_because": why,
    }
    if diff:
        result["diff"] = diff_of(plan.changes)
    return result


def unproven_warnings(result: Mapping[str, Any]) -> list[str]:
    """What to warn a user of: passwords that no login could prove."""
    return [
        f"users {', '.join(result['unproven'][:20])}{' ...' if len(result['unproven']) > 20 else ''}: whether their "
        f"passwords are as given was not tried: {mechanism}: {why}. They were left as they are; "
        "update_password: always sets them unseen."
        for mechanism, why in result["unproven_because"].items()
    ]


def _own(admin: Admin) -> Key | None:
    """Who this run is logged in as, None when not by SCRAM."""
    name, mechanism = admin.connection.sasl_username, admin.connection.sasl_mechanism
    return (name, mechanism) if name and mechanism and mechanism.startswith("SCRAM-") else None


@contextlib.contextmanager
def _known_as(admin: Admin, plan: UserPlan, timeout: float) -> Iterator[Admin]:
    """Who asks from now on: the same, or who it is by its new password when the plan gave itself one.

    That is refused until a broker knows it, which is waited for.
    """
    mine = [wish for wish in plan.upserts if wish.key == _own(admin)]
    if not mine:
        yield admin
        return
    renewed = type(admin)(replace(admin.connection, sasl_password=mine[0].password))

    def missing() -> list[str]:
        """That it does not let us in yet."""
        try:
            renewed.__enter__()
        except (AccessRefusedError, ClusterUnreachableError) as error:
            return [error.message.removesuffix(" Nothing was changed.")]
        return []

    wait_until_none("users", missing, timeout)
    try:
        yield renewed
    finally:
        renewed.__exit__()


def _changes(state: Credentials, plan: UserPlan, logins: Mapping[Key, str], done: Sequence[Key]) -> list[Change]:
    """From and to of what was done, of a plan that was done in part."""
    upserts = [wish for wish in plan.upserts if wish.key in done]
    return changes_of(state, upserts, [key for key in plan.deletions if key in done], logins)


def _apply(admin: Admin, plan: UserPlan, applied: Applied[Key]) -> None:
    _upsert(admin, [wish for wish in plan.upserts if wish.key != _own(admin)], applied)
    for part in requests(plan.deletions, _BATCH):
        applied.ask(part, partial(admin.alter_credentials, (), part), _user)
    # Its own new password behind all else: each request goes to a broker drawn anew, and no connection can be opened
    # with the old one then.
    _upsert(admin, [wish for wish in plan.upserts if wish.key == _own(admin)], applied)


def _in_order(admin: Admin, plan: UserPlan) -> list[UserWish]:
    """The credentials in the order in which they are set: requests may change that of the list, its own is last."""
    wishes = {wish.key: wish for wish in plan.upserts}
    others = [key for part in requests([key for key in wishes if key != _own(admin)], _BATCH) for key in part]
    return [wishes[key] for key in [*others, *(key for key in wishes if key == _own(admin))]]


def _upsert(admin: Admin, upserts: Sequence[UserWish], applied: Applied[Key]) -> None:
    wishes = {wish.key: wish for wish in upserts}
    for part in requests(wishes, _BATCH):
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:  # Hashing does not hold Python's lock.
            hashed = list(pool.map(_credential, [wishes[key] for key in part]))
        applied.ask(part, partial(admin.alter_credentials, hashed, ()), _user)


def _user(key: Key) -> str:
    return key[0]


def _credential(wish: UserWish) -> tuple[str, str, int, bytes, bytes]:
    salt = secrets.token_bytes(_SALT_BYTES)
    salted = salted_password(wish.mechanism, wish.password, salt, wish.iterations)
    return wish.name, wish.mechanism, wish.iterations, salt, salted


def _missing(plan: UserPlan, seen: Credentials) -> list[str]:
    """What one broker does not see done yet, as far as it tells."""
    missing = [wish.name for wish in plan.upserts if seen.get(wish.name, {}).get(wish.mechanism) != wish.iterations]
    return missing + [
        f"{name} still has {mechanism}" for name, mechanism in plan.deletions if mechanism in seen.get(name, {})
    ]


def _wait_for_login(in_order: Sequence[UserWish], login: Login | None, timeout: float) -> None:
    """Return when each server of the login takes the last password that was set.

    Brokers read the metadata log in order, so a broker that knows the last credential of a request knows all of it;
    a changed password shows in no answer of Kafka's but this.
    """
    last = {wish.mechanism: wish for wish in in_order}
    if login is None:
        return

    def missing(server: str) -> list[str]:
        """Whose new password one server does not take yet."""
        return [
            f"does not take the new password of {wish.name}" for wish in last.values() if _refused(login, server, wish)
        ]

    servers = login.connection.bootstrap_servers
    wait_until_seen("users", lambda: servers, missing, timeout)


def _refused(login: Login, server: str, wish: UserWish) -> bool:
    try:
        return not log_in(login.at(server), wish)
    except UntriedError:
        return False  # It was never promised that this login works: the mechanism may not be offered here.
