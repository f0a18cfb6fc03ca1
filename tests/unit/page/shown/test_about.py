"""Which findings name a broker."""

from __future__ import annotations

import pytest

from page.shown.about import findings_about
from tests.support.status_seen import finding


@pytest.mark.parametrize(
    ("what", "is_found"),
    [
        ("broker kafka1 (id 1) is down: 3 partitions", True),
        ("broker 1 is registered and not in the inventory", True),
        ("broker 11 is registered and not in the inventory", False),
        ("controller 1 is a voter and not in the inventory", True),
        ("disk of kafka1 is 91 % full", True),
        ("disk of kafka10 is 91 % full", False),
        ("disk of kafka1.example.com is 91 % full", False),
        ("the certificate of kafka1 (kafka1:9092) ends in 3 days", True),
        ("leaders are skewed: other brokers lead 50 % of the preferred partitions of kafka1.", True),
        ("unknown: log directories of broker 1 (no answer)", True),
        ("1 of 9 partitions without a leader: they wait for kafka2, kafka1", True),
        ("1 of 9 partitions without a leader", False),
        ("topic my-kafka1-topic has no leader", False),
        ("broker mykafka1 (id 21) is down", False),
    ],
)
def test_a_finding_names_a_broker_by_its_host_or_by_its_id(what: str, is_found: bool) -> None:
    one = finding("some", "note", what)
    assert findings_about([one], 1, ["kafka1"]) == ([one] if is_found else [])


def test_figures_count_too_and_a_host_is_no_pattern() -> None:
    figure = finding("some", "note", "a voter is late", found="kafka1: caught up 90 s ago")
    assert findings_about([figure], 9, ["kafka1", ""]) == [figure]
    assert findings_about([figure], 9, ["kafka."]) == []
    assert findings_about([figure], 9, []) == []
