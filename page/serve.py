"""Run the service: a poller for each cluster in a thread of its own, and uvicorn until it is told to end."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import load_library
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import MissingLibraryError, RefusedError
from page.access import Access
from page.alerts.ask import Watch, ask
from page.config import Config, config_of
from page.expected import Expected
from page.hosts import names_served
from page.known.picture import Picture
from page.known.poller import Poller
from page.patience import REQUEST, be_ready, counting
from page.poll import take
from page.records.door import Door
from page.refusals import Refusals, Seldom, counted, is_told
from page.tls import Renewal, wrong_pair
from page.web import application


def main(words: Sequence[str]) -> int:
    """Serve until SIGTERM; 2 when the configuration cannot be used, 3 when the server cannot start."""
    if len(words) != 1:
        print("usage: python -m page CONFIG.json", file=sys.stderr)
        return 2
    try:
        config = config_of(Path(words[0]).read_text(encoding="utf-8"), wrong_pair)
        load_library()
    except (OSError, UnicodeDecodeError, RefusedError, MissingLibraryError) as error:
        print(f"{words[0]}: {error}", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("kafka").setLevel(logging.CRITICAL)  # What it says of a failure stands in the poller's line.
    logging.getLogger("uvicorn.error").addFilter(is_told)
    logging.getLogger("asyncio").addFilter(Seldom())
    be_ready()
    pollers = {name: _poller(name, connection, config) for name, connection in config.clusters.items()}
    watch = _watch(config)
    for poller in pollers.values():
        poller.start()
    if watch:
        watch.start()
    try:
        server = _server(config, pollers, watch)
        server.run()
        return 0 if server.started else 3
    finally:
        if watch:
            watch.end()
        _stop(list(pollers.values()), max(one.request_timeout for one in config.clusters.values()))


def _poller(name: str, connection: Connection, config: Config) -> Poller:
    expected = config.expected.get(name, Expected())

    def poll(last: Picture | None) -> Picture:
        """Take a picture; what changes seldom may come from the last one."""
        return take(name, connection, expected, config.poll_timeout, last, config.details_interval, config.mirrors)

    return Poller(name, poll, config.interval, config.series_limit)


def _watch(config: Config) -> Watch | None:
    """Return what asks Alertmanager, None where none is known."""
    at = config.alertmanager
    return Watch(lambda: ask(at), config.interval) if at else None


def _stop(pollers: Sequence[Poller], seconds: float) -> None:
    for poller in pollers:
        poller.end()
    until = time.monotonic() + seconds
    for poller in pollers:
        poller.wait(until - time.monotonic())


def _server(config: Config, pollers: dict[str, Poller], watch: Watch | None) -> uvicorn.Server:
    """Return the server; its certificate is renewed by a task of its event loop, as its context changes there only."""
    settings: uvicorn.Config
    renewal = Renewal(*config.tls) if config.tls else None
    refusals = Refusals()

    async def beside() -> None:
        """Take up renewed certificates, and log what was refused, while the server runs."""
        runs = [refusals.run(), *([renewal.run(settings.ssl)] if renewal and settings.ssl else [])]
        await asyncio.gather(*runs)

    settings = uvicorn.Config(
        application(
            lambda: {name: poller.seen for name, poller in pollers.items()},
            config.stale_after,
            Access(config.users) if config.users else None,
            beside,
            names_served(config.host, bool(config.users)),
            config.reports,
            config.mirrors,
            refusals=refusals,
            door=Door(config.records, config.clusters),
            alerts=(lambda: watch.seen) if watch else None,
        ),
        host=config.host,
        port=config.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(config.trusted_proxies),
        forwarded_allow_ips=list(config.trusted_proxies),
        http=counting(refusals),
        ws="none",
        timeout_keep_alive=REQUEST,
        timeout_graceful_shutdown=5,
        ssl_certfile=config.tls[0] if config.tls else None,
        ssl_keyfile=config.tls[1] if config.tls else None,
    )
    settings.load()
    if settings.ssl:
        settings.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
        settings.ssl.sslobject_class = counted(refusals)
    return uvicorn.Server(settings)
