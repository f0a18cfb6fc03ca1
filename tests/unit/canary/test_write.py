# SPDX-License-Identifier: GPL-3.0-or-later
"""What a writer tells of a source that takes nothing."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from canary import write
from canary.config import Way
from canary.write import Writer
from tests.unit.canary.test_board import WAY, A, board


def test_a_source_that_cannot_be_asked_took_no_event_of_any_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each partition of its topic was to take one."""
    end, known = threading.Event(), board()
    nobody: Any = None
    writer = Writer(Way(**WAY), nobody, 1.0, known, end)
    monkeypatch.setattr(writer, "_keep", lambda _session: 3)
    monkeypatch.setattr(known, "is_ready", lambda _way: False)

    class Answers:
        """A session of a cluster that answers at first, and then no more."""

        tries = 0

        def __init__(self, _connection: Any) -> None:
            Answers.tries += 1
            if Answers.tries == 2:
                end.set()
                raise TimeoutError("nobody answers")

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_what: object) -> None:
            """Nothing is open."""

    monkeypatch.setattr(write, "Session", Answers)
    writer._run()
    assert (known.figures(5.0).sources[0].failures, Answers.tries) == (3, 2)
    assert known.figures(5.0).sources[0].source == A
