# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follows an ensemble of ZooKeeper over many looks and says how it stands, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.progress import DONE, FAILED, GOING, Advance, Step
from .ensemble import SERVING, reached

# Options of the wait itself: the module documents and checks them, the action that repeats the module reads them.
WAIT_OPTIONS: dict[str, Any] = {
    "timeout": {"type": "int", "default": 60},
    "interval": {"type": "float", "default": 2.0},
}


def step(found: Mapping[str, Any], advance: Advance) -> Step:
    """Judge one look; C(advance) is that of the whole wait."""
    if found.get("failed"):
        return Step(FAILED, f"zookeeper_wait: {found.get('msg', 'the look failed')}")
    serving = sum(server["state"] in SERVING for server in found["servers"])
    leader = "no leader" if found["leader_id"] is None else f"server {found['leader_id']} leads epoch {found['epoch']}"
    text = f"zookeeper_wait: {serving}/{len(found['servers'])} servers serve, {leader}"
    facts = {"serving": serving, "leader_id": found["leader_id"], "problems": list(found["problems"])}
    advance.take(serving=serving, sound=-len(found["problems"]))
    if reached(found):
        return Step(DONE, text, facts)
    return Step(GOING, f"{text}; {(found['problems'] + found['refusals'])[0]}", facts, str(advance))


def failure(found: Mapping[str, Any], seconds: float, prolonged: str = "") -> dict[str, Any]:
    """Return {msg, failure} of a wait that did not reach its goal; C(prolonged) says why it was so long."""
    lines = "".join(f"\n- {one}" for one in (*found["problems"], *found["refusals"]))
    msg = (
        f"zookeeper_wait: not reached within {seconds:.0f} s:{lines}\n"
        "Nothing was changed by this step. Start the servers that are down (a stopped server may always be started) "
        f"and look into the log of those that do not follow, then run again.{prolonged}"
    )
    return {"msg": msg, "failure": {"kind": "ZookeeperWaitTimeout", "problems": list(found["problems"])}}
