# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that the modules which run on a node share."""

from __future__ import annotations


class ModuleDocFragment:
    """Which Java is meant, and in FILES what is written; FILES is equal to DIRECTORIES and FILES of _node/files.py."""

    DOCUMENTATION = r"""
options:
  java:
    description: The path of C(java); when empty, the one of E(JAVA_HOME), else of the search path.
    type: str
    default: ""
"""

    FILES = r"""
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
"""
