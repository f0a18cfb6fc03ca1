# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One look of node_wait: watch a node on its host for an interval, end early when something is decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import mirror_start
from .adopted_look import read as read_adopted
from .log_cause import ENDS, cause, distinct
from .log_lines import LIMIT, every_said, forms, last_errors, last_line, last_said, says, telling_lines
from .ports import ports
from .process import process, read_record
from .processes import processor_seconds, started_at
from .quorum import quorum
from .start_record import identity, opened_ports
from .wait import REACHED, REFUSED, WAITING, Life, judge, life_of

# Seconds between two readings of /proc within a look: cheap, and shorter than any process needs to start and die.
PAUSE = 0.2
# A process that a start record names and that is dead at the first look of a wait was started by this start when it
# began at most this long before (seconds). A start writes its record within a second; a look lasts two.
RECENT = 60.0
# Lines that are searched for the cause: a node that is refused logs some hundred a second, all alike.
SEARCHED = 5000
# Until a process knows from a leader how far the metadata is committed, its loader says so ten times a second
# (seen from 3.9 on); then it says how far that is, and no more.
LOADER = r"MetadataLoader.*high water mark"
# What a node says while it loads its logs, recovers them behind an unclean stop, or loads its metadata; each line has
# another partition, segment or offset (LogLoader, LogManager and MetadataLoader, alike since Kafka 3.9).
LOADING = r"\[LogLoader partition=|Completed load of |but the high water mark is"
UNKNOWN = "still don't know the high water mark"
# What a voter says once it takes part in its quorum, whoever leads it (QuorumState of Kafka, from 3.3 on); until then
# its Java virtual machine and Kafka are starting.
TAKES_PART = r"\[RaftManager [^\]]*\] (Completed|Attempting durable) transition to "


def look(
    params: Mapping[str, Any],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    journal: Callable[[str], str],
) -> dict[str, Any]:
    """Watch for at most `interval` seconds and return {verdict, process, ports, missing_ports, log_lines, ...}.

    clock -- seconds since 1970 on this host; journal -- the last text that a systemd unit printed.
    """
    began = clock()
    seen = life_of(params["seen"])
    while True:
        found = _reading(params)
        now = life_of(found["process"])
        said = _has_said(params, now)
        verdict = judge(params["state"], seen, now, found["missing_ports"], said, led=found["led"] is not False)
        seen = seen or now
        if params["flows"] and verdict == REACHED:
            found["flows"] = flows(params, started_at(now.start_time if now else None))
            verdict = REFUSED if found["flows"]["refused"] else WAITING if found["flows"]["unsettled"] else REACHED
        if verdict != WAITING or clock() - began >= params["interval"]:
            break
        sleep(PAUSE)
    first = float((params["seen"] or {}).get("first_look") or began)
    life = seen or found["recorded_life"]
    since = started_at(life.start_time if life else None)
    recent = since is not None and since >= first - RECENT
    result = {key: value for key, value in found.items() if key != "recorded_life"}
    if found["led"] is False and not says(params["log_files"], TAKES_PART, since):
        result["starting"] = last_line(params["log_files"], since) or "(nothing)"
    result.update(verdict=verdict, now=began, ended_recently=recent and not found["process"]["running"])
    files = list(params["log_files"]) if params["state"] == "started" else []
    after = since if seen or recent else first - RECENT
    every = last_errors(files, after, SEARCHED)
    lines = distinct(every)
    if params["unit"] and files and not found["process"]["running"]:
        # What Java says before Kafka logs. It also repeats errors of the log, which are shown once.
        lines = list(dict.fromkeys([*lines, *telling_lines(journal(params["unit"]), after)]))[-LIMIT:]
    result.update(cause=cause(every), ended_by=cause(every, ENDS))
    result.update(log_lines=lines, log_files=files, loading=loading(files, since))
    return dict(result, **signs_of_work(params, found["process"], since if params["state"] == "started" else first))


def signs_of_work(params: Mapping[str, Any], process: Mapping[str, Any], since: float | None) -> dict[str, Any]:
    """Return what tells a slow node from one that stands still: the forms of its lines since then, and its work."""
    if not process["running"] or since is None:
        return {"forms": [], "processor_seconds": 0.0}
    return {"forms": forms(params["log_files"], since), "processor_seconds": processor_seconds(process["pid"])}


def flows(params: Mapping[str, Any], since: float | None) -> dict[str, list[str]]:
    """Return which of the wanted flows of a mirror that started then have refused their configuration, or have none."""
    return mirror_start.standing(every_said(params["log_files"], mirror_start.TELLING, since), params["flows"])


def loading(files: Sequence[str], since: float | None) -> str:
    """Return what a node said last of its loading since then, without the time; empty where it said nothing of it."""
    return "; ".join(line.partition("] ")[2] for line in last_said(files, LOADING, since))


def _has_said(params: Mapping[str, Any], now: Life | None) -> bool:
    pattern = params["ready_line"]
    return not pattern or (now is not None and says(params["log_files"], pattern, started_at(now.start_time)))


def _reading(params: Mapping[str, Any]) -> dict[str, Any]:
    adopted = read_adopted(params["adopted_file"]) if params["adopted_file"] else None
    # What a start record says is of ours, which does not run any more.
    files = {} if adopted is not None else read_record(params["state_dir"])
    found = process(files, "", adopted)
    recorded = identity(files)
    awaited = opened_ports(files, params["ports"]) if params["state"] == "started" and recorded else []
    if adopted is not None:
        awaited = list(params["ports"])
        now = life_of(found)
        recorded = (now.pid, now.start_time) if now else None
    # Also of a process that ended: somebody else may have had its port.
    holders = ports(awaited, found["pid"])
    return {
        "process": found,
        "quorum": quorum(params["metadata_dir"]) if params["metadata_dir"] else None,
        "recorded_life": Life(*recorded) if recorded else None,
        "ports": holders,
        "led": led(params, started_at(recorded[1]) if recorded else None),
        "missing_ports": [port for port in awaited if found["running"] and not _serves(holders[str(port)])],
    }


def led(params: Mapping[str, Any], since: float | None) -> bool | None:
    """Return whether a voter that started then knows a leader of its quorum; None where that is not asked for.

    quorum-state alone may tell of the leader of the run before: a voter takes it up again and asks it, in vain when no
    majority is there. Where the log of this start says that nothing was heard of a leader yet, there is none.
    """
    if not params["metadata_dir"] or params["state"] != "started":
        return None
    state = quorum(params["metadata_dir"])
    if state is None or state["leader"] is None:
        return False
    said = last_said(params["log_files"], LOADER, since)
    return not said or any(UNKNOWN not in line for line in said)


def _serves(holder: Mapping[str, Any] | None) -> bool:
    # An owner that this user cannot see may well be the node: a foreign one would make the node's own start fail.
    return holder is not None and (holder["ours"] or holder["pid"] is None)
