"""How long the module topics takes for many topics, beside Ansible's own start and the bare client library.

    .venv/bin/python benchmarks/topics.py --bootstrap HOST:PORT,... [--topics 1000] [--runs 3] [--json]

Needs a cluster of at least three brokers to spare; creates topics that start with bench-, and deletes them. Each
figure is the wall time in seconds (all runs, then the median) and the CPU seconds of the process tree. Wall times on
a busy machine say little: compare figures of one run with each other, or CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers, topics_at
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import delete_topics

PREFIX = "bench-"
Row = dict[str, Any]

#: StephenSorriaux/ansible-kafka-admin 0cb6f80 on a two-core machine, whole ansible-playbook, seconds: (wall, CPU).
PEER = {"create": (3.4, 1.7), "unchanged": (2.1, 1.9), "unchanged, --check": (2.2, None), "100 keys": (2.2, 1.9)}

_FLOOR_CREATE = """
import sys
from confluent_kafka.admin import AdminClient, NewTopic
admin = AdminClient({"bootstrap.servers": sys.argv[1]})
new = [NewTopic(f"bench-{n:05d}", 3, 3, config={"retention.ms": "86400000"}) for n in range(int(sys.argv[2]))]
for future in admin.create_topics(new, operation_timeout=60).values():
    future.result()
"""
_FLOOR_READ = """
import sys
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
admin = AdminClient({"bootstrap.servers": sys.argv[1]})
names = [name for name in admin.list_topics(timeout=30).topics if name.startswith("bench-")]
for future in admin.describe_configs([ConfigResource(ResourceType.TOPIC, name) for name in names]).values():
    future.result()
"""


def delete(bootstrap: str, count: int) -> None:
    """Delete the topics and return when no broker knows one of them any more."""
    names = [f"{PREFIX}{number:05d}" for number in range(count)]
    with Session(Connection(tuple(bootstrap.split(",")), request_timeout=60)) as admin:
        # By name and not by list: the broker asked for a list may not know yet what was created a moment ago.
        delete_topics(admin, names)
        while any(topics_at(admin, broker.id, names) for broker in list_brokers(admin) if not broker.fenced):
            time.sleep(0.5)


def timed(action: Callable[[], Any]) -> tuple[float, float]:
    """Wall seconds of an action and CPU seconds of the processes that it started."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    action()
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    return end - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def play(tasks: list[dict[str, Any]], *options: str) -> None:
    """Run a play on localhost with these tasks; each must end as its C(failed_when) says."""
    with tempfile.TemporaryDirectory() as folder:
        playbook = Path(folder) / "play.yml"
        where = {"ansible_python_interpreter": sys.executable}
        play_ = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": where, "tasks": tasks}
        playbook.write_text(json.dumps([play_]))
        command = [sys.executable, "-m", "ansible", "playbook", "-i", "localhost,", str(playbook), *options]
        environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def ensure(bootstrap: str, topics: list[dict[str, Any]], expect: str) -> list[dict[str, Any]]:
    """The one task of a play: the module, which must end with this condition true."""
    module = {"bootstrap_servers": bootstrap.split(","), "topics": topics, "request_timeout": 60}
    task = {"name": "Topics", "streamops.kafka.topics": module, "register": "r", "failed_when": f"not ({expect})"}
    return [task]


def script(text: str, *arguments: str) -> None:
    """Run a Python text in a process of its own."""
    subprocess.run([sys.executable, "-c", text, *arguments], check=True)


def wanted(count: int, changed: int = 0, retention: int = 86_400_000) -> list[dict[str, Any]]:
    """The list of topics; the first C(changed) of them with another retention."""
    return [
        {
            "name": f"{PREFIX}{number:05d}",
            "partitions": 3,
            "replication_factor": 3,
            "config": {"retention.ms": retention + (number < changed)},
        }
        for number in range(count)
    ]


def measure(bootstrap: str, count: int, runs: int) -> list[Row]:
    """All figures, floor and module one after the other."""
    seen: dict[str, list[tuple[float, float]]] = {}

    def note(what: str, action: Callable[[], Any]) -> None:
        print(f"  {what} ...", file=sys.stderr, flush=True)
        seen.setdefault(what, []).append(timed(action))

    settle = max(2.0, count / 100)
    delete(bootstrap, count)
    for _run in range(runs):
        note("empty play", lambda: play([]))
        note("floor: create, confluent-kafka alone", lambda: script(_FLOOR_CREATE, bootstrap, str(count)))
        delete(bootstrap, count)
        time.sleep(settle)  # Brokers delete and make the logs of so many partitions long after they answer.
        note("create", lambda: play(ensure(bootstrap, wanted(count), f"r.created | length == {count}")))
        time.sleep(settle)
        note("floor: read, confluent-kafka alone", lambda: script(_FLOOR_READ, bootstrap))
        note("unchanged", lambda: play(ensure(bootstrap, wanted(count), f"r.unchanged == {count}")))
        note("unchanged, --check", lambda: play(ensure(bootstrap, wanted(count), f"r.unchanged == {count}"), "--check"))
        some = ensure(bootstrap, wanted(count, changed=100), "r.configured | length == 100")
        note("100 keys", partial(play, some))
        delete(bootstrap, count)
        time.sleep(settle)
    return rows(seen)


def rows(seen: dict[str, list[tuple[float, float]]]) -> list[Row]:
    """One row for each figure, with what it is compared to."""
    start = statistics.median(wall for wall, _cpu in seen["empty play"])
    table = []
    for what, values in seen.items():
        median = statistics.median(wall for wall, _cpu in values)
        table.append(
            {
                "what": what,
                "wall": [round(wall, 2) for wall, _cpu in values],
                "median": round(median, 2),
                "beyond_empty_play": None if what.startswith(("empty", "floor")) else round(median - start, 2),
                "cpu": round(statistics.median(cpu for _wall, cpu in values), 2),
                "peer_wall": PEER.get(what, (None, None))[0],
                "peer_cpu": PEER.get(what, (None, None))[1],
            }
        )
    return table


def markdown(table: list[Row]) -> str:
    """The rows as a table for people."""
    heads = ["what", "wall", "median", "beyond_empty_play", "cpu", "peer_wall", "peer_cpu"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in table:
        lines.append("| " + " | ".join("-" if row[head] is None else str(row[head]) for head in heads) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True, help="host:port,... of a cluster to spare")
    parser.add_argument("--topics", type=int, default=1000, help="number of topics, each 3 partitions x RF 3")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    table = measure(options.bootstrap, options.topics, options.runs)
    load = os.getloadavg()[0]
    if options.json:
        print(json.dumps({"topics": options.topics, "load": load, "rows": table}, indent=2))
    else:
        print(f"{options.topics} topics x 3 partitions x RF 3; load of the machine at the end {load:.1f}\n")
        print(markdown(table))


if __name__ == "__main__":
    main()
