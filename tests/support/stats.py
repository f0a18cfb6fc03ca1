# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of a playbook handed to the next node of a workflow."""

from __future__ import annotations

import json
import re
from typing import Any

#: In the environment of a run: its output ends with what set_stats collected, which AWX takes as artifacts.
SHOWN = "ANSIBLE_SHOW_CUSTOM_STATS"


def stats_of(output: str) -> dict[str, Any]:
    """The statistics of the whole run that its output ends with, empty where there are none."""
    found = re.search(r"^\s*RUN: (\{.*\})$", output, re.M)
    return dict(json.loads(found.group(1))) if found else {}
