# SPDX-License-Identifier: GPL-3.0-or-later
"""AWX offers the playbooks of this repository that are meant for job templates, and otherwise only those known here."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.awx_project import shown
from tests.support.cluster import ROOT

#: What AWX shows besides: it cannot be told apart from a playbook by its content (docs/awx.md).
CLUTTER = ("playbooks/_", "inventories/", "molecule/")


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if not (ROOT / name).is_symlink()]


def test_awx_shows_every_public_playbook_and_no_other_but_the_known() -> None:
    wanted = {f"playbooks/{path.name}" for path in (ROOT / "playbooks").glob("[a-z]*.yml")}
    found = set(shown(ROOT, tracked()))
    assert wanted <= found
    assert {name for name in found - wanted if not name.startswith(CLUTTER)} == set()


def test_a_playbook_that_only_imports_by_the_full_name_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "full.yml").write_text("- ansible.builtin.import_playbook: site.yml\n")
    (tmp_path / "short.yml").write_text("- import_playbook: site.yml\n")
    assert shown(tmp_path, ["full.yml", "short.yml"]) == ["short.yml"]
