# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Compare what nodes say of the metadata, over several looks: a difference counts only when it stands. Pure.

Metadata reaches each node in its own time, so two nodes that are well differ for a moment after each change. What
stands is what one node says otherwise than most others in every look of some seconds. A node that is behind in the
metadata log differs by that alone: it is named with its offset, and its values are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._core.names import capped
from .._core.progress import duration
from .model import NO_AUTHORIZER, SUBJECTS, Facts, Look, digest

#: What a node does not have.
ABSENT = "absent"
#: Looks that a difference must be seen in at least.
LEAST_LOOKS = 3
#: Why nothing is held against a controller that only the other nodes reach.
NO_WAY = "its port cannot be reached from here, and the active controller says that it keeps up"
#: A subject, the name in it, and the node that says otherwise than most.
Apart = tuple[str, str, str]


def groups(nodes: Iterable[Facts], subject: str, name: str | None = None) -> list[tuple[str, list[Facts]]]:
    """Return what nodes say of a subject (of one name in it), each with the nodes that say so, the most first.

    Of as many the one with the lowest id is first. Nodes that did not answer to the subject are in none.
    """
    found: dict[str, list[Facts]] = {}
    for node in nodes:
        if subject in node.values:
            own = node.values[subject]
            found.setdefault(digest(own) if name is None else own.get(name, ABSENT), []).append(node)
    return sorted(found.items(), key=lambda one: (-len(one[1]), min(node.id for node in one[1])))


def apart(look: Look, left_out: Iterable[str] = ()) -> frozenset[Apart]:
    """Return what nodes say otherwise than most others; C(left_out) are names of nodes that are not compared."""
    nodes = [node for node in look.answered if node.name not in set(left_out)]
    found: set[Apart] = set()
    for subject in SUBJECTS:
        if len(groups(nodes, subject)) < 2:
            continue
        for name in {name for node in nodes for name in node.values.get(subject, ())}:
            found.update(
                (subject, name, node.name) for _said, some in groups(nodes, subject, name)[1:] for node in some
            )
    return frozenset(found)


def slim(look: Look) -> Look:
    """Return an earlier look with what a later verdict needs of it: only the names in which any nodes differ."""
    differing: dict[str, set[str]] = {}
    for subject, name, _node in apart(look):
        differing.setdefault(subject, set()).add(name)

    def kept(node: Facts) -> Facts:
        """Leave out what all nodes say."""
        values = {
            subject: {name: own[name] for name in differing.get(subject, ()) if name in own}
            for subject, own in node.values.items()
        }
        return replace(node, values=values)

    return replace(look, nodes=tuple(map(kept, look.nodes)))


def behind(first: Look, now: Look) -> dict[str, int]:
    """Return the nodes that have not come as far as the leader was in the first look, with what they lack of that."""
    if first.high_watermark is None:
        return {}
    known = (*now.answered, *now.unreached)
    lacking = {node.name: first.high_watermark - at for node in known if (at := now.position(node)) is not None}
    return {name: records for name, records in lacking.items() if records > 0}


@dataclass(frozen=True)
class Verdict:
    """What some looks in a row say together. C(stands): what was seen in all of them, C(late): the nodes behind."""

    first: Look
    last: Look
    looks: int
    stands: frozenset[Apart]
    late: Mapping[str, int]

    @property
    def open(self) -> bool:
        """Return whether another look may say more: a difference or a lag may pass."""
        return bool(self.stands or self.late)

    @property
    def seconds(self) -> float:
        """The time from the first look to the last."""
        return self.last.at - self.first.at

    @property
    def silent(self) -> list[Facts]:
        """The nodes that did not answer in the last look, or not to the end."""
        return list(self.last.silent)

    @property
    def not_compared(self) -> list[Facts]:
        """The nodes that run and told nothing, as when they do not let us in, or a firewall does not."""
        return [*(node for node in self.last.answered if not node.values), *self.last.unreached]

    @property
    def told(self) -> frozenset[str]:
        """The subjects that a node told at least."""
        return frozenset(subject for node in self.last.answered for subject in node.values)

    @property
    def untold(self) -> list[str]:
        """The subjects that no node could tell; that there are no ACLs is no such thing."""
        reasons = {what for node in self.last.answered for what in node.unanswered.items() if what[1] != NO_AUTHORIZER}
        return [subject for subject in SUBJECTS if subject in {one for one, _why in reasons} - self.told]

    @property
    def enough(self) -> bool:
        """Say whether anything was compared that was asked for: features everybody is told, before any login."""
        return bool(self.told) and not (self.told == {"features"} and self.untold)

    @property
    def agree(self) -> bool:
        """Return whether all nodes answered, none is behind, and none differs."""
        return self.enough and not (self.open or self.silent or self.last.why)


