#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the directories and files of a node in one call."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_files
short_description: Write the directories and files of a node in one call
version_added: 0.1.0
description:
  - Compares directories and files with what is wanted and writes what differs, each file whole or not at all.
  - A call costs more than a file does, so the roles write a node in one call instead of one per file.
options:
  directories:
    description: Directories, with their parents.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: The directory.
        type: path
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
  files:
    description: Files and their whole content.
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
      mode: *mode
      owner: *owner
      group: *group
  secret_files:
    description: Files as in O(files) whose content is never shown.
    type: list
    elements: dict
    default: []
    suboptions: *file
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
- name: Write a file in a directory of its own
  streamops.kafka.node_files:
    directories:
      - {path: /etc/kafka/kafka1, mode: "0750"}
    files:
      - path: /etc/kafka/kafka1/jvm.options
        content: "{{ lookup('ansible.builtin.template', 'jvm.options.j2') }}"
        mode: "0640"
"""

RETURN = r"""
changed_paths:
  description: What was written (in check mode, would be).
  returned: success
  type: list
  elements: str
"""


from collections.abc import Mapping
from typing import Any

from ..module_utils._core.module import SecretModule, run_module
from ..module_utils._node.files import DIRECTORIES, FILES, ensure, given, result_of


def work(module: Any) -> Mapping[str, Any]:
    """Write what differs."""
    return result_of(module, ensure(module, module.params["directories"], given(module.params)))


def main() -> None:
    """Run the module."""
    run_module({**DIRECTORIES, **FILES}, work, SecretModule)


if __name__ == "__main__":
    main()
