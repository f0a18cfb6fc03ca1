# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on groups: those that must be there and read, and those that have records to read and no member.

Offsets that were never committed say nothing of a group that has members: with auto.offset.reset=latest it has nothing
to read. So a group has stopped only in partitions in which it has committed once, as in the alert KafkaGroupStopped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .._core.names import capped
from .._core.progress import duration
from .model import NOTE, SERIOUS, SHOWN, SITE, Groups, HealthFinding, Limits, State

#: For how long a group may commit nothing that has records to read: as in the alert KafkaGroupStopped.
STOPPED_SECONDS = 900
#: Without the name, which any client may choose: a command that is copied must not have it in a shell.
_DESCRIBE = "kafka-consumer-groups.sh --bootstrap-server HOST:PORT --describe --group GROUP"


def group_missing(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find watched groups that do not exist; one that a silent broker may have is untold."""
    if state.groups.silent:
        return
    there = {one["name"] for one in state.groups.seen}
    for name in state.groups.watched:
        if name not in there:
            yield HealthFinding(
                "group_missing",
                SERIOUS,
                f"group {name} does not exist",
                found="told by no broker",
                allowed="each group of kafka_groups_watched",
                next_step=f"start its consumers; or correct kafka_groups_watched, then: {SITE}, and page.yml",
            )


def group_without_members(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find watched groups that have records to read and no member."""
    for one in state.groups.seen:
        if one["name"] in state.groups.watched and _is_unread(one):
            yield HealthFinding(
                "group_without_members",
                SERIOUS,
                f"group {one['name']} has records to read and no member",
                found=f"{to_read(one):,} records",
                allowed="a member of each group of kafka_groups_watched",
                next_step=f"start its consumers; {_DESCRIBE}",
            )


def group_stopped(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find groups with members that have committed nothing for a while in topics with records to read.

    Of those without members the rules beside this one tell.
    """
    for one in state.groups.seen:
        stands = stopped_in(one, state.groups.stands.get(one["name"], {}), state.groups.watched)
        if stands:
            yield HealthFinding(
                "group_stopped",
                SERIOUS,
                f"group {one['name']} has stopped in {capped(list(stands), SHOWN)}",
                found=f"nothing committed for {duration(max(stands.values()))}, and {to_read(one):,} records to read",
                allowed=f"a commit within {duration(STOPPED_SECONDS)} wherever it has records to read",
                next_step="look at the logs of its members; a record that they cannot read is passed over by the "
                f"module group_offsets; {_DESCRIBE}",
            )


def stopped_in(group: Mapping[str, Any], stands: Mapping[str, float], watched: Collection[str]) -> dict[str, float]:
    """Return the topics in which a group has stopped, each with its seconds, of those in which it C(stands)."""
    if group["error"] or not group["member_count"]:
        return {}
    return {
        topic: seconds
        for topic, seconds in sorted(stands.items())
        if seconds >= STOPPED_SECONDS and _is_wanted(group, topic, watched)
    }


def groups_unread(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Note groups that have records to read, no member and no commit since the look before: nothing reads on.

    Only where all groups were looked at; watched ones are findings of their own.
    """
    seen = state.groups
    found = [one for one in seen.seen if _is_unread(one) and one["name"] not in seen.watched]
    found = [one for one in found if one["name"] in seen.unread] if seen.is_whole else []
    if found:
        listed = [_behind(one, seen) for one in sorted(found, key=lambda one: (-to_read(one), one["name"]))]
        yield HealthFinding(
            "groups_unread",
            NOTE,
            f"{len(found)} group(s) have records to read and no member",
            found=capped(listed, SHOWN),
            allowed="a member, or no group",
            next_step="start their consumers; groups.yml deletes a group that is no longer needed",
        )


def untold_groups(groups: Groups) -> Iterator[str]:
    """Yield what is unknown of watched groups, as State.untold has it."""
    there = {one["name"]: one for one in groups.seen}
    away = [name for name in groups.watched if name not in there]
    if away and groups.silent:
        why = "; ".join(f"broker {broker}: {why}" for broker, why in sorted(groups.silent.items()))
        yield f"whether group {capped(away, SHOWN)} exists ({why})"
    for name in groups.watched:
        if name in there and there[name]["error"]:
            yield f"how far group {name} has read ({there[name]['error']})"


def to_read(group: Mapping[str, Any]) -> int:
    """Return the records that a group has before it, as far as they are known."""
    known = group.get("behind")
    return int((group.get("lag") or 0) if known is None else known)


def _is_wanted(group: Mapping[str, Any], topic: str, watched: Collection[str]) -> bool:
    """Return whether a group with members is to read a topic: one of them has partitions of it, as far as they tell.

    A group may have stopped to read a topic on purpose; all of a watched group count.
    """
    assigned = {one["topic"] for member in group.get("members") or () for one in member["assignment"]}
    return topic in assigned or not assigned or group["name"] in watched


def _is_unread(group: Mapping[str, Any]) -> bool:
    return not group["error"] and not group["member_count"] and to_read(group) > 0


def _behind(group: Mapping[str, Any], groups: Groups) -> str:
    """Return how far a group is behind, and for how long it has been seen without a member and a commit."""
    seconds = groups.unread[group["name"]]
    since = f" for {duration(seconds)} or longer" if seconds else ""
    return f"{group['name']} ({to_read(group):,} records{since})"
