# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What mirror_status found, in lines for people, and what a proof needs of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._core.names import capped
from ...module_utils._core.progress import duration
from ...module_utils._mirror.flows import PATTERN

#: Topics that a line names; a mirror may have thousands.
SHOWN = 8


def mirror_pairs(found: Mapping[str, Any], gaps: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, str]]:
    """Return the topics of a flow as the job mirror_audit takes them: {source, target}.

    None where no topic ever held a record and no gap is known: a flow that was just made has nothing to audit. The end
    of a log never falls by retention or DeleteRecords, so a topic that lost all its records is not such a one.
    """
    ends = [partition["source_end"] for topic in found["topics"] for partition in topic["partitions"]]
    if not gaps and all(end == 0 for end in ends):
        return []
    return [{"source": topic["source"], "target": topic["target"]} for topic in found["topics"]]


def audited_gaps(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the gaps that the job mirror_audit is told of: all that have offsets, whatever became of their topics."""
    return [gap for gap in found.get("gaps") or () if gap["records"]]


def mirror_lines(found: Mapping[str, Any]) -> list[str]:
    """A flow in a few lines: how far, how lively, which topics are behind."""
    topics = found["topics"]
    behind = sorted((topic for topic in topics if topic["lag"]), key=lambda topic: -topic["lag"])
    lines = [
        f"Mirror       {found['flow']}, {len(topics)} topics, "
        f"{found['partitions_done']} of {found['partitions_total']} partitions complete",
        f"Lag          {found['lag']} records{_worst(behind)}",
        f"Heartbeat    {_age(found['heartbeat_age_ms'])}",
        f"Checkpoint   {_age(found['checkpoint_age_ms'])}",
    ]
    lines += [f"Problem      {problem}" for problem in found["problems"]]
    return lines + [_tuned(end, names) for end, names in sorted(found.get("tuning_topics", {}).items())]


def _tuned(end: str, names: Sequence[str]) -> str:
    """Say which topics of a tuning a cluster has, and how they go; a tuning that runs deletes its own at its end."""
    return (
        f"Tuning       {end} has {capped(names, SHOWN)}. A run of mirror_tune.yml deletes them at its end. If none is "
        "under way, a killed one left them; delete them: kafka-topics.sh --bootstrap-server HOST:PORT --delete "
        f"--topic '{PATTERN}'"
    )


def gap_lines(found: Mapping[str, Any]) -> list[str]:
    """Return what mirror_gaps found, in a line for each gap, the latest; nothing where it was not asked."""
    lines = list(found.get("lines") or ())
    more = [f"Gap          {len(lines) - SHOWN} earlier ones; see mirror_gaps"] if len(lines) > SHOWN else []
    return [*more, *(f"Gap          {line}" for line in lines[-SHOWN:])]


def _worst(behind: list[Mapping[str, Any]]) -> str:
    worst = capped([f"{topic['source']} {topic['lag']}" for topic in behind], SHOWN)
    return f" ({worst})" if worst else ""


def _age(milliseconds: int | None) -> str:
    return "none seen" if milliseconds is None else f"{duration(max(0, milliseconds) / 1000)} ago"
