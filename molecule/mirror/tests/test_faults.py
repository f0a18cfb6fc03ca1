"""A line that is gone for a minute, a mirror that loses its power: a record may arrive twice, never not at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.centres import PATIENCE, Mirror
from tests.support.machines import Machine, docker, eventually
from tests.support.traffic import producing

# Seconds without a line, and within how many of them the source has acknowledged what was under way.
GONE, UNDER_WAY = 60, 1


@pytest.mark.parametrize("fault", ["cut", "freeze"])
def test_a_line_that_is_gone_for_a_minute_costs_no_record(
    mirror: Mirror, switch: Callable[[str], Any], note: Callable[[str], None], fault: str
) -> None:
    topic = mirror.source.make(f"orders.{fault}")
    with producing(mirror.source.servers, topic, rate=500, settings=mirror.source.settings) as ledger:
        eventually(lambda: mirror.arrived(topic) > 0, "the first records in the target", PATIENCE)
        switch(fault)
        time.sleep(UNDER_WAY)
        # What the mirrors read before may still reach the target, however late; what was written since does not.
        written = len(ledger.acknowledged)
        time.sleep(GONE - UNDER_WAY)
        held = mirror.arrived(topic)
        assert held <= written, "the line was not gone"
        assert len(ledger.acknowledged) > written, "the source has nothing to do with the line"
        switch("restore")
        back = time.monotonic()
        eventually(lambda: mirror.arrived(topic) > held, "records again", PATIENCE)
        note(f"line {fault} for {GONE} s: records again {time.monotonic() - back:.0f} s after it was back")
    assert not ledger.failed
    found = mirror.complete(topic, ledger)
    note(f"line {fault}: {len(ledger.acknowledged)} acknowledged records, none lost, {twice(found)} arrived twice")


@pytest.mark.parametrize("victim", ["mirror1", "mirror2"])
def test_the_other_mirror_goes_on_and_sees_a_new_topic(
    mirror: Mirror, machines: dict[str, Machine], note: Callable[[str], None], victim: str
) -> None:
    # One of the two leads the group, which alone finds new topics; each has its turn.
    topic = mirror.source.make(f"orders.{victim}")
    servers, settings = mirror.source.servers, mirror.source.settings
    with producing(servers, topic, rate=500, settings=settings) as ledger:
        eventually(lambda: mirror.arrived(topic) > 0, "the first records in the target", PATIENCE)
        docker("kill", victim)
        killed = time.monotonic()
        try:
            fresh = mirror.source.make(f"orders.new-{victim}")
            with producing(servers, fresh, rate=500, settings=settings) as second:
                eventually(lambda: mirror.arrived(fresh) > 0, "the new topic in the target", PATIENCE)
                note(f"{victim} without power: a new topic arrives {time.monotonic() - killed:.0f} s later")
            mirror.complete(fresh, second)
        finally:
            docker("start", victim)
    assert not ledger.failed
    found = mirror.complete(topic, ledger)
    note(f"{victim} without power: {len(ledger.acknowledged)} records, none lost, {twice(found)} arrived twice")
    back = machines[victim]
    eventually(lambda: back.property("ActiveState") == "active", f"{victim} at work again", 120)
    eventually(lambda: set(back.ports.values()) <= back.listening(), f"{victim} listening", 120)


def twice(found: dict[int, int]) -> int:
    """How many records are there more than once."""
    return sum(times > 1 for times in found.values())
