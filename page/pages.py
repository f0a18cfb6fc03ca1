"""Answer the pages for people out of the last pictures: which page an address means, and how it is written."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import Response

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.document import document, style
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.markup import engine
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import UNKNOWN
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_view import LOOKS
from page.poller import Seen
from page.shown import access, clusters, groups, moves, topics
from page.shown.files import as_csv, as_json
from page.shown.freshness import iso
from page.shown.names import names_in
from page.shown.sheet import Link, Sheet, State, state_of
from page.shown.wanted import CSV, HTML, JSON, LONGEST_SEARCH, Sort, Wanted, WrongQueryError, wanted_of

_HERE = Path(__file__).parent
_LINKS = {"stylesheet": "/style.css", "icon": "/icon.svg"}
_HOME = Link("All clusters", "/")
_LISTS: Mapping[str, tuple[Sequence[Sort], Callable[[State, Wanted], Sheet]]] = {
    "topics": (topics.SORTS, topics.topics),
    "groups": (groups.SORTS, groups.groups),
    "moves": (moves.SORTS, moves.moves),
    "access": (access.SORTS, access.access),
}
_SUBJECTS: Mapping[str, tuple[Sequence[Sort], Callable[[State, str, Wanted], Sheet | None]]] = {
    "topics": (topics.PARTITION_SORTS, topics.topic),
    "groups": (groups.POSITION_SORTS, groups.group),
}


class _NotFoundError(Exception):
    """What is not there, the next step, and where to go on."""

    def __init__(self, what: str, next_step: str, links: Sequence[Link] = ()) -> None:
        super().__init__(what)
        self.what, self.next_step, self.links = what, next_step, links


class Pages:
    """The pages of what C(look) gives by cluster; C(stale_after) is in seconds."""

    def __init__(self, look: Callable[[], Mapping[str, Seen]], stale_after: float) -> None:
        self._look, self._stale_after = look, stale_after

    def style(self, _request: Request) -> Response:
        """Serve the style sheet: that of all reports, and what only these pages have."""
        return _answer(style() + (_HERE / "page.css").read_text(encoding="utf-8"), "text/css")

    def icon(self, _request: Request) -> Response:
        """Serve the icon, for which browsers ask anyway."""
        return _answer((_HERE / "icon.svg").read_text(encoding="utf-8"), "image/svg+xml")

    def answer(self, request: Request) -> Response:
        """Serve the page of an address, or say why there is none. Runs in a thread, as it may take a while."""
        raw = request.scope.get("raw_path") or request.scope["path"].encode()
        query = request.scope["query_string"]
        try:
            sheet, wanted = self._sheet(names_in(raw), query)
        except WrongQueryError as error:
            return _problem(400, "This request cannot be answered.", str(error), [])
        except _NotFoundError as error:
            return _problem(404, error.what, error.next_step, error.links)
        if wanted.form == JSON:
            return _answer(as_json(sheet.data), "application/json")
        if wanted.form == CSV:
            return _answer(as_csv(sheet.rows), "text/csv", {"content-disposition": 'attachment; filename="list.csv"'})
        here = raw.decode("latin-1")
        body = (
            _templates()
            .get_template("page.html.j2")
            .render(
                sheet=sheet,
                again=f"{here}{wanted.query()}",
                as_json=f"{here}{wanted.query(form=JSON, page=1)}",
                longest=LONGEST_SEARCH,
                now=iso(time.time()),
            )
        )
        return _page(sheet.title, body)

    def _sheet(self, names: list[str] | None, query: bytes) -> tuple[Sheet, Wanted]:
        now = time.time()
        states = {name: state_of(name, one, now, self._stale_after) for name, one in self._look().items()}
        if names == []:
            return clusters.overview([*states.values()]), wanted_of(query)
        if not names or names[0] != "clusters" or len(names) not in (2, 3, 4):
            raise _NotFoundError("There is no page at this address.", "Go on from the page of all clusters.")
        state = states.get(names[1])
        if state is None:
            raise _NotFoundError(
                f"The page shows no cluster {names[1]}.",
                "Choose one of the clusters; kafka_page_clusters, and then page.yml, add others.",
                [Link(name, one.address) for name, one in states.items()],
            )
        return _of_cluster(state, names[2:], query)


def _of_cluster(state: State, names: list[str], query: bytes) -> tuple[Sheet, Wanted]:
    if not names:
        return clusters.cluster(state), wanted_of(query)
    section, *subject = names
    if section == "brokers" and not subject:
        return clusters.brokers(state), wanted_of(query)
    if section not in _LISTS or (subject and section not in _SUBJECTS):
        raise _NotFoundError("A cluster has no such page.", "Choose one of its pages.", state.links)
    if not subject:
        sorts, make = _LISTS[section]
        wanted = wanted_of(query, sorts, (HTML, JSON, CSV))
        return make(state, wanted), wanted
    sorts, make_one = _SUBJECTS[section]
    wanted = wanted_of(query, sorts)
    sheet = make_one(state, subject[0], wanted)
    if sheet is None:
        kind = section.removesuffix("s")
        seen = (
            f"in what was seen of it at {state.fresh.taken}" if state.fresh.taken else "as nothing was seen of it yet"
        )
        raise _NotFoundError(
            f"The cluster {state.name} has no {kind} {subject[0]} {seen}.",
            f"It may have been deleted meanwhile, or is new. Search the {section}, or look again after the next poll.",
            [one for one in state.links if one.address.endswith(f"/{section}")],
        )
    return sheet, wanted


@cache
def _templates() -> Environment:
    return engine(_HERE / "templates")


def _problem(status: int, what: str, next_step: str, links: Sequence[Link]) -> Response:
    word = "NOT FOUND" if status == 404 else "REFUSED"
    _tone, mark, _meaning = LOOKS[UNKNOWN]
    body = (
        _templates()
        .get_template("problem.html.j2")
        .render(word=word, looks=("info", mark), what=what, next_step=next_step, links=[*links, _HOME])
    )
    return _page(f"{word}: {visible(what)}", body, status)


def _page(title: str, body: str, status: int = 200) -> Response:
    return _answer(document(title, body, _LINKS), "text/html", status=status)


def _answer(text: str, kind: str, headers: Mapping[str, Any] | None = None, status: int = 200) -> Response:
    # What no name that Kafka gives has, half a pair of UTF-16, must not break an answer either.
    return Response(text.encode("utf-8", "replace"), status, dict(headers or {}), media_type=f"{kind}; charset=utf-8")
