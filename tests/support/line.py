"""A line between two data centres on loopback, that a test makes long, cuts, or lets go dead: toxiproxy."""

from __future__ import annotations

import contextlib
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.cluster import ROOT, until

_STREAMS = ("upstream", "downstream")
_PROXY = "/proxies/line"


class Line:
    """The switches of a line that runs; see laid."""

    def __init__(self, port: int) -> None:
        self._api = f"http://127.0.0.1:{port}"

    def cut(self) -> None:
        """Ends every connection and takes no new one."""
        self._call("POST", _PROXY, {"enabled": False})

    def freeze(self) -> None:
        """Keeps connections open, takes new ones, and lets nothing through, as when packets get lost on the way."""
        for stream in _STREAMS:
            # A timeout of 0 never ends the connection.
            self._toxic(f"frozen-{stream}", "timeout", stream, {"timeout": 0})

    def restore(self) -> None:
        """Takes both away; what was frozen is cut, since its bytes are gone. The delay stays."""
        self.cut()
        for stream in _STREAMS:
            with contextlib.suppress(urllib.error.HTTPError):
                self._call("DELETE", f"{_PROXY}/toxics/frozen-{stream}")
        self._call("POST", _PROXY, {"enabled": True})

    def delay(self, milliseconds: int) -> None:
        """Makes each way take so long; 0 makes it as quick as loopback."""
        for stream in _STREAMS:
            with contextlib.suppress(urllib.error.HTTPError):
                self._call("DELETE", f"{_PROXY}/toxics/long-{stream}")
            if milliseconds:
                self._toxic(f"long-{stream}", "latency", stream, {"latency": milliseconds})

    def is_up(self) -> bool:
        """Whether the switches answer."""
        with contextlib.suppress(OSError):
            return bool(self._call("GET", _PROXY)["enabled"])
        return False

    def _toxic(self, name: str, kind: str, stream: str, attributes: dict[str, int]) -> None:
        toxic = {"name": name, "type": kind, "stream": stream, "attributes": attributes}
        self._call("POST", f"{_PROXY}/toxics", toxic)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._api + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")


@contextlib.contextmanager
def laid(directory: Path, listen: str, upstream: str, port: int) -> Iterator[Line]:
    """A line from `listen` to `upstream` (both host:port) with its switches on `port`, until the block ends."""
    program = subprocess.run(
        [str(ROOT / "tools" / "toxiproxy.sh")], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()[-1]
    configuration = directory / "line.json"
    proxy = {"name": "line", "listen": listen, "upstream": upstream, "enabled": True}
    configuration.write_text(json.dumps([proxy]))
    command = [program, "-host", "127.0.0.1", "-port", str(port), "-config", str(configuration)]
    with (directory / "line.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        line = Line(port)
        until(line.is_up, "the line to be there")
        yield line
    finally:
        server.kill()
        server.wait(30)
