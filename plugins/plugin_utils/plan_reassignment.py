# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What-if: plan moves from a snapshot file, with no cluster in reach, and print plan, bound and figures as JSON.

    python3 -m ansible_collections.streamops.kafka.plugins.plugin_utils.plan_reassignment snapshot.json --drain 3

At least one change must be asked for, by options or with --spec; what they mean is in docs/reassignment.md. The keys of
the snapshot and of the answer are in docs/reassignment-plan.md.

Exit 0: there is a plan, perhaps an empty one. Exit 1: the snapshot, the spec or the schedule was refused; the reasons
are in the JSON, {"refused": [...]}. Exit 2: wrong use of the command, or a file that cannot be read or is not JSON.
Where what reads the output ends early, as head does, the command ends by SIGPIPE (141 in a shell), as others do.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..module_utils._cluster.file_systems import RESERVE
from ..module_utils._core.errors import RefusedError, StreamopsError
from ..module_utils._reassign.figures import plan_figures, schedule_figures, sound_reserve
from ..module_utils._reassign.json_form import number_of, spec_kept, spec_of
from ..module_utils._reassign.model import BALANCED_BY, LEADERS, RACK_RULES, Cluster
from ..module_utils._reassign.schedule import Limits, plan_and_schedule
from ..module_utils._reassign.snapshot import cluster_of, snapshot_of_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Plan and print; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        data = snapshot_of_text(_text(options.snapshot), options.snapshot)
        spec = {**(_spec_of_file(options.spec) if options.spec else {}), **_spec(options)}
    except StreamopsError as error:
        print(f"plan_reassignment: {error}", file=sys.stderr)
        return 2
    try:
        cluster = cluster_of(data, sound_reserve(options.disk_reserve))
        # The cluster has all that is needed from here on, and the rows of a large snapshot take as much memory again.
        del data
        answer = _answer(cluster, spec, Limits(options.concurrency, options.throttle))
    except RefusedError as error:
        print(json.dumps({"refused": error.violations}, indent=2))
        return 1
    if options.kafka:
        answer = answer["reassignment"]
    print(json.dumps(answer, indent=None if options.compact else 2))
    return 0


def _answer(cluster: Cluster, spec: dict[str, Any], limits: Limits) -> dict[str, Any]:
    plan, order = plan_and_schedule(cluster, spec_of(spec), limits)
    return {**plan_figures(plan), "schedule": schedule_figures(plan.cluster, order)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plan_reassignment",
        usage="%(prog)s SNAPSHOT CHANGE ... [options]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "snapshot", metavar="SNAPSHOT", help="file with what the module cluster_info returned; - is standard input"
    )
    _add_options(parser.add_argument_group("changes"))
    plan = parser.add_argument_group("the schedule")
    plan.add_argument(
        "--concurrency",
        type=int,
        default=Limits.concurrency,
        metavar="COUNT",
        help="replicas that a broker sends, and receives, at a time (default: %(default)s)",
    )
    plan.add_argument(
        "--throttle", type=int, metavar="BYTES", help="bytes a second of each broker, to predict how long it takes"
    )
    plan.add_argument(
        "--disk-reserve",
        type=float,
        default=RESERVE,
        metavar="FRACTION",
        help="the part of every disk that stays free, where no disk_limit_bytes is set (default: %(default)s)",
    )
    output = parser.add_argument_group("what is printed")
    output.add_argument("--kafka", action="store_true", help="only the file that kafka-reassign-partitions takes")
    output.add_argument("--compact", action="store_true", help="all on one line")
    return parser


def _add_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--rebalance", action="store_true", help="every broker its share")
    group.add_argument("--drain", type=int, nargs="+", metavar="BROKER", help="move everything off these")
    group.add_argument(
        "--add", nargs="+", metavar="BROKER[:RACK]", help="give these, perhaps not there yet, their share"
    )
    group.add_argument(
        "--replace", type=_pair, nargs="+", metavar="OLD:NEW", help="one broker takes the place of another"
    )
    group.add_argument(
        "--replication-factor", type=_pair, nargs="+", metavar="TOPIC:FACTOR", help="another number of replicas"
    )
    group.add_argument("--fix-racks", action="store_true", help="only what the rack rule asks for")
    group.add_argument("--rack-rule", choices=RACK_RULES, help="how replicas keep apart (default: strict)")
    group.add_argument(
        "--leaders", choices=LEADERS, help="whether leaders are spread (default: auto, where replicas are balanced)"
    )
    group.add_argument(
        "--topic-spread", action="store_true", help="with rebalance or add, every topic by itself as even as can be"
    )
    group.add_argument(
        "--balance-by", choices=BALANCED_BY, help="what --rebalance and --add give shares of (default: replicas)"
    )
    group.add_argument(
        "--bytes-tolerance",
        type=float,
        metavar="FRACTION",
        help="by bytes, how much more than its share a broker may hold (default: 0.1)",
    )
    group.add_argument("--topics", nargs="+", metavar="TOPIC", help="change only partitions of these")
    group.add_argument(
        "--spec",
        metavar="FILE",
        help="the changes as JSON; an option given beside it replaces that of the file",
    )


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text()
    except (OSError, ValueError) as error:
        raise StreamopsError(f"{path}: cannot be read ({error})") from error


def _spec_of_file(path: str) -> dict[str, Any]:
    try:
        found = json.loads(_text(path))
    except ValueError as error:
        raise StreamopsError(f"spec {path}: cannot be read as JSON ({error})") from error
    if not isinstance(found, dict):
        raise StreamopsError(f"spec {path}: is not an object, as {{'drain': [3]}} is")
    return found


def _pair(text: str) -> tuple[str, Any]:
    """Both sides of the last colon: a topic may have none, so that nothing is ambiguous."""
    name, _colon, number = text.rpartition(":")
    if not name or not number:
        raise argparse.ArgumentTypeError(f"'{text}' has no two sides with a colon between them")
    return name, number_of(number)


def _spec(options: argparse.Namespace) -> dict[str, Any]:
    """The spec that the options name, those left out excepted."""
    spec = {
        "rebalance": options.rebalance,
        "drain": options.drain,
        "add": [_added(one) for one in options.add or ()],
        "replace": _each_once("--replace", options.replace or ()),
        "replication_factor": _each_once("--replication-factor", options.replication_factor or ()),
        "fix_racks": options.fix_racks,
        "rack_rule": options.rack_rule,
        "leaders": options.leaders,
        "topic_spread": options.topic_spread,
        "balance_by": options.balance_by,
        "bytes_tolerance": options.bytes_tolerance,
        "topics": options.topics,
    }
    return spec_kept(spec)


def _each_once(option: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise StreamopsError(f"{option}: the same name stands before the colon twice; give each once")
    return found


def _added(text: str) -> Any:
    number, _colon, rack = text.partition(":")
    return {"id": number_of(number), "rack": rack} if rack else number_of(number)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
