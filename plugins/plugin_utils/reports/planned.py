# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One plan of what a run would do to nodes and to what clusters hold, for the person who approves it. Pure.

Moves of replicas have a plan and a digest of their own (move_lines, C(_reassign/digest)). The digest of this plan is
N-changes-SHA256: N is 0 where there is nothing to do.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils._core.names import capped
from ...module_utils._reassign.digest import FORM, digests_in

INSTALLS, STARTS, RESTARTS, WRITES, STAYS = "installs", "starts", "restarts", "writes", "stays"
#: What would be done to a node, for people.
_WORDS = {
    INSTALLS: "would be installed and started",
    STARTS: "would start",
    RESTARTS: "would restart",
    WRITES: "would get files, without a restart",
}
_FORM = re.compile(r"([0-9]+)-changes-[0-9a-f]{64}")
#: How many files a line names, and how many lines that differ a refusal has.
_FILES, _LINES = 5, 20
#: The longest value of a change in a line; the digest has all of it.
_VALUE = 120
#: Why a plan may have found nothing: what looks at nodes has the tag kafka_configure in a run in check mode.
_BLIND = "A plan with --tags kafka_service alone lists no nodes: give kafka_configure,kafka_service to both. "
#: Begins what may be otherwise a minute later, and is in no digest.
HELD = "not now: "


@dataclass(frozen=True)
class NodePlan:
    """What would be done to a node: why, which files it gets, and what the restart gate says against it now.

    ``compared`` is false where a run cannot know it before its first change. ``hidden`` is what the digest has of it
    beside, and no line shows.
    """

    host: str
    does: str
    why: str = ""
    files: Sequence[str] = ()
    held: Sequence[str] = ()
    compared: bool = True
    hidden: str = ""


@dataclass(frozen=True)
class Change:
    """One thing inside a cluster that would change; None at the side where it does not exist.

    ``hidden`` is what the digest has of it beside, and no line shows.
    """

    subject: str
    name: str
    before: Any
    after: Any
    hidden: str = ""


@dataclass(frozen=True)
class ClusterPlan:
    """All of one cluster; ``kept`` counts by subject what stays as it is."""

    name: str
    nodes: Sequence[NodePlan] = ()
    changes: Sequence[Change] = ()
    kept: Mapping[str, int] = field(default_factory=dict)


def node_does(info: Mapping[str, Any], files: Sequence[str], forced: bool) -> str:
    """Say what a run would do to a node, from what node_info saw of it and which files differ."""
    if not (info.get("process") or {}).get("running"):
        has_data = any(disk.get("meta_properties") or disk.get("started") for disk in info.get("disks") or ())
        return STARTS if has_data else INSTALLS
    if info.get("restart_reasons") or forced:
        return RESTARTS
    return WRITES if files else STAYS


def changes_in(subject: str, diff: Mapping[str, Any]) -> list[Change]:
    """Return the changes in a diff as modules return it: before and after, each by name."""
    before, after = diff.get("before") or {}, diff.get("after") or {}
    return [Change(subject, name, before.get(name), after.get(name)) for name in sorted({*before, *after})]


def lines(plan: ClusterPlan) -> list[str]:
    """The plan of a cluster for people: what would be done, what cannot be done now, what stays."""
    done = [_node_line(node) for node in plan.nodes if node.does != STAYS]
    done += [_change_line(change) for change in plan.changes]
    held = [f"{HELD}{node.host}: {'; '.join(node.held)}" for node in plan.nodes if node.held]
    staying = sum(node.does == STAYS for node in plan.nodes)
    kept = {**({"nodes": staying} if staying else {}), **{name: count for name, count in plan.kept.items() if count}}
    stays = [f"stays: {', '.join(_number(count, name) for name, count in kept.items())}"] if kept else []
    return [*(done or ["nothing to do"]), *held, *stays]


def digest(plans: Iterable[ClusterPlan]) -> str:
    """Make the digest of these plans: N-changes-SHA256. What stays, and what the gate says, is not in it."""
    rows = sorted(row for plan in plans for row in _rows(plan))
    return f"{len(rows)}-changes-{hashlib.sha256(json.dumps(rows).encode()).hexdigest()}"


def covers_changes(approved: str) -> list[str]:
    """List those digests of an approval that are of such a plan, and not of moves."""
    return [one for one in digests_in(approved) if "-changes-" in one]


