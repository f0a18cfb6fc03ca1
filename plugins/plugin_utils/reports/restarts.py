# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A restart on one line: which node, why, and how long it was missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._core.progress import duration

#: How many reasons a line names, and how many characters a reason may have to show its values.
SHOWN, SHORT = 3, 80


def given_back(service: str) -> str:
    """Say of a node that it goes to the service that ran it before it was taken over."""
    return f"given back to {service}"


def restart_words(reasons: Sequence[Mapping[str, Any]], back_to: str = "") -> str:
    """Say why a node restarts, from the reasons that node_info found; without any, somebody asked for it.

    back_to -- the service that it is given back to; which files it would get does not matter then.
    """
    if back_to:
        return given_back(back_to)
    if not reasons:
        return "requested by kafka_restart_force"
    named = [_words(reason) for reason in reasons[:SHOWN]]
    more = [f"{len(reasons) - SHOWN} more"] if len(reasons) > SHOWN else []
    return ", ".join(named + more)


def restart_plan(
    host: str,
    reasons: Sequence[Mapping[str, Any]],
    refusals: Sequence[Mapping[str, Any] | str] = (),
    back_to: str = "",
) -> str:
    """Say that a run would restart a node, and why it could not now; ``refusals`` are those of the restart gate."""
    return f"{host} would restart ({restart_words(reasons, back_to)}){_held(refusals)}"


def stop_plan(host: str, refusals: Sequence[Mapping[str, Any] | str] = ()) -> str:
    """Say that a run would stop a node for good, and why it could not now, as `restart_plan` does."""
    return f"{host} would stop, and stay down when its machine boots{_held(refusals)}"


def _held(refusals: Sequence[Mapping[str, Any] | str]) -> str:
    why = [one if isinstance(one, str) else str(one["what"]) for one in refusals]
    return f"; not now: {'; '.join(why)}" if why else ""


def restart_line(
    host: str, reasons: Sequence[Mapping[str, Any]], down: float, synced: float | None, back_to: str = ""
) -> str:
    """Say that a node was restarted: ``down`` seconds until it listened, ``synced`` more until it was in sync."""
    back = "" if synced is None else f", back in sync {duration(synced)}"
    return f"{host} restarted ({restart_words(reasons, back_to)}), down {duration(down)}{back}"


def _words(reason: Mapping[str, Any]) -> str:
    name, kind = reason["name"], reason["kind"]
    if kind == "record":
        return "started by something else"
    if kind == "file":
        return f"file {name.rpartition('/')[2]} changed"
    before, after = ("(not set)" if reason[side] is None else reason[side] for side in ("from", "to"))
    what = f"JVM option {name}" if kind == "jvm" else name
    full = f"{what}: {before} -> {after}"
    return full if len(full) <= SHORT else f"{what} changed"
