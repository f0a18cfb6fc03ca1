"""The text for Prometheus: names, hostile labels, unknown values, the limit."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.core.exposition import escaped, exposition
from page.known.metrics import families_of, families_of_polls
from page.known.picture import Picture, Polls
from tests.support.prometheus import promtool_reads


def position(index: int, committed: int | None, lag: int | None) -> dict[str, Any]:
    return {"partition": index, "committed": committed, "lag": lag}


def group(name: str, *positions: dict[str, Any], topic: str = "t") -> dict[str, Any]:
    lags = [one["lag"] for one in positions]
    total = {"lag": sum(lag or 0 for lag in lags), "lag_unknown": lags.count(None)}
    topics = [{"name": topic, **total, "partitions": list(positions)}]
    return {"name": name, "type": "classic", "state": "Empty", "member_count": 0, "error": None, "topics": topics}


def picture(*groups: dict[str, Any], **logs: dict[int, Log]) -> Picture:
    return Picture(1000.0, 0.25, 7, 3, 0, logs, groups)


def text_of(seen: Picture, limit: int, cluster: str = "c") -> str:
    return exposition([families_of(cluster, seen, limit)])


def text_of_polls(polls: Polls, seen: Picture | None, now: float, cluster: str = "c") -> str:
    return exposition([families_of_polls(cluster, polls, seen, now, 300)])


def test_names_are_those_of_the_alerts() -> None:
    text = text_of(picture(group("g", position(0, 4, 6)), t={0: Log(1, 10)}), 100)
    assert 'kafka_consumergroup_current_offset{cluster="c",consumergroup="g",topic="t",partition="0"} 4\n' in text
    assert 'kafka_consumergroup_lag{cluster="c",consumergroup="g",topic="t",partition="0"} 6\n' in text
    assert 'kafka_topic_partition_current_offset{cluster="c",topic="t",partition="0"} 10\n' in text
    assert 'kafka_topic_partition_oldest_offset{cluster="c",topic="t",partition="0"} 1\n' in text
    assert 'kafka_topic_partitions{cluster="c",topic="t"} 1\n' in text
    assert 'kafka_consumergroup_state{cluster="c",consumergroup="g",type="classic",state="Empty"} 1\n' in text


def test_groups_that_must_be_there_are_told_also_where_they_are_not() -> None:
    text = text_of(dataclasses.replace(picture(group("g"), group("h")), watched=("g", "gone")), 100)
    assert 'kafka_consumergroup_watched{cluster="c",consumergroup="h"} 0\n' in text
    assert 'kafka_consumergroup_watched{cluster="c",consumergroup="g"} 1\n' in text
    assert 'kafka_consumergroup_watched{cluster="c",consumergroup="gone"} 1\n' in text


def test_what_is_unknown_has_no_series() -> None:
    text = text_of(picture(group("g", position(0, None, None), position(1, 99, None)), t={0: Log(missing="x")}), 100)
    assert "kafka_consumergroup_lag{" not in text
    assert 'kafka_consumergroup_current_offset{cluster="c",consumergroup="g",topic="t",partition="1"} 99' in text
    assert 'kafka_consumergroup_topic_lag_unknown{cluster="c",consumergroup="g",topic="t"} 2' in text
    assert "kafka_topic_partition_current_offset" not in text
    assert 'kafka_lag_unread_partitions{cluster="c"} 1\n' in text


def test_the_status_and_its_findings_are_told_by_kind() -> None:
    kinds = [{"kind": "broker_down", "severity": "degraded"}] * 2 + [{"kind": "move_running", "severity": "note"}]
    seen = dataclasses.replace(picture(), cluster={"status": "DEGRADED", "findings": kinds})
    polls = text_of_polls(Polls(500.0), seen, 1001.0)
    assert 'streamops_page_cluster_status{cluster="c",status="OK"} 0\n' in polls
    assert 'streamops_page_cluster_status{cluster="c",status="DEGRADED"} 1\n' in polls
    text = text_of(seen, 100)
    assert 'streamops_page_findings{cluster="c",kind="broker_down",severity="degraded"} 2\n' in text
    assert 'streamops_page_findings{cluster="c",kind="move_running",severity="note"} 1\n' in text
    well = dataclasses.replace(picture(), cluster={"status": "OK", "findings": []})
    assert "streamops_page_findings" not in text_of(well, 100)


@pytest.mark.parametrize(
    ("polls", "now", "status", "brokers"),
    [
        (Polls(500.0, 9, 1, "silence", is_down=True), 1030.0, "DOWN", 0),
        # As its page, which says STALE where a poll failed.
        (Polls(500.0, 9, 1, "no right"), 1030.0, "UNKNOWN", 3),
        (Polls(500.0, 9, 1), 1030.0, "OK", 3),
        # Older than that it is told no more, whether polls fail or none ends, as all else that was seen.
        (Polls(500.0, 9, 9, "no right"), 1400.0, "UNKNOWN", None),
        (Polls(500.0), 1400.0, "UNKNOWN", None),
        (Polls(500.0, 9, 9, "silence", is_down=True), 1400.0, "DOWN", 0),
    ],
)
def test_a_status_that_no_longer_holds_is_not_told(polls: Polls, now: float, status: str, brokers: int | None) -> None:
    seen = dataclasses.replace(picture(), cluster={"status": "OK", "findings": []})
    text = text_of_polls(polls, seen, now)
    assert re.findall(r'cluster_status{cluster="c",status="(\w+)"} 1', text) == [status]
    told = [str(brokers)] if brokers is not None else []
    assert re.findall(r'^kafka_brokers{cluster="c"} (\d+)$', text, re.M) == told


def placed(name: str, *partitions: tuple[int | None, list[int], list[int]]) -> dict[str, Any]:
    """A topic with leader, replicas and replicas in sync of its partitions."""
    rows = [{"partition": index, "leader": leader, "replicas": replicas, "isr": isr}
            for index, (leader, replicas, isr) in enumerate(partitions)]  # fmt: skip
    return {"name": name, "partitions": rows}


def test_where_replicas_are_is_told_under_the_names_of_kafka_exporter() -> None:
    topics = [placed("t", (1, [1, 2], [1, 2]), (2, [1, 2], [2]), (None, [3], [])), {"name": "u", "partitions": None}]
    seen = dataclasses.replace(picture(), cluster={"status": "OK", "topics": topics})
    text = text_of(seen, 100)
    for name, values in (
        ("leader", {0: 1, 1: 2}),
        ("replicas", {0: 2, 1: 2, 2: 1}),
        ("in_sync_replica", {0: 2, 1: 1, 2: 0}),
        ("leader_is_preferred", {0: 1, 1: 0, 2: 0}),
        ("under_replicated_partition", {0: 0, 1: 1, 2: 1}),
    ):
        found = re.findall(rf'^kafka_topic_partition_{name}{{cluster="c",topic="t",partition="(.)"}} (.)$', text, re.M)
        assert {int(at): int(value) for at, value in found} == values, name
    assert 'topic="u"' not in text
    assert 'kafka_lag_series_left_out{cluster="c",of="replica"} 0\n' in text
    # Offsets come first: alerts need them, and the limit is one for all.
    less = text_of(dataclasses.replace(seen, logs={"t": {0: Log(0, 2)}}), 15)
    assert 'kafka_topic_partition_current_offset{cluster="c",topic="t",partition="0"} 2\n' in less
    assert "kafka_topic_partition_replicas" not in less
    assert 'kafka_lag_series_left_out{cluster="c",of="replica"} 14\n' in less


def test_sums_of_a_group_in_a_topic_have_no_part_that_is_unknown() -> None:
    def sums(*positions: dict[str, Any]) -> list[tuple[str, str]]:
        text = text_of(picture(group("g", *positions)), 0)
        return re.findall(r'^kafka_consumergroup_(\w+_sum){cluster="c",consumergroup="g",topic="t"} (\d+)$', text, re.M)

    known = (position(0, 4, 6), position(1, 5, 1))
    assert sums(*known) == [("current_offset_sum", "9"), ("lag_sum", "7")]
    # Where nothing was committed, kafka_exporter counts neither; it adds its -1 to the offsets.
    assert sums(*known, position(2, None, None)) == [("current_offset_sum", "9"), ("lag_sum", "7")]
    assert sums(*known, position(2, 9, None)) == [("current_offset_sum", "18")]
    assert sums(position(0, None, None)) == []


def test_before_the_first_picture_the_status_is_unknown() -> None:
    text = text_of_polls(Polls(500.0), None, 510.0)
    assert 'streamops_page_cluster_status{cluster="c",status="UNKNOWN"} 1\n' in text
    assert "kafka_brokers" not in text


HOSTILE = ['a"b', "a\\", "a\nkafka_brokers 0", "\u202egroup", "n" * 249, "\ud800", "a\r\x00b", '"} 1 # ']


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_within_its_label(name: str) -> None:
    assert "\n" not in escaped(name)
    plain, *hostile = (
        text_of(picture(group(one, position(0, 4, 6))), 100, cluster)
        for one, cluster in (("plain", "plain"), (name, "plain"), ("plain", name))
    )
    for text in hostile:
        text.encode()
        assert text.count("\n") == plain.count("\n")
        assert text.replace(escaped(name), "plain") == plain


def test_escapes_are_those_of_the_format() -> None:
    assert escaped('a"b\\c\nd') == 'a\\"b\\\\c\\nd'


def test_the_limit_leaves_out_whole_groups_and_then_topics_and_says_so() -> None:
    seen = picture(group("a", position(0, 1, 1), position(1, 1, 1)), group("b", position(0, 1, 1)), t={0: Log(0, 2)})
    text = text_of(seen, 4)
    assert text.count('kafka_consumergroup_lag{cluster="c",consumergroup="a"') == 2
    assert 'kafka_consumergroup_lag{cluster="c",consumergroup="b"' not in text
    assert "kafka_topic_partition_oldest_offset" not in text
    assert 'kafka_consumergroup_topic_lag{cluster="c",consumergroup="b",topic="t"} 1' in text
    assert 'kafka_lag_series_left_out{cluster="c",of="group"} 2\n' in text
    assert 'kafka_lag_series_left_out{cluster="c",of="topic"} 2\n' in text
    assert 'left_out{cluster="c",of="group"} 0\n' in text_of(seen, 8)


def test_age_counts_from_the_picture_or_else_from_the_start() -> None:
    text = text_of_polls(Polls(500.0, 3, 1), None, 510.0)
    assert 'kafka_lag_last_poll_timestamp_seconds{cluster="c"} 500.000\n' in text
    assert 'kafka_lag_poll_failures_total{cluster="c"} 1\n' in text
    assert 'kafka_lag_picture_age_seconds{cluster="c"} 2.000\n' in text_of_polls(Polls(500.0), picture(), 1002.0)
    assert 'kafka_lag_picture_age_seconds{cluster="c"} 0.000\n' in text_of_polls(Polls(500.0), picture(), 2.0), (
        "a clock set back"
    )


def test_each_metric_stands_once_whatever_clusters_there_are() -> None:
    seen = picture(group("g", position(0, 4, 6)), t={0: Log(1, 10)})
    text = exposition(
        [
            *(families_of(name, seen, limit) for name, limit in (("a", 100), ("b", 0))),
            *(families_of_polls(name, Polls(5.0), seen, 1001.0, 300) for name in "ab"),
        ]
    )
    heads = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))
    assert 'kafka_brokers{cluster="a"} 3\nkafka_brokers{cluster="b"} 3\n' in text
    assert 'kafka_consumergroup_lag{cluster="a"' in text
    assert 'kafka_consumergroup_lag{cluster="b"' not in text, "the limit holds for each cluster"
    assert all(line.startswith("#") or re.match(r'\w+{cluster="[ab]"[,}]', line) for line in text.splitlines())


def test_promtool_has_nothing_against_it() -> None:
    groups = [group(name, position(0, 4, 6)) for name in HOSTILE if name != "\ud800"]
    seen = picture(*groups, t={0: Log(1, 10)})
    clusters = [name for name in HOSTILE if name != "\ud800"]
    polls = [families_of_polls(name, Polls(500.0), seen, 1001.0, 300) for name in clusters]
    assert promtool_reads(exposition([*polls, *(families_of(name, seen, 100) for name in clusters)])) == (0, "")
