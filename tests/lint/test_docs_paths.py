# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pages name exists: tests behind claims, and pages that other pages link to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.cluster import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def missing_tests(text: str) -> list[str]:
    """The tests that a page names in backticks and that are nowhere in the tree."""
    named = [word for word in re.findall(r"`([\w/.]+)`", text) if word.startswith("tests/") or "/test_" in word]
    return [name for name in named if not (ROOT / name).exists() and not (ROOT / "tests/integration" / name).exists()]


def missing_links(page: Path, text: str) -> list[str]:
    """Relative links of a page that lead nowhere."""
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    return [target for target in targets if target and "://" not in target and not (page.parent / target).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_only_what_exists(page: Path) -> None:
    text = page.read_text()
    assert missing_tests(text) == []
    assert missing_links(page, text) == []


def test_a_name_of_nothing_is_found() -> None:
    assert missing_tests("`security/test_nothing.py` and `tests/unit`") == ["security/test_nothing.py"]
    assert missing_links(ROOT / "README.md", "[a](docs/nothing.md#x) [b](docs/tls-sasl.md) [c](https://a.example)") == [
        "docs/nothing.md"
    ]


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_commands_name_playbooks_as_an_installed_collection_has_them(page: Path) -> None:
    assert re.findall(r"ansible-playbook \S+\.yml", page.read_text()) == []


def test_the_index_has_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text()
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert [name for name in sorted(pages) if f"]({name})" not in index] == []
    assert "](docs/README.md)" in (ROOT / "README.md").read_text()


def test_the_index_has_every_playbook() -> None:
    table = (ROOT / "docs/README.md").read_text().partition("## Playbooks\n")[2].partition("\n## ")[0]
    names = [
        name
        for row in table.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert sorted(names) == sorted(path.stem for path in (ROOT / "playbooks").glob("[!_]*.yml"))
