# SPDX-License-Identifier: GPL-3.0-or-later
"""The time that a node is waited for, without the time in which its answers are read."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import Stopwatch


def test_only_the_time_between_a_question_and_its_answer_is_held_against_a_node() -> None:
    now = [100.0]
    watch = Stopwatch(lambda: now[0])
    now[0] = 101.0
    assert (watch.asks(), watch.waited()) == (0.0, 1.0)
    watch.answered()
    now[0] = 131.0
    assert watch.waited() == 1.0
    assert watch.asks() == 30.0
    now[0] = 133.0
    assert watch.waited() == 3.0
