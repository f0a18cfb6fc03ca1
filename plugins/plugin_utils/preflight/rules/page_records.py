# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on records of topics that the page shows: who may read them, and of which topics."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._core.service_settings import LONGEST_NAME, TOPICS, is_name
from ...inventory.model import Inventory
from ...inventory.variables import UNDEFINED, names
from ..rule import Problem, rule


@rule(
    variable="kafka_page_records_readers",
    allowed="users of kafka_page_users",
    fix="add the user to kafka_page_users, or remove it from the list",
)
def page_records_reader_unknown(inventory: Inventory) -> Iterator[Problem]:
    """A reader of records is no user of the page (`kafka_page_users`), so no login has that name."""
    for page in inventory.pages:
        users = page.get("kafka_page_users", {})
        for name in names(page.get("kafka_page_records_readers")) if isinstance(users, dict) else ():
            if name not in map(str, users):
                yield Problem(page, "a reader of records is no user of the page", name)


@rule(
    variable="kafka_page_records_topics",
    allowed="names of topics, or their beginnings with * behind them, CLUSTER/ before them",
    fix="list topics by name, or as orders.*",
)
def page_records_topics_unusable(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_records_topics` is empty though there are readers, or has an entry that fits no topic."""
    for page in inventory.pages:
        if page.variables.get("kafka_page_records_topics") is UNDEFINED:
            continue
        topics, named = names(page.get("kafka_page_records_topics")), names(page.get("kafka_page_clusters"))
        known = [one.name for one in inventory.clusters() if one.brokers and (not named or one.name in named)]
        if names(page.get("kafka_page_records_readers")) and not topics:
            yield Problem(page, "readers of records may read no topic", "an empty list")
        for entry in topics:
            cluster, slash, pattern = entry.rpartition("/")
            if slash and cluster not in known:
                yield Problem(page, "the page shows no cluster of this name", entry)
            elif not TOPICS.fullmatch(pattern):
                yield Problem(page, "this is no name of a topic, and no beginning of one", entry)


@rule(
    variable="kafka_page_records_masked",
    allowed=f"names of 1 to {LONGEST_NAME} printable characters, without blanks around them",
    fix="correct the name",
)
def page_records_masked_unusable(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_page_records_masked` has an entry that the page takes for no name of a field, so it would not start."""
    for page in inventory.pages:
        for name in names(page.get("kafka_page_records_masked")):
            if not is_name(name):
                yield Problem(page, "this is no name of a field", repr(name))
