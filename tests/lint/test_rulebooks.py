# SPDX-License-Identifier: GPL-3.0-or-later
"""extensions/eda/rulebooks is what tools/make_eda makes, and has the schema of ansible-rulebook."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
RULEBOOKS = sorted((ROOT / "extensions" / "eda" / "rulebooks").iterdir())
#: The schema that ansible-rulebook 1.3.2 has too.
SCHEMA = Draft202012Validator(json.loads((files("ansiblelint") / "schemas" / "rulebook.json").read_text()))


def test_the_rulebooks_are_up_to_date() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_eda"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (made.returncode, made.stdout + made.stderr) == (0, "")
    assert [path.name for path in RULEBOOKS] == ["look.yml", "look_and_propose.yml"]


@pytest.mark.parametrize("path", RULEBOOKS, ids=lambda path: path.name)
def test_a_rulebook_has_the_schema(path: Path) -> None:
    content = yaml.safe_load(path.read_text())
    assert [error.message for error in SCHEMA.iter_errors(content)] == []
    content[0]["rules"][0]["throttle"]["once_within"] = "ten minutes"
    assert [*SCHEMA.iter_errors(content)]
