# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A module whose lists and mappings hold secrets keeps them out of the log of the machine that it runs on."""

from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule


class SecretModule(AnsibleModule):  # type: ignore[misc]  # Ansible ships no types
    """An AnsibleModule that does not log what it was called with.

    Ansible writes every call into the machine's journal. Of a secret below the top level it blanks what reads exactly
    like it, but prints lists as Python does: a key of several lines, a password with a backslash or an @ is not found
    again and stays readable for everybody who may read the journal.
    """

    def _log_invocation(self) -> None:
        self.log("Invoked; its parameters are not logged, since lists of them hold secrets")
