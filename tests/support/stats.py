# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of a playbook handed to the next node of a workflow."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest


def show_stats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the output of runs end with what set_stats collected, which AWX takes as artifacts, as JSON."""
    monkeypatch.setenv("ANSIBLE_SHOW_CUSTOM_STATS", "true")
    monkeypatch.setenv("ANSIBLE_CALLBACK_RESULT_FORMAT", "json")


def stats_of(output: str) -> dict[str, Any]:
    """The statistics of the whole run that its output ends with, empty where there are none."""
    found = re.search(r"^\s*RUN:\s*(\{.*\})\s*$", output, re.M)
    return dict(json.loads(found.group(1))) if found else {}
