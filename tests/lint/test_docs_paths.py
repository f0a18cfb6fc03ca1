# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pages name exists: tests behind claims, and pages that other pages link to."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cluster import ROOT
from tests.support.playbooks import PUBLIC, head

OWN = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/development").glob("*.md"))]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *OWN]
#: Files whose messages and comments name pages of docs/.
NAMING = [
    path
    for room in ("plugins", "roles", "playbooks", "page", "spark_validation", "tools", "awx")
    for path in sorted((ROOT / room).rglob("*"))
    if path.suffix in {".py", ".yml", ".j2", ".md", ""} and path.is_file()
]


def missing_tests(text: str) -> list[str]:
    """The tests that a page names in backticks and that are nowhere in the tree."""
    named = [word for word in re.findall(r"`([\w/.]+)`", text) if word.startswith("tests/") or "/test_" in word]
    return [name for name in named if not (ROOT / name).exists() and not (ROOT / "tests/integration" / name).exists()]


def missing_links(page: Path, text: str) -> list[str]:
    """Relative links of a page that lead nowhere."""
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    return [target for target in targets if target and "://" not in target and not (page.parent / target).exists()]


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def missing_anchors(page: Path, text: str) -> list[str]:
    """Links of a page to headings that the page they lead to does not have."""
    links = [target for target in re.findall(r"\]\(([^)\s]*#[^)\s]+)\)", text) if "://" not in target]
    leads = [
        (target, page.parent / name if name else page, anchor)
        for target in links
        for name, _, anchor in [target.partition("#")]
    ]
    return [
        target
        for target, path, anchor in leads
        if path.suffix == ".md" and path.exists() and anchor not in anchors(path.read_text())
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_only_what_exists(page: Path) -> None:
    text = page.read_text()
    assert missing_tests(text) == []
    assert missing_links(page, text) == []
    assert missing_anchors(page, text) == []


def test_messages_and_comments_name_pages_that_exist() -> None:
    named = {
        (str(path.relative_to(ROOT)), name, anchor)
        for path in NAMING
        for name, anchor in re.findall(r"\bdocs/([\w/-]+\.md)(?:#([\w-]+))?", path.read_text(errors="ignore"))
    }
    assert len(named) > 20
    lost = [
        found
        for found in sorted(named)
        if not (ROOT / "docs" / found[1]).is_file()
        or (found[2] and found[2] not in anchors((ROOT / "docs" / found[1]).read_text()))
    ]
    assert lost == []


def test_an_anchor_is_that_of_a_heading() -> None:
    text = "# A node's *own* page\n```\n# no heading\n```\n## To rename a host, or `two`\n"
    assert anchors(text) == {"a-nodes-own-page", "to-rename-a-host-or-two"}
    page = ROOT / "docs/README.md"
    assert missing_anchors(
        page, "[a](restarts.md#generations) [b](restarts.md#nowhere) [c](#playbooks) [d](#none)"
    ) == [
        "restarts.md#nowhere",
        "#none",
    ]


def test_a_name_of_nothing_is_found() -> None:
    assert missing_tests("`security/test_nothing.py` and `tests/unit`") == ["security/test_nothing.py"]
    assert missing_links(ROOT / "README.md", "[a](docs/nothing.md#x) [b](docs/tls-sasl.md) [c](https://a.example)") == [
        "docs/nothing.md"
    ]


@pytest.mark.parametrize("page", OWN, ids=lambda page: page.name)
def test_commands_name_playbooks_as_an_installed_collection_has_them(page: Path) -> None:
    assert re.findall(r"ansible-playbook \S+\.yml", page.read_text()) == []


def test_the_index_has_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in OWN} - {"README.md"}
    assert [name for name in sorted(pages) if f"]({name})" not in index] == []
    assert "](docs/README.md)" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", PUBLIC)
def test_a_playbook_names_its_page(name: str) -> None:
    pages = head(name).pages
    assert pages, f"the comment at the head of playbooks/{name}.yml names no page: add the line '# See docs/PAGE.md.'"
    assert [page for page in pages if not (ROOT / "docs" / page).exists()] == []


def test_the_index_has_every_playbook() -> None:
    command = [sys.executable, str(ROOT / "tools" / "make_docs_index"), "--check"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout + made.stderr) == (0, "")
