"""Answer the pages for people out of the last pictures: which page an address means, and how it is written."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import Response

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.document import document, style
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.markup import engine
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import UNKNOWN
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_view import LOOKS
from page.alerts.told import Told
from page.filed.shelf import Shelf
from page.known.freshness import iso
from page.known.newest import of_cluster
from page.known.poller import Seen
from page.records.door import Door
from page.records.markup import SECTION as RECORDS
from page.records.rights import Rights
from page.shown import access, brokers, clusters, glance, groups, mirrors, moves, operations, topics
from page.shown.files import as_csv, as_json
from page.shown.groups import KINDS as GROUP_KINDS
from page.shown.kinds import Kinds
from page.shown.names import names_in, path
from page.shown.sheet import CUT_AT, Link, Sheet, State, state_of
from page.shown.wanted import CSV, HTML, JSON, LONGEST_SEARCH, Sort, Wanted, WrongQueryError, form_of, wanted_of

_HERE = Path(__file__).parent
#: Where a request has the name of who is logged in; empty without a login.
USER = "page.user"
_STYLES = (_HERE / "page.css", _HERE / "records" / "records.css")
_LINKS = {"stylesheet": "/style.css", "icon": "/icon.svg"}
#: Seconds after which a browser asks for a page again: the header Refresh needs no script, and keeps the address.
LOOK_AGAIN = 60
_HOME = Link("All clusters", "/")
#: A report is one file with its style in it, and nobody knows who wrote it: no script of it runs, and it is no page of
#: this site (Content Security Policy Level 3, sandbox).
_ALONE = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'; sandbox"
}
_LISTS: Mapping[str, tuple[Sequence[Sort], Callable[[State, Wanted], Sheet]]] = {
    "topics": (topics.SORTS, topics.topics),
    "groups": (groups.SORTS, groups.groups),
    "moves": (moves.SORTS, moves.moves),
    "access": (access.SORTS, access.access),
}
#: The parts that links of a list choose by.
_KINDS: Mapping[str, Kinds] = {"topics": topics.KINDS, "groups": GROUP_KINDS}
_SUBJECTS: Mapping[str, tuple[Sequence[Sort], Callable[[State, str, Wanted], Sheet | None]]] = {
    "topics": (topics.PARTITION_SORTS, topics.topic),
    "groups": (groups.POSITION_SORTS, groups.group),
    "brokers": (brokers.REPLICA_SORTS, brokers.broker),
}


class _NotFoundError(Exception):
    """What is not there, the next step, and where to go on."""

    def __init__(self, what: str, next_step: str, links: Sequence[Link] = ()) -> None:
        super().__init__(what)
        self.what, self.next_step, self.links = what, next_step, links


class Pages:
    """The pages of what C(look) gives by cluster, of the reports of C(shelf), and of C(flows) of mirrors.

    C(stale_after) is in seconds, C(door) serves records of topics. C(alerts) gives what Alertmanager told last; None
    where none is known.
    """

    def __init__(
        self,
        look: Callable[[], Mapping[str, Seen]],
        stale_after: float,
        shelf: Shelf,
        flows: Sequence[Flow] = (),
        door: Door | None = None,
        alerts: Callable[[], Told] | None = None,
    ) -> None:
        self._look, self._stale_after, self._shelf, self._flows = look, stale_after, shelf, flows
        self._door, self._alerts = door or Door(Rights(), {}), alerts

    def style(self, _request: Request) -> Response:
        """Serve the style sheet: that of all reports, and what only these pages have."""
        return _answer(style() + "".join(one.read_text(encoding="utf-8") for one in _STYLES), "text/css")

    def icon(self, _request: Request) -> Response:
        """Serve the icon, for which browsers ask anyway."""
        return _answer((_HERE / "icon.svg").read_text(encoding="utf-8"), "image/svg+xml")

    def answer(self, request: Request) -> Response:
        """Serve the page of an address, or say why there is none. Runs in a thread, as it may take a while."""
        raw = request.scope.get("raw_path") or request.scope["path"].encode()
        query = request.scope["query_string"]
        names = names_in(raw)
        user = request.scope.get(USER, "")
        if names and len(names) == 5 and (names[0], names[2], names[4]) == ("clusters", "topics", RECORDS):
            return self._door.answer(user, names[1], names[3], query)
        try:
            if names and len(names) == 4 and names[0] == "clusters" and names[2] == operations.SECTION:
                return self._report(names[1], names[3], wanted_of(query).form)
            sheet, wanted = self._sheet(names, query)
            sheet = self._with_records(sheet, names, user)
        except WrongQueryError as error:
            return _problem(400, "This request cannot be answered.", str(error), [], form_of(query))
        except _NotFoundError as error:
            return _problem(404, error.what, error.next_step, error.links, form_of(query))
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
                refreshes=wanted.refresh,
                turned=f"{here}{wanted.query(refresh=not wanted.refresh)}",
                longest=LONGEST_SEARCH,
                now=iso(time.time()),
            )
        )
        return _page(sheet.title, body, headers={"refresh": str(LOOK_AGAIN)} if wanted.refresh else None)

    def _sheet(self, names: list[str] | None, query: bytes) -> tuple[Sheet, Wanted]:
        now, told = time.time(), self._alerts() if self._alerts else None

        def seen(name: str, one: Seen) -> State:
            """Return the state of a cluster with the alerts about it."""
            alerts = told.about(name) if told else None
            return state_of(name, one, now, self._stale_after, bool(of_cluster(self._flows, name)), alerts)

        states = {name: seen(name, one) for name, one in self._look().items()}
        if names == []:
            return clusters.overview([*states.values()], told.about(None) if told else None, now), wanted_of(query)
        if not names or names[0] != "clusters" or len(names) not in (2, 3, 4):
            raise _NotFoundError("There is no page at this address.", "Go on from the page of all clusters.")
        state = states.get(names[1])
        if state is None:
            raise _NotFoundError(
                f"The page shows no cluster {names[1]}.",
                "Choose one of the clusters; kafka_page_clusters, and then page.yml, add others.",
                [Link(name, one.address) for name, one in states.items()],
            )
        if not names[2:]:
            return glance.overview(state, self._shelf.look()), wanted_of(query)
        if names[2:] == [operations.SECTION]:
            wanted = wanted_of(query, operations.SORTS, (HTML, JSON, CSV))
            return operations.operations(state, self._shelf.look(), wanted), wanted
        if names[2:] == [mirrors.SECTION]:
            wanted = wanted_of(query, mirrors.SORTS, (HTML, JSON, CSV))
            return self._mirrors(state, states, wanted), wanted
        return _of_cluster(state, names[2:], query)

    def _with_records(self, sheet: Sheet, names: Sequence[str] | None, user: str) -> Sheet:
        """Return the page of a topic with a link to its records for who may read them."""
        if not names or len(names) != 4 or names[2] != "topics" or not self._door.may_read(user, names[1], names[3]):
            return sheet
        return replace(sheet, sections=[*sheet.sections, Link("Records", path(*names, RECORDS))])

    def _mirrors(self, state: State, states: Mapping[str, State], wanted: Wanted) -> Sheet:
        flows = of_cluster(self._flows, state.name)
        if not flows:
            raise _NotFoundError(
                f"No flow of a mirror in the settings of the page begins or ends in cluster {state.name}.",
                "Add one to the variable mirror_flows of the inventory (docs/mirroring.md), then run page.yml.",
                state.links,
            )
        return mirrors.mirrors(state, states, flows, wanted)

    def _report(self, cluster: str, key: str, form: str) -> Response:
        """Serve a report on a cluster, or its JSON; the key is compared with those of what is there."""
        some = self._shelf.look().reports if cluster in self._look() else ()
        found = next((one for one in operations.of_cluster(some, cluster) if one.key == key), None)
        content = found and (self._shelf.data(found) if form == JSON else self._shelf.page(found))
        if content is None:
            raise _NotFoundError(
                f"The cluster {cluster} has no such report.",
                "It may have been removed, or cannot be read, or is too large. Choose one of its reports.",
                [Link("Operations", path("clusters", cluster, operations.SECTION))] if cluster in self._look() else [],
            )
        if form == JSON:
            return Response(content, media_type="application/json; charset=utf-8")
        return Response(content, headers=_ALONE, media_type="text/html; charset=utf-8")


def _of_cluster(state: State, names: list[str], query: bytes) -> tuple[Sheet, Wanted]:
    section, *subject = names
    if section == "brokers" and not subject:
        return brokers.brokers(state), wanted_of(query)
    if section not in (_SUBJECTS if subject else _LISTS):
        raise _NotFoundError("A cluster has no such page.", "Choose one of its pages.", state.links)
    if not subject:
        sorts, make = _LISTS[section]
        wanted = wanted_of(query, sorts, (HTML, JSON, CSV), _KINDS.get(section))
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
    found = engine(_HERE / "templates")
    # Of these pages alone: a report is printed, so it cuts nothing.
    found.globals["cut_at"] = CUT_AT
    return found


def _problem(status: int, what: str, next_step: str, links: Sequence[Link], form: str) -> Response:
    if form == JSON:
        return _answer(as_json({"error": what, "next_step": next_step}), "application/json", status=status)
    word = "NOT FOUND" if status == 404 else "REFUSED"
    _tone, mark, _meaning = LOOKS[UNKNOWN]
    body = (
        _templates()
        .get_template("problem.html.j2")
        .render(word=word, looks=("info", mark), what=what, next_step=next_step, links=[*links, _HOME])
    )
    return _page(f"{word}: {visible(what)}", body, status)


def _page(title: str, body: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return _answer(document(title, body, _LINKS), "text/html", headers, status)


def _answer(text: str, kind: str, headers: Mapping[str, Any] | None = None, status: int = 200) -> Response:
    # What no name that Kafka gives has, half a pair of UTF-16, must not break an answer either.
    return Response(text.encode("utf-8", "replace"), status, dict(headers or {}), media_type=f"{kind}; charset=utf-8")
