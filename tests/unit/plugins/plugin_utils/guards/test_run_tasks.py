# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tasks of a run may be chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.run_tasks import (
    ANSIBLES_TAGS,
    TAGS,
    no_such_tags,
    passed_by,
    unknown_tags,
)

ROOT = Path(__file__).resolve().parents[5]


def tags_in(data: Any) -> Iterator[str]:
    """All tags of tasks and plays, however deep."""
    if isinstance(data, list):
        for part in data:
            yield from tags_in(part)
    elif isinstance(data, dict):
        tags = data.get("tags", [])
        yield from [tags] if isinstance(tags, str) else tags
        for part in data.values():
            yield from tags_in(part)


def test_the_known_tags_are_those_of_roles_and_playbooks() -> None:
    files = [*ROOT.glob("playbooks/*.yml"), *ROOT.glob("roles/*/tasks/**/*.yml")]
    found = {tag for file in files for tag in tags_in(yaml.safe_load(file.read_text()))}
    assert found - set(ANSIBLES_TAGS) == set(TAGS)


def test_a_run_of_all_tasks_is_taken() -> None:
    assert passed_by({}) == []
    assert passed_by({"start_at_task": None, "step": False, "tags": ["all"]}) == []


def test_a_start_in_the_middle_is_refused_in_one_sentence_of_what_to_do() -> None:
    (why,) = passed_by({"start_at_task": "Install *"})
    assert why.startswith("--start-at-task 'Install *' is refused: it passes by the checks")
    assert "fix: run without it" in why


def test_single_steps_are_refused() -> None:
    (why,) = passed_by({"step": True})
    assert why.startswith("--step is refused")


def test_molecule_may_leave_out_what_it_always_leaves_out() -> None:
    # As molecule/provisioner/ansible.py passes them to its runs, the first one for idempotence.
    assert unknown_tags(["molecule-idempotence-notest", "molecule-notest", "notest"]) == []


def test_unknown_tags_are_told_from_known_ones() -> None:
    assert unknown_tags(["all"]) == []
    assert unknown_tags([*TAGS, *ANSIBLES_TAGS]) == []
    assert unknown_tags(["kafka_topic", "kafka_topics", "mine", "kafka_topic"], own=["mine"]) == ["kafka_topic"]


def test_the_refusal_of_tags_lists_the_known_ones() -> None:
    why = no_such_tags(["typo", "other"])
    assert why.startswith("no task has the tag other or typo")
    assert all(tag in why for tag in TAGS)
