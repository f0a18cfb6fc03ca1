"""From what was found to checks: every rule by which a mirror passes or fails, as pure functions of plain data."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spark_validation.core.cluster import Place, TopicSeen
from spark_validation.core.result import FAIL, INCONCLUSIVE, INFO, PASS, Check, none_of, noted
from spark_validation.mirror.config import Arguments, Pair
from spark_validation.mirror.seen import (
    CHANGED,
    DISORDER,
    DUPLICATED,
    EXPIRED,
    IN_FLUX,
    LOST,
    PHANTOM,
    UNJUDGED,
    Compared,
    Found,
    Scope,
)
from spark_validation.mirror.wait import Waited

# The kind of a gap, as mirror_gaps tells it, whose records were mirrored before the log of the source was cut.
_TRUNCATED = "truncated"
# Kinds whose records stood in a log that is gone, so that nothing can compare them any more; but for those with this
# doubt, which a new log holds.
_LOG_GONE = ("deleted", "recreated", "truncated_unmirrored")
_STILL_THERE = "still_there"
# The doubt about records that a look read and that the mirror may have left out before the source deleted them.
_UNPLACED = "unplaced"
# So many topics are named in a sentence.
_NAMED = 5
_TITLES = {
    LOST: ("No record of the source is missing from the mirror", "the mirror skipped them, or they were deleted there"),
    PHANTOM: (
        "The mirror holds no record that its source never had",
        "something else writes into the mirrored topic, or the mirror reads uncommitted records",
    ),
    CHANGED: (
        "Key, value, headers and timestamp came over unchanged",
        "a transformation, another writer, or damage; the examples say what differs",
    ),
}

_ORDER = ("Records of a partition are in the order of the source", "the mirror reordered records within a partition")


def judge_caught_up(waited: Waited, frontiers: Mapping[Place, int | None], seconds: int, examples: int) -> list[Check]:
    """Judge whether the mirror has a position for each topic with records, and reached the frontier in time."""
    unknown = waited.unknown(dict(frontiers))
    checks = [
        none_of(
            "position",
            "The mirror has a position for every topic that holds records",
            "topics",
            len(unknown),
            [{"topic": topic} for topic in unknown[:examples]],
            "the mirror never wrote one: it does not run, does not cover them, or runs under another alias or group",
            status=INCONCLUSIVE,
        )
    ]
    lag = waited.behind_by_topic()
    worst = sorted(lag.items(), key=lambda item: (-item[1], item[0]))
    total = sum(lag.values())
    checks.append(
        none_of(
            "caught_up",
            "The mirror reached the frozen end of its source",
            "offsets left",
            total,
            [{"topic": topic, "left": count} for topic, count in worst[:examples]],
            f"the mirror is behind after {seconds} s of waiting, these topics are not judged; look at the mirror, or "
            "wait longer (wait_seconds)",
            status=INCONCLUSIVE,
            examples_total=len(worst),
            seconds=waited.seconds,
        )
    )
    return checks


def judge_gaps(arguments: Arguments) -> list[Check]:
    """Judge what the source lost: before it was mirrored it is on no side, and after a cut it is on one side alone.

    Every gap of the flow counts, also of a topic that is gone and hence not among those that are compared.
    """
    sure = [gap for gap in arguments.gaps if gap.get("certain", True)]
    cut = [gap for gap in sure if gap.get("kind") == _TRUNCATED]
    certain = [gap for gap in sure if gap not in cut]
    uncertain = [gap for gap in arguments.gaps if not gap.get("certain", True)]
    unsettled = [gap for gap in uncertain if _cannot_be_settled(gap, arguments)]
    possible = [gap for gap in uncertain if gap not in unsettled]
    examples = arguments.max_examples
    checks = [
        none_of(
            "gaps",
            "The source lost no record before it was mirrored",
            "records",
            sum(gap["records"] for gap in certain),
            certain[:examples],
            f"{_of_topics(certain)}: these records are on neither side; load them in another way, then forget them "
            "with mirror_gaps (docs/mirror-gaps.md)",
            examples_total=len(certain),
        )
    ]
    if cut:
        checks.append(
            none_of(
                "truncated",
                "The source still has what was mirrored of a log that was cut",
                "records",
                sum(gap["records"] for gap in cut),
                cut[:examples],
                f"{_of_topics(cut)}: the mirror alone has these records; raise retention.ms there before it deletes "
                "them, then forget them with mirror_gaps (docs/mirror-gaps.md)",
                examples_total=len(cut),
            )
        )
    if unsettled:
        checks.append(
            none_of(
                "unsettled_gaps",
                "Nothing is in doubt of what the source no longer has",
                "offsets",
                sum(gap["records"] for gap in unsettled),
                unsettled[:examples],
                f"{_of_topics(unsettled)}: the source no longer has what stood there, so it is unknown whether records "
                "were lost; compare the mirrored topic with what wrote them, load what is missing, then forget the gap "
                "with mirror_gaps (docs/mirror-gaps.md)",
                status=INCONCLUSIVE,
                examples_total=len(unsettled),
            )
        )
    if possible:
        title = "Offsets that may have held records which were never mirrored (not certain)"
        total = sum(gap["records"] for gap in possible)
        checks.append(replace(noted("possible_gaps", title, "offsets", total, possible[:examples]),
                              examples_total=len(possible)))  # fmt: skip
    return checks


def _cannot_be_settled(gap: Mapping[str, Any], arguments: Arguments) -> bool:
    """Tell whether neither a look nor this comparison can say what became of the records of an uncertain gap.

    Those that the mirror's position showed in the target are no part of a gap.
    """
    is_compared = gap.get("doubt") == _STILL_THERE and any(gap["topic"] == pair.source for pair in arguments.pairs)
    return gap.get("doubt") == _UNPLACED or (gap.get("kind") in _LOG_GONE and not is_compared)


def _of_topics(gaps: list[dict[str, Any]]) -> str:
    topics = sorted({gap["topic"] for gap in gaps})
    more = f" and {len(topics) - _NAMED} more" if len(topics) > _NAMED else ""
    return f"topic{'s' if len(topics) > 1 else ''} {', '.join(topics[:_NAMED])}{more}"


def judge_settled(unread: Mapping[str, str], examples: int) -> Check:
    """Judge whether the source could be read to its end: what stands behind an open transaction is not compared.

    unread -- topics of which a part lies behind one, with that part
    """
    return none_of(
        "settled",
        "Every transaction of the source has ended",
        "topics",
        len(unread),
        [{"topic": topic, "what": what} for topic, what in sorted(unread.items())[:examples]],
        f"not judged to their end: {_named(unread)}; see which producer keeps the transaction open, then run again",
        status=INCONCLUSIVE,
    )


def judge_topics(
    pairs: list[Pair],
    source: Mapping[str, TopicSeen],
    target: Mapping[str, TopicSeen],
    lasts: Mapping[Place, int | None],
    arguments: Arguments,
) -> list[Check]:
    """Judge whether the target has the topics, with partitions enough. `lasts`: last records of source partitions."""
    examples = arguments.max_examples
    held = {place for place, last in lasts.items() if last is not None}
    holding = {topic for topic, _partition in held}
    missing = [pair for pair in pairs if pair.target not in target and pair.source in holding]
    missing_topics = none_of(
        "topics",
        "Every topic that holds records has its mirror",
        "missing topics",
        len(missing),
        [{"topic": pair.source, "missing": pair.target} for pair in missing[:examples]],
        "the mirror says that it is done, but the topic is not there: it was deleted, or has another name",
    )
    counted = [
        (pair, source[pair.source].partitions, target[pair.target].partitions)
        for pair in pairs
        if pair.source in source and pair.target in target
    ]
    return [missing_topics, *_judge_partitions(counted, held, arguments)]


def _judge_partitions(counted: list[tuple[Pair, int, int]], held: set[Place], arguments: Arguments) -> list[Check]:
    """The numbers of partitions in source and target, by pair. `held`: partitions of the source with records."""
    # The legacy engine partitions anew, so it needs no partition of a certain number; and MirrorMaker 2 may not have
    # seen yet that a topic has grown, as long as nothing stands in its new partitions.
    fewer = [
        (pair, wanted, there)
        for pair, wanted, there in counted
        if arguments.keeps_partitions and any((pair.source, index) in held for index in range(there, wanted))
    ]
    more = [item for item in counted if item[2] > item[1]]
    return [
        none_of(
            "partitions",
            "No mirrored topic lacks a partition that holds records",
            "topics",
            len(fewer),
            _counts(fewer[: arguments.max_examples]),
            "records of the partitions that are missing have no place to go",
        ),
        noted(
            "extra_partitions",
            "Mirrored topics with more partitions than their source",
            "topics",
            len(more),
            _counts(more[: arguments.max_examples]),
        ),
    ]


def _counts(items: list[tuple[Pair, int, int]]) -> list[dict[str, Any]]:
    return [
        {"topic": pair.source, "mirror": pair.target, "partitions": wanted, "mirror_partitions": there}
        for pair, wanted, there in items
    ]


def judge_stable(disturbed: Mapping[str, str], examples: int) -> Check:
    """Judge whether what was compared stayed what it was. `disturbed`: topic -> what happened to it meanwhile."""
    return none_of(
        "stable",
        "No topic was made anew, grew or lost records while it was judged",
        "topics",
        len(disturbed),
        [{"topic": topic, "what": what} for topic, what in sorted(disturbed.items())[:examples]],
        f"not judged: {_named(disturbed)}; the others are; run again",
        status=INCONCLUSIVE,
    )


def _named(topics: Mapping[str, str]) -> str:
    said = [f"topic {topic} ({what})" for topic, what in sorted(topics.items())]
    return ", ".join(said[:_NAMED]) + (f" and {len(said) - _NAMED} more" if len(said) > _NAMED else "")


def judge_records(
    seen: Compared, scopes: list[Scope], arguments: Arguments, disturbed: Mapping[str, str]
) -> list[Check]:
    """The checks on the records. What was found in a topic that changed under the comparison decides nothing."""
    shaky = {scope.number for scope in scopes if scope.source in disturbed or scope.target in disturbed}
    found = {
        kind: seen.kinds.get(kind, Found()) for kind in (*_TITLES, DUPLICATED, DISORDER, UNJUDGED, EXPIRED, IN_FLUX)
    }
    checks = [_counted(kind, title, advice, found[kind], shaky) for kind, (title, advice) in _TITLES.items()]
    checks.append(_duplicates(found[DUPLICATED], arguments, shaky))
    if arguments.keeps_partitions:
        title, advice = _ORDER
        if arguments.order_check:
            checks.append(_counted(DISORDER, title, advice, found[DISORDER], shaky))
        elif seen.disorder_unjudged:
            title = "Partitions whose order was not judged (order_check)"
            checks.append(Check("order_unjudged", title, INFO, None, seen.disorder_unjudged, unit="partitions"))
    return checks + _limits(found)


def _counted(kind: str, title: str, advice: str, found: Found, shaky: set[int]) -> Check:
    return none_of(kind, title, "records", found.total, found.examples, advice, status=_status(found, shaky))


def _status(found: Found, shaky: set[int]) -> str:
    if not found.total:
        return PASS
    return FAIL if set(found.by_pair) - shaky else INCONCLUSIVE


def _duplicates(found: Found, arguments: Arguments, shaky: set[int]) -> Check:
    limit = 0 if arguments.exactly_once else arguments.max_duplicates
    too_many = limit is not None and found.total > limit
    if too_many:
        status = _status(found, shaky)
    else:
        status = PASS if limit is not None else INFO
    why = (
        "with exactly_once enabled no record may come twice (from_ms leaves out what came before it was enabled)"
        if arguments.exactly_once
        else "more than max_duplicates; the mirror restarts often, or its offsets were lost"
    )
    title = "Records that came more than once" + ("" if limit is not None else " (an at-least-once mirror may repeat)")
    return Check(
        DUPLICATED,
        title,
        status,
        limit,
        found.total,
        found.total - limit if limit is not None else None,
        limit,
        "records",
        found.examples,
        found.total,
        why if too_many else "",
    )


def _limits(found: Mapping[str, Found]) -> list[Check]:
    gone, expired, flux = found[UNJUDGED], found[EXPIRED], found[IN_FLUX]
    checks = [
        none_of(
            "retention",
            "Neither side has removed what the source promises to hold",
            "records",
            gone.total,
            gone.examples,
            "retention or deletion removed them from one side, so it is unknown whether they were mirrored; all "
            "later records were compared. Keep them as long on the target as in the source, or judge from a later time "
            "(from_ms)",
            status=INCONCLUSIVE,
        )
    ]
    if expired.total:
        title = "Records that only one side still holds, past the retention of the source"
        checks.append(noted(EXPIRED, title, "records", expired.total, expired.examples))
    if flux.total:
        checks.append(
            none_of(
                IN_FLUX,
                "Keys that changed while they were compared show a known value",
                "records",
                flux.total,
                flux.examples,
                "run again, when less is written",
                status=INCONCLUSIVE,
            )
        )
    return checks
