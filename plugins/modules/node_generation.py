#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the start files of a node as one set that is staged, switched to, and switched back from."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_generation
short_description: Stage the start files of a node, switch to them, and switch back
version_added: 0.1.0
description:
  - Keeps all files that a node reads when it starts as one set, a generation, below C(generations) in O(path).
  - Every file has its path in O(path) too, as a link through C(current), so a switch is one rename. It is on disk
    before the module returns.
  - C(staged) waits for the turn of the node, C(proven) is the last one with which the node has been whole, to which it
    goes back, C(earlier) was proven before that, and C(failed) is the last one that was given up, with its cause in
    C(why-it-failed.txt). Others are removed.
  - Files of an installation without generations are taken into the first one, which counts as proven. Each path keeps
    its content meanwhile.
options:
  path:
    description: The configuration directory of the node; it must exist.
    type: path
    required: true
  state:
    description:
      - With V(staged), the files wait as the next generation. Where they are those in use, nothing waits.
      - With V(current), they are in use from now on. Without O(files) and O(secret_files), what waits is.
      - With V(proven), the node has been whole with the generation in use, and goes back to no older one any more.
      - With V(previous), the proven generation is in use again. Where none is, or it is in use, nothing changes.
      - With V(earlier), the proof of the generation in use is taken back, and the one that was proven before it is in
        use again. Of one that is not proven, this is V(previous).
    type: str
    choices: [staged, current, proven, previous, earlier]
    required: true
  mode:
    description: Permissions of a generation as an octal string.
    type: str
    default: "0750"
  owner:
    description: Owner of a generation; left alone when not given.
    type: str
  group:
    description: Group of a generation; left alone when not given.
    type: str
  files:
    description: The whole set of files; for V(staged) and V(current) only.
    type: list
    elements: dict
    default: []
    suboptions: &file
      path:
        description: The file, right in O(path).
        type: path
        required: true
      content:
        description: The content.
        type: str
        required: true
      mode:
        description: Permissions as an octal string.
        type: str
        required: true
      owner:
        description: Owner; left alone when not given.
        type: str
      group:
        description: Group; left alone when not given.
        type: str
  secret_files:
    description: Files as in O(files) whose content is never shown.
    type: list
    elements: dict
    default: []
    suboptions: *file
  copies:
    description:
      - Files of the generation in use that a program reads at another place, such as a unit of systemd. They follow
        each switch, and a copy that differs is written anew.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: The name of the file, right in O(path). One that the generation in use does not have is left alone.
        type: str
        required: true
      path:
        description: The place of the copy; its directory must exist.
        type: path
        required: true
      mode:
        description: Permissions as an octal string.
        type: str
        required: true
      owner:
        description: Owner; left alone when not given.
        type: str
      group:
        description: Group; left alone when not given.
        type: str
  why:
    description:
      - Why the node goes back, with O(state=previous) and O(state=earlier). It is kept beside the generation that is
        given up.
    type: str
    default: ""
  retry:
    description: Whether exactly the files with which the node did not come back may be tried again.
    type: bool
    default: false
  keep_edited:
    description:
      - Whether the node can go back to files that were edited by hand since it was whole, with O(state=current). With
        V(false) it was never started with them. It can go back to what they were before if that is switched to.
    type: bool
    default: true
  started:
    description:
      - The directory with the files that the process was started with, by which RV(unproven) is told.
    type: path
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Let new files wait for the turn of the node
  streamops.kafka.node_generation:
    path: /etc/kafka/kafka1
    state: staged
    files:
      - path: /etc/kafka/kafka1/jvm.options
        content: "{{ lookup('ansible.builtin.template', 'jvm.options.j2') }}"
        mode: "0640"

- name: Switch to them while the node is stopped
  streamops.kafka.node_generation:
    path: /etc/kafka/kafka1
    state: current
"""

RETURN = r"""
changed_paths:
  description:
    - The files that differ from those in use, with O(state=staged) and O(state=current) and files.
    - With O(state=previous) and O(state=earlier), those that were taken back.
  returned: success
  type: list
  elements: str
unproven:
  description:
    - Whether the process was started with the generation in use, as O(started) tells, and is not known to have been
      whole with it, since the run that started it has not come to its end.
  returned: success
  type: bool
