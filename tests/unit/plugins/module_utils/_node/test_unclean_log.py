"""What the log of a controller says of elections of replicas that were not in sync."""

from __future__ import annotations

import time
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.module_utils._node.unclean_log import (
    KEPT_SECONDS,
    elections_of,
    unclean_elections,
)

NOW = 1_790_000_000.0


def line(at: float, partition: str = "orders-0", leader: int = 2, epoch: int = 3) -> str:
    """Return a line as Kafka 4.3 writes it with the log configuration of this collection."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    return (
        f"[{when},123] INFO [QuorumController id=1] UNCLEAN partition change for {partition} with topic ID "
        f"xLs4kBSfQ8SvSRlUB3Nrmg: isr: [1] -> [{leader}], leader: 1 -> {leader}, leaderRecoveryState: RECOVERED -> "
        f"RECOVERING, leaderEpoch: {epoch - 1} -> {epoch}, partitionEpoch: 5 -> 6 "
        "(org.apache.kafka.controller.ReplicationControlManager)"
    )


def test_partition_leader_and_time_are_read() -> None:
    (found,) = elections_of([line(NOW, "drill.m19.unclean-12")])
    about = {"at": NOW, "when": "2026-09-21 14:13:20 UTC", "leader": 2, "epoch": 3}
    assert found == {"partition": "drill.m19.unclean-12", **about}
    # Releases before topics had ids in this line.
    (found,) = elections_of([line(NOW).replace(" with topic ID xLs4kBSfQ8SvSRlUB3Nrmg", "")])
    assert found["partition"] == "orders-0"


def test_what_a_controller_says_again_when_it_starts_is_one_election() -> None:
    again = [line(NOW), line(NOW + 900), line(NOW + 900, epoch=8)]
    assert [(one["at"], one["epoch"]) for one in elections_of(again)] == [(NOW, 3), (NOW + 900, 8)]


def test_a_line_that_lacks_something_says_nothing() -> None:
    lines = [line(NOW).replace("leaderEpoch", "epoch"), line(NOW)[27:], "UNCLEAN partition change for", ""]
    # A partition that loses its leader is no election.
    assert elections_of([*lines, line(NOW, leader=-1)]) == []


def test_the_last_log_and_the_one_before_are_read_for_seven_days(tmp_path: Path) -> None:
    (tmp_path / "controller.log.1").write_text(f"{line(NOW - KEPT_SECONDS - 60, 'old-0')}\n{line(NOW - 60, 'a-0')}\n")
    (tmp_path / "controller.log").write_text(f"[2026-01-01 00:00:00,000] INFO x (y)\n{line(NOW - 9, 'b-1')}\n")
    assert [one["partition"] for one in unclean_elections(str(tmp_path), NOW)] == ["a-0", "b-1"]
    assert unclean_elections(str(tmp_path / "none"), NOW) == []
