"""Looks at the arguments and the environment of every process of a machine, 50 times a second, for planted secrets.

Runs in a container that sees the processes of its host, and so of every other container. On SIGUSR1 prints one line of
JSON: `samples` taken, `processes` and `environments` read, the `services` seen among them, and the `hits`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time

from tests.support.planted import KEYTAB, forms

WORDS = [*forms(b"planted-"), KEYTAB, b"PRIVATE KEY"]
SECRET = re.compile(rb"[^\s\0]{0,20}(?:" + b"|".join(map(re.escape, WORDS)) + rb")[^\s\0]{0,20}")
# Services of ours, and what their command lines name as their configuration.
PROGRAMS = (b"kafka.Kafka\0", b"org.apache.kafka.connect.mirror.MirrorMaker\0")
CONFIGURATION = re.compile(rb"\0(/[^\0]+\.properties)(?=\0)")
PERIOD = 0.02
# A process is young until it can have become another program by exec; older ones are looked at now and then.
YOUNG, OLD_PERIOD = 2.0, 5.0


class Watch:
    """What was seen since the start."""

    def __init__(self) -> None:
        self.samples = 0
        self.read = {"cmdline": 0, "environ": 0}
        self.services: set[str] = set()
        self.hits: set[str] = set()
        self.known: dict[str, tuple[float, float]] = {}

    def look(self, pid: str) -> None:
        """Reads one process."""
        for name in self.read:
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    text = file.read()
            except OSError:
                continue
            self.read[name] += 1
            for found in SECRET.findall(text):
                self.hits.add(f"{name}: {found.decode(errors='replace')}")
            if name == "cmdline" and any(program in text for program in PROGRAMS):
                self.services.update(word.decode(errors="replace") for word in CONFIGURATION.findall(text))

    def sample(self, now: float) -> None:
        """Reads every process that is new, young or due."""
        self.samples += 1
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
        known = {}
        for pid in pids:
            first, last = self.known.get(pid, (now, 0.0))
            if now - first < YOUNG or now - last > OLD_PERIOD:
                self.look(pid)
                last = now
            known[pid] = first, last
        self.known = known

    def show(self, *_: object) -> None:
        """Prints what was seen."""
        seen = {"samples": self.samples, "processes": self.read["cmdline"], "environments": self.read["environ"]}
        print(json.dumps({**seen, "services": sorted(self.services), "hits": sorted(self.hits)}), flush=True)


def main() -> None:
    """Watches until it is ended."""
    watch = Watch()
    signal.signal(signal.SIGUSR1, watch.show)
    while True:
        watch.sample(time.monotonic())
        time.sleep(PERIOD)


if __name__ == "__main__":
    main()
