"""Keep the accounts and latencies of all ways, which readers and writers fill from their threads. It asks no clock."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import Gap
from canary.config import Config, Way
from canary.event import Event, Place, event_of
from canary.failures import shortened
from canary.figures import Figures, GapFigures, RouteFigures, SourceFigures
from canary.ledger import Ledger

#: Seconds that a latency counts, and how many count at most.
LATENCY_WINDOW, LATENCIES = 3600.0, 10_000
QUANTILES = (0.5, 0.95, 0.99, 1.0)


class Latencies:
    """The latencies of one way, all partitions together."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque(maxlen=LATENCIES)

    def add(self, now: float, seconds: float) -> None:
        """Take a latency; one below 0, from clocks that differ, counts as 0."""
        self._seen.append((now, max(0.0, seconds)))

    def quantiles(self, now: float) -> Mapping[float, float]:
        """Return latencies by quantile, each one that occurred (nearest rank); empty where none is known."""
        while self._seen and now - self._seen[0][0] > LATENCY_WINDOW:
            self._seen.popleft()
        found = sorted(seconds for _at, seconds in self._seen)
        return {one: found[max(0, -int(-one * len(found) // 1) - 1)] for one in QUANTILES} if found else {}


#: Seconds after which a cluster that was not read to its end counts as not readable.
CURRENT = 60.0
#: Seconds between two times that the accounts forget what is old, so that they stay small also where no figures are
#: asked for.
_TIDY = 60.0
#: Events whose time of writing is kept: they come soon, or their latency is told by the clock of the day.
_SENT = 10_000


@dataclass
class _Account:
    """A way: the accounts of its partitions, and which ends were read to their end since the start."""

    way: Way
    ledgers: dict[int, Ledger] = field(default_factory=dict)
    latencies: Latencies = field(default_factory=Latencies)
    is_ready: bool = False
    #: The log of the copy had lost its beginning when it was read first.
    is_cut: bool = False

    def ledger(self, partition: int) -> Ledger:
        """Return the account of a partition."""
        return self.ledgers.setdefault(partition, Ledger())


@dataclass
class _Source:
    """How writing goes: when each partition took its last event, or was found where it took none, and what went wrong.

    C(since) is when any partition took one last, and the start before that.
    """

    since: float
    taken: dict[int, float] = field(default_factory=dict)
    failures: int = 0
    unwatched: int = 0
    why: str = ""


@dataclass
class _Look:
    """The last look at a flow for gaps: when it ended, and the start before the first; what it found or failed on."""

    at: float
    gaps: Sequence[Gap] | None = None
    why: str = ""


class Board:
    """All that the service knows. C(now) is the time in seconds of a clock that only goes forward."""

    def __init__(self, config: Config, now: float) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._accounts = [_Account(way) for way in config.ways]
        #: Where records of a topic belong: cluster and topic, then whether it is the copy.
        self._at: dict[tuple[str, str], list[tuple[_Account, bool]]] = {}
        for one in self._accounts:
            self._at.setdefault((one.way.source, one.way.topic), []).append((one, False))
            self._at.setdefault((config.cluster, one.way.copy), []).append((one, True))
        self._current: dict[str, float] = {}
        self._whys: dict[str, str] = {}
        self._foreign: Counter[str] = Counter({end: 0 for one in config.ways for end in (one.source, config.cluster)})
        self._sources = {one.source: _Source(now) for one in config.own}
        self._looks = {flow: _Look(now) for flow in config.flows}
        self._tidied = now
        self._sent: OrderedDict[tuple[str, int, Place], float] = OrderedDict()

    def topics(self, cluster: str) -> list[str]:
        """Return the topics that are read in a cluster."""
        return sorted({topic for where, topic in self._at if where == cluster})

    # What readers tell.

    def take(
        self, cluster: str, topic: str, partition: int, value: bytes | None, is_live: bool, now: float, day: float
    ) -> None:
        """Take a record. C(is_live): it was read as soon as it stood there; C(day) is the time since 1970."""
        with self._lock:
            accounts = self._at.get((cluster, topic), ())
            is_taken = False
            for account, is_copy in accounts:
                event = event_of(value, account.way.writer)
                if event is None or not self._is_of(account, is_copy, event, partition):
                    continue
                is_taken = True
                if is_copy:
                    self._arrived(account, event, is_live, now, day)
                else:
                    age = 0.0 if is_live else max(0.0, day - event.at / 1000)
                    account.ledger(event.partition).written(event.place, now, age)
            # What comes through a mirror stands in both clusters, and each counts it.
            self._foreign[cluster] += bool(accounts) and not is_taken
            if now - self._tidied >= _TIDY:
                self._tidied = now
                for account in self._accounts:
                    for ledger in account.ledgers.values():
                        ledger.forget(now)

    def _is_of(self, account: _Account, is_copy: bool, event: Event, partition: int) -> bool:
        """Return whether an event may stand there: in its partition, or in the copy of a partition that its topic has.

        A legacy mirror chooses partitions anew.
        """
        if not is_copy:
            return event.partition == partition
        there = self._sources[account.way.source].taken if account.way in self._config.own else {}
        return not there or event.partition in there

    def _arrived(self, account: _Account, event: Event, is_live: bool, now: float, day: float) -> None:
        age = max(0.0, day - event.at / 1000)
        is_first = account.ledger(event.partition).arrived(event.place, now, 0.0 if is_live else age)
        if is_first and is_live:
            sent = self._sent.pop((event.flow, event.partition, event.place), None)
            account.latencies.add(now, age if sent is None else now - sent)

    def read(self, cluster: str, cut: set[str], now: float) -> None:
        """Take that a cluster was read to the end that it had at C(now); C(cut) are topics whose log has lost its
        beginning."""
        with self._lock:
            self._current[cluster] = now
            self._whys.pop(cluster, None)
            for one in self._accounts:
                if one.is_ready:
                    continue
                one.is_cut = one.is_cut or (cluster == self._config.cluster and one.way.copy in cut)
                if {one.way.source, self._config.cluster} <= self._current.keys():
                    one.is_ready = True
                    for ledger in one.ledgers.values() if one.is_cut else ():
                        ledger.begin_where_the_copy_does()

    def not_read(self, cluster: str, why: str) -> None:
        """Take why a cluster cannot be read."""
        with self._lock:
            self._whys[cluster] = shortened(why)

    # What writers ask and tell.

    def is_ready(self, way: Way) -> bool:
        """Return whether the numbers that a writer goes on from are known."""
        with self._lock:
            return any(one.is_ready for one in self._accounts if one.way == way)

    def last_place(self, way: Way, partition: int) -> Place | None:
        """Return the last place of a partition that either end tells."""
        with self._lock:
            places = [one.ledger(partition).last_place() for one in self._accounts if one.way == way]
            return max((one for one in places if one is not None), default=None)

    def sends(self, event: Event, now: float) -> None:
        """Take that an event is on its way from now on."""
        with self._lock:
            self._sent[event.flow, event.partition, event.place] = now
            while len(self._sent) > _SENT:
                self._sent.popitem(last=False)

    def wrote(self, source: str, partition: int, now: float) -> None:
        """Take that a partition took an event."""
        with self._lock:
            known = self._sources[source]
            known.since = known.taken[partition] = now

    def failed(self, source: str, why: str, events: int = 1) -> None:
        """Take that a source did not take so many events, one of each partition, and why."""
        with self._lock:
            self._sources[source].failures += events
            self._sources[source].why = shortened(why)

    def led(self, source: str, partitions: int, unwatched: int, now: float) -> None:
        """Take how many partitions the topic of a source has, and how many brokers lead none of them."""
        with self._lock:
            known = self._sources[source]
            known.unwatched = unwatched
            # A partition that never takes an event is as old as the moment at which it was found.
            known.taken = {number: known.taken.get(number, now) for number in range(partitions)}
            # What an earlier look at the copy took for events of other partitions was written by somebody else.
            for account in self._accounts if partitions else ():
                if account.way.source == source and account.way in self._config.own:
                    account.ledgers = {number: one for number, one in account.ledgers.items() if number < partitions}

    # What watches of gaps tell.

    def gaps_known(self, flow: Flow, found: Sequence[Gap]) -> None:
        """Take the gaps that were known before the first look, so that none is forgotten over a restart."""
        with self._lock:
            if found and self._looks[flow].gaps is None:
                self._looks[flow].gaps = found

    def gaps_looked_for(self, flow: Flow, found: Sequence[Gap], now: float) -> None:
        """Take the gaps that are known of a flow after a look."""
        with self._lock:
            self._looks[flow] = _Look(now, found)

    def gaps_not_looked_for(self, flow: Flow, why: str) -> None:
        """Take why a look for the gaps of a flow came to no end; what the last one found stays."""
        with self._lock:
            self._looks[flow].why = shortened(why)

    # What metrics and a status are made of.

    def figures(self, now: float) -> Figures:
        """Return all figures."""
        config = self._config
        with self._lock:
            ends = sorted({config.cluster, *(one.source for one in config.ways)})
            readable = {end: now - self._current.get(end, -CURRENT) < CURRENT for end in ends}
            return Figures(
                config.cluster,
                config.interval,
                [self._route(one, now) for one in self._accounts],
                [_source(name, one, now) for name, one in sorted(self._sources.items())],
                readable,
                dict(self._foreign),
                dict(self._whys),
                [
                    GapFigures(flow.pair, flow.source, now - one.at, config.offset_flush, one.gaps, one.why)
                    for flow, one in self._looks.items()
                ],
            )

    def _route(self, one: _Account, now: float) -> RouteFigures:
        way, limits = one.way, self._config.limits
        seen = self._current.get(self._config.cluster)
        accounts = {number: ledger.account(now, limits, seen) for number, ledger in one.ledgers.items()}
        return RouteFigures(way.path, way.origin, one.is_ready, accounts, one.latencies.quantiles(now))


def _source(name: str, one: _Source, now: float) -> SourceFigures:
    oldest = min(one.taken.values(), default=one.since)
    return SourceFigures(name, now - oldest, one.failures, one.unwatched, one.why)
