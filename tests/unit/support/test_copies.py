"""The judge of the tests of faults: each kind of damage is found, and nothing else is."""

from __future__ import annotations

import pytest

from tests.support.copies import Sequences, compared
from tests.support.traffic import Ledger

# Number -> partition and offset in the source: 0, 2, 4 in partition 0; 1, 3, 5 in partition 1.
LEDGER = Ledger({number: (number % 2, number // 2) for number in range(6)})


@pytest.mark.parametrize(
    ("found", "damage"),
    [
        ({0: [0, 2, 4], 1: [1, 3, 5]}, {}),
        ({0: [0, 2], 1: [1, 3, 5]}, {"lost": [4]}),
        ({0: [0, 4], 1: [1, 3, 5]}, {"lost": [2]}),
        ({0: [0, 2, 4], 1: []}, {"lost": [1, 3, 5]}),
        ({0: [0, 2, 0, 2, 4], 1: [1, 3, 5, 5, 5]}, {"repeated": [0, 2, 5, 5]}),
        ({0: [0, 4, 2], 1: [1, 3, 5]}, {"disordered": [0]}),
        # A repeat does not hide a wrong order, nor does it make one.
        ({0: [0, 4, 2, 4], 1: [1, 3, 1, 3, 5]}, {"disordered": [0], "repeated": [4, 1, 3]}),
        ({0: [0, 2, 4, 5], 1: [1, 3]}, {"misplaced": [(5, 1, 0)]}),
        ({0: [0, 2, 4, 7], 1: [1, 3, 5]}, {"unknown": [7]}),
        ({0: [4, 0], 1: [1, 3, 5]}, {"lost": [2], "disordered": [0]}),
    ],
)
def test_each_kind_of_damage_is_found(found: Sequences, damage: dict[str, object]) -> None:
    result = compared(LEDGER, found)
    kinds = ("lost", "unknown", "misplaced", "repeated", "disordered")
    assert {kind: getattr(result, kind) for kind in kinds if getattr(result, kind)} == damage
    assert result.is_complete == (set(damage) <= {"repeated"})
    assert result.records == 6
