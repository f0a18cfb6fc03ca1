# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Stage the start files of a node as a generation: compare with those in use, write, and refuse what failed before."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._node.files import (
    NotOursError,
    attributes,
    difference,
    refuse_other_kind,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import (
    CURRENT,
    DIRECTORY,
    FAILED,
    LINKS,
    OWN,
    STAGED,
    Generations,
    differing,
)

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

#: Names that the directory needs for itself.
RESERVED = {DIRECTORY, *OWN, *LINKS}


class GenerationFailedError(StreamopsError):
    """The node was given exactly these files before, and did not come back with them."""


class WrongNameError(StreamopsError):
    """A file that cannot be in a generation."""


def stage(
    module: AnsibleModule, place: Mapping[str, Any], files: Sequence[Mapping[str, Any]], retry: bool
) -> dict[str, Any]:
    """Let files wait as the next generation of a node; nothing waits where they are those in use.

    Args:
        module: Gives check mode, and sets owners and modes.
        place: The directory, and mode, owner and group of a generation.
        files: The whole set: name, content, mode, owner, group, secret.
        retry: Whether files with which the node did not come back may be tried again.

    Returns {changed, changed_paths, diff}. Raises GenerationFailedError, WrongNameError and NotOursError before
    anything is written.
    """
    directory = place["path"]
    found = Generations(directory)
    names = [one["name"] for one in files]
    _refuse_names(directory, names)
    wanted = {one["name"]: one["content"] for one in files}
    if found.texts(FAILED) == wanted and not retry:
        raise _failed_before(directory, found.why_failed())
    used = _in_use(found, names)
    changed = differing(used, wanted)
    secret = {one["name"] for one in files if one["secret"]}
    diffs = [
        difference(f"{directory}/{name}", used.get(name), wanted.get(name, ""), name in secret or name not in wanted)
        for name in changed
    ]
    waiting = found.texts(STAGED)
    unlinked = found.unlinked(names)
    result = {
        "changed": bool(unlinked) or (waiting != wanted if changed else waiting is not None),
        "changed_paths": found.paths(changed),
        "diff": diffs,
    }
    if module.check_mode:
        return {**result, "changed": _repair(module, place, found, files) or result["changed"]}

    def allow(at: str) -> bool:
        """Give a directory of generations its mode and owners."""
        return attributes(module, {**place, "path": at})

    found.prepare(allow)
    if retry:
        found.forget_failed()
    found.settle_failed()
    found.adopt(names, allow)
    found.link(unlinked)
    if changed and waiting != wanted:
        found.stage(time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), lambda at: _write_all(module, place, files, at))
    elif not changed and waiting is not None:
        found.unstage()
    return {**result, "changed": _repair(module, place, found, files) or result["changed"]}


def _failed_before(directory: str, why: str) -> GenerationFailedError:
    return GenerationFailedError(
        f"{directory}: the node was restarted with exactly these files before and did not come back, so its older ones "
        f"are in use again. Why it did not: {why}\nfix: correct the values and run again. If the cause lay elsewhere "
        "and is gone, try the same files again with -e kafka_retry_generation=true. Nothing was written, and no "
        "stopped node was started.",
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
