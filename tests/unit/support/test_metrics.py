"""Which names of series the table of alerts uses, as the tests against real nodes see them."""

from __future__ import annotations

import pytest

from tests.support.metrics import NODES, asked_of, names_in, names_of_alerts, names_of_dashboards, served


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ('up{job=~"kafka|zookeeper"} == 0', {"up"}),
        ("sum by (cluster, instance) (rate(a_b_total[5m])) / 1e9 < 0.3", {"a_b_total"}),
        ("max by (cluster) (a_b) - on (cluster) group_right () c_d > 1000", {"a_b", "c_d"}),
        ("min_over_time(a_b[15m]) > 0 and changes(c_d[15m]) == 0 and c_d offset 15m", {"a_b", "c_d"}),
        ('label_replace(sum by (cluster) (a_b) > 1, "source_x", "$1", "cluster", "(.*)")', {"a_b"}),
    ],
)
def test_names_of_series_are_told_from_functions_and_labels(query: str, names: set[str]) -> None:
    assert names_in(query) == names


def test_every_name_of_alerts_and_dashboards_has_one_who_serves_it() -> None:
    found = [asked_of(kind) for kind in (*NODES, "others")]
    assert set().union(*found) == names_of_alerts() | names_of_dashboards()
    assert all(found)


def test_a_scrape_gives_the_names_of_its_series() -> None:
    assert served('# HELP a_b x\na_b{c="d e"} 1\nf_g 2.0\n\n') == {"a_b", "f_g"}
