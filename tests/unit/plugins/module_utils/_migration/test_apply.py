# SPDX-License-Identifier: GPL-3.0-or-later
"""The change of the znodes at a session that keeps them in memory, and answers as ZooKeeper does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration.apply import hand_over_znodes
from ansible_collections.streamops.kafka.plugins.module_utils._migration.hand_over import HandOverError
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.session import (
    IN_CHARGE,
    Change,
    ZnodesKeptError,
    Zookeeper,
)

OF_KRAFT = {"version": 2, "brokerid": 101, "timestamp": "1", "kraftControllerEpoch": 4}
OF_BROKER = {"version": 2, "brokerid": 2, "timestamp": "1", "kraftControllerEpoch": -1}
COPIED = {"kraft_controller_id": 101, "kraft_controller_epoch": 4, "kraft_metadata_offset": 800}


class Kept:
    """The znodes of a cluster; then -- who takes /controller as soon as it is free."""

    def __init__(self, znodes: dict[str, Any], then: dict[str, Any] | None = None) -> None:
        self.znodes = {**dict.fromkeys(IN_CHARGE), **znodes}
        self.versions = dict.fromkeys(IN_CHARGE, 7)
        self.asked: list[Change] = []
        self.unread: dict[str, str] = {}
        self._then = then

    def in_charge(self) -> dict[str, Any]:
        """Read the znodes."""
        return {"znodes": dict(self.znodes), "unread": self.unread}

    def change(self, changes: Sequence[Change]) -> None:
        """Change them."""
        for path, content, version in changes:
            assert version == self.versions[path]
            self.znodes[path] = None if content is None else int(content)
        self.asked += changes
        if self._then and self.znodes["/controller"] is None:
            self.znodes["/controller"] = self._then


def run(kept: Kept, epoch: int = 4, **options: Any) -> dict[str, Any]:
    return hand_over_znodes(cast("Zookeeper", kept), epoch, **options)


def test_all_is_given_back_once_and_what_was_there_is_returned() -> None:
    kept = Kept({"/controller": OF_KRAFT, "/controller_epoch": 3, "/migration": COPIED}, then=OF_BROKER)
    result = run(kept)
    assert result["changed"]
    assert kept.asked == [
        Change("/controller_epoch", b"5", 7),
        Change("/controller", None, 7),
        Change("/migration", None, 7),
    ]
    assert result["znodes"]["/migration"] == COPIED
    assert result["diff"]["after"] == "/controller_epoch 5\n"
    assert result["acts"][0] == "set /controller_epoch 5 if its version is 7"
    again = run(kept)
    assert (again["changed"], again["acts"], len(kept.asked)) == (False, [], 3)


def test_check_mode_says_the_same_and_changes_nothing() -> None:
    kept = Kept({"/controller": OF_KRAFT, "/controller_epoch": 9, "/migration": COPIED})
    checked = run(kept, is_check=True)
    assert kept.asked == []
    assert run(kept) == checked


def test_a_broker_that_is_in_charge_keeps_its_znode() -> None:
    kept = Kept({"/controller": OF_BROKER, "/controller_epoch": 9, "/migration": COPIED})
    assert run(kept)["acts"] == ["delete /migration if its version is 7"]
    assert kept.znodes["/controller"] == OF_BROKER
    with pytest.raises(HandOverError, match="broker 2 is in charge already"):
        run(Kept({"/controller": OF_BROKER, "/controller_epoch": 4}))


def test_a_controller_that_still_runs_is_seen_behind_the_change_and_what_was_done_is_told() -> None:
    kept = Kept({"/controller": OF_KRAFT, "/controller_epoch": 9}, then={**OF_KRAFT, "kraftControllerEpoch": 5})
    with pytest.raises(
        HandOverError, match="a controller of KRaft still runs and wrote again; left is: delete"
    ) as failed:
        run(kept)
    assert failed.value.done["changed"]
    assert failed.value.done["acts"] == ["delete /controller if its version is 7"]


def test_what_cannot_be_read_is_not_changed() -> None:
    kept = Kept({"/controller": OF_KRAFT, "/controller_epoch": 9})
    kept.unread = {"/migration": "reader has no right to read it"}
    with pytest.raises(HandOverError, match="/migration: reader has no right to read it"):
        run(kept)
    assert kept.asked == []


def test_a_refusal_of_zookeeper_goes_through() -> None:
    class Refusing(Kept):
        """One that somebody else changes meanwhile."""

        def change(self, changes: Sequence[Change]) -> None:
            """Refuse."""
            raise ZnodesKeptError("no")

    with pytest.raises(ZnodesKeptError):
        run(Refusing({"/controller": OF_KRAFT, "/controller_epoch": 9}))
