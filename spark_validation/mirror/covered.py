"""What an audit compared, and what it left out: figures, sentences, and the check that there was something. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spark_validation.core.result import INCONCLUSIVE, PASS, Check, calendar
from spark_validation.mirror.config import Arguments, Pair
from spark_validation.mirror.mark import Earlier
from spark_validation.mirror.seen import Compared, Scope

# So many topics that were left out are named; their number is of all.
_NAMED = 20


@dataclass(frozen=True)
class Coverage:
    """What was compared.

    topics   -- topics of the flow
    compared -- those of them that were judged whole
    records  -- records of the source (of compacted topics: keys) that the mirror had to hold
    mirrored -- records of the mirror that they were compared with
    left_out -- why a topic, or a part of one, was not judged
    earlier  -- what was not read again because an earlier audit proved it; None where all was read
    """

    topics: int
    compared: int
    records: int
    mirrored: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    earlier: Earlier | None = None


def coverage(
    arguments: Arguments,
    seen: Compared,
    scopes: Sequence[Scope],
    disturbed: Mapping[str, str],
    behind: Mapping[str, int],
    unread: Mapping[str, str],
) -> Coverage:
    """Return what was compared.

    scopes    -- the pairs that were read
    disturbed -- topics of either side whose findings decide nothing, with what happened to them
    behind    -- topics that the mirror did not finish, with the offsets that are left
    unread    -- topics that were judged but for a part, with that part
    """
    whole = [scope for scope in scopes if scope.source not in disturbed and scope.target not in disturbed]
    judged = {scope.source for scope in whole}
    left_out = {
        pair.source: _why(pair, disturbed, behind) if pair.source not in judged else unread[pair.source]
        for pair in arguments.pairs
        if pair.source not in judged or pair.source in unread
    }
    counted = [seen.pairs.get(scope.number, {}) for scope in whole]
    return Coverage(
        len(arguments.pairs),
        len(whole),
        sum(pair.get("n_a", 0) for pair in counted),
        sum(pair.get("n_t", 0) for pair in counted),
        left_out,
    )


def _why(pair: Pair, disturbed: Mapping[str, str], behind: Mapping[str, int]) -> str:
    if pair.source in behind:
        return f"the mirror is {behind[pair.source]:,} offsets behind"
    if pair.source in disturbed:
        return disturbed[pair.source]
    if pair.target in disturbed:
        return f"its mirror {pair.target}: {disturbed[pair.target]}"
    return f"it is not in the target as {pair.target}"


def figures(covered: Coverage) -> dict[str, Any]:
    """Return the coverage for result.json."""
    earlier = {} if covered.earlier is None else {"earlier": asdict(covered.earlier)}
    return {
        "topics": covered.topics,
        "compared": covered.compared,
        "records": covered.records,
        "mirrored": covered.mirrored,
        "left_out": [{"topic": topic, "why": why} for topic, why in sorted(covered.left_out.items())],
        **earlier,
    }


def sentences(covered: Coverage, from_ms: int | None) -> list[str]:
    """Return the coverage for people: what was compared, then a line for each topic that was left out."""
    since = f" from {from_ms} ms (from_ms) on" if from_ms is not None else ""
    lines = [
        f"compared {covered.compared:,} of {covered.topics:,} topics: {covered.records:,} records of the source{since} "
        f"with {covered.mirrored:,} of the mirror"
    ]
    lines += _earlier(covered.earlier) if covered.earlier else []
    lines += [f"left out: topic {topic}: {why}" for topic, why in sorted(covered.left_out.items())[:_NAMED]]
    more = len(covered.left_out) - _NAMED
    return [*lines, *([f"left out: {more:,} more topics"] if more > 0 else [])]


def _earlier(earlier: Earlier) -> list[str]:
    """Say what was not read now, and of which partitions all was."""
    lines = []
    if earlier.whole_ms is not None:
        lines.append(
            f"not read again in {earlier.partitions:,} partitions: {earlier.records:,} records that earlier audits "
            f"proved, the oldest of them at {_date(earlier.whole_ms)}"
        )
    reasons = [f"{count:,} ({why})" for why, count in earlier.whole.items()]
    return [*lines, *([f"partitions compared whole: {', '.join(reasons)}"] if reasons else [])]


def _date(milliseconds: int) -> str:
    date = calendar(milliseconds)
    return f"{milliseconds} ms" if date is None else date.strftime("%Y-%m-%d %H:%M UTC")


def judge_compared(covered: Coverage) -> Check:
    """Judge whether anything was compared: an audit of no record proves nothing."""
    why = (
        "the topics hold no record that the mirror must have: write some, or judge from an earlier time (from_ms)"
        if covered.compared
        else "no topic could be judged; the other checks say why"
    )
    return Check(
        "compared",
        "Records of the source were compared",
        PASS if covered.records else INCONCLUSIVE,
        expected="at least 1",
        actual=covered.records,
        unit="records",
        suggests="" if covered.records else why,
    )
