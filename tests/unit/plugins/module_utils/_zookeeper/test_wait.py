"""What a wait for an ensemble says, and when it ends."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING, Advance
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.wait import failure, step


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
