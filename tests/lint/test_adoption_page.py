# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen on docs/adopt.md is the one that the playbook shows of the machines of its tests."""

from __future__ import annotations

import re

from tests.support.cluster import ROOT
from tests.unit.plugins.plugin_utils.adopt.machines import shown_on_the_page
from tests.unit.plugins.plugin_utils.adopt.test_screen import screen

BLOCK = re.compile(r"<!-- screen: begin -->\n(.*?)<!-- screen: end -->", re.DOTALL)


def test_the_screen_is_up_to_date() -> None:
    (block,) = BLOCK.findall((ROOT / "docs" / "adopt.md").read_text())
    shown = "\n".join(["", "```", *screen(*shown_on_the_page()), "```", "", ""])
    assert block == shown, f"docs/adopt.md has another screen; put this between its marks:\n{shown}"
