"""Say how old the details are, which are not asked at each poll, and why they are not newer. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from page.known.details import Details
from page.known.freshness import clock, iso
from page.shown.sheet import State

_NOT_YET = "This has not been asked yet. Next step: look again after the next poll."


def details_of(state: State) -> Details:
    """Return the details of the last picture; those of no cluster before the first one."""
    return state.seen.picture.details if state.seen.picture else Details()


def as_of(state: State, part: str) -> str:
    """Return when a part (of page.known.details) was told, how long ago, and why not since; empty if it never was."""
    details = details_of(state)
    return age_of(state, details.told.get(part), details.why.get(part, ""))


def age_of(state: State, told: float | None, why: str) -> str:
    """Return the same of what was told at a time; C(why) is why it was not told again, empty where it was."""
    asked, picture = details_of(state).asked, state.seen.picture
    if told is None or asked is None or picture is None:
        return ""
    age = max(0.0, picture.taken + (state.fresh.age or 0.0) - told)
    since = f" It was asked again at {clock(asked)}. {why}" if why else ""
    return f"As of {clock(told)}, {duration(age)} ago.{since}"


def not_told(state: State, part: str) -> str:
    """Return why a part is not known, with the next step."""
    return details_of(state).why.get(part, _NOT_YET)


def newer(state: State, part: str) -> str:
    """Return why a part that was told has nothing of something that is there now."""
    details = details_of(state)
    since = clock(details.told[part])
    return " ".join(
        filter(
            None,
            [
                f"It is new since {since}, when all others were asked, so this is not asked yet. Next step: look again "
                "when they are asked the next time, every kafka_page_details_interval seconds.",
                details.why.get(part, ""),
            ],
        )
    )


def times(state: State, *parts: str) -> dict[str, Any]:
    """Return for machines when each of these parts was told, None where it never was."""
    told = details_of(state).told
    return {part: iso(told[part]) if part in told else None for part in parts}
