# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The judgement over a whole reassignment: the line that people see, when it has ended, what to say when it did not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._core.names import capped
from ...module_utils._core.progress import DONE, FAILED, GOING, Meter, Step, duration, pace

_STATES = {"planned": DONE, "done": DONE, "stopped": FAILED, "waiting": GOING, "moving": GOING}
#: Seconds that the first look waits for a broker that does not answer: until then the cluster has noticed by itself.
FIRST_LOOK = 90.0
#: Seconds without anything under way, while nothing may begin, after which a run ends. Kafka deletes files a minute
#: after it dropped a replica (file.delete.delay.ms), so that room may come until then.
STANDSTILL = 180.0
#: Facts of a call that the result of the whole run takes over, from the last call that tells them.
_KEPT = (
    "progress",
    "foreign",
    "foreign_total",
    "refused",
    "elected",
    "throttles_left",
    "leftover_throttles",
    "verified",
    "not_cancelled",
)


class Tracker:
    """Takes what the module returned, interval by interval; in check mode it says what would be done."""

    def __init__(self, state: str, check: bool = False) -> None:
        self._state, self._check = ("planned" if check and state == "applied" else state), check
        self._bytes = Meter()
        self._moves = Meter()
        self._still_since: float | None = None
        self.stuck = False
        self.begun = False
        self.result: dict[str, Any] = {"changed": False}

    def step(self, found: Mapping[str, Any], elapsed: float) -> Step:
        """Take the result of one call at C(elapsed) seconds since the start."""
        if found.get("failed"):
            # A broker may restart: once begun, a reassignment goes on without us.
            if self.begun and (found.get("failure") or {}).get("passing", False):
                return Step(GOING, f"reassignment {self._state}: tolerated for now: {found.get('msg')}")
            self.result.update(found)
            return Step(FAILED, str(found.get("msg", "the module failed")))
        if found["stage"] == "unanswered":
            return self._unanswered(found, elapsed)
        self.begun = True
        for name in ("unanswered", "stands"):
            self.result.pop(name, None)
        changed = self.result["changed"] or found["changed"]
        # The first call carries the plan; later ones only how far it is.
        known = {key: value for key, value in found.items() if key in _KEPT or key not in self.result}
        if "cancelled" in found:
            known["cancelled"] = [*self.result.get("cancelled", ()), *found["cancelled"]]
        self.result.update(known, changed=changed, stage=found["stage"])
        figures = found.get("progress")
        if figures:
            self._bytes.add(elapsed, figures["bytes_done"] / 1e6)
            self._moves.add(elapsed, figures["moves_done"])
            if self._stands_still(figures, elapsed):
                self.stuck = True
                return Step(FAILED, f"reassignment {self._state}: nothing may begin", _row(figures))
        text = f"reassignment {self._state}: {self._text(found, figures)}"
        return Step(_STATES[found["stage"]], text, _row(figures))

    def _unanswered(self, found: Mapping[str, Any], elapsed: float) -> Step:
        """Nothing could be done since brokers do not answer: tolerated once begun, else for a time."""
        names = _listed(found["unanswered"])
        text = f"reassignment {self._state}: waiting for broker {names}"
        if self.begun:
            return Step(GOING, text)
        if elapsed < FIRST_LOOK:
            self.result.update({name: found[name] for name in ("stage", "unanswered", "stands")})
            return Step(GOING, text)
        self.result.update(found, failed=True, msg=_silent(found, elapsed))
        return Step(FAILED, text)

    def _stands_still(self, figures: Mapping[str, Any], elapsed: float) -> bool:
        if not figures.get("held_total") or figures["in_flight_total"]:
            self._still_since = None
            return False
        if self._still_since is None:
            self._still_since = elapsed
        return elapsed - self._still_since > STANDSTILL

    def _text(self, found: Mapping[str, Any], figures: Mapping[str, Any] | None) -> str:
        if found["stage"] == "waiting":
            names = capped(found["foreign"], 3)
            return f"waiting for {found['foreign_total']} reassignments started by another tool ({names})"
        if not figures:
            moving = found.get("in_flight_total")
            if moving:
                return f"waiting for {moving} reassignments"
            if self._check:
                return "check mode, nothing was changed" if found["changed"] else "nothing to do"
            return str(found["stage"])
        parts = [
            f"{figures['moves_done']}/{figures['moves_total']} moves",
            f"{figures['bytes_done'] / 1e6:.1f}/{figures['bytes_total'] / 1e6:.1f} MB",
            f"batch {min(figures['batches_done'] + 1, figures['batches_total'])} of {figures['batches_total']}",
        ]
        speed = pace(self._bytes, figures["bytes_total"] / 1e6, "MB") or pace(
            self._moves, figures["moves_total"], "moves"
        )
        slowest = figures["slowest"]
        if slowest:
            parts.append(
                f"slowest {slowest['partition']} ({slowest['bytes_done'] / 1e6:.1f}/{slowest['bytes'] / 1e6:.1f} MB)"
            )
        return ", ".join([*parts, *([speed] if speed else []), *_down(figures), *_waits(figures)])

    def stopped(self) -> str:
        """The message of a reassignment that ended because the cluster refused partitions."""
        refused: Mapping[str, str] = self.result["refused"]
        listed = "".join(f"\n- {name}: {why}" for name, why in list(refused.items())[:20])
        return (
            f"Reassignment: the cluster refused {len(refused)} partitions, so nothing more was begun:{listed}\n"
            f"{self._done()} No move is under way. Fix this and run again: the new run plans from the present state."
        )

    def stood_still(self) -> str:
        """The message of a run that ended because nothing may begin."""
        figures = self.result["progress"]
        return (
            f"Reassignment: no move is under way, and {_moves(figures['held_total'])} cannot start:"
            f"{_held(figures)}\n{self._done()} {_STANDS} Free space on these disks, or get replicas in sync, and run "
            "the same again to go on; or state: finished ends it here."
        )

    def timed_out(self, timeout: float) -> str:
        """The message of a run that did not end in time."""
        if self.result.get("stage") == "unanswered":
            return _silent(self.result, timeout)
        if self.result.get("stage") == "waiting":
            return (
                f"Reassignment: {self.result['foreign_total']} reassignments started by another tool "
                f"({capped(self.result['foreign'], 5)}) have not ended within {duration(timeout)}. Nothing was changed."
            )
        figures = self.result.get("progress")
        if not figures:
            return f"Reassignment: not ended within {duration(timeout)}. {self._kept()}Run again, or raise timeout."
        late = "".join(
            f"\n- broker {one['broker']} ({'alive, catching up' if one['alive'] else 'down'}): "
            f"{one['partitions_total']} partitions ({capped(one['partitions'], 5)})"
            for one in figures["behind"]
        )
        return (
            f"Reassignment: not ended within {duration(timeout)}. {self._done()} {figures['in_flight_total']} "
            f"partitions are still moving, {figures['not_begun']} are not begun. "
            f"Not in sync:{late or ' none'}\n{_must_wait(figures)}"
            "Throttles stay as long as something moves: without them it would go on at full speed. What they were "
            "before is kept with the cluster. Run the same again to go on, state: cancelled to send back what is under "
            "way, or state: finished to wait for it and begin nothing more; each of them restores the throttles."
        )

    def _kept(self) -> str:
        kept: Mapping[str, str] = self.result.get("not_cancelled") or {}
        listed = "".join(f"\n- {name}: {why}" for name, why in list(kept.items())[:20])
        said = f"{len(kept)} partitions could not be cancelled and go on under their throttles:{listed}\n"
        return said if kept else ""

    def _done(self) -> str:
        figures = self.result.get("progress") or {}
        if not figures:
            return ""
        return (
            f"{figures['moves_done']} of {figures['moves_total']} moves "
            f"({figures['bytes_done']} of {figures['bytes_total']} bytes) are done."
        )


