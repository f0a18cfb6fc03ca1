# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Running Maven by the means of an Ansible module."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ansible.module_utils.basic import AnsibleModule

    from ansible_collections.streamops.kafka.plugins.module_utils._release.maven import Runner


def runner_of(module: AnsibleModule) -> Runner:
    """A runner for _maven.run; it raises FileNotFoundError, where run_command would end the module by itself."""

    def run(argv: Sequence[str]) -> tuple[int, str, str]:
        """Run a program; FileNotFoundError when it is not installed."""
        if shutil.which(argv[0]) is None:
            raise FileNotFoundError(argv[0])
        code, out, err = module.run_command(list(argv))
        return code, out, err

    return run
