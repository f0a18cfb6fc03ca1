"""Run the service: a poller in one thread, and uvicorn until it is told to end."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from page.config import config_of
from page.poll import take
from page.poller import Poller
from page.web import application

#: Connections at once; more are answered 503. A page has some readers and one or two Prometheus.
_CONNECTIONS = 50


def main(words: Sequence[str]) -> int:
    """Serve until SIGTERM; 2 when the configuration cannot be used."""
    if len(words) != 1:
        print("usage: python -m page CONFIG.json", file=sys.stderr)
        return 2
    try:
        config = config_of(Path(words[0]).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, RefusedError) as error:
        print(f"{words[0]}: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("kafka").setLevel(logging.CRITICAL)  # What it says of a failure stands in the poller's line.
    poller = Poller(lambda: take(config.connection, config.poll_timeout), config.interval, config.series_limit)
    poller.start()
    try:
        uvicorn.run(
            application(lambda: poller.seen, config.stale_after),
            host=config.host,
            port=config.port,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=5,
        )
    finally:
        poller.stop(config.connection.request_timeout)
    return 0