#: What a run leaves behind that ends before its reassignment.
_STANDS = "Throttles stand, and what they were before is kept with the cluster."


def _listed(unanswered: Mapping[str, str]) -> str:
    return "; ".join(f"{broker}, which does not answer: {why}" for broker, why in unanswered.items())


def _silent(found: Mapping[str, Any], seconds: float) -> str:
    """The message of a run that brokers kept from looking."""
    stands, said = found.get("stands"), f"Reassignment: nothing could be done within {duration(seconds)}, waiting for "
    said += f"broker {_listed(found['unanswered'])}. Nothing was begun or changed by this run. "
    if stands is None:
        said += f"Moves of an earlier run continue. {_STANDS} "
    elif stands["throttled"] or stands["in_flight_total"]:
        said += (
            f"{stands['in_flight_total']} partitions of an earlier run are still moving. "
            f"Throttles stand on brokers {capped(list(map(str, stands['throttled'])), 20) or 'none'}, and what they "
            "were before is kept with the cluster. "
        )
    return said + "Start that broker, or open the way to it from here, and run the same again."


def _held(figures: Mapping[str, Any]) -> str:
    return "".join(f"\n- {name}: {why}" for name, why in figures["held"].items())


def _moves(count: int) -> str:
    return f"{count} move{'' if count == 1 else 's'}"


def _must_wait(figures: Mapping[str, Any]) -> str:
    return f"{_moves(figures['held_total'])} cannot start yet:{_held(figures)}\n" if figures.get("held_total") else ""


def _waits(figures: Mapping[str, Any]) -> list[str]:
    first = next(iter((figures.get("held") or {}).items()), None)
    return [] if first is None else [f"{figures['held_total']} must wait, {first[0]}: {first[1]}"]


def _down(figures: Mapping[str, Any]) -> list[str]:
    down = [one for one in figures["behind"] if not one["alive"]]
    return [f"broker {one['broker']} is down, {one['partitions_total']} partitions wait for it" for one in down]


def _row(figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """One row of the history."""
    names = ("moves_done", "moves_total", "bytes_done", "bytes_total", "in_flight_total", "batches_done")
    return {name: figures[name] for name in names} if figures else {}
