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
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_none, wait_until_seen
from .._cluster.api import live_brokers
from .._core.applied import Applied
from .._core.diff import Change, diff_of
from .._core.errors import AccessRefusedError, ClusterUnreachableError, RefusedError, warn
from .._core.names import capped
from .._core.scram import salted_password
from .api import alter_credentials, describe_credentials
from .login import Login, UntriedError, log_in, try_logins
from .plan import Credentials, DesiredUser, Key, UserPlan, changes_of, parse_specs, plan_users, requests, to_prove

#: Credentials in one request; each is one record of the 10,000 that a controller takes.
_BATCH = 1_000
#: Bytes of a salt; Kafka's own tools take about as many.
_SALT_BYTES = 24


def ensure_users(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Give the users of the list their credentials, wait until every broker knows; return the module's result."""
    items, timeout = params["users"], params["timeout"]
    login = Login.of(
        session.connection,
        params["login_bootstrap_servers"],
        params["login_security_protocol"],
        params["login_timeout"],
    )
    specs, violations = parse_specs(items, params["update_password"])
    if violations:
        raise RefusedError(f"users ({len(items)} wanted)", violations)
    state = describe_credentials(session)
    logins, why = try_logins(login, to_prove(state, specs))
    plan = plan_users(state, specs, logins, _own(session))
    if plan.violations:
        raise RefusedError(f"users ({len(items)} wanted)", plan.violations)
    if (plan.upserts or plan.deletions) and not check:
        applied = Applied[Key]("user", " by ".join)
        settle = partial(_wait, plan=plan, login=login, timeout=timeout)
        with applied.truthful(lambda done: _changes(state, plan, logins, done), diff, partial(_named, plan), settle):
            _apply(session, plan, applied)
            settle(session)
    result: dict[str, Any] = {
        "changed": bool(plan.changes),
        "created": list(plan.created),
        "updated": list(plan.updated),
        "deleted": list(plan.deleted),
        "unchanged": plan.unchanged,
        "unproven": list(plan.unproven),
        "unproven_because": why,
    }
    for mechanism, reason in why.items():
        warn(
            f"users {capped(plan.unproven)}: no login by {mechanism} could be tried ({reason}), so their passwords "
            "were not compared and were left as they are. Set update_password: always to set them without comparing."
        )
    if diff:
        result["diff"] = diff_of(plan.changes)
    return result


def _wait(session: Session, plan: UserPlan, login: Login | None, timeout: float) -> None:
    """Return when the users can log in and every live broker knows them."""
    _wait_for_login(_in_order(session, plan), login, timeout)
    with _known_as(session, plan, timeout) as known:
        wait_until_seen(
            "users",
            partial(live_brokers, known),
            lambda broker: _missing(plan, describe_credentials(known, broker)),
            timeout,
        )


def _own(session: Session) -> Key | None:
    """Return who this run is logged in as, None when not by SCRAM."""
    name, mechanism = session.connection.sasl_username, session.connection.sasl_mechanism
    return (name, mechanism) if name and mechanism and mechanism.startswith("SCRAM-") else None


@contextlib.contextmanager
def _known_as(session: Session, plan: UserPlan, timeout: float) -> Iterator[Session]:
    """Yield who asks from now on: the same, or who it is by its new password when the plan gave itself one.

    That is refused until a broker knows it, which is waited for.
    """
    mine = [spec for spec in plan.upserts if spec.key == _own(session)]
    if not mine:
        yield session
        return
    renewed = Session(replace(session.connection, sasl_password=mine[0].password))

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
    upserts = [spec for spec in plan.upserts if spec.key in done]
    return changes_of(state, upserts, [key for key in plan.deletions if key in done], logins)


def _named(plan: UserPlan, done: Sequence[Key]) -> dict[str, list[str]]:
    """Return the users of what was done, as the module's result names them."""
    names = {name for name, _mechanism in done}
    listed = {"created": plan.created, "updated": plan.updated, "deleted": plan.deleted}
    return {field: [name for name in users if name in names] for field, users in listed.items()}


def _apply(session: Session, plan: UserPlan, applied: Applied[Key]) -> None:
    _upsert(session, [spec for spec in plan.upserts if spec.key != _own(session)], applied)
    for part in requests(plan.deletions, _BATCH):
        applied.ask(part, partial(alter_credentials, session, (), part), _user)
    # Its own new password behind all else: each request goes to a broker drawn anew, and no connection can be opened
    # with the old one then.
    _upsert(session, [spec for spec in plan.upserts if spec.key == _own(session)], applied)


def _in_order(session: Session, plan: UserPlan) -> list[DesiredUser]:
    """The credentials in the order in which they are set: requests may change that of the list, its own is last."""
    specs = {spec.key: spec for spec in plan.upserts}
    others = [key for part in requests([key for key in specs if key != _own(session)], _BATCH) for key in part]
    return [specs[key] for key in [*others, *(key for key in specs if key == _own(session))]]


def _upsert(session: Session, upserts: Sequence[DesiredUser], applied: Applied[Key]) -> None:
    specs = {spec.key: spec for spec in upserts}
    for part in requests(specs, _BATCH):
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:  # Hashing does not hold Python's lock.
            hashed = list(pool.map(_credential, [specs[key] for key in part]))
        applied.ask(part, partial(alter_credentials, session, hashed, ()), _user)


def _user(key: Key) -> str:
    return key[0]


def _credential(spec: DesiredUser) -> tuple[str, str, int, bytes, bytes]:
    salt = secrets.token_bytes(_SALT_BYTES)
    salted = salted_password(spec.mechanism, spec.password, salt, spec.iterations)
    return spec.name, spec.mechanism, spec.iterations, salt, salted


def _missing(plan: UserPlan, seen: Credentials) -> list[str]:
    """Return what one broker does not see done yet, as far as it tells."""
    missing = [spec.name for spec in plan.upserts if seen.get(spec.name, {}).get(spec.mechanism) != spec.iterations]
    return missing + [
        f"{name} still has {mechanism}" for name, mechanism in plan.deletions if mechanism in seen.get(name, {})
    ]


def _wait_for_login(in_order: Sequence[DesiredUser], login: Login | None, timeout: float) -> None:
    """Return when each server of the login takes the last password that was set.

    Brokers read the metadata log in order, so a broker that knows the last credential of a request knows all of it;
    a changed password shows in no answer of Kafka's but this. A credential of on_create is always new, which brokers
    show, and its password is never tried.
    """
    last = {spec.mechanism: spec for spec in in_order if spec.update_password != "on_create"}
    if login is None:
        return

    def missing(server: str) -> list[str]:
        """Whose new password one server does not take yet."""
        return [
            f"does not take the new password of {spec.name}" for spec in last.values() if _refused(login, server, spec)
        ]

    servers = login.connection.bootstrap_servers
    wait_until_seen("users", lambda: servers, missing, timeout)


def _refused(login: Login, server: str, spec: DesiredUser) -> bool:
    try:
        return not log_in(login.at(server), spec)
    except UntriedError:
        return False  # It was never promised that this login works: the mechanism may not be offered here.
