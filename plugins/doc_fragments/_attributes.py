# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module says about check mode, diff mode and idempotence; a module states the support of each itself."""

from __future__ import annotations


class ModuleDocFragment:
    """Standard attributes of all modules of this collection."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode, where it tells what a run would change and changes nothing.
  diff_mode:
    description: Returns what changes, from what to what, in diff mode.
  idempotent:
    description: Run twice in a row with the same arguments, the second run changes nothing and says so.
"""
