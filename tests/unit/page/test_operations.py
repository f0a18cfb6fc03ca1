"""The reports on a cluster as their readers get them: the real application over a directory of good and bad files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from page.shown.names import path
from tests.support.markup import Markup
from tests.support.page import Answer
from tests.support.page_seen import Served, looked, served
from tests.support.reports_left import NAMES, SCRIPT, left, put

AT = "/clusters/orders/operations"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return left(tmp_path_factory.mktemp("left") / "reports")


@pytest.fixture(scope="module")
def page(root: Path) -> Iterator[Served]:
    seen = looked()
    with served(lambda: seen, str(root)) as one:
        yield one


def text_of(answer: Answer) -> str:
    assert answer.status == 200, answer.text
    found = Markup(answer.text.replace("<link ", "<meta ").replace("<input ", "<meta "))
    assert found.open == []
    assert not found.tags & {"script", "img", "iframe", "object", "style"}
    return re.sub(r"\s+", " ", found.text)


def reports(page: Served, query: str = "") -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(page.get(f"{AT}?format=json{query}").text)["reports"]
    return found


def test_each_report_is_a_row_that_says_what_was_done_and_how_it_ended(page: Served) -> None:
    text = text_of(page.get(AT))
    for said in ("Restarts leave no report", "Rebalance: 4 replicas, 4.0 MB in 4m04s.", "2026-11-24 10:15:00 UTC",
                 "done", "2 of 2 checks passed in 1m02s.", "1 of 2 checks passed", "mirror audit", "orders, copy",
                 "planned", "larger than 20 MB: open it where it is", "written; begin not known",
                 "findings: "):  # fmt: skip
        assert said in text, said
    assert "Operations" in text_of(page.get("/clusters/orders"))


def test_hostile_names_are_shown_and_break_nothing(page: Served) -> None:
    answer = page.get(AT)
    text = text_of(answer)
    assert not re.search("[\u0000-\u0008\u001b\u2028\u202a-\u202e\u2066-\u2069\u200e\u200f]", answer.text)
    for name in NAMES:
        assert (f"orders/{name}.html" in text) is name.isprintable()
        assert f"orders/{name}.html" in [one["name"] for one in reports(page)]


def test_every_link_of_the_list_leads_to_its_report_or_to_a_page(page: Served) -> None:
    links = Markup(page.get(AT).text.replace("<link ", "<meta ").replace("<input ", "<meta ")).values("href")
    served_here = [one for one in links if one.startswith(f"{AT}/")]
    assert len(served_here) == len([one for one in reports(page) if one["address"]]) > 10
    for one in {*links} - {"#"}:
        assert page.get(one.split("#")[0]).status == 200, one
    assert all(re.fullmatch(rf"{AT}/[0-9a-f]{{32}}", one) for one in served_here)


def test_a_report_is_served_as_it_is_where_no_script_of_it_runs(page: Served, root: Path) -> None:
    for one in reports(page):
        if not one["address"]:
            continue
        answer = page.get(one["address"])
        assert answer.text == (root / one["name"]).read_text(encoding="utf-8")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        policies = answer.headers.get_all("content-security-policy")
        assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; "
                            "base-uri 'none'; form-action 'none'; sandbox"]  # fmt: skip
        assert answer.headers.get_all("x-content-type-options") == ["nosniff"]
        assert answer.headers["cache-control"] == "no-store"
        assert "etag" not in answer.headers


def test_the_json_beside_a_report_is_served_as_it_is(page: Served, root: Path) -> None:
    (one,) = [one for one in reports(page) if one["kind"] == "validation"]
    answer = page.get(f"{one['address']}?format=json")
    assert answer.text == (root / one["name"]).with_name("result.json").read_text(encoding="utf-8")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers.get_all("content-security-policy")[0].startswith("default-src 'none'; style-src 'self'")
    (linked,) = [one for one in reports(page) if "linked-data" in one["name"]]
    assert page.get(linked["address"]).text == SCRIPT
    assert page.get(f"{linked['address']}?format=json").status == 404
    assert page.get(f"{one['address']}?format=csv").status == 400


@pytest.mark.parametrize(
    "key", ["", "..", "../orders/linked.html", "linked.html", "..%2f..%2foutside.html", "report.html", "/etc/passwd",
            "20261125T120000-000001-validation", "%00", "0" * 32, "\udcff"],
)  # fmt: skip
@pytest.mark.parametrize("cluster", ["orders", "quiet", "none", "..", "linked"])
def test_nothing_else_is_served_whatever_is_asked_for(page: Served, cluster: str, key: str) -> None:
    for at in (
        path("clusters", cluster, "operations", key),
        f"/clusters/{cluster}/operations/{key.encode('utf-8', 'ignore').decode()}",
    ):
        answer = page.get(at)
        assert answer.status in ((200, 404) if at.endswith("operations/") else (404,)), at
        assert "not of this directory" not in answer.text
        assert "root:" not in answer.text


def test_a_report_is_served_under_its_own_cluster_alone_and_its_large_one_not_at_all(page: Served) -> None:
    (one,) = [one for one in reports(page) if one["kind"] == "validation"]
    assert page.get(one["address"].replace("/orders/", "/quiet/")).status == 404
    (large,) = [one for one in reports(page) if "large" in one["name"]]
    assert large["address"] is None
    assert page.get(f"{AT}/{large['key']}").status == 404


def test_a_status_of_several_clusters_is_on_the_page_of_each_that_it_names(page: Served) -> None:
    found = json.loads(page.get("/clusters/quiet/operations?format=json").text)["reports"]
    assert [(one["name"], one["kind"]) for one in found] == [("all/status.html", "status")]
    assert page.get(found[0]["address"]).status == 200


def test_the_list_is_searched_sorted_and_there_as_csv(page: Served) -> None:
    assert {one["kind"] for one in reports(page, "&search=REBALANCE")} == {"move"}
    assert next(one["kind"] for one in reports(page, "&sort=kind")) == "mirror audit"
    begun = [one["begin"] for one in reports(page)]
    assert begun == sorted(begun, reverse=True)
    head, *rows = csv.reader(io.StringIO(page.get(f"{AT}?format=csv").text, newline=""))
    assert head[:4] == ["begin", "begin_known", "kind", "result"]
    assert len(rows) == len(reports(page))
    assert page.get(f"{AT}?sort=none").status == 400
    titles = re.findall(r'<th [^>]*><a href="[^"]*">([^<]*)<', page.get(AT).text)
    assert titles == ["Begin", "Kind", "Result", "Report", "Size"], "each order has its column"


def test_a_new_report_is_there_at_once_and_a_removed_one_is_gone(page: Served, root: Path) -> None:
    put(root / "orders", "new", "<!doctype html>new")
    (one,) = reports(page, "&search=new.html")
    assert page.get(one["address"]).text.endswith("new")
    (root / "orders" / "new.html").unlink()
    assert "has no such report" in page.get(one["address"]).text
    assert reports(page, "&search=new.html") == []


def test_without_a_directory_the_page_says_why_and_what_to_do(tmp_path: Path) -> None:
    seen = looked()
    for at, said in (("", "no directory of reports is set"), (f"{tmp_path}/none", "No such file or directory")):
        with served(lambda: seen, at) as page:
            text = text_of(page.get(AT))
            assert f"{said}. Set kafka_page_reports" in text
            found = json.loads(page.get(f"{AT}?format=json").text)
            assert (found["known"], found["reports"]) == (False, [])
    with served(lambda: seen, str(tmp_path)) as page:
        assert "There is no report on this cluster." in text_of(page.get(AT))
