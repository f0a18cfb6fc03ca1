# SPDX-License-Identifier: GPL-3.0-or-later
"""A record of another release is read as far as it is known, or named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._state.form import UnknownFormError, of_known, parsed


@dataclass(frozen=True)
class Kept:
    stage: str
    number: int = 0


def test_fields_that_only_a_newer_release_knows_are_passed_over() -> None:
    assert of_known(Kept, {"stage": "moved", "later": [1]}) == Kept("moved")
    assert of_known(Kept, {"stage": "moved", "number": 3}) == Kept("moved", 3)


@pytest.mark.parametrize("value", [{"number": 3}, "no JSON {", ["moved"], 3, None])
def test_a_record_without_what_it_must_have_is_named_with_what_to_do(value: Any) -> None:
    with pytest.raises(UnknownFormError) as raised:
        parsed("mirror_x a->b", value, lambda data: of_known(Kept, data), "took the last step")
    said = raised.value.message
    assert "read _streamops_state: its record 'mirror_x a->b' has another form than this release writes (" in said
    assert "Take the release that took the last step, or a newer one." in said
    assert "no value into _streamops_state: what it kept is then forgotten. The record was left as it is." in said
