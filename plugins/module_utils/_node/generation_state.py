# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Bring what a node starts with to a wanted state: tried, written, staged, switched to, proven, or switched back.

All that can refuse comes before the first write: the names and kinds of files, files with which the node did not come
back before, then Java and Kafka.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core.errors import StreamopsError
from .._core.properties import PropertiesError, is_secret, parse
from .files import PLACE, ensure, given, refuse_other_kinds, result_of
from .generations import CURRENT, STAGED, Generations
from .staging import Plan, planned, stage
from .trial import trial

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule


def content_digest(files: Iterable[Mapping[str, Any]]) -> str:
    """Return a SHA-256 of files, each {name, content, secret}; empty for none.

    A digest of a password is a way to find it by trying, so of a secret file only the properties that are no secret
    count, and of any other file no line that names one.
    """
    told = sorted((one["name"], _told(one)) for one in files)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest() if told else ""


def _told(one: Mapping[str, Any]) -> list[str]:
    if not one["secret"]:
        return [line for line in one["content"].splitlines() if not is_secret(line)]
    if not one["name"].endswith(".properties"):
        return []
    try:
        found = parse(one["content"])
    except PropertiesError:
        return []
    return sorted(f"{key}={value}" for key, value in found.items() if not is_secret(key))


#: The states in which files are given.
_WITH_FILES = ("staged", "current")


def bring(module: AnsibleModule) -> Mapping[str, Any]:
    """Do what the module node_generation is for, and return its result; says what the machine did not take."""
    done: dict[str, Any] = {"changed": False, "changed_paths": [], "diff": []}
    try:
        return _bring(module, done)
    except StreamopsError as error:
        error.done = error.done or _changes(module, done)
        raise
    except OSError as problem:
        path = module.params["path"]
        # Of a link, the second is itself; the first only what it should lead to.
        where = problem.filename2 or problem.filename or path
        failed = StreamopsError(
            f"{path}: {problem.strerror or problem} ({where}). What the node starts with is still one whole set. "
            "fix: correct this on that machine (room, owners, modes), then run again.",
            directory=path,
        )
        failed.done = _changes(module, done)
        raise failed from problem


def _bring(module: AnsibleModule, done: dict[str, Any]) -> dict[str, Any]:
    """Do it; C(done) holds what was changed also where this fails in the middle."""
    options = module.params
    found, files = Generations(options["path"]), _files(options)
    plan = _to_stage(module, files)
    judged = _tried(module, options["trial"], files) if options["trial"] else {}
    ensure(module, options["directories"], given(options, "other_files"), done)
    if plan:
        _add(done, stage(module, _place(options), files, plan, options["retry"]))
    _switch(module, found, done)
    copied = _copy(module, found)
    # One that differs without a switch was edited by hand at its own place.
    _add(done, {**copied, "changed_paths": []})
    return {
        **result_of(module, done),
        **judged,
        "differs": done["changed"],
        "digest": content_digest(files),
        "copied_paths": copied["changed_paths"],
        "generations": found.names(),
        "unproven": not found.is_proven() and options["started"] is not None and found.is_started(options["started"]),
    }


def _to_stage(module: AnsibleModule, files: Sequence[Mapping[str, Any]]) -> Plan | None:
    """Return what is to be staged, None where no files are; refuse what cannot be written. Nothing is written."""
    options = module.params
    path, directories = options["path"], options["directories"]
    made = [os.path.normpath(one["path"]) for one in directories]
    if not module.check_mode and not os.path.isdir(path) and os.path.normpath(path) not in made:
        raise StreamopsError(f"{path} is not a directory. Create it first; nothing was written.")
    refuse_other_kinds(directories, [*given(options, "other_files"), *options["copies"]])
    if not files or options["state"] not in _WITH_FILES:
        return None
    return planned(_place(options), files, options["retry"], options["state"] == "current")


def _tried(module: AnsibleModule, options: Mapping[str, Any], files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Have Java and Kafka judge the files; return whether they did. Raises TrialError where they do not take them."""
    texts = {one["path"]: one["content"] for one in (*files, *given(module.params, "other_files"))}

    def file(path: str | None) -> dict[str, str] | None:
        if path is None:
            return None
        if path not in texts:
            raise StreamopsError(f"trial names {path}, which is none of the given files. Nothing was written.")
        return {"path": path, "content": texts[path]}

    stores = options["stores"] or {}
    asked = {
        "name": options["name"],
        "java": options["java"],
        "user": options["user"],
        **{name: file(options[name]) for name in ("jvm_options", "properties", "start")},
        "stores": {name: file(path) for name, path in stores.items()},
    }
    result = trial(asked)
    # As ansible-core wants it, which deprecates warnings in a result.
    for one in result["warnings"]:
        module.warn(one)
    return {"judged": result["judged"]}


def _switch(module: AnsibleModule, found: Generations, done: dict[str, Any]) -> None:
    """Switch to, prove, or go back from what is in use, as the wanted state says."""
    state, why = module.params["state"], module.params["why"]
    if state == "current":
        keep = module.params["keep_edited"]
        done["changed"] |= _changed(module, found.name(STAGED) is not None, lambda: found.switch(keep))
    elif state == "proven":
        done["changed"] |= _changed(module, not found.is_proven(), found.prove)
    elif state == "previous":
        done["changed_paths"] += found.apart()
        done["changed"] |= _changed(module, found.way_back() is not None, lambda: found.go_back(why))
    elif state == "earlier":
        link = found.doubted()
        done["changed_paths"] += found.apart(link) if link else []
        done["changed"] |= _changed(module, link is not None, lambda: _take_back(found, why))


def _take_back(found: Generations, why: str) -> bool:
    """Go back behind the proof of what is in use; cut in between, the node has a way back as any other."""
    found.take_proof_back()
    return found.go_back(why)


def _copy(module: AnsibleModule, found: Generations) -> dict[str, Any]:
    """Bring the copies of files to what the generation in use has; those that it does not have are left alone."""
    texts = found.texts(CURRENT) or {}
    # What was edited by hand here was never read there, and what replaces it waits already.
    edited = found.edited() if module.params["state"] == "staged" else []
    files = [
        {**one, "content": texts[one["name"]]}
        for one in module.params["copies"]
        if one["name"] in texts and one["name"] not in edited
    ]
    return ensure(module, [], files)


def _files(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the files of the generation, each with its C(name) in the directory; refuse those of another directory."""
    files = []
    for one in given(options):
        directory, name = os.path.split(one["path"])
        if os.path.normpath(directory) != os.path.normpath(options["path"]):
            raise StreamopsError(
                f"{one['path']} is not right in {options['path']}, so it cannot be switched with the others there. "
                "Nothing was written."
            )
        files.append({**one, "name": name})
    return files


def _place(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in PLACE}


def _add(done: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add what one step has changed."""
    done["changed"] |= more["changed"]
    for name in ("changed_paths", "diff"):
        done[name] = [*done[name], *more[name]]


def _changes(module: AnsibleModule, done: Mapping[str, Any]) -> dict[str, Any]:
    shown = result_of(module, done)
    return {name: shown[name] for name in ("changed", "diff") if name in shown} if done["changed"] else {}


def _changed(module: AnsibleModule, would_change: bool, change: Callable[[], Any]) -> bool:
    return would_change if module.check_mode else bool(change())
