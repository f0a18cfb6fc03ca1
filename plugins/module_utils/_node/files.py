# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Directories and files of a node in one go: compare all, then write what differs.

One call instead of one per file, since a call costs more than the file: a node has five files and three directories.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core.errors import StreamopsError
from .generations import read

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

#: The options of a place in a file system, and of lists of files with their content, secret or not.
PLACE = {
    "path": {"type": "path", "required": True},
    "mode": {"type": "str", "required": True},
    "owner": {"type": "str"},
    "group": {"type": "str"},
}
FILES = {
    "files": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {**PLACE, "content": {"type": "str", "required": True}},
    },
    "secret_files": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "no_log": False,  # only the content is secret
        "options": {**PLACE, "content": {"type": "str", "required": True, "no_log": True}},
    },
}


DIRECTORIES = {"directories": {"type": "list", "elements": "dict", "default": [], "options": PLACE}}
#: As FILES, of those that belong to no generation.
OTHER_FILES = {"other_files": FILES["files"], "secret_other_files": FILES["secret_files"]}


def given(params: Mapping[str, Any], kind: str = "files") -> list[dict[str, Any]]:
    """Return the files of both lists of a kind, each with whether it is C(secret)."""
    return [{**one, "secret": secret} for secret in (False, True) for one in params[f"{'secret_' * secret}{kind}"]]


def result_of(module: AnsibleModule, done: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with its diff only where one was asked for: Ansible prints that of a `diff: false` task too."""
    return {key: value for key, value in done.items() if key != "diff" or module._diff}


class NotOursError(StreamopsError):
    """Something of another kind stands where a file or a directory should be."""


def ensure(
    module: AnsibleModule,
    directories: Sequence[Mapping[str, Any]],
    files: Sequence[Mapping[str, Any]],
    done: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Bring all to their wanted state; returns {changed, changed_paths, diff}. In check mode nothing is written.

    Everything is looked at before the first write, so a path of the wrong kind leaves nothing half done. C(done) is
    what was changed before, to which this is added; it holds it also where a write fails in the middle.
    """
    refuse_other_kinds(directories, files)
    done = {"changed": False, "changed_paths": [], "diff": []} if done is None else done
    steps = [*((_directory, one) for one in directories), *((_file, one) for one in files)]
    for bring, one in steps:
        if bring(module, one, done["diff"]):
            done["changed"] = True
            done["changed_paths"].append(one["path"])
    return done


def refuse_other_kinds(directories: Iterable[Mapping[str, Any]], files: Iterable[Mapping[str, Any]]) -> None:
    """Raise NotOursError where something else is at the path of a directory or of a file."""
    for one in directories:
        refuse_other_kind(one["path"], os.path.isdir, "directory")
    for one in files:
        refuse_other_kind(one["path"], os.path.isfile, "file")


def refuse_other_kind(path: str, is_kind: Callable[[str], bool], kind: str) -> None:
    """Raise NotOursError where something is at a path that is not of its kind."""
    if os.path.lexists(path) and not is_kind(path):
        raise NotOursError(
            f"{path}: something that is no {kind} stands there. Move it away; nothing was written.",
            path=path,
            wanted=kind,
        )


def _directory(module: AnsibleModule, wanted: Mapping[str, Any], diffs: list[dict[str, str]]) -> bool:
    created = not os.path.isdir(wanted["path"])
    if created:
        diffs.append(
            {"before_header": wanted["path"], "after_header": wanted["path"], "before": "", "after": "directory\n"}
        )
        if module.check_mode:
            return True
        # The user of the service passes through parents that no list names, whatever the umask of the session is.
        umask = os.umask(0o022)
        try:
            os.makedirs(wanted["path"])
        finally:
            os.umask(umask)
    return attributes(module, wanted) or created


def _file(module: AnsibleModule, wanted: Mapping[str, Any], diffs: list[dict[str, str]]) -> bool:
    before = read(wanted["path"])
    written = before != wanted["content"]
    if written:
        diffs.append(difference(wanted["path"], before, wanted["content"], bool(wanted.get("secret"))))
        if module.check_mode:
            return True
        _write(module, wanted)
    return attributes(module, wanted) or written


def difference(path: str, before: str | None, after: str, secret: bool) -> dict[str, str]:
    """Return the change of a file as Ansible shows it; of a secret one only that it changes."""
    shown = {"before": before or "", "after": after}
    if secret:
        shown = {"before": "" if before is None else "content that is not shown\n", "after": "new content\n"}
    return {"before_header": path, "after_header": path, **shown}


def _write(module: AnsibleModule, wanted: Mapping[str, Any]) -> None:
    # The new content is complete and has its final mode before it takes the name, so nobody ever reads half of it.
    new = f"{wanted['path']}.new"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(wanted["content"])
    attributes(module, {**wanted, "path": new})
    module.atomic_move(new, wanted["path"])


def attributes(module: AnsibleModule, wanted: Mapping[str, Any]) -> bool:
    """Bring mode, owner and group of a path to what is wanted; returns whether any differed. A missing path is left."""
    path = wanted["path"]
    if not os.path.lexists(path):
        return False
    changed = module.set_mode_if_different(path, wanted["mode"], False)
    changed = module.set_owner_if_different(path, wanted.get("owner"), changed)
    return bool(module.set_group_if_different(path, wanted.get("group"), changed))
