"""Records in a real browser, light and dark: nothing runs, nothing is wider than the screen, axe-core finds nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from page.filed.shelf import Shelf
from page.pages import Pages
from page.records.asked import Asked
from page.records.batches import Found, Record, Skipped
from page.records.markup import Trouble, written
from page.records.masking import Mask
from tests.support.browser import Browser
from tests.support.cluster import free_port_base, until
from tests.support.page_seen import HOSTILE

VALUE = b'{"order":17,"customer":{"iban":"DE00","name":"Ann"},"lines":[{"sku":"a-1","price":12.50}]}'
HEADERS = ((b"trace", b"00-4bf9"), (b"iban", b"DE00"))
RECORDS = [
    Record(0, 41, 1795503600123, "CreateTime", b'{"id":17}', VALUE, HEADERS),
    Record(0, 42, None, "CreateTime", None, b"x" * 20_000),
    Record(0, 43, 0, "LogAppendTime", b"\x00\x01", bytes(range(256))),
    *(Record(0, 44 + at, 0, "CreateTime", one.encode("utf-8", "replace"), None) for at, one in enumerate(HOSTILE)),
]
MASK = Mask(frozenset({"iban"}), show_unmasked=True)
PAGES = [
    written(
        "orders", "orders.eu", Asked(partition=0), Found(3, {}, RECORDS, [Skipped(0, 1, 2, "it is odd")]), MASK, None
    ),
    written("orders", "orders.eu", Asked(), Found(3, {}, [], [], ["A note."]), MASK, None),
    written("orders", "x" * 249, Asked(), Found(), MASK, Trouble(403, "You may not read this.", "Ask.")),
]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    pages = Pages(dict, 1, Shelf(""))

    def shown(request: Request) -> Response:
        return HTMLResponse(PAGES[int(request.path_params["at"])])

    inner = Starlette()
    inner.add_route("/style.css", pages.style)
    inner.add_route("/icon.svg", pages.icon)
    inner.add_route("/{at:int}", shown)
    found = free_port_base()
    server = uvicorn.Server(uvicorn.Config(inner, port=found, log_level="critical", access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started, "the pages to be served", 120)
        yield found
    finally:
        server.should_exit = True
        thread.join(60)


@pytest.mark.parametrize(("width", "is_dark"), [(1280, False), (400, True)], ids=["wide", "narrow"])
def test_records_are_legible_on_every_screen(port: int, tmp_path: Path, width: int, is_dark: bool) -> None:
    with Browser(tmp_path / "profile") as browser:
        for at in range(len(PAGES)):
            browser.open(f"http://127.0.0.1:{port}/{at}", width, is_dark)
            (tmp_path / f"{at}.png").write_bytes(browser.picture(1400))
            assert browser.complaints == [], at
            assert browser.value("document.documentElement.scrollWidth") <= width, at
            assert browser.violations() == [], at
