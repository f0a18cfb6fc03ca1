# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on records that the page shows: readers who can log in, topics that there may be, fields with names."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from tests.unit.plugins.plugin_utils.preflight.rules.test_page import refused

READERS = {"kafka_page_users": {"ann": "w"}, "kafka_page_records_readers": ["ann"]}


@pytest.mark.parametrize(
    "own",
    [
        {},
        {
            **READERS,
            "kafka_page_records_topics": ["orders", "audit.*", "blue/*"],
            "kafka_page_records_masked": ["iban"],
        },
        {**READERS, "kafka_page_records_readers": '["ann"]', "kafka_page_records_topics": '["orders"]'},
        {**READERS, "kafka_page_records_topics": UNDEFINED},
        {"kafka_page_records_topics": ["orders"]},
    ],
)
def test_what_is_right_is_let_through(own: dict[str, Any]) -> None:
    assert refused(own) == []


@pytest.mark.parametrize(
    ("own", "name"),
    [
        (
            {**READERS, "kafka_page_records_readers": ["eve"], "kafka_page_records_topics": ["a"]},
            "page_records_reader_unknown",
        ),
        (READERS, "page_records_topics_unusable"),
        ({**READERS, "kafka_page_records_topics": ["(a|b)"]}, "page_records_topics_unusable"),
        ({**READERS, "kafka_page_records_topics": ["a*b"]}, "page_records_topics_unusable"),
        ({**READERS, "kafka_page_records_topics": '["a*b"]'}, "page_records_topics_unusable"),
        ({**READERS, "kafka_page_records_topics": "orders, a*b"}, "page_records_topics_unusable"),
        ({**READERS, "kafka_page_records_topics": "[orders"}, "page_records_topics_unusable"),
        ({**READERS, "kafka_page_records_topics": ["bleu/a"]}, "page_records_topics_unusable"),
        ({"kafka_page_records_masked": ["x" * 101]}, "page_records_masked_unusable"),
        ({"kafka_page_records_masked": ["a\nb"]}, "page_records_masked_unusable"),
    ],
)
def test_what_is_wrong_is_refused(own: dict[str, Any], name: str) -> None:
    assert [one for one, _variable in refused(own)] == [name]
