# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of states in docs/health.md is what tools/make_states_table makes of the states that tests hold."""

from __future__ import annotations

import subprocess
import sys

from tests.support.cluster import ROOT


def test_the_table_is_up_to_date() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_states_table"), "--check"], check=True)
