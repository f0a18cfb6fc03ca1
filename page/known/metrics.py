"""Make the text that Prometheus reads of the pictures of clusters. Pure.

Names are kafka_exporter's where it has one. What is unknown has no series: kafka_exporter's -1 would look like an
offset, and KafkaGroupLostRecords would fire on it. The first label of every series is C(cluster), as in the alerts of
the collection. A scrape needs C(honor_labels), or a target without this label: else Prometheus renames the one here.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._health.model import DEGRADED, DOWN, OK
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import UNKNOWN
from page.core.exposition import Family, Series, family
from page.known.freshness import freshness, is_current
from page.known.picture import Picture, Polls

Row = Mapping[str, Any]

#: Series of each partition, besides its leader, which is missing where it has none.
_ALWAYS = 4


def series_of(topic: Row) -> int:
    """Return how many series a topic has here; none where its partitions were not told."""
    return sum(_ALWAYS + (one["leader"] is not None) for one in topic.get("partitions") or ())


def families_of_partitions(cluster: str, topics: Sequence[Row]) -> Iterator[Family]:
    """Yield the leader and the replicas of each partition of topics as cluster_info tells them."""
    rows = [
        ({"topic": topic["name"], "partition": one["partition"]}, one)
        for topic in topics
        for one in topic.get("partitions") or ()
    ]
    family_of = partial(family, cluster)
    yield from family_of(
        "kafka_topic_partition_leader",
        "Id of the broker that leads a partition; no series where none does.",
        ((labels, one["leader"]) for labels, one in rows if one["leader"] is not None),
    )
    yield from family_of(
        "kafka_topic_partition_replicas",
        "Replicas of a partition.",
        ((labels, len(one["replicas"])) for labels, one in rows),
    )
    yield from family_of(
        "kafka_topic_partition_in_sync_replica",
        "Replicas of a partition that are in sync.",
        ((labels, len(one["isr"])) for labels, one in rows),
    )
    yield from family_of(
        "kafka_topic_partition_leader_is_preferred",
        "1 where the preferred broker leads a partition, else 0.",
        ((labels, int(one["leader"] in one["replicas"][:1])) for labels, one in rows),
    )
    yield from family_of(
        "kafka_topic_partition_under_replicated_partition",
        "1 where a replica of a partition is not in sync, else 0.",
        ((labels, int(len(one["isr"]) < len(one["replicas"]))) for labels, one in rows),
    )


def families_of_polls(
    cluster: str, polls: Polls, picture: Picture | None, now: float, stale_after: float
) -> list[Family]:
    """Return what changes between polls; C(now) is in seconds since 1970, C(stale_after) in seconds.

    Before the first picture the start of the process counts as the last poll, so that KafkaLagStale fires when no poll
    ever succeeds, and does not fire at every start.
    """
    last = picture.taken if picture else polls.began
    status = _status(polls, picture, now, stale_after)
    family_of = partial(family, cluster)
    return [
        *family_of(
            "kafka_lag_last_poll_timestamp_seconds",
            "When the last poll succeeded; before the first one, when the service started.",
            [({}, last)],
        ),
        *family_of("kafka_lag_picture_age_seconds", "Age of what is served here.", [({}, max(0.0, now - last))]),
        *family_of(
            "streamops_page_cluster_status",
            "1 for the status of a cluster, 0 for others; UNKNOWN where the picture is stale or polls fail.",
            (({"status": one}, int(one == status)) for one in (OK, DEGRADED, DOWN, UNKNOWN)),
        ),
        *family_of(
            "kafka_brokers", "Brokers that answer and are not fenced.", _brokers(polls, picture, now, stale_after)
        ),
        *family_of("kafka_lag_polls_total", "Polls that ended, well or not.", [({}, polls.done)], "counter"),
        *family_of("kafka_lag_poll_failures_total", "Polls that failed.", [({}, polls.failed)], "counter"),
    ]


def _status(polls: Polls, picture: Picture | None, now: float, stale_after: float) -> str:
    """Return the status of a cluster as far as it holds now, which its page and its health say too."""
    if polls.is_down:
        return DOWN
    if picture is None or not picture.cluster or not freshness(polls, picture, now, stale_after).is_fresh:
        return UNKNOWN
    return str(picture.cluster["status"])


def _brokers(polls: Polls, picture: Picture | None, now: float, stale_after: float) -> Iterator[Series]:
    """Yield how many brokers serve: 0 where no server answers, and nothing once the picture is stale."""
    if polls.is_down:
        yield {}, 0
    elif picture and is_current(polls, picture, now, stale_after):
        yield {}, picture.brokers


def families_of(cluster: str, picture: Picture, limit: int) -> list[Family]:
    """Return the metrics of a picture of a cluster with at most C(limit) series by partition.

    Groups come first, since alerts need them, those that must be there before others; then offsets of topics, and last
    where their replicas are. Whole groups and topics are left out where they do not fit.
    """
    groups = sorted(picture.groups, key=lambda one: (one["name"] not in picture.watched, str(one["name"])))
    rows = {str(one["name"]): list(_positions(one)) for one in groups}
    sizes = {name: sum(1 + (one["lag"] is not None) for _topic, one in some) for name, some in rows.items()}
    shown_groups, left = _fitting(sizes, limit)
    known = {
        topic: {index: log for index, log in sorted(logs.items()) if not log.missing}
        for topic, logs in sorted(picture.logs.items())
    }
    shown_topics, left = _fitting({topic: 2 * len(logs) for topic, logs in known.items()}, left)
    placed = {str(one["name"]): series_of(one) for one in picture.cluster.get("topics", ())}
    shown_placed, _left = _fitting(placed, left)
    out = {
        "group": sum(size for name, size in sizes.items() if name not in shown_groups),
        "topic": sum(2 * len(logs) for topic, logs in known.items() if topic not in shown_topics),
        "replica": sum(size for name, size in placed.items() if name not in shown_placed),
    }
    positions = [
        ({"consumergroup": name, "topic": topic, "partition": one["partition"]}, one)
        for name in rows
        if name in shown_groups
        for topic, one in rows[name]
    ]
    logs = [
        ({"topic": topic, "partition": index}, log)
        for topic, some in known.items()
        if topic in shown_topics
        for index, log in some.items()
    ]
    family_of = partial(family, cluster)
    return [
        *_of_groups(cluster, groups),
        *family_of(
            "kafka_consumergroup_watched",
            "1 for a group that must be there (kafka_groups_watched), whether it is there or not; 0 for others.",
            (({"consumergroup": name}, int(name in picture.watched)) for name in sorted({*rows, *picture.watched})),
        ),
        *family_of(
            "kafka_consumergroup_topic_wanted",
            "1 where a member has partitions of a topic, and for all topics of a group that must be there; else 0.",
            _wanted(groups, picture.watched),
        ),
        *family_of(
            "kafka_consumergroup_current_offset",
            "Next offset that a group reads; of a share group, its start offset.",
            ((labels, one["committed"]) for labels, one in positions),
        ),
        *family_of(
            "kafka_consumergroup_lag",
            "Records that a group has before it.",
            ((labels, one["lag"]) for labels, one in positions if one["lag"] is not None),
        ),
        *family_of(
            "kafka_topic_partitions",
            "Partitions of a topic.",
            (({"topic": topic}, len(some)) for topic, some in sorted(picture.logs.items())),
        ),
        *family_of(
            "kafka_topic_partition_current_offset", "End of a log.", ((labels, log.end) for labels, log in logs)
        ),
        *family_of(
            "kafka_topic_partition_oldest_offset", "Start of a log.", ((labels, log.start) for labels, log in logs)
        ),
        *families_of_partitions(
            cluster, [one for one in picture.cluster.get("topics", ()) if one["name"] in shown_placed]
        ),
        *_of_poll(cluster, picture),
        *_of_health(cluster, picture.cluster),
        *family_of(
            "kafka_lag_series_left_out",
            "Series by partition that the limit leaves out; no alert watches them.",
            (({"of": kind}, count) for kind, count in out.items()),
        ),
    ]


def _positions(group: Any) -> Iterator[tuple[str, Any]]:
    for topic in group.get("topics", ()):
        yield from ((topic["name"], one) for one in topic["partitions"] if one["committed"] is not None)


def _wanted(groups: Iterable[Any], watched: Collection[str]) -> Iterator[Series]:
    """Yield by group and topic whether somebody counts on it that the group reads there."""
    for group in groups:
        assigned = {one["topic"] for member in group.get("members") or () for one in member["assignment"]}
        for topic in group.get("topics", ()):
            labels = {"consumergroup": group["name"], "topic": topic["name"]}
            yield labels, int(group["name"] in watched or topic["name"] in assigned)


def _fitting(sizes: dict[str, int], limit: int) -> tuple[set[str], int]:
    """Return the names whose sizes together are within a limit, the first ones that fit, and what is left of it."""
    shown: set[str] = set()
    for name, size in sizes.items():
        if size <= limit:
            shown.add(name)
            limit -= size
    return shown, limit


def _of_groups(cluster: str, groups: Iterable[Any]) -> Iterator[Family]:
    groups, family_of = list(groups), partial(family, cluster)
    yield from family_of(
        "kafka_consumergroup_state",
        "State and type of a group; the value is always 1.",
        (({"consumergroup": one["name"], "type": one["type"], "state": one["state"]}, 1) for one in groups),
    )
    yield from family_of(
        "kafka_consumergroup_members",
        "Members of a group.",
        (({"consumergroup": one["name"]}, one["member_count"]) for one in groups),
    )
    topics = [
        ({"consumergroup": one["name"], "topic": topic["name"]}, topic)
        for one in groups
        for topic in one.get("topics", ())
    ]
    yield from family_of(
        "kafka_consumergroup_topic_lag",
        "Records that a group has before it in a topic, as far as they are known.",
        ((labels, topic["lag"]) for labels, topic in topics),
    )
    yield from family_of(
        "kafka_consumergroup_topic_lag_unknown",
        "Partitions of a topic in which the lag of a group is unknown.",
        ((labels, topic["lag_unknown"]) for labels, topic in topics),
    )
    # kafka_exporter calls these gauges; only a histogram may have such a name then (promtool check metrics).
    sums = [(labels, [one for one in topic["partitions"] if one["committed"] is not None]) for labels, topic in topics]
    yield from family_of(
        "kafka_consumergroup_current_offset_sum",
        "Sum of the next offsets that a group reads in a topic, where it has committed.",
        ((labels, sum(one["committed"] for one in some)) for labels, some in sums if some),
        "untyped",
    )
    # With an unknown part the sum would fall, as if the group had caught up.
    yield from family_of(
        "kafka_consumergroup_lag_sum",
        "Records that a group has before it in a topic, where it has committed; none where one of them is unknown.",
        (
            (labels, sum(one["lag"] for one in some))
            for labels, some in sums
            if some and all(one["lag"] is not None for one in some)
        ),
        "untyped",
    )


def _of_health(cluster: str, seen: Mapping[str, Any]) -> Iterator[Family]:
    """Yield the findings of a cluster by kind, which status.yml judges by the same rules."""
    kinds = Counter((one["kind"], one["severity"]) for one in seen.get("findings", ()))
    yield from family(
        cluster,
        "streamops_page_findings",
        "Findings on a cluster by kind and severity.",
        (({"kind": kind, "severity": severity}, count) for (kind, severity), count in sorted(kinds.items())),
    )


def _of_poll(cluster: str, picture: Picture) -> Iterator[Family]:
    unread = sum(1 for logs in picture.logs.values() for log in logs.values() if log.missing)
    failed = sum(1 for one in picture.groups if one["error"])
    for name, meaning, value in (
        ("kafka_lag_poll_seconds", "Seconds that the last successful poll took.", picture.seconds),
        ("kafka_lag_poll_requests", "Requests of the last successful poll.", picture.requests),
        ("kafka_lag_silent_brokers", "Brokers that did not tell their groups.", picture.silent_brokers),
        ("kafka_lag_unread_partitions", "Partitions whose ends are unknown.", unread),
        ("kafka_lag_unread_groups", "Groups that could not be read whole.", failed),
    ):
        yield from family(cluster, name, meaning, [({}, value)])
