# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Wait for a node to be up (its process lives and listens) or gone; the pure judgement of what a look finds.

A process that was seen and is gone, or was followed by another one (a service manager that starts it again and
again), has failed: waiting longer shows nothing new, so the wait ends at once with what its log says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._core.progress import DONE, FAILED, GOING, Followed, Step

# Options of the wait itself: the module documents and checks them, the action that repeats the module reads them.
WAIT_OPTIONS: dict[str, Any] = {
    "node": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["started", "stopped"], "default": "started"},
    "timeout": {"type": "int", "default": 120},
    "fail_on_timeout": {"type": "bool", "default": True},
    "interval": {"type": "float", "default": 2.0},
    "start_timeout": {"type": "float", "default": 10.0},
    "steady": {"type": "float", "default": 0.0},
}

# A quorum whose leader comes and goes: the voters hear each other, and never for long enough.
_UNSTEADY = (
    "\nThe voters elect one leader after the other; fix: look at what changed last on the controllers (limits of "
    "connections, timeouts, listeners), at the load of their machines and at the network between them."
)

# A voter whose log has no error: it reaches nobody, or nobody else runs.
_NO_VOTE = (
    "\nIts log names no error, so it cannot reach a majority of the controllers; fix: see that the others run, and that"
    " no firewall keeps this node from their controller ports."
)

# A voter that does not take part in its quorum yet: nobody can tell anything of its network.
_STARTING = (
    "\nIt is still starting: after {seconds:.0f} s it does not take part in its quorum yet, and its log says last: "
    "{line}\nfix: look at the load and the disks of its machine, and where it needs longer, raise kafka_start_timeout."
)

# A process that runs, has no error, and that nothing else keeps from its ports.
_SILENT = (
    "\nIts log names no error, so it may be slow or frozen; fix: look at the load and the disks of its machine, and"
    " where it needs longer, raise kafka_start_timeout."
)

# What a wait that failed has left, by the state that it was for.
_AFTER = {
    "started": "All other nodes are untouched by this step.",
    "stopped": "The run ends here: what stops after this node, as controllers and servers of ZooKeeper do after "
    "brokers, was not asked to stop. Correct the cause, or end the process yourself, and run again.",
}

#: Seconds of processor time up to which the work of a process that has logged nothing yet counts as progress. A Java
#: virtual machine uses 1 to 3 s of it before Kafka's first line (Java 17 and 21, with an agent). Processor time does
#: not pass while a process waits for a core, so beside busy loops it takes longer and uses hardly more; twice as much
#: where it shares caches and the core itself with them. The rest of the room is for a processor three times as
#: slow. One that has used more and says nothing does something else, and has only its timeout left.
SILENT_WORK = 20.0
#: Seconds of processor time that are a step forward there. Each step gives a start its whole timeout anew, so a process
#: is given up that gets less than that in it: with the default of 120 s, 0.4 % of a core. Beside four busy loops on two
#: cores the kernel gives it a third of one. One that only waits uses less than a step in the time of a start.
STEP_OF_WORK = 0.5

REACHED, WAITING, DIED, REFUSED = "reached", "waiting", "died", "refused"


@dataclass(frozen=True)
class Life:
    """One process for good: its id and its start time (clock ticks since boot), since ids are used again."""

    pid: int
    start_time: int


def life_of(found: Mapping[str, Any] | None) -> Life | None:
    """Return the life that a mapping with pid and start_time names, None when it names none."""
    if not found or found.get("pid") is None or found.get("start_time") is None:
        return None
    return Life(int(found["pid"]), int(found["start_time"]))


def judge(
    state: str, seen: Life | None, now: Life | None, missing: list[int], said: bool = True, led: bool = True
) -> str:
    """Tell what one look means for the desired state.

    seen -- the process that an earlier look of this wait saw; now -- the one that lives now; missing -- ports on which
    nobody listens yet; said -- whether it has logged what the wait is for; led -- whether its quorum has a leader.
    """
    if state == "stopped":
        return WAITING if now else REACHED
    if seen is not None and now != seen:
        return DIED
    return REACHED if now and not missing and said and led else WAITING