def judged(looks: Sequence[Look]) -> Verdict:
    """Judge looks in a row, the first one first."""
    first, last = looks[0], looks[-1]
    late = behind(first, last)
    stands = apart(last, late)
    for look in looks[:-1]:
        stands &= apart(look, late)
    return Verdict(first, last, len(looks), stands, late)


def carried(verdict: Verdict) -> dict[str, Facts]:
    """Return the nodes that are not asked again, as one that hangs would cost its whole time in every look.

    What a node told before it stopped to answer grows old, so it is not compared again.
    """
    nodes = (*verdict.silent, *verdict.last.unreached)
    return {node.name: replace(node, why=node.why or node.broken, values={}) for node in nodes}


def differences(verdict: Verdict, shown: int) -> list[dict[str, Any]]:
    """Return what differs, one entry for a subject, with the first C(shown) names."""
    nodes = [node for node in verdict.last.answered if node.name not in verdict.late]
    found = []
    for subject in SUBJECTS:
        names = sorted({name for what, name, _node in verdict.stands if what == subject})
        if not names:
            continue
        odd = {node for what, _name, node in verdict.stands if what == subject}
        answered = [node for node in nodes if subject in node.values]
        found.append(
            {
                "subject": subject,
                "agreeing": [node.name for node in answered if node.name not in odd],
                "apart": [node.name for node in answered if node.name in odd],
                "groups": [
                    {"digest": said, "nodes": [node.name for node in some]} for said, some in groups(nodes, subject)
                ],
                "count": len(names),
                "total": len({name for node in answered for name in node.values[subject]}),
                "names": [_named(answered, subject, name) for name in names[: max(shown, 1)]],
                "seen_since": verdict.first.at,
                "looks": verdict.looks,
            }
        )
    return found


def _named(nodes: Sequence[Facts], subject: str, name: str) -> dict[str, Any]:
    values = [{"value": said, "nodes": [node.name for node in some]} for said, some in groups(nodes, subject, name)]
    return {"name": name, "values": values}


def nodes_of(verdict: Verdict) -> list[dict[str, Any]]:
    """Return each node as it was in the last look."""
    look = verdict.last
    return [
        {
            "name": node.name,
            "id": node.id,
            "kind": node.kind,
            "server": node.server,
            "why": node.why or node.broken or None,
            "applied": node.applied,
            "log_end": look.log_ends.get(node.id),
            "behind": verdict.late.get(node.name, 0),
            "digests": {subject: digest(node.values[subject]) for subject in SUBJECTS if subject in node.values},
            "unanswered": dict(node.unanswered),
        }
        for node in look.nodes
    ]


def described(verdict: Verdict, shown: int) -> dict[str, Any]:
    """Return the result of the module."""
    differing = differences(verdict, shown)
    return {
        "agree": verdict.agree,
        "offset": verdict.last.high_watermark,
        "nodes": nodes_of(verdict),
        "silent": [node.name for node in verdict.silent],
        "not_compared": [node.name for node in verdict.not_compared],
        "subjects_not_compared": verdict.untold,
        "lagging": dict(verdict.late),
        "differences": differing,
        "looks_taken": verdict.looks,
        "seconds": round(verdict.seconds, 1),
        "lines": [summary(verdict, differing), *lines(verdict, differing)],
    }


