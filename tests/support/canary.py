"""A canary as a process of its own, which a test ends and starts again."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.page import command, environment

#: Runs of minutes write an event a second, which is too many for the account of a day that a canary keeps.
QUICK = "import canary.config; canary.config.CANARY_NUMBERS['interval'] = (1, 1, 1); "


class Canary:
    """`python -m canary` on these settings; the folder gets canary.json and canary.log."""

    def __init__(self, directory: Path, settings: Mapping[str, Any], more: Mapping[str, str] | None = None) -> None:
        """more -- is added to its environment."""
        self._environment = environment(more)
        directory.mkdir(parents=True, exist_ok=True)
        self._config, self._log = directory / "canary.json", directory / "canary.log"
        self._config.write_text(json.dumps(settings))
        self._port = settings["port"]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it."""
        with self._log.open("ab") as log:
            started = command(self._config, "canary", QUICK)
            self._process = subprocess.Popen(started, env=self._environment, stdout=log, stderr=subprocess.STDOUT)

    def stop(self, seconds: float = 20) -> int:
        """Ends it by SIGTERM; returns what it ended with."""
        assert self._process is not None, "it was never started"
        self._process.terminate()
        return self._process.wait(seconds)

    def kill(self) -> None:
        """Ends it by SIGKILL; no harm when it has ended or never began."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)

    def get(self, path: str) -> str:
        """What it answers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    def status(self) -> dict[str, Any]:
        """Its verdict; a word of its own while it does not answer."""
        try:
            found: dict[str, Any] = json.loads(self.get("/status"))
        except OSError as error:
            return {"status": "SILENT", "line": str(error), "lines": []}
        return found

    def value(self, name: str, **labels: str) -> float:
        """The greatest value of a metric that has these labels; -1 where there is none, or no answer."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        try:
            told = self.get("/metrics")
        except OSError:  # It was just started.
            return -1.0
        lines = [line for line in told.splitlines() if line.startswith(f"{name}{{")]
        found = [float(line.rpartition(" ")[2]) for line in lines if all(one in line for one in wanted)]
        return max(found, default=-1.0)

    def events(self, state: str, path: str) -> int:
        """How many events of a way are in a state; -1 where no figures are known."""
        return int(self.value("streamops_canary_events", path=path, state=state))

    def log(self) -> str:
        """What it has printed."""
        return self._log.read_text(errors="replace")
