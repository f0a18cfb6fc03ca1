# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen and the files on docs/adopt.md are those that the playbook makes of the machines of its tests."""

from __future__ import annotations

import re

from tests.support.cluster import ROOT
from tests.unit.plugins.plugin_utils.adopt.machines import shown_on_the_page
from tests.unit.plugins.plugin_utils.adopt.test_described import shown_on_the_page as inventory_on_the_page
from tests.unit.plugins.plugin_utils.adopt.test_screen import screen

BLOCK = re.compile(r"<!-- screen: begin -->\n(.*?)<!-- screen: end -->", re.DOTALL)


def test_the_screen_is_up_to_date() -> None:
    (block,) = BLOCK.findall((ROOT / "docs" / "adopt.md").read_text())
    shown = "\n".join(["", "```", *screen(*shown_on_the_page()), "```", "", ""])
    assert block == shown, f"docs/adopt.md has another screen; put this between its marks:\n{shown}"


FILE = re.compile(r"<!-- file (\S+): begin -->\n\n```yaml\n(.*?)```\n\n<!-- file: end -->", re.DOTALL)


def test_the_files_of_an_inventory_are_up_to_date() -> None:
    made = inventory_on_the_page().files
    shown = FILE.findall((ROOT / "docs" / "adopt.md").read_text())
    assert [path for path, _text in shown] == ["hosts.yml", "group_vars/all/resources.yml", "group_vars/all/kafka.yml"]
    for path, text in shown:
        # Of a long file the page shows pieces.
        for piece in text.split("# ...\n"):
            assert piece
            assert piece in made[path], f"docs/adopt.md shows {path} otherwise than it is made:\n{made[path]}"
