"""How long the module acls takes for many bindings, beside Ansible's own start and the bare client library.

    .venv/bin/python benchmarks/acls.py --connection FILE [--bindings 5000] [--runs 3] [--json]

FILE is JSON with the connection options of the module (bootstrap_servers, security_protocol, ...), so that no password
is an argument. Needs a cluster with an authorizer to spare; adds bindings of User:bench, and removes them. Each
figure is the wall time in seconds (all runs, then the median) and the CPU seconds of the process tree. Wall times on a
busy machine say little: compare figures of one run with each other, or CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from topics import Row, markdown, play, rows, script, timed

PRINCIPAL = "User:bench"
_FLOOR_READ = """
import json, sys
from confluent_kafka.admin import (
    AclBindingFilter, AclOperation, AclPermissionType, AdminClient, ResourcePatternType, ResourceType
)
admin = AdminClient(json.load(open(sys.argv[1])))
every = AclBindingFilter(
    ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
)
assert len(admin.describe_acls(every).result()) >= int(sys.argv[2])
"""


def wanted(count: int, changed: int = 0) -> list[dict[str, Any]]:
    """The list of entries, one binding each; the first C(changed) of them for another host."""
    return [
        {
            "principal": PRINCIPAL,
            "operation": "read",
            "resource_type": "topic",
            "resource": f"bench-{number:05d}",
            "host": "10.0.0.1" if number < changed else "*",
        }
        for number in range(count)
    ]


def ensure(connection: dict[str, Any], acls: list[dict[str, Any]], expect: str, **options: Any) -> list[dict[str, Any]]:
    """The one task of a play: the module, which must end with this condition true."""
    module = {**connection, "acls": acls, "request_timeout": 60, **options}
    return [{"name": "Acls", "streamops.kafka.acls": module, "register": "r", "failed_when": f"not ({expect})"}]


def measure(connection: dict[str, Any], floor: Path, count: int, runs: int) -> list[Row]:
    """All figures, floor and module one after the other."""
    seen: dict[str, list[tuple[float, float]]] = {}

    def note(what: str, action: Callable[[], Any]) -> None:
        print(f"  {what} ...", file=sys.stderr, flush=True)
        seen.setdefault(what, []).append(timed(action))

    ours = {"authoritative": True, "authoritative_for": [PRINCIPAL]}
    again = ensure(connection, wanted(count), f"r.unchanged == {count} and not r.changed")
    for _run in range(runs):
        play(ensure(connection, [], "r is succeeded", **ours))
        note("empty play", lambda: play([]))
        note("add", lambda: play(ensure(connection, wanted(count), f"r.added == {count}")))
        time.sleep(2)
        note("floor: read, confluent-kafka alone", lambda: script(_FLOOR_READ, str(floor), str(count)))
        note("unchanged again", lambda: play(again))
        note("unchanged again, --check", lambda: play(again, "--check"))
        other = ensure(connection, wanted(count, changed=100), "r.added == 100 and r.removed == 100", **ours)
        note("100 others, authoritative", partial(play, other))
        note("remove all", lambda: play(ensure(connection, [], f"r.removed == {count}", **ours)))
    figures: list[Row] = rows(seen)
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connection", type=Path, required=True, help="JSON file with the connection options")
    parser.add_argument("--bindings", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    connection = json.loads(options.connection.read_text())
    floor = options.connection.with_suffix(".librdkafka.json")
    floor.touch(mode=0o600)
    from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection

    floor.write_text(json.dumps(Connection.from_params(connection).confluent_config()))
    try:
        table = measure(connection, floor, options.bindings, options.runs)
    finally:
        floor.unlink()
    load = os.getloadavg()[0]
    if options.json:
        print(json.dumps({"bindings": options.bindings, "load": load, "rows": table}, indent=2))
    else:
        print(f"{options.bindings} bindings; load of the machine at the end {load:.1f}\n")
        print(markdown(table))


if __name__ == "__main__":
    main()
