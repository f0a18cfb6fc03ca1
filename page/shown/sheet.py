"""The parts of a page, and the state of a cluster that all of its pages begin with. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._health.model import DEGRADED, DOWN, OK
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import Table, visible
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import ORDER, UNKNOWN
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_view import LOOKS, Part, Row, head
from page.alerts.told import Alerts
from page.known.freshness import FAILED, LOADING, SILENT, STALE, Freshness, freshness
from page.known.poller import Seen
from page.known.readers import notes_on_all
from page.shown.alerts import ALERT, Line, Shown, data_of, fires, lines_about, shown
from page.shown.causes import Cause, causes, in_a_line, unasked
from page.shown.curve import Curve
from page.shown.kinds import Kinds
from page.shown.names import path
from page.shown.wanted import CSV, JSON, Listing, Sort, Wanted

#: What a page says instead of a status where it shows nothing, or nothing that holds now.
_WORDS = {LOADING: "LOADING", STALE: "STALE", FAILED: UNKNOWN, SILENT: DOWN}
#: Characters from which on a name may be cut by the style, so that its whole text must be in reach; of one that has
#: more than twice as many the middle is left out.
CUT_AT = 30
_UNCOMMITTED = "The poll found nothing wrong; a note tells of groups that do not commit all that they read."
_SECTIONS = (
    ("Overview", ""),
    ("Brokers", "brokers"),
    ("Topics", "topics"),
    ("Groups", "groups"),
    ("Moves", "moves"),
    ("Mirrors", "mirrors"),
    ("Access", "access"),
    ("Operations", "operations"),
)


@dataclass(frozen=True)
class Link:
    """A link; C(current) where it leads to what is shown."""

    text: str
    address: str
    current: bool = False


@dataclass(frozen=True)
class Head:
    """The title of a column that leads to the same list in its order; C(sorted) as aria-sort has it, empty for none."""

    address: str
    sorted: str = ""


@dataclass(frozen=True)
class State:
    """One cluster at one time: its C(word) is its status, or that this is not known now."""

    name: str
    seen: Seen
    fresh: Freshness
    #: Whether a flow of mirrors begins or ends in it.
    has_mirrors: bool = False
    #: Those about it; None where no Alertmanager is known.
    alerts: Alerts | None = None
    #: They, as its pages show them.
    alarms: Shown | None = None
    #: Seconds since 1970.
    now: float = 0.0

    @property
    def cluster(self) -> Mapping[str, Any]:
        """What the last poll saw; empty before the first one."""
        return self.seen.picture.cluster if self.seen.picture else {}

    @property
    def word(self) -> str:
        """The status for people. It is not OK while a critical alert fires, whatever the poll found."""
        if not self.fresh.is_fresh or not self.cluster:
            return _WORDS.get(self.fresh.state, UNKNOWN)
        return ALERT if self._is_alarming else str(self.cluster["status"])

    @property
    def _is_alarming(self) -> bool:
        """Whether nothing but a critical alert says that something is wrong."""
        return self.cluster.get("status") == OK and self.alerts is not None and self.alerts.critical > 0

    @property
    def looks(self) -> tuple[str, str, str]:
        """The class, the mark and the meaning of the word."""
        is_amiss = self.fresh.state == STALE or self.word == ALERT
        return LOOKS[DEGRADED] if is_amiss else LOOKS.get(self.word, LOOKS[UNKNOWN])

    @property
    def rank(self) -> int:
        """How bad it is, as far as it is known: what was last seen counts also where it is stale."""
        if self.fresh.state == SILENT:
            return ORDER.index(DOWN)
        last = ORDER.index(DEGRADED if self._is_alarming else self.cluster["status"]) if self.cluster else 0
        return last if self.fresh.is_fresh else max(last, ORDER.index(UNKNOWN))

    @cached_property
    def part(self) -> Part | None:
        """What the report of a status shows of it before its tables."""
        return head(1, self.cluster) if self.cluster else None

    @property
    def why(self) -> str:
        """The sentence under the word."""
        firing = fires(self.alerts) if self.alerts else ""
        if self.fresh.is_fresh:
            verdict = self.part.why if self.part else LOOKS[UNKNOWN][2]
            return " ".join(filter(None, [self._well(firing) if self.cluster.get("status") == OK else verdict, firing]))
        last = f"What was seen then, {self.cluster['status']}, may not hold now." if self.cluster else ""
        return " ".join(filter(None, [self.fresh.what, last, firing]))

    def _well(self, firing: str) -> str:
        """Return what holds where the poll found nothing wrong: all is well only where all could be asked."""
        # Until its first answer nothing is known of alerts either.
        is_mute = self.alerts is not None and (self.alerts.error or self.alerts.asked is None)
        missing = [*unasked(self.cluster), *(["Alertmanager"] if is_mute else [])]
        if missing:
            return f"The poll found nothing wrong, but not all could be asked: {', '.join(missing)}."
        if firing:
            return "The poll found nothing wrong."
        return _UNCOMMITTED if self.notes else LOOKS[OK][2]

    @cached_property
    def notes(self) -> list[dict[str, str]]:
        """Return what no finding says, in their form: groups that do not commit all that they read."""
        return notes_on_all((self.cluster.get("groups") or {}).get("groups") or ())

    @property
    def findings(self) -> list[Row]:
        """Return its findings in the order of the verdict, then its notes."""
        return [*(self.part.findings if self.part else ()), *self.notes]

    @property
    def causes(self) -> list[Cause]:
        """Return its findings by kind."""
        return causes(self.findings)

    @property
    def in_a_line(self) -> str:
        """Return what is wrong with the whole cluster, for pages of a part of it; empty where nothing is."""
        findings = in_a_line(self.findings)
        seen = "" if self.fresh.is_fresh else " when it was last seen"
        alarms, left = self.alarms or Shown(), self.alerts.left_out if self.alerts else 0
        return " ".join(
            [
                *([f"{findings}{seen}."] if findings else []),
                *([f"Alerts that fire: {alarms.in_a_line}."] if alarms.in_a_line else []),
                *([f"{left:,} more alerts are at Alertmanager, and on no page."] if left else []),
                *(["Alertmanager cannot be asked."] if alarms.trouble else []),
            ]
        )

    def alerts_about(self, **labels: str) -> list[Line]:
        """Return the alerts with one of these labels, by kind."""
        return lines_about(self.alerts, labels, self.now)

    @property
    def address(self) -> str:
        """The path of its page."""
        return path("clusters", self.name)

    @property
    def links(self) -> list[Link]:
        """The pages of it."""
        moving = len((self.cluster.get("moves") or {}).get("partitions", ()))
        counts = {"moves": f" ({moving:,})" if moving else ""}
        return [
            Link(text + counts.get(one, ""), path("clusters", self.name, *([one] if one else [])))
            for text, one in _SECTIONS
            if one != "mirrors" or self.has_mirrors
        ]

    def data(self) -> dict[str, Any]:
        """Return the state for machines."""
        fresh = self.fresh
        return {
            "cluster": self.name, "status": self.word, "last_status": self.cluster.get("status"), "state": fresh.state,
            "taken": fresh.taken, "age_seconds": fresh.age, "cause": fresh.cause, "next_step": fresh.next_step,
            **({"alerts": data_of(self.alerts)} if self.alerts else {}),
        }  # fmt: skip


def state_of(
    name: str,
    seen: Seen,
    now: float,
    stale_after: float,
    has_mirrors: bool = False,
    alerts: Alerts | None = None,
) -> State:
    """Return the state of a cluster; times are in seconds, C(now) since 1970. C(alerts) are those about it."""
    alarms = shown(alerts, now) if alerts else None
    fresh = freshness(seen.polls, seen.picture, now, stale_after)
    return State(name, seen, fresh, has_mirrors, alerts, alarms, now)


@dataclass(frozen=True)
class Lister:
    """A list on one page, with what its search and its order show: C(form) is where its search goes."""

    title: str
    form: str
    wanted: Wanted
    listing: Listing
    sorts: Sequence[Sort]
    table: Table
    downloads: Sequence[Link] = ()
    is_searched: bool = False
    #: What of a row a search looks at.
    within: str = "name"
    #: Its parts, of which links choose one.
    kinds: Kinds | None = None

    @property
    def counted(self) -> str:
        """How many rows there are, and which of them are shown."""
        listing, page = self.listing, self.listing.page
        kind = self.kinds.chosen(self.wanted.kind) if self.kinds else None
        of = f"{listing.total:,} in all. "
        if self.wanted.search:
            of = f"{listing.searched:,} of {listing.total:,} have this in their {self.within}. "
        fit = of + (f"{kind.title}: {listing.found:,}. " if kind else "")
        return fit + (f"Page {page:,} of {self.listing.pages:,}." if self.listing.pages > 1 else "")

    @property
    def orders(self) -> list[Link]:
        """Links to the same list in other orders; that of the current order turns it round."""
        now = self.wanted.sort or self.sorts[0].key
        found = []
        for one in self.sorts:
            is_now = now.removeprefix("-") == one.key
            turned = one.key if now.startswith("-") else f"-{one.key}"
            falls = one.falls != now.startswith("-")
            text = one.title + (f" ({one.words[0 if falls else 1]})" if is_now else "")
            query = self.wanted.query(sort=turned if is_now else one.key, page=1)
            found.append(Link(text, f"{self.form}{query}", is_now))
        return found

    @property
    def heads(self) -> dict[str, Head]:
        """By title of a column, what leads to the list in its order."""
        now = self.wanted.sort or self.sorts[0].key
        found = {}
        for one, link in zip(self.sorts, self.orders, strict=True):
            falls = one.falls != now.startswith("-")
            word = ("descending" if falls else "ascending") if link.current else ""
            found[one.column or one.title] = Head(link.address, word)
        return found

    @property
    def parts(self) -> list[Link]:
        """Links to the parts of the list that have rows, with their numbers, and to all of it."""
        if not self.kinds:
            return []
        counts, now = self.listing.counts, self.wanted.kind
        shown = [one for one in self.kinds.some if counts[one.key] or one.key == now]
        some = [(one.key, one.title, counts[one.key]) for one in shown]
        every = [("", self.kinds.every, self.listing.searched), *some]
        return [
            Link(f"{title} ({count:,})", f"{self.form}{self.wanted.query(kind=key, page=1)}", key == now)
            for key, title, count in every
        ]

    @property
    def turns(self) -> list[Link]:
        """Links to the pages before and after this one."""
        page, pages = self.listing.page, self.listing.pages
        wanted = [("First", 1), ("Previous", page - 1), ("Next", page + 1), ("Last", pages)]
        return [
            Link(text, f"{self.form}{self.wanted.query(page=to)}")
            for text, to in wanted
            if 1 <= to <= pages and to != page
        ]


@dataclass(frozen=True)
class Glance:
    """A small table, with the link to all that it is cut from where it is cut."""

    table: Table
    more: Link | None = None


@dataclass(frozen=True)
class Sheet:
    """One page. C(state) is that of its cluster; C(states) those of an overview; C(data) what it is for machines."""

    title: str
    data: Mapping[str, Any]
    state: State | None = None
    states: Sequence[State] = ()
    #: On the page of all clusters the alerts about none of them.
    alerts: Alerts | None = None
    alarms: Shown | None = None
    crumbs: Sequence[Link] = ()
    sections: Sequence[Link] = ()
    subject: str | None = None
    say: str = ""
    facts: Sequence[tuple[str, str | Link]] = ()
    findings: Sequence[Row] = ()
    #: Those about the subject.
    alerts_about: Sequence[Line] = ()
    tiles: Sequence[tuple[str, str, str]] = ()
    #: Of an overview, more figures of a cluster by its name.
    tiles_of: Mapping[str, Sequence[tuple[str, str, str]]] = field(default_factory=dict)
    curve: Curve | None = None
    #: Tables before the list, and after it.
    before: Sequence[Table] = ()
    #: Small tables side by side, after those.
    glances: Sequence[Glance] = ()
    tables: Sequence[Table] = ()
    #: Tables that are closed at first, at the end.
    folded: Sequence[Table] = ()
    lister: Lister | None = None
    is_whole: bool = False
    #: Of a list for CSV; made only where they are wanted.
    rows: Iterable[Sequence[Any]] = ()

    @property
    def causes(self) -> list[Cause]:
        """Return the findings about its subject, by kind."""
        return causes(self.findings)

    @property
    def word(self) -> str:
        """The word over all clusters, that of the worst."""
        word = self.states[0].word if self.states else UNKNOWN
        return ALERT if word == OK and self.alerts and self.alerts.critical else word

    @property
    def looks(self) -> tuple[str, str, str]:
        """The class, the mark and the meaning of the word."""
        if self.word == ALERT:
            return LOOKS[DEGRADED]
        return self.states[0].looks if self.states else LOOKS[UNKNOWN]

    @property
    def counted(self) -> str:
        """How many clusters the page shows."""
        return f"{len(self.states)} cluster{'' if len(self.states) == 1 else 's'}"

    @property
    def why(self) -> str:
        """The sentence under the word."""
        if not self.states:
            return "No cluster is set."
        one = self.states[0]
        said = f"About no cluster: {fires(self.alerts)}" if self.alerts and self.alerts.firing else ""
        found = one.why if len(self.states) == 1 else f"The worst of {self.counted}: {visible(one.name)}."
        return f"{found} {said}".strip()


def downloads(own: str, wanted: Wanted) -> list[Link]:
    """Return the links to the whole of a list at an address, as a reader has searched and ordered it."""
    return [Link(form.upper(), f"{own}{wanted.query(form=form, page=1)}") for form in (CSV, JSON)]


def nothing(wanted: Wanted, what: str, kinds: Kinds | None = None) -> str:
    """Return what stands where a list has rows, and none that is wanted."""
    kind = kinds.chosen(wanted.kind) if kinds else None
    if kind and wanted.search:
        return f"No {what} of this part ({kind.title}) has this in its name."
    return f"No {what} is in this part: {kind.title}." if kind else f"No {what} has this in its name."


def sheet_of(state: State, section: str, data: Mapping[str, Any], **more: Any) -> Sheet:
    """Return a page of a cluster in a section ("" is its first page); C(subject) is a topic or a group in it."""
    subject = more.get("subject")
    sections = [replace(one, current=one.address == path("clusters", state.name, *filter(None, [section])))
                for one in state.links]  # fmt: skip
    crumbs = [Link("All clusters", "/"), Link(state.name, state.address)]
    if subject is not None:
        crumbs.append(Link(section.capitalize(), path("clusters", state.name, section)))
    title = " - ".join(filter(None, [visible(subject or ""), section.capitalize(), visible(state.name), state.word]))
    whole = {**state.data(), **data}
    return Sheet(title, whole, state, crumbs=crumbs, sections=sections, **more)
