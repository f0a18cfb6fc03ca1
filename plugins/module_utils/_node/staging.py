# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Stage the start files of a node as a generation: compare with those in use, write, and refuse what failed before."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._core.errors import StreamopsError
from .files import NotOursError, attributes, difference, refuse_other_kind
from .generations import CURRENT, DIRECTORY, FAILED, LINKS, OWN, STAGED, Generations, differing

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

#: Names that the directory needs for itself.
RESERVED = {DIRECTORY, *OWN, *LINKS}
#: Its place when the disk had no room for it.
_NOT_WRITTEN = "it could not be written then; see the output of that run, and the logs of the node."


class GenerationFailedError(StreamopsError):
    """The node was given exactly these files before, and did not come back with them."""


class WrongNameError(StreamopsError):
    """A file that cannot be in a generation."""


@dataclass(frozen=True)
class Plan:
    """What staging has to do: the wanted files by name, which of them are not those in use, and what is in the way."""

    wanted: Mapping[str, str]
    differing: Sequence[str]
    diff: Sequence[Mapping[str, Any]]
    #: The files that wait already, None where none do.
    waiting: Mapping[str, str] | None
    #: The names at which no link into a generation stands.
    unlinked: Sequence[str]

    @property
    def writes(self) -> bool:
        """Return whether a new generation is to wait."""
        return bool(self.differing) and (self.waiting is None or bool(differing(self.waiting, self.wanted)))

    @property
    def drops(self) -> bool:
        """Return whether what waits is no longer wanted, since what is in use is."""
        return not self.differing and self.waiting is not None

    @property
    def changes(self) -> bool:
        """Return whether anything changes."""
        return bool(self.unlinked) or self.writes or self.drops


def planned(place: Mapping[str, Any], files: Sequence[Mapping[str, Any]], retry: bool, switches: bool) -> Plan:
    """Return what staging has to do; nothing is written.

    Args:
        place: The directory, and mode, owner and group of a generation.
        files: The whole set: name, content, mode, owner, group, secret.
        retry: Whether files with which the node did not come back may be tried again.
        switches: Whether they are to be in use at once, as on a node that is stopped.

    Raises GenerationFailedError, WrongNameError and NotOursError.
    """
    found = Generations(place["path"])
    _refuse_names(place["path"], [one["name"] for one in files])
    plan = _plan(found, files)
    failed = found.texts(FAILED)
    if failed is not None and not differing(failed, plan.wanted) and not retry:
        raise _failed_before(place["path"], found.why_failed(), switches)
    return plan


def stage(
    module: AnsibleModule, place: Mapping[str, Any], files: Sequence[Mapping[str, Any]], plan: Plan, retry: bool
) -> dict[str, Any]:
    """Let files wait as the next generation of a node, as planned; nothing waits where they are those in use.

    Returns {changed, changed_paths, diff}. In check mode nothing is written.
    """
    found = Generations(place["path"])
    if not module.check_mode:
        _carry_out(module, place, found, files, plan, retry)
    changed = _repair(module, place, found, files) or plan.changes
    return {"changed": changed, "changed_paths": found.paths(plan.differing), "diff": plan.diff}


def _plan(found: Generations, files: Sequence[Mapping[str, Any]]) -> Plan:
    names = [one["name"] for one in files]
    wanted = {one["name"]: one["content"] for one in files}
    used = _in_use(found, names)
    changed = differing(used, wanted)
    # What is not wanted any more may be a secret too.
    shown = {one["name"] for one in files if not one["secret"]}
    diff = [
        difference(found.paths([name])[0], used.get(name), wanted.get(name, ""), name not in shown) for name in changed
    ]
    return Plan(wanted, changed, diff, found.texts(STAGED), found.unlinked(names))


def _carry_out(
    module: AnsibleModule,
    place: Mapping[str, Any],
    found: Generations,
    files: Sequence[Mapping[str, Any]],
    plan: Plan,
    retry: bool,
) -> None:
    """Write what the plan says. Each step leaves the node one whole set of files."""

    def allow(at: str) -> bool:
        """Give a directory of generations its mode and owners."""
        return attributes(module, {**place, "path": at})

    names = list(plan.wanted)
    found.prepare(allow)
    if retry:
        found.forget_failed()
    found.settle_failed()
    found.adopt(names, allow)
    found.link(plan.unlinked)
    if plan.writes:
        found.stage(time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), lambda at: _write_all(module, place, files, at))
    elif plan.drops:
        found.unstage()


def _failed_before(directory: str, why: str, stopped: bool) -> GenerationFailedError:
    down = " This node does not serve now; the next run with other values starts it." if stopped else ""
    return GenerationFailedError(
        f"{directory}: the node was restarted with exactly these files before and did not come back, so its older ones "
        f"are in use again. Why it did not: {why or _NOT_WRITTEN}\nfix: correct the values and run again. "
        "If the cause lay elsewhere and is gone, try the same files again with -e kafka_retry_generation=true. Nothing "
        f"was written, and no stopped node was started.{down}",
        directory=directory,
    )


def _refuse_names(directory: str, names: Sequence[str]) -> None:
    for name in LINKS:
        path = f"{directory}/{name}"
        if os.path.lexists(path) and not os.path.islink(path):
            raise NotOursError(
                f"{path}: something that is no link stands there, as a copy leaves it that followed the links. "
                "Move it away; nothing was written.",
                path=path,
            )
    refuse_other_kind(f"{directory}/{DIRECTORY}", os.path.isdir, "directory")
    for name in names:
        if "/" in name or name in RESERVED or name in ("", ".", "..") or name.endswith(".new"):
            raise WrongNameError(f"{directory}: {name!r} is no name for a start file. Nothing was written.")
        # A link that leads nowhere is one of a file that waits, or is made again.
        refuse_other_kind(f"{directory}/{name}", lambda at: os.path.isfile(at) or os.path.islink(at), "file")


def _in_use(found: Generations, names: Sequence[str]) -> dict[str, str]:
    """Return the files that the process would read if it started now, by name."""
    used = {name: text for name in names if (text := found.in_use(name)) is not None}
    return {**(found.texts(CURRENT) or {}), **used}


def _write_all(module: AnsibleModule, place: Mapping[str, Any], files: Sequence[Mapping[str, Any]], at: str) -> None:
    attributes(module, {**place, "path": at})
    for one in files:
        path = f"{at}/{one['name']}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(one["content"])
        attributes(module, {**one, "path": path})


def _repair(
    module: AnsibleModule, place: Mapping[str, Any], found: Generations, files: Sequence[Mapping[str, Any]]
) -> bool:
    """Bring modes and owners of the generation in use, and of the one that waits, to what is wanted."""
    directory = place["path"]
    changed = False
    if os.path.isdir(f"{directory}/{DIRECTORY}"):
        changed |= attributes(module, {**place, "path": f"{directory}/{DIRECTORY}"})
    for name in filter(None, (found.name(CURRENT), found.name(STAGED))):
        at = f"{directory}/{DIRECTORY}/{name}"
        changed |= attributes(module, {**place, "path": at})
        for one in files:
            changed |= attributes(module, {**one, "path": f"{at}/{one['name']}"})
    return changed
