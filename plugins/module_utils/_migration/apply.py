# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Give the metadata of a cluster from the controllers of KRaft back to the brokers of ZooKeeper: the znodes alone."""

from __future__ import annotations

import json
from typing import Any

from .._zookeeper.session import Change, Zookeeper
from .hand_over import SET, Act, Contents, HandOverError, after, changes, with_versions, znodes_of


def hand_over_znodes(session: Zookeeper, quorum_epoch: int, is_check: bool = False) -> dict[str, Any]:
    """Change the znodes that say who is in charge, as hand_over.py has it; return the result of a module.

    quorum_epoch -- as changes() takes it. Raises HandOverError where they may not be changed, and where a controller of
    KRaft has taken one again; ZnodesKeptError where ZooKeeper refuses.
    """
    before = _read(session)
    acts = with_versions(changes(znodes_of(before), quorum_epoch), session.versions)
    contents = after(before, acts)
    result = {
        "changed": bool(acts),
        "acts": [str(act) for act in acts],
        "znodes": before,
        "diff": {"before": _lines(before), "after": _lines(contents)},
    }
    if acts and not is_check:
        session.change([Change(act.path, _content(act), act.version or 0) for act in acts])
        _confirm(session, quorum_epoch, result)
    return result


def _read(session: Zookeeper) -> Contents:
    read = session.in_charge()
    if read["unread"]:
        reasons = "; ".join(f"{path}: {reason}" for path, reason in read["unread"].items())
        raise HandOverError(f"who is in charge is not known: {reasons}. Nothing was changed by this look")
    return dict(read["znodes"])


def _content(act: Act) -> bytes | None:
    return act.value.encode() if act.kind == SET else None


def _confirm(session: Zookeeper, quorum_epoch: int, result: dict[str, Any]) -> None:
    """Look once more: a controller that runs has taken the controllership again."""
    try:
        left = [str(act) for act in changes(znodes_of(_read(session)), quorum_epoch)]
        why = f"a controller of KRaft still runs and wrote again; left is: {', '.join(left)}"
    except HandOverError as error:
        left, why = ["a look"], error.message
    if left:
        failed = HandOverError(
            f"the znodes were changed ({', '.join(result['acts'])}), and then: {why}. fix: stop every controller, and "
            "run again"
        )
        failed.done = {name: result[name] for name in ("changed", "diff", "acts")}
        raise failed


def _lines(contents: Contents) -> str:
    """Return znodes as lines of a diff; one that does not exist has none."""
    return "".join(f"{path} {json.dumps(contents[path])}\n" for path in contents if contents[path] is not None)
