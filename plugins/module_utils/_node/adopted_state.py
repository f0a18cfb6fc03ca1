# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Bring a node that something else ran before to a wanted phase, or to the old service: what adopted_node does.

The file is written before anything is done that it tells of, so that a run that is cut goes on with the same command.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from typing import Any

from . import adopted as known
from . import adopted_look
from .adopted import CLAIMED, NOBODY, OLD, RETURNED, TAKEN, Adopted, AdoptedFileError, Claim
from .adopted_service import Machine, start, start_of, stop
from .installed import NONE

#: By the wanted state what the file says of the phase from then on.
_PHASES = {"claimed": CLAIMED, "taken": TAKEN, "returned": RETURNED}


@dataclass(frozen=True)
class Wish:
    """What the module was asked for, by the names of its options; timeout and watch are in seconds."""

    path: str
    state: str
    claim: Claim | None = None
    timeout: float = 330
    watch: float = 3


def bring(wish: Wish, is_check: bool, machine: Machine) -> dict[str, Any]:
    """Do what the module adopted_node is for, and return its result; is_check -- nothing is done."""
    path, state = wish.path, wish.state
    before = adopted_look.read(path)
    if state == "absent":
        if before is not None and not is_check:
            os.remove(path)
        return {"changed": before is not None, "adopted": None}
    after = _claimed(wish.claim, before, is_check) if state == "claimed" and wish.claim else before
    if after is None:
        raise AdoptedFileError(
            f"{path} is not there, so nothing tells who ran this node before. Nothing was changed. fix: run adopt.yml "
            "without kafka_adopt, which shows what runs.",
            path=path,
        )
    after = replace(after, phase=_PHASES.get(state, after.phase))
    changed = after != before
    if changed and not is_check:
        write(path, after)
    if state in ("stopped", "started"):
        changed |= _does(wish, after, is_check, machine)
    runs = OLD if machine.find(after) is not None else NOBODY
    return {"changed": changed, "adopted": known.shown(after, runs)}


def _does(wish: Wish, adopted: Adopted, is_check: bool, machine: Machine) -> bool:
    if is_check:
        return (machine.find(adopted) is None) == (wish.state == "started")
    if wish.state == "stopped":
        return stop(adopted, wish.timeout, wish.watch, machine)
    return start(adopted, machine)


def _claimed(claim: Claim, before: Adopted | None, is_check: bool) -> Adopted:
    """Return what the file is to say of a process. One without a service is started again as it was started now.

    What a file of before says about the start at boot stays: a run that was cut may have disabled the service.
    """
    needs_start = claim["manager"] == NONE and not is_check
    after = known.claimed(claim, start_of(claim["pid"]) if needs_start else None)
    is_same = before is not None and (before.manager, before.name) == (after.manager, after.name)
    return replace(after, enabled=after.enabled or (before is not None and is_same and before.enabled))


def write(path: str, adopted: Adopted) -> None:
    """Write the file for its owner alone; it is whole at any time, and on the disk before this returns."""
    new = f"{path}.new"
    # Others pass through the parents, whatever the umask of the session is. The directory of the node itself gets its
    # mode with its files: until then it is listed as one that is to change, as in the plan of a run in check mode.
    umask = os.umask(0o022)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    finally:
        os.umask(umask)
    with contextlib.suppress(FileNotFoundError):
        os.remove(new)
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(known.dump(adopted))
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
