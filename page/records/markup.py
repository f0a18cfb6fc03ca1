"""Write records as a page or as JSON. Nothing of a record is markup: the engine of templates escapes all. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.document import document
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.markup import engine
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from page.records import bounds, shown
from page.records.asked import LONGEST_SEARCH, Asked, iso_ms
from page.records.batches import Found, Record
from page.records.masking import Mask
from page.shown.files import as_json
from page.shown.names import path
from page.shown.sheet import CUT_AT, Link
from page.shown.wanted import JSON

#: The last part of the address, behind that of the topic.
SECTION = "records"
_TEMPLATES = Path(__file__).parents[1] / "templates"
_LINKS = {"stylesheet": "/style.css", "icon": "/icon.svg"}


@dataclass(frozen=True)
class Trouble:
    """Why there are no records: with which status, what, the next step, and after how many seconds to come back."""

    status: int
    what: str
    next_step: str
    retry_after: int = 0


def written(cluster: str, topic: str, asked: Asked, found: Found, mask: Mask, trouble: Trouble | None) -> str:
    """Return what was found, or why there is nothing, in the format that is asked for."""
    fitting, said = _fitting(found.records, asked, mask) if trouble is None else (found.records, [])
    records = shown.shown_records(fitting, mask, asked.show)
    notes = [*found.notes, *said, *shown.skipped_words(found.skipped)]
    if asked.form == JSON:
        data: dict[str, Any] = {"cluster": cluster, "topic": topic, "asked": asked.words, "notes": notes}
        data |= {"error": trouble.what, "next_step": trouble.next_step} if trouble else {}
        return as_json({**data, **shown.for_machines(records, found.skipped)})
    own = path("clusters", cluster, "topics", topic, SECTION)
    body = (
        _templates()
        .get_template("records.html.j2")
        .render(
            cluster=cluster,
            topic=topic,
            own=own,
            asked=asked,
            trouble=trouble,
            notes=notes,
            records=records,
            crumbs=_crumbs(cluster, topic),
            choices=shown.choices(asked),
            time="" if asked.time is None else iso_ms(asked.time),
            read_facts=shown.facts(asked, found.partitions, len(records), mask.names, len(found.records)),
            longest_search=LONGEST_SEARCH,
            searched_most=bounds.SEARCHED,
            turns=shown.turns(own, asked, found.records),
            as_json=f"{own}{asked.query(form=JSON)}",
        )
    )
    return document(f"{visible(topic)} - Records - {visible(cluster)}", body, _LINKS)


def _fitting(records: Sequence[Record], asked: Asked, mask: Mask) -> tuple[Sequence[Record], list[str]]:
    """Return the records that are shown, and what must be known of a search."""
    if not asked.search:
        return records, []
    fitting, unseen = shown.matching(records, mask, asked.search)
    said = [f"The search looked through {len(records):,} records, at most {asked.most:,}; others may fit as well."]
    if len(fitting) > bounds.RECORDS:
        said.append(f"{len(fitting):,} records fit, and the first {bounds.RECORDS} of them are shown.")
    if unseen:
        said.append(f"Of {unseen:,} records a key or a value is hidden, in which nothing is searched.")
    return fitting[: bounds.RECORDS], said


def _crumbs(cluster: str, topic: str) -> Sequence[Link]:
    return [
        Link("All clusters", "/"),
        Link(cluster, path("clusters", cluster)),
        Link("Topics", path("clusters", cluster, "topics")),
        Link(topic, path("clusters", cluster, "topics", topic)),
    ]


@cache
def _templates() -> Environment:
    found = engine(_TEMPLATES)
    found.filters.update(lines=shown.lines, one_line=shown.one_line, sizes=shown.sizes)
    found.globals["cut_at"] = CUT_AT
    return found
