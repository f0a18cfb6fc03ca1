"""What a wait for an ensemble says, and when it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING, Advance
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.ensemble import FOLLOWER, LEADER, Server
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.session import EnsembleUnreachableError
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.wait import failure, step
from ansible_collections.streamops.kafka.plugins.modules import zookeeper_wait


def found(**more: Any) -> dict[str, Any]:
    """One look at three servers that are fine."""
    servers = [{"state": state} for state in ("leader", "follower", "follower")]
    base = {"servers": servers, "leader_id": 1, "epoch": 3, "problems": [], "refusals": [], "healthy": True}
    return {**base, **more}


def test_a_whole_ensemble_ends_the_wait() -> None:
    assert step(found(), Advance()).state == DONE
    assert step(found(), Advance()).text == "zookeeper_wait: 3/3 servers serve, server 1 leads epoch 3"


def test_a_refusal_to_stop_goes_on_and_is_shown() -> None:
    going = step(found(refusals=["without server 1 ..."]), Advance())
    assert going.state == GOING
    assert going.text.endswith("; without server 1 ...")


def test_a_look_that_failed_ends_the_wait() -> None:
    assert step({"failed": True, "msg": "no library"}, Advance()).state == FAILED


def test_the_failure_names_everything() -> None:
    told = failure(found(problems=["a", "b"], refusals=["c"]), 60.0)
    assert told["msg"].splitlines()[1:4] == ["- a", "- b", "- c"]
    assert told["failure"]["problems"] == ["a", "b"]
    assert failure(found(), 60.0, "\nThe wait lasted 5m.")["msg"].endswith("then run again.\nThe wait lasted 5m.")


def test_a_server_more_that_serves_is_progress_and_one_that_returns_is_none() -> None:
    advance = Advance()
    down = [{"state": state} for state in ("leader", "follower", "down")]
    fewer = found(problems=["x"], healthy=False)
    looks = [found(problems=["x", "y"], servers=down, healthy=False), fewer, found(servers=down, refusals=["z"])]
    first, second, third = [step(one, advance).progress for one in looks]
    assert (first, second, third) == ("", "moved 1", "moved 2")
    assert step(fewer, advance).progress == third


@pytest.mark.parametrize(
    ("synced", "check_mode", "opened"), [(None, False, 1), (None, True, 0), (2, False, 0)], ids=str
)
def test_a_leader_that_counts_nobody_is_given_a_transaction(
    monkeypatch: pytest.MonkeyPatch, synced: int | None, check_mode: bool, opened: int
) -> None:
    leader = Server(1, "zk1:2181", LEADER, epoch=4, synced_followers=synced)
    followers = [Server(number, f"zk{number}:2181", FOLLOWER, epoch=3) for number in (2, 3)]
    sessions = []

    class Session:
        """A session that does not come about, as one without a library."""

        def __init__(self, *members_and_access: object) -> None:
            sessions.append(members_and_access)

        def __enter__(self) -> None:
            raise EnsembleUnreachableError("no answer")

        def __exit__(self, *error: object) -> None:
            """Leave it."""

    monkeypatch.setattr(zookeeper_wait, "ask", lambda members, access: [leader, *followers])
    monkeypatch.setattr(zookeeper_wait, "Zookeeper", Session)
    servers = [{"id": number, "host": f"zk{number}", "port": 2181} for number in (1, 2, 3)]
    params = {"servers": servers, "stopping": [], "away": [], "compare_members": True}
    seen = zookeeper_wait.look(SimpleNamespace(params=params, check_mode=check_mode))
    assert len(sessions) == opened
    assert seen["healthy"] is (synced is not None)
