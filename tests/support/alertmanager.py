# SPDX-License-Identifier: GPL-3.0-or-later
"""An Alertmanager that runs here, taken out of Debian's package by tools/prometheus_tools.sh."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.cluster import free_port_base, until
from tests.support.prometheus import tool

#: The series in which it counts what it could not hand over.
FAILED = "alertmanager_notifications_failed_total"


class Alertmanager:
    """One that runs here."""

    def __init__(self, directory: Path, config: Mapping[str, Any]) -> None:
        """Keep its files in a directory; config -- its configuration."""
        self._directory, self._config, self.socket = directory, config, f"127.0.0.1:{free_port_base()}"
        self.url = f"http://{self.socket}/am"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        config = self._directory / "alertmanager.yml"
        config.write_text(json.dumps(self._config))
        command = [tool("prometheus-alertmanager"), f"--config.file={config}", f"--web.listen-address={self.socket}"]
        command += [f"--web.external-url={self.url}", f"--storage.path={self._directory}", "--cluster.listen-address="]
        with (self._directory / "log").open("a") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until(self._answers, "Alertmanager to answer")

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
            return True
        return False

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(30)

    def post(self, path: str, what: Any) -> None:
        """Send it alerts or a silence."""
        body, kind = json.dumps(what).encode(), {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/api/v2/{path}", body, kind), timeout=10):
            pass

    def alerts(self, *some: tuple[str, str, str | None]) -> None:
        """Let alerts fire: name, severity and cluster of each."""
        self.post(
            "alerts",
            [
                {
                    "labels": {"alertname": name, "severity": severity, **({"cluster": of} if of else {})},
                    "annotations": {"summary": f"{name} of {of}", "runbook_url": f"https://runbooks.example/{name}"},
                }
                for name, severity, of in some
            ],
        )

    def failed(self, integration: str) -> float:
        """Return how many notifications it could not hand to receivers of a kind."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=10) as answer:
            said = answer.read().decode()
        counts = re.findall(rf'^{FAILED}{{[^}}]*integration="{integration}"[^}}]*}} (\S+)$', said, re.MULTILINE)
        return sum(map(float, counts))


class Receiver:
    """A webhook that keeps what it was told, or refuses all of it."""

    def __init__(self, status: int = 200) -> None:
        self.told: list[dict[str, Any]] = []
        self.status = status
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                """Take a notification."""
                told = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if receiver.status < 300:
                    receiver.told += told["alerts"]
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """It answers each notification with an error for some time, and keeps nothing."""
        self.status = 500
        try:
            yield
        finally:
            self.status = 200

    def firing(self) -> set[str]:
        """The alerts of which it was told last that they fire."""
        last = {json.dumps(alert["labels"], sort_keys=True): alert for alert in self.told}
        return {alert["labels"]["alertname"] for alert in last.values() if alert["status"] == "firing"}

    def knows(self, *names: str) -> bool:
        """Whether it was told that these fire."""
        return set(names) <= {one["labels"]["alertname"] for one in self.told if one["status"] == "firing"}

    def topics(self) -> set[str]:
        """The topics of which it was told."""
        return {one["labels"]["topic"] for one in self.told if "topic" in one["labels"]}

    def end(self) -> None:
        """Answer nothing more."""
        self._server.shutdown()
        self._server.server_close()
