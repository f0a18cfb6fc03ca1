"""What the pages of a large cluster cost the service, in time, size and memory. The cluster is made up: no broker runs.

    .venv/bin/python benchmarks/pages.py [--topics 10000] [--partitions 200000] [--groups 5000] [--times 5]
                                         [--profile AT]

A generator makes the answers that a poll gets; the code of the poll judges them and puts them into a picture, twice,
as a poll is made while the picture before is still served. The real application serves it on loopback, in this
process. For each page: medians of the time from the request to the last byte and of the CPU time of this process, that
of the client included, of so many times after a first one; and its bytes. Beside them a page of all topics with no cut
into pages. --profile tells the slowest functions of the answer of one address.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import gc
import pstats
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "collections"), str(ROOT)]

from starlette.requests import Request

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import Disk, LogDirs
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    InFlight,
    Partition,
    Quorum,
    Snapshot,
    Voter,
)
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import OF_TOPIC, TopicConfigs, TopicValue
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import (
    Group,
    Listed,
    Member,
    Offset,
    Offsets,
    together,
)
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import shown as group_shown
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import judged
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits, State
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.cluster import cluster_of, given_of, moves_of
from page.expected import Expected
from page.filed.shelf import Shelf
from page.known.details import ACLS, CONFIGS, QUOTAS, USERS, Details
from page.known.history import POLLS, History, followed
from page.known.metrics import families_of
from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.pages import Pages
from page.shown import wanted
from tests.support.page_seen import Served, served

BROKERS = 100
HUGE, LARGE_GROUP, HUGE_GROUP = "bench-huge", "group-large", "group-huge"
AT = "/clusters/bench"
PAGES = {
    "overview of all clusters": "/",
    "overview of the cluster": AT,
    "brokers": f"{AT}/brokers",
    "topics": f"{AT}/topics",
    "topics by size": f"{AT}/topics?sort=size",
    "topics by partitions with findings": f"{AT}/topics?sort=hurt",
    "topics, the last page": f"{AT}/topics?page=1000000",
    "topics, search finds 1,000": f"{AT}/topics?search=topic-01",
    "topics, search finds none": f"{AT}/topics?search=nowhere",
    "topic of 10,000 partitions": f"{AT}/topics/{HUGE}",
    "the same by size": f"{AT}/topics/{HUGE}?sort=size",
    "topic of 20 partitions": f"{AT}/topics/topic-05000",
    "groups": f"{AT}/groups",
    "groups by name, search": f"{AT}/groups?sort=name&search=group-01",
    "group of 1,000 members": f"{AT}/groups/{LARGE_GROUP}",
    "group in 10,000 partitions": f"{AT}/groups/{HUGE_GROUP}",
    "access, 5,000 ACLs": f"{AT}/access",
    "access, search": f"{AT}/access?search=user-0012",
    "moves, 2,000 partitions": f"{AT}/moves",
    "topics as CSV": f"{AT}/topics?format=csv",
    "topics as JSON": f"{AT}/topics?format=json",
    "metrics": "/metrics",
}  # fmt: skip


def memory(key: str) -> int:
    """MB of this process (proc(5)): VmRSS now, VmHWM at most so far."""
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith(f"{key}:"))
    return int(line.split()[1]) // 1024


def partitions(asked: argparse.Namespace) -> Iterator[Partition]:
    """Partitions of one topic of 10,000, and of topics that share the rest; one of a hundred has a replica too few."""
    huge = min(10_000, asked.partitions // 2)
    each, more = divmod(asked.partitions - huge, asked.topics - 1)
    sizes = {HUGE: huge, **{f"topic-{one:05d}": each + (one < more) for one in range(asked.topics - 1)}}
    number = 0
    for topic, count in sizes.items():
        for index in range(count):
            number += 1
            replicas = tuple((number + step) % BROKERS for step in range(3))
            isr = replicas[:2] if number % 100 == 0 else replicas
            yield Partition(topic, index, replicas[0], replicas, isr, 2, False)


def group(number: int, name: str, topic: str, logs: dict[str, dict[int, Log]], members: int) -> dict[str, Any]:
    """A group that has committed in all partitions of a topic, as a poll keeps it: without its members."""
    listed = Listed(name, "consumer", "Stable", "consumer", number % BROKERS)
    some = tuple(Member(f"member-{one}", f"client-{one}", "192.0.2.7") for one in range(members))
    at = {(topic, index): Offset(10**6 - (number * 7 + index) % 5000) for index in logs[topic]}
    return group_shown(Group(listed, "Stable", some), Offsets(at), logs, members=False)


def details(topics: list[str], now: float) -> Details:
    """Settings of all topics, a tenth of which set two of 33; 5,000 ACLs, 500 users and 200 quotas."""
    own = {topic: {"retention.ms": TopicValue("1", "LONG", OF_TOPIC), "cleanup.policy": TopicValue("compact")}
           if number % 10 == 0 else {} for number, topic in enumerate(topics)}  # fmt: skip
    acls = [{"principal": f"User:user-{number // 10:04d}", "host": "*", "permission": "allow", "operation": "read",
             "resource_type": "topic", "resource": f"topic-{number:05d}", "pattern_type": "literal"}
            for number in range(5000)]  # fmt: skip
    users = [{"name": f"user-{number:04d}", "mechanisms": {"SCRAM-SHA-512": 8192}} for number in range(500)]
    quotas = [{"entity": [{"type": "user", "name": f"user-{number:04d}"}], "limits": {"producer_byte_rate": 1e6}}
              for number in range(200)]  # fmt: skip
    inherited = {f"setting.{number:02d}": TopicValue("1") for number in range(33)}
    told = dict.fromkeys((CONFIGS, USERS, ACLS, QUOTAS), now)
    return Details(TopicConfigs(own, inherited), users, acls, quotas, now, told)


def picture(asked: argparse.Namespace, before: Details | None) -> Picture:
    """What a poll would have seen."""
    now = time.time()
    every = tuple(partitions(asked))
    brokers = tuple(Broker(one, f"kafka{one}.example.com", 9092, f"r{one % 3}", False) for one in range(BROKERS))
    voters = tuple(Voter(one, None, 900, 0, 100) for one in range(3))
    snapshot = Snapshot("bench", 0, brokers, every, Quorum(0, 1, 900, voters, ()))
    sizes: dict[int, dict[tuple[str, int], int]] = {one: {} for one in range(BROKERS)}
    for number, one in enumerate(every):
        for replica in one.replicas:
            sizes[replica][one.topic, one.index] = 10**9 + number
    held = {broker: LogDirs(some, 10**15, 10**14, (Disk(10**15, 9 * 10**14, len(some), some),))
            for broker, some in sizes.items()}  # fmt: skip
    new = frozenset({BROKERS - 1})
    moves = [InFlight(one.topic, one.index, (*one.replicas, *new), new, frozenset({one.replicas[0]}))
             for one in every[len(every) // 2 :][:2000]]  # fmt: skip
    moving = {one.key: one for one in moves}
    nodes = [{"host": one.host, "node_id": one.id, "roles": ["broker"], "version": "4.3.1"} for one in brokers]
    expected = Expected(nodes=nodes)
    state = State(describe(snapshot, log_dirs=held), **given_of(expected), in_flight=moving,
                  copied={key: {BROKERS - 1: 5} for key in moving})  # fmt: skip
    logs: dict[str, dict[int, Log]] = {}
    for one in every:
        logs.setdefault(one.topic, {})[one.index] = Log(10**5 + len(logs), 10**6 + len(logs) + one.index)
    names = sorted(logs)
    groups = [group(0, HUGE_GROUP, HUGE, logs, 100), group(1, LARGE_GROUP, names[1], logs, 1000),
              *(group(number, f"group-{number:04d}", names[1 + number % (len(names) - 1)], logs, 3)
                for number in range(asked.groups - 2))]  # fmt: skip
    health = judged(state, Limits())
    cluster = {**cluster_of("bench", ["kafka0.example.com:9092"], expected, health, together(groups, {})),
               "moves": moves_of(state)}  # fmt: skip
    return Picture(now, 1.0, 1000, BROKERS, 0, logs, groups, cluster, before or details(names, now))


def lags(groups: Any) -> History:
    """The lag of groups at all polls that are kept."""
    found, now = History(), time.time()
    for number in range(POLLS):
        found = followed(found, groups, now - 30 * (POLLS - number), False)
    return found


def main() -> None:
    """Measure, and print a table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--topics", type=int, default=10_000)
    words.add_argument("--partitions", type=int, default=200_000)
    words.add_argument("--groups", type=int, default=5000)
    words.add_argument("--times", type=int, default=5)
    words.add_argument("--profile", metavar="AT")
    asked = words.parse_args()
    empty = memory("VmRSS")
    seen = {"bench": seen_of(asked, None)}
    gc.collect()
    one = memory("VmRSS")
    seen["bench"] = seen_of(asked, seen["bench"])
    gc.collect()
    print(f"memory: {empty} MB without a picture, {one} MB with one, {memory('VmRSS')} MB after the next, "
          f"{memory('VmHWM')} MB at most", flush=True)  # fmt: skip
    if asked.profile:
        profiled(seen, asked.profile)
        return
    with served(lambda: seen) as page:
        print("| page | time | CPU | size |\n| --- | --- | --- | --- |")
        for what, at in PAGES.items():
            print(line(page, what, at, asked.times), flush=True)
        print(f"memory after that: {memory('VmRSS')} MB")
        with all_rows():
            print(line(page, "all topics on one page", f"{AT}/topics", asked.times))


