"""What the tests of the mirror share: the flow, the machines that carry it, and the switches of the line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.centres import Centre, Mirror
from tests.support.machines import Ask, Machine

ENDS = ("dc_a", "dc_b")


@pytest.fixture(scope="session")
def mirror(machines: dict[str, Machine]) -> Mirror:
    """From dc_a into dc_b."""
    ends = [Centre(name, [one for one in machines.values() if one.is_node and one.cluster == name]) for name in ENDS]
    return Mirror(*ends)


@pytest.fixture(scope="session")
def mirrors(machines: dict[str, Machine]) -> list[Machine]:
    """The machines that MirrorMaker runs on."""
    return [machine for machine in machines.values() if machine.is_mirror]


@pytest.fixture
def switch(machines: dict[str, Machine], ask: Ask) -> Iterator[Callable[[str], Any]]:
    """switch(what): cuts, freezes or restores the line, see programs/line.py; it is whole after the test."""

    def done(what: str) -> Any:
        return json.loads(ask(machines["line"], "line.py", {"do": what}))

    yield done
    done("restore")