def moves_in(approved: str) -> str:
    """Return the digests of moves in an approval, with commas between them."""
    return ",".join(one for one in digests_in(approved) if "-changes-" not in one)


def refusal(approved: str, found: str, was: str = "", now: str = "") -> str:
    """Say why the plan of now is not the approved one; empty where it is, and where there is nothing to do any more.

    ``was`` and ``now`` are both plans as texts, whose difference is shown.
    """
    given, all_given = covers_changes(approved), digests_in(approved)
    idle = found.startswith("0-")
    # Where something changes, an approval of moves alone approves none of it.
    forms = (_FORM, FORM) if given or idle else (_FORM,)
    broken = [one for one in all_given if not any(form.fullmatch(one) for form in forms)]
    if not broken and (not all_given or idle or found in given):
        return ""
    if broken:
        return (
            f"streamops_plan_digest has {broken[0][:80]!r}, which is no digest of a plan that this run could carry "
            "out. fix: give what a run of the same playbook with --check or plan_only=true handed on, or leave it "
            "empty to run without an approval"
        )
    difference = _difference(was, now) or " "
    blind = _BLIND if given and all(one.startswith("0-") for one in given) else ""
    return (
        f"this is not the plan that was approved: the approved one has {' or '.join(map(_counted, given))}, the plan "
        f"of now {_counted(found)}.{difference}{blind}fix: make the plan again, have it approved, and give its "
        "digest; or leave streamops_plan_digest empty to carry out what is planned now"
    )


def _difference(was: str, now: str) -> str:
    """Return what only one of two plans says, a line each."""
    old, new = (list(filter(_is_compared, map(str.strip, text.splitlines()))) for text in (was, now))
    told = [f"- only approved: {line}" for line in old if line not in new]
    told += [f"- only now: {line}" for line in new if line not in old]
    if len(told) > _LINES:
        told[_LINES:] = [f"- and {len(told) - _LINES} more"]
    return "".join(f"\n{line}" for line in told) + "\n" if was.strip() and told else ""


def _is_compared(line: str) -> bool:
    return bool(line) and not line.startswith((HELD, "stays: "))


def _counted(one: str) -> str:
    count = one.partition("-")[0]
    return f"{count} change{'' if count == '1' else 's'}"


def _node_line(node: NodePlan) -> str:
    files = f"; files: {capped(list(node.files), _FILES)}" if node.files and node.does in (RESTARTS, WRITES) else ""
    why = f" ({node.why})" if node.why else ""
    mark = "" if node.compared else "; the approval does not cover this"
    return f"{node.host} {_WORDS[node.does]}{why}{files}{mark}"


def _change_line(change: Change) -> str:
    if change.before is None:
        what = f"would be added: {_value(change.after)}" if change.after else "would be added"
    elif change.after is None:
        what = "WOULD BE DELETED"
    else:
        what = f"{_value(change.before)} -> {_value(change.after)}"
    return f"{change.subject} {change.name} {what}"


def _number(count: int, names: str) -> str:
    """Return how many there are, in words: 1 topic, 2 topics."""
    return f"{count} {names.removesuffix('s') if count == 1 else names}"


def _value(value: Any) -> str:
    text = ", ".join(map(_part, value, value.values())) if isinstance(value, Mapping) else str(value)
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}..."


def _part(key: str, value: Any) -> str:
    """Return one part of a value: C(partitions=6), and of a login C(SCRAM-SHA-512 (iterations 8192, ...))."""
    if not isinstance(value, Mapping):
        return f"{key}={value}"
    # What is no value, such as (as given), stands in parentheses.
    inner = ", ".join(f"{name} {str(each).removeprefix('(').removesuffix(')')}" for name, each in value.items())
    return f"{key} ({inner})"


def _rows(plan: ClusterPlan) -> Iterator[str]:
    """A text for each change, the same in each run that would make the same change."""
    for node in plan.nodes:
        if node.compared and node.does != STAYS:
            # Of a node that is not there yet, every file is new.
            files = sorted(node.files) if node.does in (RESTARTS, WRITES) else []
            yield json.dumps([plan.name, node.host, node.does, node.why, files, node.hidden])
    for change in plan.changes:
        row = [plan.name, change.subject, change.name, change.before, change.after, change.hidden]
        yield json.dumps(row, sort_keys=True, default=str)
