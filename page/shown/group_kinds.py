"""The parts of a list of groups: by their state in Kafka, and by whether they read. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._health.group_rules import stopped_in, to_read
from page.known.picture import Picture
from page.known.standing import seconds_of
from page.shown.kinds import Kind, Kinds

Row = Mapping[str, Any]

#: States of groups of all types (org.apache.kafka.common.GroupState) by the part that they are in.
_STATES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "stable": ("Stable", ("stable",)),
    "rebalancing": ("Rebalancing", ("preparingrebalance", "completingrebalance", "assigning", "reconciling")),
    "not_ready": ("Not ready", ("notready",)),
    "empty": ("Empty", ("empty",)),
    "dead": ("Dead", ("dead",)),
}
_KNOWN = frozenset(state for _title, states in _STATES.values() for state in states)


def _by_state(key: str) -> Kind:
    title, states = _STATES[key]
    return Kind(key, title, lambda one: _state(one) in states)


def _state(group: Row) -> str:
    return str(group["state"]).replace("_", "").lower()


KINDS = Kinds(
    "state",
    (
        *map(_by_state, _STATES),
        Kind("other", "Other state", lambda one: _state(one) not in _KNOWN),
        Kind("behind", "Behind", lambda one: to_read(one) > 0),
        Kind("stopped", "Stopped", lambda one: bool(one["stopped_in"])),
        Kind("unread", "Behind without members",
             lambda one: not one["error"] and not one["member_count"] and to_read(one) > 0),
        Kind("untold", "Not fully known", lambda one: bool(one["error"])),
    ),
    "Show groups",
)  # fmt: skip


def with_stopped(groups: Sequence[Row], picture: Picture | None) -> list[dict[str, Any]]:
    """Return groups with C(stopped_in), the topics in which they have stopped as the finding group_stopped has it."""
    stands = seconds_of(picture.standing, picture.taken)[0] if picture else {}
    watched = picture.watched if picture else ()
    return [{**one, "stopped_in": [*stopped_in(one, stands.get(one["name"], {}), watched)]} for one in groups]
