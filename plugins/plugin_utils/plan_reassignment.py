# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What-if: plan moves from a snapshot file, with no cluster in reach, and print plan, bound and figures as JSON.

    python3 -m ansible_collections.streamops.kafka.plugins.plugin_utils.plan_reassignment SNAPSHOT --drain 3

SNAPSHOT is what the module cluster_info returned, - reads it from standard input. Exit 0: there is a plan (perhaps an
empty one). Exit 1: the wish was refused, the reasons are in the JSON under refused. Exit 2: wrong use of the command.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_figures import plan_figures, schedule_figures
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_json import cluster_of, compact, wish_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_plan import plan_moves
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_schedule import Limits, schedule


def main(arguments: Sequence[str] | None = None) -> int:
    """Plan and print; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        text = sys.stdin.read() if options.snapshot == "-" else Path(options.snapshot).read_text()
        # Rows of the snapshot are packed while they are read; what the options hold is small and stays as it is.
        data = json.loads(text, object_hook=compact)
        del text
        wish = json.loads(Path(options.wish).read_text()) if options.wish else {}
    except (OSError, ValueError) as error:
        print(f"plan_reassignment: {error}", file=sys.stderr)
        return 2
    try:
        plan = plan_moves(cluster_of(data), wish_of({**wish, **_wish(options)}))
        answer = plan_figures(plan)
        answer["schedule"] = schedule_figures(
            plan.cluster, schedule(plan, Limits(options.concurrency, options.throttle))
        )
    except RefusedError as error:
        print(json.dumps({"refused": error.violations}, indent=2))
        return 1
    if options.kafka:
        answer = answer["reassignment"]
    print(json.dumps(answer, indent=None if options.compact else 2))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plan_reassignment", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("snapshot", metavar="SNAPSHOT")
    parser.add_argument("--wish", metavar="FILE", help="the wish as JSON; options here go before it")
    parser.add_argument("--rebalance", action="store_true", help="every broker its share")
    parser.add_argument("--drain", type=int, nargs="+", metavar="BROKER", help="move everything off these")
    parser.add_argument(
        "--add", nargs="+", metavar="BROKER[:RACK]", help="give these, perhaps not there yet, their share"
    )
    parser.add_argument("--replace", nargs="+", metavar="OLD:NEW", help="one broker takes the place of another")
    parser.add_argument("--replication-factor", nargs="+", metavar="TOPIC:FACTOR")
    parser.add_argument("--fix-racks", action="store_true", help="only what the rack rule asks for")
    parser.add_argument("--rack-rule", choices=["strict", "even", "none"])
    parser.add_argument("--leaders", choices=["auto", "keep", "balance"])
    parser.add_argument("--concurrency", type=int, default=5, help="replicas a broker sends, and receives, at a time")
    parser.add_argument("--throttle", type=int, metavar="BYTES", help="bytes per second and broker, for the duration")
    parser.add_argument("--kafka", action="store_true", help="print only Kafka's reassignment file")
    parser.add_argument("--compact", action="store_true", help="print on one line")
    return parser


def _wish(options: argparse.Namespace) -> dict[str, Any]:
    """The wish that the options name, those left out excepted."""
    pairs = {
        name: dict(one.rpartition(":")[::2] for one in getattr(options, name) or ())
        for name in ("replace", "replication_factor")
    }
    wish = {
        "rebalance": options.rebalance,
        "drain": options.drain,
        "add": [_added(one) for one in options.add or ()],
        "replace": {old: _number(new) for old, new in pairs["replace"].items()},
        "replication_factor": {topic: _number(factor) for topic, factor in pairs["replication_factor"].items()},
        "fix_racks": options.fix_racks,
        "rack_rule": options.rack_rule,
        "leaders": options.leaders,
    }
    return {name: value for name, value in wish.items() if value}


def _number(text: str) -> Any:
    """A whole number where the text is one; otherwise the text, for the message that says what is wrong."""
    return int(text) if text.isdigit() else text


def _added(text: str) -> Any:
    number, _colon, rack = text.partition(":")
    return {"id": _number(number), "rack": rack} if rack else _number(number)


if __name__ == "__main__":
    sys.exit(main())
