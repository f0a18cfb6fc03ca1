"""The flows of mirrors that begin or end in a cluster, and how far their topics are behind. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import (
    FAILED,
    MOST_DAYS,
    NEVER,
    PASSED,
    LastDrill,
    can_drill,
    days_since,
    last_drill,
    unknown_drill,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import (
    NOT_KNOWN,
    ON_THE_PAGE,
    Cell,
    Table,
    count,
    cut_table,
)
from page.known.behind import (
    ALIVE,
    BEHIND,
    EMPTY,
    FEWER,
    IN_STEP,
    MISSING,
    NO_RECORD,
    NOT_COMPARABLE,
    SILENT,
    UNKNOWN,
    Beat,
    beat_of,
    event_age,
    rows_of,
)
from page.known.details import DRILLS
from page.known.freshness import iso
from page.shown.ages import as_of, details_of, not_told
from page.shown.clusters import rows_for_machines
from page.shown.names import path
from page.shown.sheet import Lister, Sheet, State, downloads, sheet_of
from page.shown.wanted import BY_NAME, Sort, Wanted, listed

Row = Mapping[str, Any]

SECTION = "mirrors"
#: States for people, with the class of their colour, the gravest first.
STATES = {
    MISSING: ("missing at the target", "fail"),
    FEWER: ("fewer partitions at the target", "fail"),
    EMPTY: ("nothing mirrored yet", "inconclusive"),
    BEHIND: ("behind", "inconclusive"),
    UNKNOWN: (NOT_KNOWN, "info"),
    NOT_COMPARABLE: ("cannot be compared", "info"),
    IN_STEP: ("in step", "pass"),
    NO_RECORD: ("no record at the source", "pass"),
}
_FIRST = (MISSING, FEWER, EMPTY)
SORTS = (
    Sort("behind", "Behind", lambda one: one["rank"], words=("most first", "least first")),
    Sort("name", "Topic", lambda one: (one["topic"], one["flow"]), falls=False, words=BY_NAME),
    Sort("flow", "Flow", lambda one: (one["flow"], one["topic"]), falls=False, words=BY_NAME),
    Sort("state", "State", lambda one: -[*STATES].index(one["state"]), words=("worst first", "best first")),
)
COLUMNS = (
    *("flow", "engine", "topic", "remote_topic", "state", "why", "behind_seconds", "partition"),
    *("source_newest", "target_newest", "source_partitions", "target_partitions"),
)
_LOGS = "Look at the log of mirror-maker-HOST on the mirrors next to the target, in kafka_log_dir. Then run"
_RUN = "ansible-playbook streamops.kafka.mirrors -i INVENTORY"
_STATUS = "ansible-playbook streamops.kafka.status -i INVENTORY"
_DRILL = "ansible-playbook streamops.kafka.mirror_drill -i INVENTORY -e 'kafka_failover=SOURCE->TARGET'"
_DRILL_TONES = {PASSED: "pass", FAILED: "fail"}
_SAID = (
    "By the times of the newest records at both ends; no record is read. The page looks at each end by itself, so what "
    "came to the source since the target was seen does not count. Lag in records, and the proof that a mirror has "
    f"caught up, are told by {_STATUS}."
)


@dataclass(frozen=True)
class _Told:
    """One flow with what is said of it."""

    flow: Flow
    beat: Beat
    canary: float | str | None
    rows: Sequence[Row]
    source: State | None
    target: State | None
    drill: LastDrill | None

    @property
    def most(self) -> float | None:
        """By how many seconds its topic that is most behind is."""
        return max((one["behind_seconds"] for one in self.rows if one["behind_seconds"] is not None), default=None)

    def number(self, state: str) -> int:
        """How many of its topics are in a state."""
        return sum(one["state"] == state for one in self.rows)


def mirrors(state: State, states: Mapping[str, State], flows: Sequence[Flow], wanted: Wanted) -> Sheet:
    """Return the flows of a cluster, and of their topics those that a reader looks for.

    C(states) are those of all clusters of the page, C(flows) those with an end in this one.
    """
    told = [_told(flow, states) for flow in flows]
    rows = [{**one, "name": "\n".join((one["flow"], one["topic"], one["remote_topic"])), "rank": _rank(one)}
            for flow in told for one in flow.rows]  # fmt: skip
    found = listed(rows, wanted, SORTS)
    columns = (
        *(("Topic", "name"), ("Flow", "name"), ("State", "state"), ("Behind", "num"), ("Newest at the source", "num")),
        *(("Newest at the target", "num"), ("Partitions", "num")),
    )
    seen = any(end and end.seen.picture for one in told for end in (one.source, one.target))
    empty = "No topic of a flow has this in its name." if rows else "No topic fits the patterns of these flows."
    table = Table("Mirrored topics", "", columns, [_topic(one, states) for one in found.rows], empty)
    own = path("clusters", state.name, SECTION)
    within = "flow, topic or its name at the target"
    lister = Lister("Mirrored topics", own, wanted, found, SORTS, table, downloads(own, wanted), True, within)
    lines = chain([COLUMNS], ([row[key] for key in COLUMNS] for row in map(_for_machines, found.every)))
    return sheet_of(
        state,
        SECTION,
        {"flows": [_data(one) for one in told], "topics": map(_for_machines, found.every)},
        say=_SAID,
        before=[_flows(told), *_steps(told), *_drills(told)],
        lister=lister if seen else None,
        rows=lines,
    )


def _told(flow: Flow, states: Mapping[str, State]) -> _Told:
    source, target = states.get(flow.source), states.get(flow.target)
    pictures = [one.seen.picture if one else None for one in (source, target)]
    beat, canary, rows = beat_of(flow, pictures[1]), event_age(flow, *pictures), rows_of(flow, *pictures)
    return _Told(flow, beat, canary, rows, source, target, _drill_of(flow, target) if can_drill(flow) else None)


def _drill_of(flow: Flow, target: State | None) -> LastDrill:
    """Return the last drill of a flow, as its target keeps it."""
    if target is None or target.seen.picture is None:
        return unknown_drill(_unseen("target", target))
    drills = details_of(target).drills
    if drills is None or flow.pair not in drills:
        return unknown_drill(not_told(target, DRILLS))
    last, now = drills[flow.pair], target.seen.picture.taken + (target.fresh.age or 0.0)
    return unknown_drill(last) if isinstance(last, str) else last_drill(last, days_since(last, now) if last else None)


def _rank(one: Row) -> float | None:
    """What the order by lag sorts by: what is not there at all is behind everything."""
    first = len(_FIRST) - _FIRST.index(one["state"]) if one["state"] in _FIRST else 0
    behind: float | None = one["behind_seconds"]
    return first * 1e12 + (behind or 0.0) if first else behind


def _state(told: _Told) -> tuple[str, str, str]:
    """Return the state of a flow in words, the class of its colour, and why."""
    beat = told.beat
    if told.target and told.target.seen.picture and not told.target.fresh.is_fresh:
        return "unknown", "info", "the picture of the target is stale"
    if beat.state == ALIVE:
        return "alive", "pass", ""
    if beat.state == SILENT:
        return ("silent" if beat.at is None else f"silent since {_iso(round(beat.at * 1000))}"), "fail", beat.why
    return "unknown", "info", _unseen("target", told.target) or beat.why


def _unseen(side: str, end: State | None) -> str:
    if end is None:
        return f"the {side} is not on this page"
    return "" if end.seen.picture else f"the {side} has not been seen yet"


def _next_step(told: _Told) -> str:
    """Return what to do next about a flow; empty where it needs nothing."""
    flow, beat = told.flow, told.beat
    if beat.state == SILENT and told.target and told.target.fresh.is_fresh:
        return f"{_LOGS}: {_RUN}"
    for end, name in ((told.target, flow.target), (told.source, flow.source)):
        if end is None:
            return f"Add {name} to the clusters of the page (kafka_page_clusters), and run page.yml."
        if not end.fresh.is_fresh:
            return f"Follow the next step on the page of cluster {name}."
    if told.number(MISSING) or told.number(FEWER):
        return (
            "MirrorMaker makes topics and partitions every mirror_maker_refresh_seconds. Where they stay missing: "
            f"look for refused authorizations in the log of mirror-maker-HOST, then run {_RUN}"
        )
    if told.number(BEHIND) or told.number(EMPTY):
        return f"Measure the lag in records: {_STATUS}. Where it grows, look at the log of mirror-maker-HOST."
    return f"See its lag in records: {_STATUS}" if beat.state == UNKNOWN else ""


def _flows(told: Sequence[_Told]) -> Table:
    columns = (
        *(("Flow", "name"), ("State", "state"), ("Heartbeat", "num"), ("Canary", "num"), ("Most behind", "num")),
        *(("Topics", "num"), ("Not there", "text"), ("Source", "name"), ("Target", "name")),
    )
    note = (
        "A heartbeat or an event of the canary that came through shows that a flow runs. Ages are those of the last "
        "pictures."
    )
    return cut_table("Flows", note, columns, [_flow(one) for one in told], whole=ON_THE_PAGE)


def _flow(told: _Told) -> list[Cell]:
    word, tone, why = _state(told)
    beat, most = told.beat, told.most
    hurt = [f"{number:,} {STATES[kind][0]}" for kind in _FIRST if (number := told.number(kind))]
    return [
        Cell(told.flow.pair, "name", more=told.flow.engine.replace("_", " ")),
        Cell(word, "state", tone, more=why),
        Cell(NOT_KNOWN if beat.age is None else duration(beat.age), "num", more="old" if beat.age is not None else ""),
        _canary(told.canary),
        Cell(NOT_KNOWN if most is None else duration(most), "num"),
        Cell(f"{len(told.rows):,}", "num"),
        Cell(", ".join(hurt) or "none"),
        _end("source", told.flow.source, told.source),
        _end("target", told.flow.target, told.target),
    ]


def _canary(age: float | str | None) -> Cell:
    """Return how old the newest event is that came."""
    if isinstance(age, float):
        return Cell(duration(age), "num", more="old")
    return Cell({None: "none", SILENT: "none came"}.get(age, NOT_KNOWN), "num")


def _steps(told: Sequence[_Told]) -> Iterator[Table]:
    """Yield what to do next about flows, where there is something."""
    rows = [[Cell(one.flow.pair, "name"), Cell(step)] for one in told if (step := _next_step(one))]
    if rows:
        yield cut_table("What to do", "", (("Flow", "name"), ("Next step", "text")), rows, whole=ON_THE_PAGE)


def _drills(told: Sequence[_Told]) -> Iterator[Table]:
    """Yield the last drill of each flow that a failover can be rehearsed by."""
    columns = (
        *(("Flow", "name"), ("Last drill", "state"), ("Ended", "num"), ("RPO", "num"), ("RTO", "num")),
        *(("Read again", "num"), ("Why, and next step", "text")),
    )
    rows = [_drill(each.flow.pair, each.drill, each.target) for each in told if each.drill]
    if rows:
        note = f"How a rehearsed failover ended: {_DRILL}"
        yield cut_table("Drills of a failover", note, columns, rows, whole=ON_THE_PAGE)


def _drill(pair: str, drill: LastDrill, target: State | None) -> list[Cell]:
    old = f"It ended more than {MOST_DAYS} days ago: run it again." if drill.is_old else ""
    nothing = "none" if drill.state == NEVER else NOT_KNOWN
    seconds = drill.rto_seconds
    return [
        Cell(pair, "name"),
        Cell(drill.state, "state", _DRILL_TONES.get(drill.state, "info"), more=as_of(target, DRILLS) if target else ""),
        Cell(nothing if drill.days is None else drill.ago, "num", more=drill.at),
        Cell(nothing if drill.rpo_records is None else f"{drill.rpo_records:,} records", "num"),
        Cell(nothing if seconds is None else duration(seconds), "num"),
        Cell(nothing if drill.read_again is None else f"{drill.read_again:,} records", "num"),
        Cell(" ".join(filter(None, [*drill.why, old]))),
    ]


def _end(side: str, name: str, end: State | None) -> Cell:
    if end is None:
        return Cell(name, "name", more=_unseen(side, end))
    return Cell(name, "name", more=_unseen(side, end) or end.fresh.what, link=end.address)


def _topic(one: Row, states: Mapping[str, State]) -> list[Cell]:
    word, tone = STATES[one["state"]]
    behind, remote = one["behind_seconds"], one["remote_topic"]
    source, _arrow, target = one["flow"].partition("->")
    at_source = one["source_partitions"] is not None
    cluster, name = (source, one["topic"]) if at_source else (target, remote)
    link = path("clusters", cluster, "topics", name) if cluster in states else ""
    pair = f"{count(one['source_partitions']).text} : {count(one['target_partitions']).text}"
    return [
        Cell(one["topic"], "name", more=f"as {remote}" if remote != one["topic"] else "", link=link),
        Cell(one["flow"], "name"),
        Cell(word, "state", tone, more=one["why"]),
        Cell(
            NOT_KNOWN if behind is None else duration(behind),
            "num",
            more="" if one["partition"] is None else f"partition {one['partition']}",
        ),
        _time(one["source_newest"]),
        _time(one["target_newest"]),
        Cell(pair, "num", more="source : target"),
    ]


def _time(ms: int | None) -> Cell:
    return Cell("none" if ms is None else _iso(ms), "num")


def _iso(ms: int) -> str:
    """Return a time that a record has; producers may set any, also such as no calendar has."""
    try:
        return iso(ms / 1000)
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"


def _for_machines(one: Row) -> dict[str, Any]:
    (row,) = rows_for_machines([dict(one)], ("name", "rank"))
    times = {key: None if row[key] is None else _iso(row[key]) for key in ("source_newest", "target_newest")}
    return {**row, **times}


def _data(told: _Told) -> dict[str, Any]:
    """Return a flow for machines."""
    flow, beat = told.flow, told.beat
    word, _tone, why = _state(told)
    ends = {
        side: {
            "cluster": name,
            "on_page": end is not None,
            "taken": end.fresh.taken if end else None,
            "age_seconds": end.fresh.age if end else None,
        }
        for side, name, end in (("source", flow.source, told.source), ("target", flow.target, told.target))
    }
    return {
        "flow": flow.pair, "engine": flow.engine, **ends, "state": word, "why": why,
        "heartbeat": None if beat.at is None else _iso(round(beat.at * 1000)), "heartbeat_age_seconds": beat.age,
        "canary_age_seconds": told.canary if isinstance(told.canary, float) else None,
        "behind_seconds": told.most, "topics": len(told.rows),
        **{kind: told.number(kind) for kind in STATES}, "next_step": _next_step(told),
        "drill": told.drill.as_data() if told.drill else None,
    }  # fmt: skip
