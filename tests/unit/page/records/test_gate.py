"""Few reads at once: one of a reader, and some of all."""

from __future__ import annotations

import pytest

from page.records.gate import Gate, TooManyError


def test_a_reader_has_one_place_and_all_have_some() -> None:
    gate = Gate(2)
    with gate.place("ann"):
        with pytest.raises(TooManyError) as own, gate.place("ann"):
            pass
        with gate.place("bob"), pytest.raises(TooManyError) as others, gate.place("eve"):
            pass
    assert (own.value.status, others.value.status) == (429, 503)


def test_a_place_is_free_again_whatever_happens() -> None:
    gate = Gate(1)
    with pytest.raises(ValueError, match="broken"), gate.place("ann"):
        raise ValueError("broken")
    with gate.place("ann"):
        pass
