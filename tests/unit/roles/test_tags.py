"""What --tags chooses is done: Ansible gives the tags of an include to the tasks in it only where they are applied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import ROOT

INCLUDES = ("ansible.builtin.include_tasks", "ansible.builtin.include_role")
FILES = sorted(
    [*ROOT.glob("roles/*/tasks/**/*.yml"), *ROOT.glob("playbooks/*.yml"), *ROOT.glob("playbooks/tasks/**/*.yml")]
)


def includes(entries: list[Any], given: frozenset[str] = frozenset()) -> Iterator[tuple[str, set[str], set[str]]]:
    """The name of each include with tags, these tags, and those that the tasks in it have from it or from a block."""
    for one in entries:
        # What chooses tasks always (the checks, whole nodes) leaves the choice to the tags inside.
        tags = frozenset(one.get("tags", [])) - {"always"}
        for part in ("tasks", "block", "rescue", "always"):
            yield from includes(one.get(part) or [], given | tags)
        for how in INCLUDES:
            if how in one and tags:
                applied = one[how].get("apply", {}).get("tags", []) if isinstance(one[how], dict) else []
                yield one["name"], set(tags), {*given, *applied}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_tags_of_an_include_are_those_of_its_tasks(path: Path) -> None:
    for name, tags, inside in includes(yaml.safe_load(path.read_text()) or []):
        assert tags <= inside, f"{name}: --tags {','.join(tags)} would do nothing in it"
