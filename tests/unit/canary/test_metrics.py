"""The figures as Prometheus reads them, and as an operator reads them in a status."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import PURGED, TRUNCATED, Gap
from canary.figures import Figures, GapFigures, RouteFigures, SourceFigures
from canary.ledger import Account
from canary.metrics import MOST_TOPICS, families_of
from canary.places import MOST, config_for, missing_partitions
from canary.told import told
from page.core.exposition import exposition

LATENCIES = {0.5: 0.4, 0.95: 1.0, 0.99: 1.2, 1.0: 3.0}
ROUTE = RouteFigures(
    "dc_a->dc_b",
    "dc_a",
    True,
    {0: Account(9, 9, last_arrived=12.0), 1: Account(9, 8, 1, oldest_waiting=2.5, last_arrived=62.0)},
    LATENCIES,
)
FIGURES = Figures(
    "dc_b", 60, (ROUTE,), (SourceFigures("dc_a", 12.0, 3, 0, "timed out"),), {"dc_a": True, "dc_b": True}, {"dc_a": 0}
)


def text(figures: Figures) -> list[str]:
    return [line for line in exposition([families_of(figures)]).splitlines() if not line.startswith("#")]


def with_total(**values: int) -> Figures:
    return replace(FIGURES, routes=(replace(ROUTE, partitions={0: replace(ROUTE.partitions[0], **values)}),))


def test_each_figure_is_a_series() -> None:
    lines = text(FIGURES)
    way = 'cluster="dc_b",path="dc_a->dc_b",source="dc_a",target="dc_b"'
    assert f'streamops_canary_events{{{way},state="written"}} 18' in lines
    assert f'streamops_canary_events{{{way},state="waiting"}} 1' in lines
    assert f'streamops_canary_latency_seconds{{{way},quantile="0.99"}} 1.200' in lines
    assert f'streamops_canary_oldest_waiting_seconds{{{way},partition="0"}} 0.000' in lines
    assert f'streamops_canary_oldest_waiting_seconds{{{way},partition="1"}} 2.500' in lines
    assert f'streamops_canary_last_arrived_seconds{{{way},partition="1"}} 62.000' in lines
    assert 'streamops_canary_write_failures_total{cluster="dc_b",source="dc_a"} 3' in lines
    assert 'streamops_canary_readable{cluster="dc_b",end="dc_a"} 1' in lines


def test_a_way_that_was_not_read_has_no_figures() -> None:
    """Zero missing would be a lie, and all events late an alarm, before the copy was read."""
    lines = text(replace(FIGURES, routes=(replace(ROUTE, is_ready=False),)))
    assert 'streamops_canary_ready{cluster="dc_b",path="dc_a->dc_b",source="dc_a",target="dc_b"} 0' in lines
    assert not [line for line in lines if line.startswith("streamops_canary_events")]


def test_a_status_of_a_flow_that_works_is_one_line_with_its_latency() -> None:
    verdict = told(FIGURES)
    assert verdict["line"] == "OK           canary at dc_b: dc_a->dc_b p50 0.4 s, p99 1.2 s, last 12 s ago"
    assert verdict["status"] == "OK"
    assert verdict["cluster"] == "dc_b"


def of_gaps(*gaps: Gap, age: float = 5.0, why: str = "") -> Figures:
    return replace(FIGURES, flows=(GapFigures("dc_a->dc_b", "dc_a", age, 10.0, gaps, why),))


PURGE = Gap(PURGED, "orders", 0, 60, 79)
FLOW = 'cluster="dc_b",source="dc_a",target="dc_b"'


def test_lost_records_are_a_series_of_their_topic() -> None:
    lines = text(of_gaps(PURGE, Gap(PURGED, "orders", 1, 0, 9), Gap(PURGED, "doubt", 0, 0, 9, certain=False)))
    assert f'streamops_canary_gap_records{{{FLOW},kind="purged",topic="orders"}} 30' in lines
    assert not [line for line in lines if "doubt" in line]
    assert f"streamops_canary_gap_look_age_seconds{{{FLOW}}} 5.000" in lines


def test_a_flow_without_gaps_has_a_zero_once_it_was_looked_at() -> None:
    assert f"streamops_canary_gap_records{{{FLOW}}} 0" in text(of_gaps())
    before = replace(FIGURES, flows=(GapFigures("dc_a->dc_b", "dc_a", 5.0, 10.0),))
    assert not [line for line in text(before) if "gap_records" in line]


def test_topics_with_few_lost_records_have_one_series_together() -> None:
    many = [Gap(PURGED, f"t{number}", 0, 0, number) for number in range(MOST_TOPICS + 2)]
    lines = [line for line in text(of_gaps(*many)) if line.startswith("streamops_canary_gap_records")]
    assert len(lines) == MOST_TOPICS + 1
    assert f'streamops_canary_gap_records{{{FLOW},kind="purged",topic="(others)"}} 3' in lines


def test_records_that_the_source_lost_behind_the_mirror_are_of_a_kind_of_their_own() -> None:
    """Nobody has to load them again."""
    lines = text(of_gaps(Gap(TRUNCATED, "orders", 0, 5, 9), PURGE))
    assert f'streamops_canary_gap_records{{{FLOW},kind="truncated",topic="orders"}} 5' in lines
    assert f'streamops_canary_gap_records{{{FLOW},kind="purged",topic="orders"}} 20' in lines


def test_a_status_names_lost_records_and_the_offsets() -> None:
    line = told(of_gaps(PURGE, Gap(TRUNCATED, "audit", 2, 5, 5)))["line"]
    assert line.startswith("DEGRADED")
    assert "dc_a->dc_b: 20 records of the source will never be mirrored: orders-0 60 to 79; " in line
    assert "1 records are gone from the source, whose log was cut: audit-2 5 to 5" in line


def test_a_status_says_that_nobody_looks_for_lost_records_and_why() -> None:
    verdict = told(of_gaps(age=700.0, why="no route to host"))
    assert "dc_a->dc_b: no look for lost records for 12 min (no route to host)" in verdict["line"]
    assert told(of_gaps(age=60.0, why="no route to host"))["status"] == "OK"
    # A look at a new gap waits until the mirror has written down where it is.
    slow = replace(FIGURES, flows=(GapFigures("dc_a->dc_b", "dc_a", 1000.0, 900.0, ()),))
    assert told(slow)["status"] == "OK"


def test_a_status_names_what_is_wrong() -> None:
    for values, words in (
        ({"missing": 2}, "dc_a->dc_b: 2 events missing"),
        ({"out_of_order": 1}, "dc_a->dc_b: 1 event out of order"),
        ({"late": 3}, "dc_a->dc_b: 3 events late"),
    ):
        verdict = told(with_total(**values))
        assert verdict["status"] == "DEGRADED"
        assert words in verdict["line"]


def test_repeated_events_are_told_and_are_no_failure() -> None:
    """A mirror without exactly once repeats events after a crash."""
    verdict = told(with_total(repeated=4))
    assert (verdict["status"], "4 repeated" in verdict["line"]) == ("OK", True)


def test_a_status_says_which_cluster_cannot_be_read_or_written_and_why() -> None:
    down = replace(FIGURES.sources[0], last_written=9999.0, why="no route to host")
    both = told(replace(FIGURES, sources=[down], readable={"dc_a": False}, whys={"dc_a": "no route to host"}))
    assert both["line"].count("no route to host") == 1
    verdict = told(replace(FIGURES, readable={"dc_b": False}, whys={"dc_b": "no route to host"}))
    assert "cluster dc_b cannot be read (no route to host)" in verdict["line"]
    verdict = told(replace(FIGURES, sources=(SourceFigures("dc_a", 400.0, 3, 0, "timed out"),)))
    assert "no event was written into dc_a for 400 s (timed out)" in verdict["line"]


def test_each_broker_gets_a_partition_that_it_leads() -> None:
    assert missing_partitions([3, 1, 2, 4], []) == [[1, 2, 3], [2, 3, 4], [3, 4, 1], [4, 1, 2]]
    assert missing_partitions([1, 2, 3, 4], [1, 2, 3]) == [[4, 1, 2]]
    assert missing_partitions([1], [1]) == []
    assert missing_partitions([2, 1], []) == [[1, 2], [2, 1]]
    assert len(missing_partitions(range(500), [])) == MOST


def test_the_topic_can_be_written_where_there_is_one_broker() -> None:
    assert config_for(1)["min.insync.replicas"] == "1"


def test_one_of_two_or_more_brokers_may_be_away() -> None:
    assert config_for(2)["min.insync.replicas"] == "1"
    assert config_for(3)["min.insync.replicas"] == "2"
    assert config_for(5)["min.insync.replicas"] == "2"
