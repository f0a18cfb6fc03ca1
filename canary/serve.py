"""Run the service: a thread for each cluster that is read and each source that is written into, and a small server."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import load_library
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import MissingLibraryError, RefusedError
from canary.board import Board
from canary.config import Config, config_of
from canary.gaps import GapWatch
from canary.metrics import families_of
from canary.read import Reader
from canary.told import told
from canary.write import Writer
from page.core.exposition import CONTENT_TYPE, exposition

#: Seconds that a reader of metrics may be silent, and how many are answered at once.
_PATIENCE, _READERS = 5, 10
#: Seconds that threads get to end: a request under way ends in its own time.
_ENDING = 15.0


def main(words: Sequence[str]) -> int:
    """Serve until SIGTERM or SIGINT; 2 when the configuration cannot be used, 3 when the port cannot be taken."""
    if len(words) != 1:
        print("usage: python -m canary CONFIG.json", file=sys.stderr)
        return 2
    try:
        config = config_of(Path(words[0]).read_text(encoding="utf-8"))
        load_library()
    except (OSError, UnicodeDecodeError, RefusedError, MissingLibraryError) as error:
        print(f"{words[0]}: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("kafka").setLevel(logging.CRITICAL)  # What it says of a failure stands in our own line.
    end = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda _number, _frame: end.set())
    board = Board(config, time.monotonic())
    try:
        server = Server(config, board)
    except OSError as error:
        print(f"{config.host}:{config.port} cannot be listened at: {error.strerror}", file=sys.stderr)
        return 3
    _run(config, board, server, end)
    return 0


def _run(config: Config, board: Board, server: Server, end: threading.Event) -> None:
    names = dict.fromkeys([config.cluster, *(one.source for one in config.ways)])
    threads = [Reader(name, config.clusters[name], board, end).thread for name in names]
    threads += [Writer(way, config.clusters[way.source], config.interval, board, end).thread for way in config.own]
    target, flush = config.clusters[config.cluster], config.offset_flush
    threads += [GapWatch(one, config.clusters[one.source], target, flush, board, end).thread for one in config.flows]
    threads.append(threading.Thread(target=server.serve_forever, name="serve", daemon=True))
    for one in threads:
        one.start()
    end.wait()
    server.shutdown()
    server.server_close()
    until = time.monotonic() + _ENDING
    for one in threads:
        one.join(max(0.0, until - time.monotonic()))


class Server(ThreadingHTTPServer):
    """Answers at /metrics for Prometheus, and at /status with the verdict as JSON."""

    daemon_threads = True

    def __init__(self, config: Config, board: Board) -> None:
        self.address_family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
        self._places = threading.BoundedSemaphore(_READERS)
        self.board = board
        super().__init__((config.host, config.port), _Answer)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, or not at all where too many are answered."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a reader that went away."""


class _Answer(BaseHTTPRequestHandler):
    timeout = _PATIENCE
    server_version, sys_version = "canary", ""

    def do_GET(self) -> None:  # the library's name
        """Answer a request."""
        assert isinstance(self.server, Server)
        figures = self.server.board.figures(time.monotonic())
        if self.path == "/metrics":
            self._send(200, CONTENT_TYPE, exposition([families_of(figures)]))
        elif self.path == "/status":
            self._send(200, "application/json", json.dumps(told(figures)) + "\n")
        else:
            self._send(404, "text/plain; charset=utf-8", "There are /metrics and /status.\n")

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: Any) -> None:
        """Log no request."""
