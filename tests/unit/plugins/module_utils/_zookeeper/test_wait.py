"""What a wait for an ensemble says, and when it ends."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.wait import failure, step


def found(**more: Any) -> dict[str, Any]:
    """One look at three servers that are fine."""
    servers = [{"state": state} for state in ("leader", "follower", "follower")]
    base = {"servers": servers, "leader_id": 1, "epoch": 3, "problems": [], "refusals": [], "healthy": True}
    return {**base, **more}


def test_a_whole_ensemble_ends_the_wait() -> None:
    assert step(found()).state == DONE
    assert step(found()).text == "zookeeper_wait: 3/3 servers serve, server 1 leads epoch 3"


def test_a_refusal_to_stop_goes_on_and_is_shown() -> None:
    going = step(found(refusals=["without server 1 ..."]))
    assert going.state == GOING
    assert going.text.endswith("; without server 1 ...")


def test_a_look_that_failed_ends_the_wait() -> None:
    assert step({"failed": True, "msg": "no library"}).state == FAILED


def test_the_failure_names_everything() -> None:
    told = failure(found(problems=["a", "b"], refusals=["c"]), 60.0)
    assert told["msg"].splitlines()[1:4] == ["- a", "- b", "- c"]
    assert told["failure"]["problems"] == ["a", "b"]
