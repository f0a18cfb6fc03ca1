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
  - O(files) and O(secret_files) are the whole set, right in O(path), for V(staged) and V(current) only. O(directories)
    and the files beside a generation are written before it, and after everything has been judged.
options:
  path:
    description: The configuration directory of the node; it must exist or be one of O(directories).
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
  trial:
    description:
      - Have Java and Kafka judge the files before anything is written, in one short JVM. A value that either of them
        does not take fails the module, with their words. Where the machine has no room for it, the module warns.
      - Each option but O(trial.name), O(trial.java) and O(trial.user) is the path of one of the given files.
    type: dict
    suboptions:
      name:
        description: What the node is called in messages.
        type: str
        required: true
      java:
        description: Path of java; empty takes that of JAVA_HOME or of the search path.
        type: str
        default: ""
      user:
        description: The user of the node, who must be able to write to the temporary directory of its Java.
        type: str
        default: ""
      jvm_options:
        description: The file of Java arguments that the node would be started with.
        type: path
        required: true
      properties:
        description: The properties of a broker or controller; without them only Java judges.
        type: path
      start:
        description: The script that starts the node.
        type: path
      stores:
        description: Key and certificates, and the trusted CAs, as PEM stores.
        type: dict
        suboptions:
          keystore:
            description: The store of the key and its certificates.
            type: path
            required: true
          truststore:
            description: The store of the CAs.
            type: path
            required: true
  other_files:
    description:
      - Files that belong to no generation, since nodes share them or the node reads them while it runs. Each has its
        new content at once.
    type: list
    elements: dict
    default: []
    suboptions: &file
      path:
        description: The file; its directory must exist or be one of O(directories).
        type: path
        required: true
      content:
        description: The content.
        type: str
        required: true
      mode: &mode
        description: Permissions as an octal string.
        type: str
        required: true
      owner: &owner
        description: Owner; left alone when not given.
        type: str
      group: &group
        description: Group; left alone when not given.
        type: str
  secret_other_files:
    description: Files as in O(other_files) whose content is never shown.
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
      mode: *mode
      owner: *owner
      group: *group
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
  look:
    description:
      - Options of M(streamops.kafka.node_info) in one mapping, to look at the node behind all that this module does to
        its files. One call takes half of the time of two.
    type: dict
extends_documentation_fragment: [streamops.kafka._attributes.full, streamops.kafka._node.files]
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Switch to the files that wait, while the node is stopped
  streamops.kafka.node_generation:
    path: /etc/kafka/kafka1
    state: current
"""

RETURN = r"""
changed_paths:
  description:
    - The files that differ from those in use, with O(state=staged) and O(state=current) and files; behind those of
      O(directories), O(other_files) and O(secret_other_files) that were written.
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
differs:
  description:
    - Whether anything was not as wanted. C(changed) says so too, unless a task that only compares overrules it.
  returned: success
  type: bool
judged:
  description: Whether Java and Kafka judged the files; false where the node has them already, or cannot judge them now.
  returned: with O(trial)
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
look:
  description: What M(streamops.kafka.node_info) returns.
  returned: with O(look)
  type: dict
generations:
  description:
    - The names of the generations behind C(current), C(staged), C(proven), C(failed) and C(earlier), null where none
      is.
  returned: success
  type: dict
"""

from typing import Any

from ..module_utils._core.module import SecretModule, options_of, run_module
from ..module_utils._node.files import DIRECTORIES, FILES, OTHER_FILES, PLACE
from ..module_utils._node.generation_state import bring
from ..module_utils._node.info import LOOK, node_info

STORES = {name: {"type": "path", "required": True} for name in ("keystore", "truststore")}
TRIAL = {
    "name": {"type": "str", "required": True},
    "java": {"type": "str", "default": ""},
    "user": {"type": "str", "default": ""},
    "jvm_options": {"type": "path", "required": True},
    "properties": {"type": "path"},
    "start": {"type": "path"},
    "stores": {"type": "dict", "options": STORES},
}
SPEC = {
    **PLACE,
    "mode": {"type": "str", "default": "0750"},
    "state": {"type": "str", "choices": ["staged", "current", "proven", "previous", "earlier"], "required": True},
    **FILES,
    "trial": {"type": "dict", "options": TRIAL},
    **DIRECTORIES,
    **OTHER_FILES,
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
    "look": {"type": "dict"},
}


def brought(module: SecretModule) -> dict[str, Any]:
    """Bring the files to their state, and look at the node behind that where it is wanted."""
    look = module.params["look"]
    options = options_of(LOOK, "look", look) if look else {}
    return {**bring(module), **({"look": node_info(options)} if options else {})}


def main() -> None:
    """Run the module."""
    run_module(SPEC, brought, SecretModule)


if __name__ == "__main__":
    main()
