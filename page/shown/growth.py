"""How fast logs grow, as words and figures. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_lines import megabytes
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import NOT_KNOWN, Cell
from page.known.rates import Rate, Rates
from page.shown.sheet import State

#: Columns of a table, of the cells that growth_cells returns.
GROWTH_COLUMNS = (("Records/s", "num"), ("Bytes/s", "num"))
#: What the figures are, for the note of a table.
GROWTH_NOTE = "Records/s and bytes/s are what logs grew by between the last two polls"


def growth_of(state: State) -> Rates:
    """Return the growth between the last two polls; none of it where it does not hold now."""
    return state.seen.rates if state.fresh.is_fresh else Rates()


def growth_note(state: State) -> str:
    """Return what the figures are and how far the polls were apart."""
    rates = growth_of(state)
    if not state.fresh.is_fresh:
        return f"{GROWTH_NOTE}; they are not known while polls fail."
    if rates.seconds is None:
        return f"{GROWTH_NOTE}; they are known after the second poll."
    return f"{GROWTH_NOTE}, {duration(rates.seconds)} apart."


def growth_cells(rate: Rate) -> list[Cell]:
    """Return the cells of a growth under GROWTH_COLUMNS."""
    return [
        Cell(text, "num", more=more)
        for text, more in (
            _said(rate.records, _number, rate.records_unknown),
            _said(rate.bytes, megabytes, rate.bytes_unknown),
        )
    ]


def growth_tiles(rate: Rate, of: str) -> list[tuple[str, str, str]]:
    """Return a growth as two figures of a page; C(of) says what grew."""
    records, size = growth_cells(rate)
    return [
        ("Records/s", records.text, records.more or of),
        ("Bytes/s", size.text, size.more or of),
    ]


def growth_data(rates: Rates, rate: Rate) -> dict[str, Any]:
    """Return a growth for machines, with the seconds between the polls."""
    apart = None if rates.seconds is None else round(rates.seconds, 3)
    return {"growth": {**rate.data(), "seconds": apart}}


def _said(value: float | None, form: Any, unknown: int) -> tuple[str, str]:
    if value is None:
        return NOT_KNOWN, ""
    more = f"unknown of {unknown:,} partition{'' if unknown == 1 else 's'}" if unknown else ""
    return form(value) + (" or more" if unknown else ""), more


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.1f}" if value >= 0.1 else f"{value:.2g}"
