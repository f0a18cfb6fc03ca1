# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The script that runs the mirror of a tuning, and what it writes down: processor time of the machine and the mirror.

It ends the mirror by itself when its time is over, so that nothing of a run that was killed goes on. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

PID, SAMPLES, LOG, PROPERTIES, SCRIPT = "pid", "samples", "mirror.log", "mirror.properties", "watch"
#: Arguments: seconds, then the command. A sample is the time, then the first line of /proc/stat, then /proc/PID/stat;
#: two a second cost less than a hundredth of a core.
TEXT = f"""#!/bin/sh
# Runs the mirror of a tuning (playbook mirror_tune.yml) for so many seconds at most, and samples processor time.
set -u
cd "$(dirname "$0")" || exit 1
end=$(($(date +%s) + $1))
shift
"$@" > {LOG} 2>&1 < /dev/null &
pid=$!
# Pids are used again, a pid with its start time is not: field 22 of proc(5) stat, counted behind the name.
printf '%s %s\\n' "$pid" "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 20)" > {PID}.new
mv {PID}.new {PID}
while kill -0 "$pid" 2> /dev/null; do
  printf '%s|%s|%s\\n' "$(date +%s.%N)" "$(head -n 1 /proc/stat)" "$(cat "/proc/$pid/stat" 2> /dev/null)" >> {SAMPLES}
  if [ "$(date +%s)" -ge "$end" ]; then kill -9 "$pid"; fi
  sleep 0.5
done
"""


def samples_of(text: str, ticks: int) -> list[list[float]]:
    """Samples as [time, busy seconds of the machine, seconds of the mirror], of lines that are whole.

    ticks -- clock ticks a second. Idle time and waiting for disks are no work (proc(5): user, nice, system, idle,
    iowait, irq, softirq, steal; guest is in user already).
    """
    return [sample for line in text.splitlines() if (sample := _sample(line, ticks))]


def _sample(line: str, ticks: int) -> list[float] | None:
    parts = line.split("|")
    if len(parts) != 3 or ")" not in parts[2]:
        return None
    machine = [int(word) for word in parts[1].split()[1:9]]
    # The name in brackets may hold blanks: fields are counted behind it, where state is field 3.
    own = parts[2][parts[2].rindex(")") + 1 :].split()
    if len(machine) < 8 or len(own) < 13:
        return None
    busy = sum(machine) - machine[3] - machine[4]
    return [float(parts[0]), busy / ticks, (int(own[11]) + int(own[12])) / ticks]


def complaints(log: str, most: int = 3) -> list[str]:
    """The last errors of a log of Java, a line each."""
    lines = [line.strip() for line in log.splitlines()]
    bad = [line for line in lines if "ERROR" in line or line.startswith(("Exception in", "Caused by:", "Error"))]
    return _distinct(bad or lines)[-most:]


def _distinct(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(line[:500] for line in lines if line))