def summary(verdict: Verdict, differing: Sequence[Mapping[str, Any]]) -> str:
    """Return the one line that says how it is, with who does not agree."""
    reached = {node.id for node in verdict.last.nodes if node not in verdict.last.unreached}
    ids = {node.id for node in verdict.last.nodes if node.id in reached or node.name in verdict.late}
    beyond = {node.id for node in verdict.last.nodes} - ids
    where = "" if verdict.last.high_watermark is None else f" at offset {verdict.last.high_watermark}"
    odd = {name: [one["subject"] for one in differing if name in one["apart"]] for name in _odd(differing)}
    left_out = _told([node.name for node in verdict.not_compared], "was not compared", "were not compared")
    parts = [
        *(["the active controller does not answer"] if verdict.last.why else []),
        *_told([node.name for node in verdict.silent], "does not answer", "do not answer"),
        *(f"{name} is {records} records behind" for name, records in verdict.late.items()),
        *(f"{name} differs in {', '.join(subjects)}" for name, subjects in odd.items()),
        *left_out,
        *_told(verdict.untold, "was not compared", "were not compared"),
        *([] if verdict.enough or verdict.silent else ["too little was told to compare"]),
    ]
    # A node whose broker tells its view is compared, though its controller may let nobody in.
    told = {node.id for node in verdict.last.answered if node.values}
    ill = {*odd, *verdict.late, *(node.name for node in verdict.silent)}
    unwell = {node.id for node in verdict.last.nodes if node.name in ill} | ids - told
    unwell = unwell if verdict.enough else ids
    agreed = f"all {len(ids)}" if not unwell and not verdict.last.why else f"{len(ids - unwell)} of {len(ids)}"
    nodes = "nodes that can be reached from here" if beyond else "nodes"
    text = f"{agreed} {nodes} say the same" if verdict.last.why else f"{agreed} {nodes} agree{where}"
    return f"{text}: {'; '.join(parts)}" if parts else text


def _odd(differing: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({name for one in differing for name in one["apart"]})


def _told(names: Sequence[str], one: str, more: str) -> list[str]:
    return [f"{capped(names, 5)} {one if len(names) == 1 else more}"] if names else []


def lines(verdict: Verdict, differing: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each thing that is not in order, and for what could not be compared."""
    look = verdict.last
    told = [f"the active controller does not answer: {look.why}"] if look.why else []
    told += [f"{node.name} does not answer: {node.why or node.broken}" for node in verdict.silent]
    beyond = [node.name for node in look.unreached]
    told += [f"{capped(beyond, 5)} not compared: {NO_WAY}"] if beyond else []
    told += [
        f"{name} is {records} records of the metadata log behind, for at least {duration(verdict.seconds)}"
        for name, records in verdict.late.items()
    ]
    told += [_difference_line(one, verdict.seconds) for one in differing]
    reasons: dict[tuple[str, str], list[str]] = {}
    for node in look.answered:
        for subject, why in ({} if node.broken else node.unanswered).items():
            reasons.setdefault((subject, why), []).append(node.name)
    told += [f"{subject} not compared at {capped(names, 5)}: {why}" for (subject, why), names in reasons.items()]
    return [*told, *look.notes]


def _difference_line(one: Mapping[str, Any], seconds: float) -> str:
    first = one["names"][0]
    said = ", ".join(f"{value['value']} at {capped(value['nodes'], 3)}" for value in first["values"])
    more = f" and {one['count'] - 1} more" if one["count"] > 1 else ""
    return (
        f"{one['subject']}: {capped(one['apart'], 5)} {'differs' if len(one['apart']) == 1 else 'differ'} in "
        f"{one['count']} of {one['total']} names for at least {duration(seconds)}: {first['name']} ({said}){more}"
    )
