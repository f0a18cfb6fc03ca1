# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Registrations of brokers, the doing half."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_none
from .._cluster.api import describe_quorum, list_brokers, list_reassignments, list_topics
from .._configs.api import BROKER, alter_configs, describe_configs
from .._core.applied import Applied
from .._core.diff import Change, diff_of
from .._core.errors import RefusedError, RequestFailedError
from .api import unregister_broker
from .registration import ALL, CORDONED, Registration, cordon_violations, registrations, unregister_violations

SUBJECT = "broker_registration"


def ensure_registration(session: Session, params: Mapping[str, Any], check: bool, _diff: bool) -> dict[str, Any]:
    """Make the registration of a broker what is wanted and return the module's result; present changes nothing."""
    broker, state, timeout = params["broker"], params["state"], params["timeout"]
    before = _look(session, broker)
    if state == "present" or broker is None:
        return {"changed": False, "brokers": [one.as_dict() for one in before]}
    gone = state == "unregistered"
    after = before[0]
    key, value = ("registered", False) if gone else ("cordoned", state == "cordoned")
    change = Change(f"broker {broker}", {key: before[0].as_dict()[key]}, {key: value})
    if gone:
        _refuse_unregistering(session, before[0])
        # Kafka before 4.0 does not list fenced brokers, so unregister in any case.
        changed = before[0].registered if check else True
    else:
        changed = _cordoning(session, before[0], state, check)
    if changed and not check:
        applied = Applied[str](state, lambda name: f"broker {name}")
        settle = partial(_wait, broker=broker, state=state, timeout=timeout)
        with applied.truthful(lambda done: [change] if done else [], True, settle=settle):
            changed = _ask(session, applied, broker, state)
            settle(session)
            after = _look(session, broker)[0]
    return {"changed": changed, "brokers": [after.as_dict()], "diff": diff_of([change] if changed else [])}


def _wait(session: Session, broker: int, state: str, timeout: float) -> None:
    """Return when the brokers show the registration as it is wanted."""
    wait_until_none(SUBJECT, lambda: _missing(session, broker, state), timeout)


def _look(session: Session, broker: int | None) -> list[Registration]:
    brokers = list_brokers(session)
    alive = [str(one.id) for one in brokers if not one.fenced and broker in (None, one.id)]
    configs = describe_configs(session, BROKER, {name: [CORDONED] for name in alive})
    cordoned = {name: values[CORDONED].value or "" for name, values in configs.items() if CORDONED in values}
    return registrations(brokers, cordoned, broker)


def _cordoning(session: Session, found: Registration, state: str, check: bool) -> bool:
    """Return whether something has to be set; the cluster judges it in check mode."""
    violations = cordon_violations(found, state)
    if violations:
        raise RefusedError(SUBJECT, violations)
    if (found.cordoned or None) == _wanted(state):
        return False
    if check:
        name = str(found.id)
        failure = alter_configs(session, BROKER, {name: {CORDONED: _wanted(state)}}, validate_only=True).get(name)
        if failure is not None:
            raise RequestFailedError(state, f"broker {name}", *failure)
    return True


def _wanted(state: str) -> str | None:
    return ALL if state == "cordoned" else None


def _refuse_unregistering(session: Session, found: Registration) -> None:
    partitions = [partition for listed in list_topics(session).values() for partition in listed]
    violations = unregister_violations(
        found, describe_quorum(session) is not None, partitions, list_reassignments(session)
    )
    if violations:
        raise RefusedError(SUBJECT, violations)


def _ask(session: Session, applied: Applied[str], broker: int, state: str) -> bool:
    """Make the one request; whether it changed something."""
    name = str(broker)
    if state != "unregistered":
        applied.ask([name], lambda: alter_configs(session, BROKER, {name: {CORDONED: _wanted(state)}}))
        return True
    there: list[bool] = []

    def forget() -> dict[str, None]:
        """Ask for it, which raises when it is refused."""
        there.append(unregister_broker(session, broker))
        return {}

    applied.ask([name], forget)
    if not there[0]:
        applied.done.clear()
    return there[0]


def _missing(session: Session, broker: int, state: str) -> list[str]:
    """Return what is not seen yet."""
    found = _look(session, broker)[0]
    if state == "unregistered":
        return [f"broker {broker} is still registered"] if found.registered else []
    return [] if bool(found.cordoned) == (state == "cordoned") else [f"broker {broker} is not shown as {state}"]
