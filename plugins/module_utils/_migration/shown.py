# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Show where a cluster stands between ZooKeeper and KRaft on one screen, in words for operators. Pure."""

from __future__ import annotations

from collections import Counter

from .._core.names import capped
from .model import ClusterLook
from .phase import phase_of
from .steps import Outlook, outlook
from .troubles import BACK, FORWARD, troubles_of

#: The width of the names in front of the lines.
_WIDTH = 13
_LATER = "not now: mend what blocks it first"


def outlook_of(look: ClusterLook) -> Outlook:
    """Return the phase of a cluster, its troubles and what follows from both."""
    phase = phase_of(look)
    return outlook(phase, troubles_of(look, phase))


def phase_lines(look: ClusterLook, seen: Outlook) -> list[str]:
    """Return the screen: phase, evidence, next step, way back, time to stay, and each trouble with its fix."""
    step = seen.step
    rows = [
        ("Cluster", f"{look.name}: {seen.phase}"),
        ("Meaning", step.means),
        ("Controllers", _controllers(look)),
        ("Brokers", _brokers(look)),
        ("ZooKeeper", _znodes(look)),
        ("Next step", _next(seen)),
        ("May stay", step.stay),
        ("Way back", _back(seen)),
    ]
    rows += [(_blocked(trouble.blocks), str(trouble)) for trouble in seen.troubles]
    return [f"{name:<{_WIDTH}}{text}" for name, text in rows]


def _controllers(look: ClusterLook) -> str:
    """Return the state in the log of each controller, since they may differ."""
    told = []
    for node in look.controllers:
        state = (node.log.state or "no state") if node.log else "no answer" if node.silence else "no log"
        told.append(f"{node.host} {state}{'' if node.answers else ', stopped' if not node.silence else ''}")
    epoch = f"; epoch of the quorum {look.epoch}" if look.epoch else ""
    return (capped(told) or "none in the inventory") + epoch


def _brokers(look: ClusterLook) -> str:
    """Return how many brokers are in which mode."""
    modes = Counter(look.mode_of(broker) or "unknown" for broker in look.broker_ids)
    return ", ".join(f"{modes[mode]} {mode}" for mode in sorted(modes)) or "none"


def _znodes(look: ClusterLook) -> str:
    """Return the three znodes that tell who is in charge."""
    ensemble, znodes = look.ensemble, look.ensemble.znodes
    serving = f"{ensemble.serving} of {ensemble.servers} servers serve"
    if znodes is None:
        return serving + (f"; znodes not read: {ensemble.unread}" if ensemble.unread else "")
    kind = "of KRaft" if znodes.kraft_epoch >= 0 else "of ZooKeeper"
    controller = "missing" if znodes.controller is None else f"{znodes.controller} ({kind})"
    copied = "missing" if znodes.migration is None else "copied" if znodes.migration.is_copied else "not copied"
    epoch = "missing" if znodes.epoch is None else str(znodes.epoch)
    return f"{serving}; /controller {controller}, /controller_epoch {epoch}, /migration {copied}"


def _next(seen: Outlook) -> str:
    if not seen.step.next:
        return "none"
    confirmed = f"; confirm first {seen.step.confirmation}" if seen.step.confirmation else ""
    later = "" if seen.may_go_on else f" ({_LATER})"
    return f"{seen.step.next}: {seen.step.does}{confirmed}{later}"


def _back(seen: Outlook) -> str:
    if not seen.step.back:
        return "none"
    return f"{seen.step.back}. It costs {seen.step.cost}" + ("" if seen.may_go_back else f" ({_LATER})")


def _blocked(blocks: tuple[str, ...]) -> str:
    """Return the name of a line on a trouble: what it blocks."""
    return {(FORWARD, BACK): "Blocks both", (FORWARD,): "Blocks next", (BACK,): "Blocks back"}.get(blocks, "Note")
