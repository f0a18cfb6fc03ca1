# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module says about check mode, diff mode and idempotence; a module states what is not the rule."""

from __future__ import annotations


class ModuleDocFragment:
    """Standard attributes of all modules of this collection.

    FULL is for modules that support all three, LOOK for those that change nothing.
    """

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

    FULL = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode, where it tells what a run would change and changes nothing.
    support: full
  diff_mode:
    description: Returns what changes, from what to what, in diff mode.
    support: full
  idempotent:
    description: Run twice in a row with the same arguments, the second run changes nothing and says so.
    support: full
"""

    LOOK = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode, where it tells what a run would change and changes nothing.
    support: full
  diff_mode:
    description: Returns what changes, from what to what, in diff mode.
    support: N/A
    details: It changes nothing.
  idempotent:
    description: Run twice in a row with the same arguments, the second run changes nothing and says so.
    support: full
"""
