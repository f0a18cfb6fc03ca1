# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/alerts.md is what tools/make_alerts_page makes of the table of alerts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_the_alerts_is_up_to_date() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_alerts_page"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (made.returncode, made.stdout + made.stderr) == (0, "")
