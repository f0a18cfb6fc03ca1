# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/reference is what tools/make_reference makes of the argument specs and the documentation of the modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_is_up_to_date() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_reference"), "--check"], capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stdout + made.stderr) == (0, "")
