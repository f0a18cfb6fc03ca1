"""How fast logs grow, as people read it."""

from __future__ import annotations

import pytest

from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.known.rates import Rate, Rates
from page.shown.growth import growth_cells, growth_note, growth_of
from page.shown.sheet import state_of


@pytest.mark.parametrize(
    ("rate", "records", "size"),
    [
        (Rate(), ("not known", ""), ("not known", "")),
        (Rate(0.0, 0.0), ("0", ""), ("0 B", "")),
        (Rate(12345.6, 1_234_567.0), ("12,346", ""), ("1.2 MB", "")),
        (Rate(0.0333, 1.4), ("0.033", ""), ("1 B", "")),
        (Rate(9.94, 5.0, 0, 2), ("9.9", ""), ("5 B or more", "unknown of 2 partitions")),
        (Rate(None, None, 1, 1), ("not known", ""), ("not known", "")),
        (Rate(3.0, None, 1, 1), ("3.0 or more", "unknown of 1 partition"), ("not known", "")),
    ],
)
def test_a_part_that_is_unknown_makes_a_figure_the_least_that_it_is(
    rate: Rate, records: tuple[str, str], size: tuple[str, str]
) -> None:
    assert [(one.text, one.more) for one in growth_cells(rate)] == [records, size]


@pytest.mark.parametrize(
    ("rates", "error", "said"),
    [
        (Rates(30.2), "", "30s apart."),
        (Rates(), "", "after the second poll."),
        (Rates(30.2), "Connection refused", "not known while polls fail."),
    ],
)
def test_the_note_says_how_far_the_polls_were_apart(rates: Rates, error: str, said: str) -> None:
    seen = Seen(Polls(900.0, 2, error=error), Picture(1000.0, 0.1, 1, 1, 0, {}, []), rates=rates)
    state = state_of("orders", seen, 1010.0, 300)
    assert growth_note(state).endswith(said)
    assert growth_of(state) == (Rates() if error else rates)
