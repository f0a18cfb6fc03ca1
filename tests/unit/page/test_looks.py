"""Every page in a real browser, light and dark: nothing in its console, nothing wider than the screen, and nothing that
axe-core, with all of its rules, finds to keep people from using it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.markup import status_page
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import status_data
from page.shown.names import path
from tests.support.browser import Browser
from tests.support.cluster import until
from tests.support.forms import short
from tests.support.page_seen import HOSTILE, Served, looked, served
from tests.support.reports_left import SCRIPT, left
from tests.support.status_seen import MADE, everything

PAGES = [
    "/", "/clusters/orders", "/clusters/orders/brokers", "/clusters/orders/topics?sort=size",
    "/clusters/orders/topics?search=nothing&internal=no", "/clusters/orders/groups",
    "/clusters/orders/groups?state=stable&sort=-name&refresh=no", "/clusters/orders/topics/orders",
    "/clusters/orders/groups/search-index", "/clusters/orders/moves?sort=left", "/clusters/quiet/moves",
    "/clusters/payments", "/clusters/begins/topics", "/clusters/none",
    "/clusters/orders/operations", "/clusters/orders/operations?search=nothing", "/clusters/begins/operations",
    "/clusters/quiet/groups", "/clusters/orders/topics?page=0",
    "/clusters/orders/access", "/clusters/orders/access?search=billing&sort=-resource", "/clusters/quiet/access",
    "/clusters/orders/mirrors", "/clusters/copy/mirrors?search=invoices.01&sort=state", "/clusters/begins/mirrors",
    "/clusters/none/mirrors", "/clusters/orders/brokers/1", "/clusters/orders/brokers/3", "/clusters/quiet/brokers/1",
    *(path("clusters", "orders", "groups", name) for name in HOSTILE[-6:]),
]  # fmt: skip
#: A screen with 200 % zoom is as narrow as a phone.
SIZES, SCREEN_NAMES = [(1280, False), (390, True)], ["wide and light", "narrow and dark"]
SCREENS = pytest.mark.parametrize(("width", "is_dark"), SIZES, ids=SCREEN_NAMES)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    seen = looked()
    with served(lambda: seen, str(left(tmp_path_factory.mktemp("left") / "reports"))) as one:
        yield one


@pytest.mark.parametrize(("width", "is_dark"), short(SIZES, (390, True)), ids=SCREEN_NAMES)
def test_no_page_has_an_error_or_is_wider_than_the_screen(
    page: Served, tmp_path: Path, width: int, is_dark: bool
) -> None:
    with Browser(tmp_path / "profile") as browser:
        for number, at in enumerate(PAGES):
            status = page.get(at).status
            browser.open(f"http://127.0.0.1:{page.port}{at}", width, is_dark)
            (tmp_path / f"{number}.png").write_bytes(browser.picture())
            # That a page is not there is the only thing that a browser complains of.
            complaints = [one for one in browser.complaints if status == 200 or f"status of {status}" not in one]
            assert complaints == [], at
            browser.complaints.clear()
            assert browser.value("document.documentElement.scrollWidth") <= width, at
            assert browser.value("document.styleSheets[0].cssRules.length > 100"), at
            body = browser.value("getComputedStyle(document.body).backgroundColor")
            assert body == ("rgb(16, 21, 27)" if is_dark else "rgb(246, 247, 249)"), at
            assert browser.violations() == [], at


def test_a_long_name_takes_two_lines_until_it_has_the_focus(page: Served, tmp_path: Path) -> None:
    height = "document.querySelector('.cut').getBoundingClientRect().height"
    with Browser(tmp_path / "profile") as browser:
        for at in ("topics?search=xxxx", "access?search=xxxx"):
            browser.open(f"http://127.0.0.1:{page.port}/clusters/orders/{at}", 390, False)
            before = browser.value(height)
            assert 0 < before < 45, at
            browser.value("document.querySelector('.cut').focus()")
            assert browser.value(height) > 2 * before, at
            assert browser.value("document.documentElement.scrollWidth") <= 390, at


def test_a_page_comes_again_by_itself_at_the_same_place(
    page: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("page.pages.LOOK_AGAIN", 1)
    query = "?search=invoices&internal=no&sort=-name&page=2"
    with Browser(tmp_path / "profile") as browser:
        browser.open(f"http://127.0.0.1:{page.port}/clusters/orders/topics{query}", 1280, False)
        first = browser.value("performance.timeOrigin")
        until(lambda: browser.value("performance.timeOrigin") > first, "the page again", 60)
        assert browser.value("location.pathname + location.search") == f"/clusters/orders/topics{query}"


def test_a_report_is_served_with_its_style_and_no_script_of_it_runs(page: Served, tmp_path: Path) -> None:
    seen = json.loads(page.get("/clusters/orders/operations?format=json").text)["reports"]
    with Browser(tmp_path / "profile") as browser:
        for one in seen:
            if not one["address"]:
                continue
            browser.complaints.clear()
            browser.open(f"http://127.0.0.1:{page.port}{one['address']}", 1280, False)
            if page.get(one["address"]).text == SCRIPT:
                assert browser.value("document.title") != "ran", one
                assert any("sandbox" in said for said in browser.complaints), browser.complaints
                continue
            assert browser.complaints == [], one
            assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(246, 247, 249)", one
            assert browser.value("document.documentElement.scrollWidth") <= 1280, one
    assert {"move", "status", "validation"} <= {one["kind"] for one in seen}


@SCREENS
def test_the_report_of_a_status_keeps_nothing_from_its_readers(tmp_path: Path, width: int, is_dark: bool) -> None:
    with Browser(tmp_path / "profile") as browser:
        for name, data in (("whole", everything()), ("empty", status_data([], [], MADE))):
            report = tmp_path / f"{name}.html"
            report.write_text(status_page(data), encoding="utf-8")
            browser.open(report.as_uri(), width, is_dark)
            assert browser.violations() == [], name


def test_axe_is_there_and_finds_what_is_wrong(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.html"
    wrong.write_text("<!doctype html><title>x</title><p style='color: #ddd'>pale</p><input>", encoding="utf-8")
    with Browser(tmp_path / "profile") as browser:
        browser.open(wrong.as_uri(), 1280, False)
        assert {"color-contrast", "html-has-lang", "label"} <= {rule for rule, *_ in browser.violations()}
