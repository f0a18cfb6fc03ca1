"""What the short form of a test takes of its parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def short(values: Iterable[Any], *plain: Any) -> list[Any]:
    """Parameters of a test: the plain ones for both of its forms, all others for its long form alone.

    A value that stands in ``plain`` and not in ``values`` is an error: the short form would have lost it unseen.
    """
    listed = list(values)
    missing = [value for value in plain if value not in listed]
    assert not missing, f"no such parameter: {missing}"
    marks = {True: (), False: (pytest.mark.full,)}
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks[value in plain])
        for value in listed
    ]
