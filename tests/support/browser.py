# SPDX-License-Identifier: GPL-3.0-or-later
"""Chromium without a window, told over a pipe what to do (the DevTools protocol, --remote-debugging-pipe)."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 120.0
#: What axe-core finds, short: of each violation its rule and the elements.
_FOUND = """axe.run(document, {resultTypes: ["violations"]}).then(
  found => found.violations.map(one => [one.id, one.help, one.nodes.map(node => [node.html, node.failureSummary])]))"""


@cache
def chromium() -> str:
    """Return the path of Chromium; the test is skipped where there is none, and fails there in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found and not os.environ.get("CI"):
        pytest.skip("there is no Chromium here (on Debian: chromium)")
    assert found, "there is no Chromium here, and continuous integration skips nothing"
    return found


@cache
def axe() -> str:
    """Return the script of axe-core; the test is skipped where it cannot be had, and fails there in CI."""
    made = subprocess.run([_ROOT / "tools" / "axe_core.sh"], capture_output=True, text=True, check=False)
    if made.returncode == 3 and not os.environ.get("CI"):
        pytest.skip(f"no axe-core: {made.stderr.strip()}")
    assert made.returncode == 0, made.stderr
    return Path(made.stdout.strip()).read_text(encoding="utf-8")


class Browser:
    """One tab, from `with` to the end of its process; C(complaints) is what its console and its network say."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.complaints: list[str] = []
        self._number, self._session, self._text = 0, "", b""
        self._events: list[str] = []

    def __enter__(self) -> Browser:
        """Start it."""
        program = chromium()
        there, self._out = os.pipe()
        self._in, back = os.pipe()
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{there} 4>&{back}', "bash", program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self._directory}",
             "--remote-debugging-pipe"],
            pass_fds=(there, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(there)
        os.close(back)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(60)
        finally:
            self._process.kill()
            os.close(self._out)
            os.close(self._in)

    def open(self, address: str, width: int, is_dark: bool) -> None:
        """Open a page at a width in pixels, light or dark, and wait until it is there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        feature = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self._events.clear()
        self.call("Page.navigate", url=address)
        until = time.monotonic() + _SECONDS
        while "Page.loadEventFired" not in self._events:
            self._take(self._next(until))

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression on the page, or what it promises."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def violations(self) -> list[Any]:
        """What axe-core finds on the page with all of its rules: [rule, meaning, [[element, what to do], ...]] each."""
        self.value(f"{axe()};0")
        return list(self.value(_FOUND))

    def picture(self, height: int = 900) -> bytes:
        """What the page looks like from its top, as PNG; C(height) is in pixels."""
        clip = {"x": 0, "y": 0, "width": self.value("innerWidth"), "height": height, "scale": 1}
        told = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(told["data"])

    def call(self, method: str, **params: Any) -> Any:
        """The answer to one command."""
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + _SECONDS
        while True:
            told = self._next(until)
            if told.get("id") == self._number:
                assert "error" not in told, (method, told)
                return told["result"]
            self._take(told)

    def _next(self, until: float) -> Any:
        while b"\0" not in self._text:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            some = os.read(self._in, 1 << 20) if ready else b""
            assert some, "Chromium does not answer"
            self._text += some
        one, _, self._text = self._text.partition(b"\0")
        return json.loads(one)

    def _take(self, told: Any) -> None:
        method = told.get("method", "")
        self._events.append(method)
        if method in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(told["params"]))
