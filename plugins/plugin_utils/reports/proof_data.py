# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of a proof as data, and as lines of a run. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._core.progress import duration

PROOF_SCHEMA = "streamops.proof/1"
#: How each verdict is shown.
VERDICTS = {"pass": "pass", "partial": "inconclusive", "inconclusive": "inconclusive", "fail": "fail"}
#: What is counted, with its words.
COUNTED = {
    "lost": "lost",
    "repeated": "repeated",
    "reordered": "out of order",
    "moved": "at another offset",
    "aborted_read": "of aborted transactions",
}

Row = Mapping[str, Any]


def proof_data(proof: Row, cluster: str, made: str) -> str:
    """Return the JSON beside the report of a proof; C(made) is the time of its end (ISO 8601, UTC)."""
    return json.dumps({"schema": PROOF_SCHEMA, "cluster": cluster, "made": made, **proof}, indent=1) + "\n"


def proof_lines(proof: Row) -> list[str]:
    """Return what a run says of a proof."""
    lines = [f"Proof        {proof['verdict']}: {counts(proof)}", f"Covered      {covered(proof)}"]
    if longest := longest_gap(proof):
        where = f"partition {longest['partition']}{during(longest)}"
        lines.append(f"Longest gap  {longest['seconds']:.1f} s without an acknowledged record, {where}")
    if proof.get("read_second"):
        lines.append(f"Readers      a plain one found {proof['read']:,} records, Spark {proof['read_second']:,}")
    return [*lines, *([f"Why          {proof['why']}"] if proof["why"] else [])]


def counts(proof: Row) -> str:
    """Say how many records were acknowledged and how many are wrong."""
    acknowledged = " and ".join(f"{number:,} {kind}" for kind, number in proof["acknowledged"].items())
    wrong = ", ".join(f"{proof[key]:,} {words}" for key, words in COUNTED.items() if proof[key])
    return f"{acknowledged} records acknowledged; {wrong or 'none lost, repeated or out of order'}"


def covered(proof: Row) -> str:
    """Say what was compared: the topic, its partitions, the records, and the restarts meanwhile."""
    acknowledged = sum(proof["acknowledged"].values())
    hosts = ", ".join(dict.fromkeys(restart["host"] for restart in proof["restarts"]))
    return (
        f"topic {proof['topic']}, {len(proof['gaps'])} partitions: {acknowledged:,} acknowledged records compared with "
        f"{proof['read']:,} that were read; restarts of {hosts or 'no node'}"
    )


def longest_gap(proof: Row) -> Row | None:
    """Return the longest gap of all partitions; none where no record was acknowledged."""
    return max(proof["gaps"], key=lambda one: one["seconds"], default=None)


def during(gap: Row) -> str:
    """Say who was restarting in a gap."""
    return f", while {' and '.join(gap['hosts'])} restarted" if gap["hosts"] else ", beside all restarts"


def restart_rows(restarts: Sequence[Row]) -> list[tuple[str, float, str, str]]:
    """Return each restart: host, when it stopped, how long until it listened, how long from there until in sync."""
    return [
        (host, stopped, duration(listening - stopped), duration(in_sync - listening))
        for stopped, listening, in_sync, host in sorted(
            (one["stopped"], one["listening"], one["in_sync"], one["host"]) for one in restarts
        )
    ]
