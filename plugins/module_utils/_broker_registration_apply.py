# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registrations of brokers, the doing half."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._applied import changed_even_so
from ansible_collections.streamops.kafka.plugins.module_utils._broker_registration import (
    ALL,
    CORDONED,
    Registration,
    cordon_violations,
    registrations,
    unregister_violations,
)
from ansible_collections.streamops.kafka.plugins.module_utils._client import BROKER
from ansible_collections.streamops.kafka.plugins.module_utils._diff import Change, diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._errors import RefusedError, RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._seen import wait_until_none

if TYPE_CHECKING:
    from ansible_collections.streamops.kafka.plugins.module_utils._partitions import PartitionAdmin

SUBJECT = "broker_registration"


def ensure_registration(
    admin: PartitionAdmin, broker: int | None, state: str, timeout: float, check: bool
) -> dict[str, Any]:
    """Make the registration of a broker what is wanted and return the module's result; present changes nothing."""
    before = _look(admin, broker)
    if state == "present" or broker is None:
        return {"changed": False, "brokers": [one.as_dict() for one in before]}
    gone = state == "unregistered"
    changed = _unregister(admin, before[0], check) if gone else _cordon(admin, before[0], state, check)
    after = before[0]
    key, value = ("registered", False) if gone else ("cordoned", state == "cordoned")
    change = Change(f"broker {broker}", {key: before[0].as_dict()[key]}, {key: value})
    if changed and not check:
        with changed_even_so(change):
            wait_until_none(SUBJECT, lambda: _missing(admin, broker, state), timeout)
            after = _look(admin, broker)[0]
    return {"changed": changed, "brokers": [after.as_dict()], "diff": diff_of([change] if changed else [])}


def _look(admin: PartitionAdmin, broker: int | None) -> list[Registration]:
    brokers = admin.brokers()
    alive = [str(one.id) for one in brokers if not one.fenced and broker in (None, one.id)]
    configs = admin.configs(BROKER, {name: [CORDONED] for name in alive})
    cordoned = {name: values[CORDONED].value or "" for name, values in configs.items() if CORDONED in values}
    return registrations(brokers, cordoned, broker)


def _cordon(admin: PartitionAdmin, found: Registration, state: str, check: bool) -> bool:
    violations = cordon_violations(found, state)
    if violations:
        raise RefusedError(SUBJECT, violations)
    wanted = ALL if state == "cordoned" else None
    if (found.cordoned or None) == wanted:
        return False
    name = str(found.id)
    failure = admin.set_configs(BROKER, {name: {CORDONED: wanted}}, validate_only=check).get(name)
    if failure is not None:
        raise RequestFailedError(state, f"broker {name}", *failure)
    return True


def _unregister(admin: PartitionAdmin, found: Registration, check: bool) -> bool:
    partitions = [partition for listed in admin.topics().values() for partition in listed]
    violations = unregister_violations(found, admin.quorum() is not None, partitions, admin.in_flight())
    if violations:
        raise RefusedError(SUBJECT, violations)
    # Before Kafka 4.0 a cluster does not list who is fenced, so it is asked to forget whom it may not know.
    return found.registered if check else admin.unregister_broker(found.id)


def _missing(admin: PartitionAdmin, broker: int, state: str) -> list[str]:
    """What is not seen yet."""
    found = _look(admin, broker)[0]
    if state == "unregistered":
        return [f"broker {broker} is still registered"] if found.registered else []
    return [] if bool(found.cordoned) == (state == "cordoned") else [f"broker {broker} is not shown as {state}"]
