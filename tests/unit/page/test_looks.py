"""Every page in a real browser: nothing in its console, nothing wider than the screen, light and dark."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from page.shown.names import path
from tests.support.browser import CHROMIUM, Browser
from tests.support.page_seen import HOSTILE, Served, looked, served

PAGES = [
    "/", "/clusters/orders", "/clusters/orders/brokers", "/clusters/orders/topics?sort=size",
    "/clusters/orders/topics?search=nothing", "/clusters/orders/groups", "/clusters/orders/topics/orders",
    "/clusters/orders/groups/search-index", "/clusters/payments", "/clusters/begins/topics", "/clusters/none",
    "/clusters/orders/topics?page=0", *(path("clusters", "orders", "groups", name) for name in HOSTILE[-6:]),
]  # fmt: skip
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def page() -> Iterator[Served]:
    seen = looked()
    with served(lambda: seen) as one:
        yield one


@pytest.mark.parametrize(("width", "is_dark"), [(1280, False), (400, True)], ids=["wide and light", "narrow and dark"])
def test_no_page_has_an_error_or_is_wider_than_the_screen(
    page: Served, tmp_path: Path, width: int, is_dark: bool
) -> None:
    with Browser(tmp_path / "profile") as browser:
        for number, at in enumerate(PAGES):
            status = page.get(at).status
            browser.open(f"http://127.0.0.1:{page.port}{at}", width, is_dark)
            picture = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
            (tmp_path / f"{number}.png").write_bytes(base64.b64decode(picture))
            # That a page is not there is the only thing that a browser complains of.
            complaints = [one for one in browser.complaints if status == 200 or f"status of {status}" not in one]
            assert complaints == [], at
            browser.complaints.clear()
            assert browser.value("document.documentElement.scrollWidth") <= width, at
            assert browser.value("document.styleSheets[0].cssRules.length > 100"), at
            body = browser.value("getComputedStyle(document.body).backgroundColor")
            assert body == ("rgb(16, 21, 27)" if is_dark else "rgb(246, 247, 249)"), at
