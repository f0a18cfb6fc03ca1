# SPDX-License-Identifier: GPL-3.0-or-later
"""Values by name, each made when it is asked for."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.parts import Parts


def test_each_part_is_made_once_and_not_before_it_is_asked_for() -> None:
    made: list[int] = []
    parts = Parts({"a": lambda: made.append(1) or len(made), "b": lambda: 1 // 0})
    assert (list(parts), len(parts), made) == (["a", "b"], 2, [])
    assert (parts["a"], parts["a"]) == (1, 1)


def test_a_part_that_cannot_be_made_is_an_error_and_no_missing_key() -> None:
    parts = Parts({"a": lambda: {}["x"]})
    with pytest.raises(ValueError, match="the model has no a: KeyError 'x'"):
        parts["a"]
    assert "z" not in parts
    with pytest.raises(KeyError):
        parts["z"]
