"""What the overview says of metadata.version while brokers of several releases run, and before it is raised."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import BROKER, Node, State
from page.known.features import features_of, features_tile

OLD, NEW = 21, 30
OTHERS = {"kraft.version": (0, 1), "group.version": (0, 1)}


def state(*highest: int | None, finalized: int = OLD, epoch: int | None = 7, group: int = 0) -> State:
    """Brokers that know metadata.version up to these levels, None for one that did not tell."""
    nodes = [
        Node(number, BROKER, {"metadata.version": (7, level), **OTHERS} if level else None)
        for number, level in enumerate(highest, start=1)
    ]
    return State({"metadata.version": finalized, "group.version": group}, epoch, tuple(nodes))


@pytest.mark.parametrize(
    ("seen", "value", "more"),
    [
        (state(OLD, NEW, OLD), "mixed", "several releases run, and know it up to 3.9-IV0 on 2, 4.3-IV0 on 1"),
        (state(OLD, None, NEW), "mixed", "several releases run, and know it up to 3.9-IV0 on 1, 4.3-IV0 on 1"),
        (state(NEW, NEW), "3.9-IV0", "all brokers could run 4.3-IV0; also below: group.version"),
        (state(NEW, NEW, finalized=NEW), "4.3-IV0", "the highest that all brokers know; also below: group.version"),
        (state(NEW, None, finalized=NEW, group=1), "4.3-IV0", "the highest that all brokers know"),
    ],
)
def test_the_figure_says_what_an_upgrade_left(seen: State, value: str, more: str) -> None:
    assert features_tile(features_of(seen)) == ("metadata.version", value, more)


@pytest.mark.parametrize("seen", [state(None, None), state(OLD, NEW, epoch=None), state()])
def test_without_features_there_is_no_figure(seen: State) -> None:
    assert features_of(seen) == []
    assert features_tile([]) is None


def test_the_quorum_is_formed_by_no_upgrade() -> None:
    assert [one["name"] for one in features_of(state(NEW))] == ["metadata.version", "group.version"]
