# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on the health of a flow of a mirror, from what mirror_status returned, failed or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils._health.model import FATAL, NOTE, SERIOUS, HealthFinding, status_of
from ...module_utils._mirror.gap import TRUNCATED, in_words
from ...module_utils._mirror_drill.model import MOST_DAYS

_MIRRORS = "ansible-playbook streamops.kafka.mirrors -i INVENTORY"


def mirror_findings(
    look: Mapping[str, Any], max_lag: int, gaps: Mapping[str, Any], drill_days: int | None = None
) -> list[HealthFinding]:
    """Return what is not as it should be with a flow; ``max_lag`` is in records of the whole flow.

    ``gaps`` is what mirror_gaps returned, ``drill_days`` how many days ago the last drill of a failover ended, None
    where there was none. A flow whose patterns find no topic yet has nothing to be behind with.
    """
    return [*_failed(look), *_problems(look), *_gaps(gaps), *_behind(look, max_lag), *_drill(drill_days)]


def mirror_verdict(
    flow: str, look: Mapping[str, Any], max_lag: int, gaps: Mapping[str, Any], drill_days: int | None = None
) -> dict[str, Any]:
    """Return {status, findings, line} of a flow, whose line is its first one for people."""
    found = mirror_findings(look, max_lag, gaps, drill_days)
    status = status_of(found)
    well = f"{look['lag'] or 0} records behind" if "lag" in look else "it has no topic yet, so nothing was compared"
    why = "; ".join(finding.what for finding in found if finding.severity != NOTE) or well
    return {
        "status": status,
        "findings": [one.as_dict() for one in found],
        "line": f"{status:<12} mirror {flow}: {why}",
    }


def _failed(look: Mapping[str, Any]) -> Iterator[HealthFinding]:
    """Find a flow of which nothing is known: a cluster is out of reach (mirror_unreachable), or it has never begun."""
    failure = look.get("failure") or {}
    if failure.get("kind") == "ClusterUnreachableError":
        yield HealthFinding(
            "mirror_unreachable",
            FATAL,
            f"nothing is known of it: {look['msg']}",
            found="no answer",
            allowed="an answer of source and target",
            next_step="see the status of the source and of the target",
        )
    elif failure.get("kind") == "MirrorNotBegunError":
        yield HealthFinding(
            "mirror_not_begun",
            SERIOUS,
            "it has never begun",
            found="no record of how far it is",
            allowed="one",
            next_step=f"look at the logs of the mirrors, then: {_MIRRORS}",
        )


def _problems(look: Mapping[str, Any]) -> Iterator[HealthFinding]:
    """Pass on the problems that mirror_status found: topics that are missing, partitions of which no broker told."""
    for problem in look.get("problems") or ():
        yield HealthFinding(
            "mirror_problem",
            SERIOUS,
            problem,
            found="see there",
            allowed="every topic, with all its partitions",
            next_step=f"look at the logs of the mirrors, then: {_MIRRORS}",
        )


def _gaps(gaps: Mapping[str, Any]) -> Iterator[HealthFinding]:
    """Find records that can no longer be mirrored (mirror_gap), those that the source has lost and the target has
    (mirror_truncated), and a flow of which that is not known."""
    every = gaps.get("gaps") or ()
    # The source lacks the one and the target the others: what helps differs, and so do their alerts.
    by_kind = {
        "mirror_gap": [gap for gap in every if gap["kind"] != TRUNCATED],
        "mirror_truncated": [gap for gap in every if gap["kind"] == TRUNCATED],
    }
    for kind, some in by_kind.items():
        for records, words in in_words(some):
            yield HealthFinding(
                kind,
                SERIOUS,
                words,
                found=f"{records} records",
                allowed="none",
                next_step="see docs/mirror-gaps.md",
            )
    # The task has its own failed_when, so "failed" does not tell; a look that succeeded has gaps, if only none.
    # A flow whose patterns have found no topic yet has none that could be gone.
    is_empty = (gaps.get("failure") or {}).get("kind") == "NothingToMirrorError"
    if gaps.get("msg") and "gaps" not in gaps and not gaps.get("skipped") and not is_empty:
        yield HealthFinding(
            "mirror_gaps_unknown",
            SERIOUS,
            f"whether records are missing is not known: {gaps['msg']}",
            found="no answer",
            allowed="one",
            next_step="see docs/mirror-gaps.md",
        )


def _behind(look: Mapping[str, Any], max_lag: int) -> Iterator[HealthFinding]:
    """Find a flow that is behind."""
    lag = look.get("lag") or 0
    if lag > max_lag:
        yield HealthFinding(
            "mirror_behind",
            SERIOUS,
            f"it is {lag} records behind",
            found=f"{lag} records",
            allowed=f"at most {max_lag} records",
            next_step="see docs/mirror-status.md; look at the logs of the mirrors",
        )


def _drill(days: int | None) -> Iterator[HealthFinding]:
    """Find that no failover by the flow was rehearsed for long; that none ever was is the choice of the operator."""
    if days is not None and days > MOST_DAYS:
        yield HealthFinding(
            "mirror_drill_old",
            NOTE,
            f"the last drill of a failover was {days} days ago",
            found=f"{days} days",
            allowed=f"at most {MOST_DAYS} days",
            next_step="run mirror_drill.yml; see docs/mirror-drill.md",
        )


#: What a finding on a mirror may be.
MIRROR_KINDS = (
    "mirror_unreachable",
    "mirror_not_begun",
    "mirror_problem",
    "mirror_gap",
    "mirror_truncated",
    "mirror_gaps_unknown",
    "mirror_behind",
    "mirror_drill_old",
)
