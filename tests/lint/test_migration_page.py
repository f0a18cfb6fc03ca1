# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/migrate-to-kraft.md are what tools/make_migration_page makes of the phases and their steps."""

from __future__ import annotations

import subprocess
import sys

from tests.support.cluster import ROOT


def test_the_tables_are_up_to_date() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_migration_page"), "--check"], check=True)
