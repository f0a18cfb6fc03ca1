"""Which process a stream ends with."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove.apply import process_of


def test_a_run_is_known_by_its_process_and_when_that_started() -> None:
    assert process_of("boot/pid:[4026531836] 4711 8154711") == (4711, 8154711)


@pytest.mark.parametrize("run", ["", "host", "host 4711 ", "host  ", "host x y"])
def test_a_run_whose_process_is_not_known_is_not_watched(run: str) -> None:
    assert process_of(run) is None
