"""The service `page` as a process, and a client of it that speaks plain HTTP or TLS, with a login or without."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.cluster import ROOT, free_port_base, until
from tests.support.runs import paused

#: What the locks of page and canary do not bring: kafka-python has no codec but gzip in the page.
_MISSING = {
    "page": ("ansible", "confluent_kafka", "cramjam", "lz4", "lz4.frame", "snappy", "zstandard"),
    "canary": ("ansible", "confluent_kafka"),
}


@dataclass
class Answer:
    """What a request got; status 0 when the server did not answer."""

    status: int = 0
    text: str = ""
    headers: Message = field(default_factory=Message)

    def value(self, series: str) -> float:
        """The value of a series of /metrics."""
        found = re.search(rf"^{re.escape(series)} (\S+)$", self.text, re.MULTILINE)
        assert found, (series, self.text)
        return float(found[1])

    def json(self) -> Any:
        """The body as JSON; None when there is none."""
        return json.loads(self.text) if self.text.startswith("{") else None


def basic(user: str, password: str) -> dict[str, str]:
    """The header of a login."""
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


class Page:
    """The process, from `with` to its end; `settings` get a free port."""

    def __init__(
        self,
        directory: Path,
        settings: dict[str, Any],
        login: tuple[str, str] | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        """more -- is added to its environment."""
        self._more = more or {}
        self.port = free_port_base()
        self._login = login
        self._directory = directory
        self._is_tls = "tls_certificate" in settings
        self.config = directory / "page.json"
        self.config.touch(0o600)
        self.config.write_text(json.dumps({**settings, "port": self.port}))

    def __enter__(self) -> Page:
        """Start it."""
        with (self._directory / "log").open("w") as log:
            self.process = subprocess.Popen(command(self.config), env=environment(self._more), stdout=log, stderr=log)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()

    def paused(self) -> contextlib.AbstractContextManager[None]:
        """The process stands still for some time."""
        return paused(self.process.pid)

    @property
    def log(self) -> str:
        """What it wrote."""
        return (self._directory / "log").read_text()

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition; the assertion error has the log."""
        try:
            until(condition, what, 120)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log[-3000:]}") from None

    def connection(self, is_tls: bool | None = None) -> http.client.HTTPConnection:
        """A connection for many requests, by default over TLS where the service has it; it trusts every certificate."""
        if self._is_tls if is_tls is None else is_tls:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=trusting())
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def get(
        self, path: str, method: str = "GET", headers: dict[str, str] | None = None, is_tls: bool | None = None
    ) -> Answer:
        """Answer to one request; the login is that of the service unless `headers` are given."""
        given = headers if headers is not None else basic(*self._login) if self._login else {}
        connection = self.connection(is_tls)
        try:
            return ask(connection, path, method, given)
        except (OSError, http.client.HTTPException):
            return Answer()
        finally:
            connection.close()


def ask(connection: http.client.HTTPConnection, path: str, method: str, headers: dict[str, str]) -> Answer:
    """Answer to a request on a connection that stays open."""
    connection.request(method, f"/{path}", headers=headers)
    answer = connection.getresponse()
    return Answer(answer.status, answer.read().decode(), answer.headers)


def trusting() -> ssl.SSLContext:
    """A context that trusts every certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def command(config: Path, service: str = "page", before: str = "") -> list[str]:
    """What starts the page, or the canary, where only what its lock has can be imported; C(before) runs before it."""
    alone = f"import sys; sys.modules.update(dict.fromkeys({_MISSING[service]!r})); "
    start = f"import {service}.serve as s; sys.exit(s.main(sys.argv[1:]))"
    return [sys.executable, "-c", alone + before + start, str(config)]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment in which it finds its code; directories of C(more) for Python stand behind that."""
    added = dict(more or {})
    places = [str(ROOT), str(ROOT / "collections"), added.pop("PYTHONPATH", "")]
    return {**os.environ, **added, "PYTHONPATH": ":".join(filter(None, places))}