class Tracker:
    """Follows a wait over many looks of the module and says how it stands, in words for people."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._name, self._state = options["node"], options["state"]
        self._start_timeout = options["start_timeout"]
        self._steady = options["steady"]
        #: The epochs of the quorum in which this node was seen, in the order of the looks.
        self._epochs: list[int] = []
        #: The forms of lines that it has logged since its start, or since the wait for its end began.
        self._forms: set[int] = set()
        self._worked = 0.0
        self._said = ""
        self.last: dict[str, Any] = {}
        self.seen: Life | None = None
        self.first_look: float | None = None

    def overrides(self) -> dict[str, Any]:
        """Return what the next look must know of the earlier ones."""
        known: dict[str, Any] = {"first_look": self.first_look}
        if self.seen:
            known.update(pid=self.seen.pid, start_time=self.seen.start_time)
        return {"seen": known}

    def step(self, found: Mapping[str, Any], elapsed: float) -> Step:
        """Judge one look; elapsed in seconds since the wait began."""
        self.last = dict(found)
        if found.get("failed"):
            return Step(FAILED, f"{self._name}: {found.get('msg', 'the look failed')}")
        self.first_look = self.first_look or found["now"]
        self.seen = self.seen or life_of(found["process"])
        facts = {"pid": found["process"]["pid"], "missing_ports": found["missing_ports"]}
        self._note_epoch(found.get("quorum") or {})
        self._note_work(found)
        if found["verdict"] == REACHED and not self._is_steady:
            return Step(GOING, f"{self._name}: {self._standing()}", facts, self._progress)
        if found["verdict"] == REACHED:
            return Step(DONE, f"{self._name}: {self._state}", facts)
        if found["verdict"] == DIED:
            return Step(FAILED, f"{self._name}: its process ended", facts)
        if found["verdict"] == REFUSED:
            return Step(FAILED, f"{self._name}: {'; '.join(found['flows']['refused'])}", facts)
        if self._state == "started" and not self.seen and found["ended_recently"]:
            return Step(FAILED, f"{self._name}: its process ended right after its start", facts)
        if self._state == "started" and not self.seen and elapsed >= self._start_timeout:
            return Step(FAILED, f"{self._name}: no process was started", facts)
        return Step(GOING, f"{self._name}: {self._standing()}", facts, self._progress)

    def _note_work(self, found: Mapping[str, Any]) -> None:
        """Keep what it has logged so far, and how long it has worked without a word."""
        self._said = found["loading"] or self._said
        self._forms.update(found.get("forms") or ())
        if self._state == "started" and not self._forms:
            self._worked = max(self._worked, min(found.get("processor_seconds") or 0.0, SILENT_WORK))

    @property
    def _progress(self) -> str:
        """What changes while the node starts or stops, however slowly."""
        steps = int(self._worked / STEP_OF_WORK)
        return f"{len(self._forms)} {steps} {self._said}" if self._forms or steps or self._said else ""

    def _note_epoch(self, quorum: Mapping[str, Any]) -> None:
        epoch = quorum.get("epoch")
        if epoch is not None and epoch not in self._epochs[-1:]:
            self._epochs.append(epoch)

    @property
    def _is_steady(self) -> bool:
        """Whether the quorum has had its leader for as long as it must; where that is not asked for, always."""
        if not self._steady:
            return True
        changed = (self.last.get("quorum") or {}).get("changed_at")
        # What stood there before this process began tells of the leader of the run before.
        since = max(changed or self.last["now"], self.last["process"].get("since") or 0.0)
        return bool(self.last["now"] - since >= self._steady)

    @property
    def _is_starting(self) -> bool:
        """Tell whether this is a voter that runs and does not take part in its quorum yet."""
        return bool((self.last.get("process") or {}).get("running") and self.last.get("starting"))

    def _unsteady(self) -> str:
        """Return since when the quorum has its leader, and how many it had in this wait."""
        quorum = self.last.get("quorum") or {}
        seen = f", after epochs {self._epochs[0]} to {self._epochs[-1]} in this wait" if len(self._epochs) > 1 else ""
        return (
            f"its quorum has leader {quorum.get('leader')} in epoch {quorum.get('epoch')} for less than "
            f"{self._steady:.0f} s{seen}"
        )

    def _standing(self) -> str:
        process, missing = self.last.get("process") or {}, self.last.get("missing_ports") or []
        if self._state == "stopped":
            return f"process {process.get('pid')} still runs"
        if not process.get("running"):
            return "no process yet"
        if self._is_starting:
            return f"process {process.get('pid')} is starting{self._ports(missing)}"
        if self.last.get("led") is False:
            return f"process {process.get('pid')} runs, and its quorum has no leader{self._ports(missing)}"
        if unsettled := (self.last.get("flows") or {}).get("unsettled"):
            return f"process {process.get('pid')} runs, connectors have no configuration yet of {', '.join(unsettled)}"
        if missing:
            return f"process {process.get('pid')} runs, waits for port {', '.join(str(port) for port in missing)}"
        if self.last.get("verdict") == REACHED and not self._is_steady:
            return f"process {process.get('pid')} runs, {self._unsteady()}"
        return f"process {process.get('pid')} runs, its log does not say yet that it serves"

    def _silent(self, lines: list[str], holders: str, led: bool, elapsed: float) -> str:
        """Return what may keep a process that runs and whose log names no cause."""
        if self._is_starting and not (lines or holders):
            return _STARTING.format(seconds=elapsed, line=self.last["starting"])
        if not led:
            return _NO_VOTE
        if not self._is_steady:
            return _UNSTEADY
        return _SILENT if self._state == "started" and not (lines or holders) else ""

    @staticmethod
    def _ports(missing: list[int]) -> str:
        return f"; it waits for port {', '.join(str(port) for port in missing)}" if missing else ""

    def failure(self, followed: Followed) -> dict[str, Any]:
        """Return {msg, failure} of a wait that did not reach its state."""
        lines = self.last.get("log_lines") or []
        why = f"not {self._state} within {followed.elapsed:.0f} s" if followed.timed_out else "failed"
        standing = self._standing() if followed.timed_out else followed.last.text.partition(": ")[2]
        holders = "".join(
            f"\n  port {port} is held by process {one['pid']} ({one['command']})"
            for port, one in sorted((self.last.get("ports") or {}).items())
            if one and not one["ours"] and one["pid"]
        )
        errors = "".join(f"\n  {line}" for line in lines) or "\n  (no error line in its logs since this start)"
        led = self.last.get("led") is not False
        # A process that ended for itself may have logged refused connections long before.
        cause = self.last.get("cause" if followed.timed_out or not led else "ended_by") or ""
        if not led and not followed.timed_out:
            standing += ", and its quorum has no leader"
        silent = self._silent(lines, holders, led, followed.elapsed) if followed.timed_out else ""
        known = f"\nIts log says why: {cause}." if cause else silent
        cause_in_full = (
            f"node {self._name}: {why}: {standing}.{known}{holders}\n"
            f"Its last error lines ({', '.join(self.last.get('log_files') or []) or 'no log file given'}):{errors}"
        )
        kind = "NodeWaitTimeout" if followed.timed_out else "NodeDied"
        facts = {"kind": kind, "node": self._name, "log_lines": lines, "standing": standing, "cause": cause}
        cause_in_full += followed.prolonged()
        # Whoever goes on from here, as a node that gets its older files again, says what is left by itself.
        return {"msg": f"{cause_in_full}\n{_AFTER[self._state]}", "failure": {**facts, "why": cause_in_full}}
