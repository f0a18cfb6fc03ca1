# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The judgement over a whole wait for the ISR: reached, catching up, waiting for a broker, or stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...module_utils._cluster.attribution import FAULTS
from ...module_utils._core.progress import DONE, FAILED, GOING, Advance, Hold, Meter, Step, duration, pace
from ...module_utils._gate.isr import Goal, Observation, explain

if TYPE_CHECKING:
    from collections.abc import Mapping


#: So often may a broker be lost after it was good, before it is known to flap: waiting longer shows nothing new.
FLAPS = 3
#: So many looks in a row may a broker lead nothing that prefers it before the wait ends: an election is quicker.
LEADERLESS = 5


class Tracker:
    """Takes what the module returned, interval by interval, and says how the wait stands."""

    def __init__(self, goal: Goal, hold: Hold, stuck_after: float, start_timeout: float) -> None:
        self._goal = goal
        self._hold = hold
        #: The same of the whole cluster, which the next node of a roll needs to be so.
        self.settled = Hold()
        self._stuck_after = stuck_after
        self._start_timeout = start_timeout
        self._meter = Meter()
        self._bytes = Meter()
        self._advance = Advance()
        self._away_again = 0
        self._unled = 0
        self._progress_at = 0.0
        self._elapsed = 0.0
        self.last: Observation | None = None
        self.error: str | None = None

    def step(self, result: Mapping[str, Any], elapsed: float) -> Step:
        """Take one module result at C(elapsed) seconds since the start of the wait."""
        if result.get("failed"):
            return Step(FAILED, f"isr_wait {self._goal}: {result.get('msg', 'the module failed')}")
        for values in result["observations"]:
            self._take(Observation.from_dict(values), elapsed)
        if self.last is None and self._elapsed >= self._start_timeout:
            return Step(FAILED, f"isr_wait {self._goal}: unreachable from the beginning", self._facts())
        # Waiting gives a broker no leaders back: whoever waits may elect them again.
        over = self._away_again >= FLAPS or (self._goal.serves and self._unled > LEADERLESS)
        state = DONE if self._hold.reached else FAILED if over else GOING
        return Step(state, f"isr_wait {self._goal}: {self._text()}", self._facts(), str(self._advance))

    def _take(self, seen: Observation, elapsed: float) -> None:
        self._elapsed = elapsed + seen.at
        self.error = seen.error
        if seen.settled:
            self.settled.good(self._elapsed)
        else:
            self.settled.bad(self._elapsed)
        if seen.error is not None:
            self._hold.bad(self._elapsed)
            return
        self._unled = self._unled + 1 if seen.leads_none else 0
        if seen.good:
            self._hold.good(self._elapsed)
        else:
            self._away_again += bool(self._hold.count and seen.away)
            reasons = "; ".join(seen.unmet) or f"{seen.total - seen.done} of {seen.total} partitions"
            self._hold.bad(self._elapsed, reasons)
        if self.last is None or _better(self.last, seen):
            self._progress_at = self._elapsed
        self.last = seen
        self._advance.take(
            done=seen.done,
            missing=-seen.missing_replicas,
            not_led=-seen.not_led,
            offline=-seen.offline,
            unmet=-len(seen.unmet),
            bytes_behind=None if seen.bytes_behind is None else -seen.bytes_behind,
        )
        self._meter.add(self._elapsed, seen.done)
        if seen.bytes_behind is not None:
            self._bytes.add(self._elapsed, -seen.bytes_behind / 1e6)

    @property
    def in_sync(self) -> bool:
        """Tell whether the last observation was good and is no longer contradicted by an error."""
        return self.error is None and self.last is not None and self.last.good

    @property
    def state(self) -> str:
        """Return in_sync, flapping (comes and goes), unreachable, catching_up, waiting (a broker is away) or stuck."""
        if len(self._hold.lost) > 1 and not self._hold.reached:
            return "flapping"
        if self.in_sync:
            return "in_sync"
        if self.last is not None and self._elapsed - self._progress_at >= self._stuck_after:
            return "stuck"
        if self.error is not None or self.last is None:
            return "unreachable"
        return "waiting" if self._away() else "catching_up"

    def _away(self) -> list[str]:
        """Return why brokers that the goal needs are not there, and what does not exist."""
        if self.last is None:
            return []
        away = [explain(b, state) for b, state in self.last.brokers.items() if state != "registered"]
        return away + [reason for reason in self.last.unmet if reason not in away]

    def why(self) -> str:
        """Return in one phrase why the goal is not reached."""
        if self.error is not None:
            return f"the cluster does not answer: {self.error}"
        behind = [
            f"broker {broker} is registered and misses {count} replicas"
            for broker, count in (self.last.missing_by_broker.items() if self.last else ())
            if self.last and self.last.brokers[broker] == "registered"
        ]
        reasons = [*self._away(), *behind]
        reasons += [fault for fault in self._attributed() if fault not in reasons]
        reasons = reasons or self._hold.lost[-1:]
        if self.last and self.last.offline:
            reasons.append(f"{self.last.offline} partitions have no leader")
        if self.last and self.last.not_led and not reasons:
            reasons.append(f"{self.last.not_led} partitions are not led by their preferred replica")
        return ", ".join(reasons)

    def _attributed(self) -> list[str]:
        """Say who is at fault for replicas that are not in sync, and what slows those that catch up."""
        attributions = self.last.attributions if self.last else []
        faults = [attribution["phrase"] for attribution in attributions if attribution["kind"] in FAULTS]
        throttles = dict.fromkeys(throttle for attribution in attributions for throttle in attribution["throttles"])
        return [*faults, *(f"slowed by {throttle}" for throttle in throttles)]

    def _text(self) -> str:
        """The progress line. It holds nothing that changes while nothing happens, so that it can be collapsed."""
        if self.last is None:
            return "the cluster does not answer yet"
        left_out = f" ({self.last.left_out} without a leader left out)" if self.last.left_out else ""
        reached = "have a leader" if self._goal.led_only else "in sync"
        parts = [f"{self.last.done}/{self.last.total} partitions {reached}{left_out}"]
        if self.error is not None:
            return f"{parts[0]} when last seen, the cluster does not answer (tolerated, it may be restarting)"
        if self.last.good:
            flaps = f"; lost {len(self._hold.lost)} time(s): {self._hold.lost[-1]}" if self._hold.lost else ""
            return f"{parts[0]}, {self._hold}{flaps}"
        parts.append(f"{self.state.replace('_', ' ')}: {self.why()}")
        if self.last.bytes_behind:
            parts.append(f"{self.last.bytes_behind / 1e6:.1f} MB behind")
        # Bytes tell sooner than partitions: a big replica counts as one partition, and only at its end.
        speed = pace(self._bytes, 0.0, "MB") or pace(self._meter, self.last.total, "partitions")
        return ", ".join([*parts, speed] if speed else parts)

    def _facts(self) -> dict[str, Any]:
        """One row of the history."""
        seen = self.last or Observation()
        names = ("done", "total", "missing_replicas", "not_led", "offline", "bytes_behind")
        return dict(
            {name: getattr(seen, name) for name in names},
            wait_state=self.state,
            good_observations=self._hold.count,
            error=self.error,
        )

    def result(self) -> dict[str, Any]:
        """Return how it stands now, as the fields of the action's result."""
        seen = self.last or Observation()
        return {
            "changed": False,
            "in_sync": self.in_sync,
            "wait_state": self.state,
            "why": self.why() if not self.in_sync else "",
            "partitions_total": seen.total,
            "partitions_done": seen.done,
            "partitions_not_done": seen.total - seen.done,
            "partitions_left_out": seen.left_out,
            "partitions": seen.partitions,
            "brokers": seen.brokers,
            "behind": seen.behind,
            "leads_none": seen.leads_none,
            "attributions": seen.attributions,
        }

    def failure(self, timeout: float) -> str:
        """Return the message of a wait that did not reach its goal."""
        seen = self.last
        if seen is None:
            return f"isr_wait {self._goal}: {self.error}"
        if self.in_sync:
            lasted = (
                f"isr_wait {self._goal}: reached, and not for long enough within {duration(timeout)}: {self._hold}."
            )
            return f"{lasted}{self._losses()} {self._fix()}"
        lacking = "have no leader" if self._goal.led_only else "are not in sync or not led as wanted"
        lines = [
            f"isr_wait {self._goal}: not reached within {duration(timeout)}: {seen.total - seen.done} of {seen.total} "
            f"partitions {lacking} ({self.state.replace('_', ' ')}: {self.why()})."
        ]
        lines[0] += self._losses()
        # Grouped by reason: twenty lines that differ only in a name hide the reason.
        reasons: dict[str, list[str]] = {}
        for p in seen.partitions:
            shown = f"{p['topic']}-{p['partition']} (leader {p['leader']}, ISR {p['isr']} of {p['replicas']})"
            reasons.setdefault(p["why"], []).append(shown)
        lines += [f"- {why}: {', '.join(names)}" for why, names in reasons.items()]
        if seen.total - seen.done > len(seen.partitions):
            lines.append(f"- and {seen.total - seen.done - len(seen.partitions)} more partitions")
        return "\n".join([*lines, self._fix()])

    def _losses(self) -> str:
        lost = self._hold.lost
        return f" It was reached and lost {len(lost)} time(s), last by: {lost[-1]}." if lost else ""

    def _fix(self) -> str:
        if self._away_again:
            return (
                "The broker comes and goes: look at what changed last in its configuration, at its log, and at its "
                "connection to the controllers. This wait changed nothing."
            )
        if self._goal.led_only and self.last is not None and self.last.offline:
            return (
                "Start the brokers that have the data, with their disks. Where the data is gone for good, "
                "leader_election with type unclean elects a replica without it. This wait changed nothing."
            )
        if self.state == "catching_up":
            return "The replicas are still catching up: run again, or raise timeout. This wait changed nothing."
        if self.last is not None and not self.last.missing_replicas:
            return "Put right what is named above, then run again. This wait changed nothing."
        return "Look into the log of the broker named above, and at its disk and network. This wait changed nothing."


def _better(before: Observation, now: Observation) -> bool:
    """Tell whether something moved forward: fewer replicas or leaders missing, less lag, or a broker changed state."""
    if now.brokers != before.brokers or now.unmet != before.unmet or now.done > before.done:
        return True
    if (now.missing_replicas, now.not_led, now.offline) < (before.missing_replicas, before.not_led, before.offline):
        return True
    return now.bytes_behind is not None and before.bytes_behind is not None and now.bytes_behind < before.bytes_behind
