# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Why a run is refused by the tasks that it chooses: a start in the middle, single steps, tags that no task has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

#: The tags of this collection; tests/unit compares them with roles and playbooks.
TAGS = (
    "kafka_acls",
    "kafka_client_bundle",
    "kafka_configs",
    "kafka_configure",
    "kafka_firewall",
    "kafka_install",
    "kafka_quotas",
    "kafka_service",
    "kafka_topics",
    "kafka_users",
    "preflight",
    "spark_validation",
)
#: What Ansible itself knows (Special tags, in its page on tags).
ANSIBLES_TAGS = ("all", "always", "never", "tagged", "untagged")
#: What Molecule leaves out in each of its runs (--skip-tags), whether or not a task has it.
MOLECULES_TAGS = ("molecule-idempotence-notest", "molecule-notest", "notest")


def passed_by(options: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each option of ansible-playbook that passes by the checks.

    ``options`` are those of its command line. Ansible runs no task before that of --start-at-task, whatever its tags,
    and with --step none that the user answers with no: later tasks would work without what the checks found out.
    """
    found = []
    if options.get("start_at_task"):
        found.append(
            f"--start-at-task {options['start_at_task']!r} is refused: it passes by the checks before the first "
            "change. fix: run without it (what is as wanted stays as it is), or choose a part by --tags."
        )
    if options.get("step"):
        found.append(
            "--step is refused: each task that is answered with no is passed by, checks and gates too. "
            "fix: run without it, and look beforehand with --check --diff."
        )
    return found


def unknown_tags(asked: Collection[str], own: Collection[str] = ()) -> list[str]:
    """Return those of these tags that neither Ansible nor this collection knows, nor the user's own tasks have."""
    known = {*TAGS, *ANSIBLES_TAGS, *MOLECULES_TAGS, *own}
    return sorted(tag for tag in set(asked) if tag not in known)


def no_such_tags(unknown: Collection[str]) -> str:
    """Return the sentence that refuses tags that no task has."""
    return (
        f"no task has the tag {' or '.join(sorted(unknown))}, so --tags would choose nothing by it and --skip-tags "
        f"leave nothing out. fix: use tags of this collection ({', '.join(TAGS)}), or one that --list-tags shows for "
        "your own tasks."
    )
