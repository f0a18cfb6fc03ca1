# SPDX-License-Identifier: GPL-3.0-or-later
"""AWX offers the public playbooks alone of the project that users copy, and of this repository known ones besides."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.support.awx_project import shown
from tests.support.cluster import ROOT
from tests.support.playbooks import PUBLIC, head

#: What AWX shows besides: it cannot be told apart from a playbook by its content (docs/awx.md).
CLUTTER = ("playbooks/_", "inventories/", "molecule/", "awx/project/", "extensions/eda/")
#: What the export has no template for: that needs the name of a credential (awx_own_credential).
NAMED_BY_A_SETTING = {"playbooks/awx.yml"}
PROJECT = ROOT / "awx" / "project"


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if not (ROOT / name).is_symlink()]


def public() -> set[str]:
    """Return the playbooks that users run."""
    return {f"playbooks/{path.name}" for path in PUBLIC.values()}


def jobs() -> set[str]:
    """Return those for which AWX has templates."""
    return {f"playbooks/{name}.yml" for name in PUBLIC if not head(name).no_job}


def test_the_project_lists_exactly_the_playbooks_that_templates_name_and_these_are_the_public_ones() -> None:
    files = [str(path.relative_to(PROJECT)) for path in PROJECT.rglob("*") if path.is_file()]
    named = {one["playbook"] for one in json.loads((ROOT / "awx" / "export.json").read_text())["job_templates"]}
    assert named | NAMED_BY_A_SETTING == jobs(), (
        "a public playbook has a template in awx/data/job_templates.yml, or 'No job of AWX: REASON.' at its head"
    )
    assert set(shown(PROJECT, files)) == jobs()


def test_awx_shows_every_public_playbook_of_a_checkout_and_no_other_but_the_known() -> None:
    wanted = public()
    found = set(shown(ROOT, tracked()))
    assert wanted <= found
    assert {name for name in found - wanted if not name.startswith(CLUTTER)} == set()


def test_a_playbook_that_only_imports_by_the_full_name_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "full.yml").write_text("- ansible.builtin.import_playbook: site.yml\n")
    (tmp_path / "short.yml").write_text("- import_playbook: site.yml\n")
    assert shown(tmp_path, ["full.yml", "short.yml"]) == ["short.yml"]