def seen_of(asked: argparse.Namespace, last: Seen | None) -> Seen:
    """What the poller keeps after a poll."""
    new = picture(asked, last.picture.details if last and last.picture else None)
    return Seen(Polls(time.time(), 1), new, families_of("bench", new, 100_000), lags(new.groups))


def line(page: Served, what: str, at: str, times: int) -> str:
    """A line of the table."""
    found = page.get(at)
    assert found.status == 200, (at, found.status, found.text[:500])
    took, used = [], []
    for _ in range(times):
        began, own = time.perf_counter(), time.process_time()
        page.get(at)
        took.append(time.perf_counter() - began)
        used.append(time.process_time() - own)
    wall, cpu = (statistics.median(some) * 1000 for some in (took, used))
    return f"| {what} | {wall:.0f} ms | {cpu:.0f} ms | {len(found.text.encode()) / 1000:,.0f} kB |"


@contextlib.contextmanager
def all_rows() -> Iterator[None]:
    """No list is cut into pages."""
    rows, wanted.ROWS = wanted.ROWS, 10**9
    try:
        yield
    finally:
        wanted.ROWS = rows


def profiled(seen: dict[str, Seen], at: str) -> None:
    """Print the slowest functions of one answer."""
    pages = Pages(lambda: seen, 300, Shelf(""))
    where, _, query = at.partition("?")
    scope = {"type": "http", "method": "GET", "path": where, "raw_path": where.encode(), "headers": [],
             "query_string": query.encode()}  # fmt: skip
    pages.answer(Request(scope))
    profile = cProfile.Profile()
    profile.runcall(pages.answer, Request(scope))
    pstats.Stats(profile).sort_stats("cumulative").print_stats(25)


if __name__ == "__main__":
    main()
