"""An unclean election is a finding until somebody has looked, and a note that names them from then on."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._health import look
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import KEY
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits, State
from ansible_collections.streamops.kafka.plugins.module_utils._health.partition_rules import (
    TOLD_SECONDS,
    looked_at,
    merged,
    unacknowledged,
    unclean_election,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.unclean_log import KEPT_SECONDS

EARLY, LATE = 1_790_000_000.0, 1_790_000_900.0
SESSION: Any = object()


def election(at: float, partition: str = "orders-0", epoch: int = 3) -> dict[str, Any]:
    return {"partition": partition, "at": at, "when": "then", "leader": 2, "epoch": epoch}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cluster keeps, by key."""
    values: dict[str, Any] = {}
    monkeypatch.setattr(look, "read_state", lambda _session, key, _topics=None: (values.get(key), 1))
    monkeypatch.setattr(look, "write_state", lambda _session, key, value: values.__setitem__(key, value))
    monkeypatch.setattr(look, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(look.time, "time", lambda: EARLY + 60)
    return values


def asked(elections: list[dict[str, Any]], by: str = "", is_check: bool = False) -> tuple[dict[str, Any], bool]:
    """Return what a look makes of these elections."""
    return look._acknowledged(SESSION, {"unclean_elections": elections, "acknowledge": by}, is_check)


def test_what_several_controllers_say_is_one_election_at_its_first_time() -> None:
    told = [election(LATE), election(EARLY), election(EARLY + 1), election(LATE, epoch=9), election(EARLY, "a-1")]
    assert merged(told) == [election(EARLY, "a-1"), election(EARLY), election(LATE, epoch=9)]


def test_it_stands_until_somebody_has_looked(kept: dict[str, Any]) -> None:
    known, is_new = asked([election(EARLY)])
    assert (known, is_new, kept) == ({}, False, {})
    known, is_new = asked([election(EARLY)], " Ada: told them ")
    assert (known["by"], is_new) == ("Ada: told them", True)
    assert kept == {KEY: {"unclean_election": known}}
    assert unacknowledged([election(EARLY)], known) == []
    # Whoever asks later sees who it was, and does not take their place.
    assert asked([election(EARLY)], "Bob") == (known, False)


def test_a_later_one_is_told_and_what_a_controller_says_again_is_not(kept: dict[str, Any]) -> None:
    known, _is_new = asked([election(EARLY)], "Ada")
    later = [election(LATE), election(LATE, epoch=9), election(LATE, "new-0")]
    assert unacknowledged(later, known) == later[1:]


def test_check_mode_writes_nothing(kept: dict[str, Any]) -> None:
    known, is_new = asked([election(EARLY)], "Ada", is_check=True)
    assert (known["by"], is_new, kept) == ("Ada", True, {})


def test_a_cluster_without_any_is_asked_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "read_state", lambda *_asked: pytest.fail("it was asked"))
    assert asked([], "Ada") == ({}, False)


@pytest.mark.parametrize("value", [None, [], "text", {"unclean_election": 7}, {"other": {}}])
def test_what_was_kept_and_is_no_acknowledgement_is_none(kept: dict[str, Any], value: Any) -> None:
    kept[KEY] = value
    assert look.acknowledgement(SESSION) == {}


def test_the_page_sees_what_was_acknowledged_for_seven_days(kept: dict[str, Any]) -> None:
    known, _is_new = asked([election(EARLY), election(EARLY, "a-1")], "Ada")
    shown = looked_at(known, known["at"] + 9)
    assert {one["partition"] for one in shown} == {"orders-0", "a-1"}
    (note,) = unclean_election(State({}, unclean=shown, acknowledged=known), Limits())
    assert (note.kind, note.severity) == ("unclean_acknowledged", "note")
    assert "a-1, orders-0; acknowledged by Ada at 2026-" in note.what
    assert TOLD_SECONDS == KEPT_SECONDS
    assert looked_at(known, known["at"] + TOLD_SECONDS + 1) == looked_at({}, EARLY) == []


def test_other_kinds_stay_as_they_were(kept: dict[str, Any]) -> None:
    kept[KEY] = {"other": {"at": 1}}
    asked([election(EARLY)], "Ada")
    assert kept[KEY]["other"] == {"at": 1}
