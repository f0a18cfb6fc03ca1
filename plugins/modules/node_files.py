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
extends_documentation_fragment: [streamops.kafka._attributes.full, streamops.kafka._node.files]
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Make the directory of a node
  streamops.kafka.node_files:
    directories: [{path: /etc/kafka/kafka1, mode: "0750"}]
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