digest:
  description:
    - A SHA-256 of the given files, by which an approval covers what they say. Nothing secret is in it, so of
      O(secret_files) only the properties that are no secret.
  returned: success
  type: str
copied_paths:
  description: The O(copies) that were written anew.
  returned: success
  type: list
  elements: str
generations:
  description:
    - The names of the generations behind C(current), C(staged), C(proven), C(failed) and C(earlier), null where none
      is.
  returned: success
  type: dict
"""

import os
from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._core.module import SecretModule, run_module
from ansible_collections.streamops.kafka.plugins.module_utils._node.content_digest import content_digest
from ansible_collections.streamops.kafka.plugins.module_utils._node.files import (
    FILES,
    PLACE,
    ensure,
    given,
    refuse_other_kind,
    result_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import (
    CURRENT,
    STAGED,
    Generations,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.staging import stage

SPEC = {
    **PLACE,
    "mode": {"type": "str", "default": "0750"},
    "state": {"type": "str", "choices": ["staged", "current", "proven", "previous", "earlier"], "required": True},
    **FILES,
    "copies": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {**PLACE, "name": {"type": "str", "required": True}},
    },
    "why": {"type": "str", "default": ""},
    "retry": {"type": "bool", "default": False},
    "keep_edited": {"type": "bool", "default": True},
    "started": {"type": "path"},
}


def work(module: Any) -> Mapping[str, Any]:
    """Bring the generations of a directory to the wanted state; says what the machine did not take."""
    try:
        return _work(module)
    except OSError as problem:
        path = module.params["path"]
        # Of a link, the second is itself; the first only what it should lead to.
        where = problem.filename2 or problem.filename or path
        raise StreamopsError(
            f"{path}: {problem.strerror or problem} ({where}). What the node starts with is still one whole set. "
            "fix: correct this on that machine (room, owners, modes), then run again.",
            directory=path,
        ) from problem


def _work(module: Any) -> Mapping[str, Any]:
    options = module.params
    found = Generations(options["path"])
    if not os.path.isdir(options["path"]) and not module.check_mode:
        raise StreamopsError(f"{options['path']} is not a directory. Create it first; nothing was written.")
    for one in options["copies"]:
        refuse_other_kind(one["path"], os.path.isfile, "file")
    result: dict[str, Any] = {"changed": False, "changed_paths": []}
    state, files = options["state"], _files(options)
    if state in ("staged", "current") and files:
        result = stage(module, {name: options[name] for name in PLACE}, files, options["retry"])
    if state == "current":
        result["changed"] |= _done(module, found.name(STAGED) is not None, lambda: found.switch(options["keep_edited"]))
    elif state == "proven":
        result["changed"] = _done(module, not found.is_proven(), found.prove)
    elif state == "previous":
        result["changed_paths"] = found.apart()
        result["changed"] = _done(module, found.way_back() is not None, lambda: found.go_back(options["why"]))
    elif state == "earlier":
        link = found.doubted()
        result["changed_paths"] = found.apart(link) if link else []
        result["changed"] = _done(module, link is not None, lambda: _take_back(found, options["why"]))
    copied = _copy(module, found)
    result["changed"] |= copied["changed"]
    # One that differs without a switch was edited by hand at its own place.
    result["diff"] = [*result.get("diff", []), *copied["diff"]]
    return {
        **result_of(module, result),
        "digest": content_digest(files),
        "copied_paths": copied["changed_paths"],
        "generations": found.names(),
        "unproven": not found.is_proven() and options["started"] is not None and found.is_started(options["started"]),
    }


def _take_back(found: Generations, why: str) -> bool:
    """Go back behind the proof of what is in use; cut in between, the node has a way back as any other."""
    found.take_proof_back()
    return found.go_back(why)


def _copy(module: Any, found: Generations) -> dict[str, Any]:
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
    """Return the given files, each with its C(name) in the directory; refuse those of another directory."""
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


def _done(module: Any, would_change: bool, change: Any) -> bool:
    return would_change if module.check_mode else bool(change())


def main() -> None:
    """Run the module."""
    run_module(SPEC, work, SecretModule)


if __name__ == "__main__":
    main()
