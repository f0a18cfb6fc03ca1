"""The rules that are made of the table of alerts, judged by Prometheus' own promtool."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._health.group_rules import STOPPED_SECONDS
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import NOTE, Limits
from ansible_collections.streamops.kafka.plugins.module_utils._health.rules import KINDS
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.health import MIRROR_KINDS
from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import (
    ENDS,
    FIRES,
    STAYS,
    Alert,
    chosen,
    inhibitions,
    planned,
    records,
    rules,
    table,
)
from tests.support.prometheus import promtool
from tests.support.states import Row
from tests.support.states import table as states

PLAYBOOKS = Path(__file__).resolve().parents[5] / "playbooks"


def written(path: Path, choices: dict[str, Any]) -> Path:
    """Write the rules file of an inventory that chose so."""
    path.write_text(yaml.safe_dump(rules(chosen(table(), choices))))
    return path


def test_promtool_takes_every_rule(tmp_path: Path) -> None:
    everything = {alert.name: {"enabled": True} for alert in table()}
    status, said = promtool("check", "rules", written(tmp_path / "rules.yml", everything))
    count = len(table()) + sum(map(len, records().values())) + sum(alert.goes_on for alert in table())
    assert (status, f"{count} rules found" in said) == (0, True), said


@pytest.mark.parametrize("alert", table(), ids=lambda alert: alert.name)
def test_each_alert_says_all_that_its_page_needs(alert: Alert) -> None:
    assert re.fullmatch("(Kafka|ZooKeeper|Mirror)[A-Za-z]+", alert.name)
    assert all(text.strip() for text in (alert.summary, alert.meaning, alert.first, alert.then))
    # A number that no expression has would be set without any effect.
    texts = "".join((alert.expr, *alert.terms.values()))
    assert all(f"${name}" in alert.expr or f"${{{name}}}" in texts for name in alert.numbers)
    assert "$$" in alert.expr or "$" not in alert.query


def test_what_an_alert_causes_is_a_warning_of_the_table() -> None:
    warnings = {alert.name for alert in table() if alert.severity == "warning"}
    for alert in table():
        assert bool(alert.causes) == bool(alert.within)
        assert not alert.causes or alert.severity == "critical"
        assert set(alert.causes) <= warnings


def test_no_critical_alert_is_muted() -> None:
    assert {rule["target_matchers"][1] for rule in inhibitions()} == {'severity="warning"'}


MUTED = [(critical, name) for critical in table() for name in critical.causes]


def test_the_inhibition_rules_are_those_pairs() -> None:
    pairs = [
        (rule["source_matchers"][0], name, tuple(rule["equal"]))
        for rule in inhibitions()
        for name in rule["target_matchers"][0].removeprefix('alertname=~"').removesuffix('"').split("|")
    ]
    assert pairs == [(f'alertname="{critical.name}"', name, tuple(critical.within)) for critical, name in MUTED]


def test_a_warning_that_is_muted_ends_after_what_mutes_it(tmp_path: Path) -> None:
    """Each pair of an inhibition rule, with series in place of what makes the two fire.

    The warning fires from minute 1, the critical alert from 3 to 10, and what the warning tells of ends at 6. Beside it
    is the same warning with other labels, which nothing mutes.
    """
    warnings = {alert.name: alert for alert in table()}
    for number, (critical, name) in enumerate(MUTED):
        same = {label: f"a-{label}" for label in critical.within}
        other = {**same, critical.within[0]: "another"}
        also = dict(re.findall(r'(\w+)="(\w+)"', critical.causing))
        bare = rules(
            [
                replace(critical, expr="cause > 0", heard="", period="0m", numbers={}, terms={}),
                replace(warnings[name], expr="follows > 0", period="0m", numbers={}, terms={}),
            ]
        )
        for group in bare["groups"]:
            # Without the series that the group keeps for its other alerts.
            kept = [rule for rule in group["rules"] if "alert" in rule or rule["record"].startswith("alert:")]
            group["rules"] = [{**rule, "annotations": {}} if "alert" in rule else rule for rule in kept]
        (tmp_path / f"{number}.yml").write_text(yaml.safe_dump(bare))
        series = {
            f"cause{labelled({**same, **also})}": "0x2 1x7 0x20",
            f"follows{labelled(same)}": "0 1x4 0x20",
            f"follows{labelled(other)}": "0 1x4 0x20",
        }
        expected = {"8m": [{"exp_labels": {**same, "severity": "warning"}}], "12m": []}
        case = {
            "interval": "1m",
            "input_series": [{"series": one, "values": values} for one, values in series.items()],
            "alert_rule_test": [
                {"eval_time": at, "alertname": name, "exp_alerts": alerts} for at, alerts in expected.items()
            ],
        }
        whole = {"rule_files": [f"{number}.yml"], "evaluation_interval": "1m", "tests": [case]}
        (tmp_path / f"case{number}.yml").write_text(yaml.safe_dump(whole))
    status, said = promtool("test", "rules", *sorted(tmp_path.glob("case*.yml")))
    assert status == 0, said


def labelled(labels: dict[str, str]) -> str:
    """Return labels as a series has them."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def test_a_warning_that_an_inventory_made_critical_is_not_muted_and_ends_by_itself() -> None:
    (raised,) = [one for one in chosen(table(), {"KafkaUnderReplicated": {"severity": "critical"}})
                 if one.name == "KafkaUnderReplicated"]  # fmt: skip
    assert raised.rule == raised.query
    assert not raised.goes_on


def severities() -> dict[str, str]:
    """Return the severity of each kind of finding on a cluster or a flow of mirrors, as docs/health.md has it."""
    page = (PLAYBOOKS.parent / "docs" / "health.md").read_text()
    parts = [page.split(f"## Findings on a {what}")[1].split("\n## ")[0] for what in ("cluster", "mirror")]
    return dict(re.findall(r"^\| `([a-z_]+)` \| (down|degraded|note) \|", "".join(parts), re.MULTILINE))


def test_each_finding_that_is_no_note_has_one_alert_which_is_on() -> None:
    kinds = severities()
    # Those of start files are one line of the table of KINDS, and three of the page.
    every = {*KINDS, *MIRROR_KINDS}
    assert set(kinds) == every
    on = {alert.name for alert in chosen(table(), {})}
    of = {kind: [alert.name for alert in table() if kind in alert.tells] for kind in every}
    for kind, severity in kinds.items():
        assert len(of[kind]) == (severity != NOTE), (kind, of[kind])
        assert set(of[kind]) <= on
    assert {kind for alert in table() for kind in alert.tells} <= every


@pytest.mark.parametrize(
    ("states", "told"),
    [({"missing": 2, "in_step": 9}, True), ({"fewer_partitions": 1}, True), ({"missing": 0, "behind": 9}, False)],
)
def test_topics_that_the_target_of_a_flow_lacks_are_told(tmp_path: Path, states: dict[str, int], told: bool) -> None:
    flow = {"cluster": "b", "source": "a", "target": "b"}
    series = {
        f"streamops_page_mirror_topics{labelled({**flow, 'state': state})}": f"{count}x60"
        for state, count in states.items()
    }
    expected = [{**flow, "severity": "warning"}] if told else []
    assert _case(tmp_path, series, "MirrorTopicsMissing", expected, at="40m")
    assert _case(tmp_path, series, "MirrorTopicsMissing", [], at="20m")


def test_an_alert_that_looks_at_findings_looks_at_those_that_it_tells_of() -> None:
    for alert in table():
        # By name of a kind it would be a list of its own.
        assert 'kind=~"$tells"' in alert.expr or "streamops_page_findings" not in alert.expr.split(" unless ")[0]


@pytest.mark.parametrize("row", states().values(), ids=lambda row: row.name)
def test_the_alert_of_a_finding_fires_where_the_page_finds_it(row: Row) -> None:
    kinds = severities()
    told = {kind for kind in (*row.kinds, *row.page_kinds) if kinds[kind] != NOTE}
    # A server that is down is behind too, and the alert of the node tells it.
    told -= {"controller_behind"} if "broker_down" in told else set()
    assert {alert.name for alert in table() if told & set(alert.tells)} <= row.alerts


def test_names_of_alerts_are_unique() -> None:
    names = [alert.name for alert in table()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"KafkaDiscLow": {}}, "there is no alert KafkaDiscLow (names like it: KafkaDiskLow"),
        ({"KafkaDiskLow": {"limit": 1}}, "KafkaDiskLow: it has no 'limit'; it has enabled, for, severity, share"),
        ({"KafkaDiskLow": {"share": "much"}}, "share is no number (found: 'much'"),
        ({"KafkaDiskLow": {"share": -1}}, "share is out of its range (found: -1"),
        ({"KafkaDiskLow": {"share": True}}, "share is no number (found: True"),
        ({"KafkaDiskLow": {"for": "soon"}}, "for is 'soon'; fix: a duration"),
        ({"KafkaDiskLow": {"for": ""}}, "for is ''; fix: a duration"),
        ({"KafkaDiskLow": {"severity": "page"}}, "severity is 'page'; fix: critical or warning"),
        ({"KafkaDiskLow": {"enabled": "perhaps"}}, "enabled is neither true nor false (found: 'perhaps'"),
        ({"KafkaDiskLow": "off"}, "'off' is not a dictionary; fix: KafkaDiskLow: {enabled: false}"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        chosen(table(), choices)


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(ValueError, match=r"KafkaDiskLow: .*; .*no alert ANothing"):
        chosen(table(), {"KafkaDiskLow": {"share": "x"}, "ANothing": {}})


def test_choices_reach_the_rule_also_as_text() -> None:
    choices = {
        "KafkaDiskLow": {"share": "0.25", "for": "1h30m", "severity": "warning"},
        "KafkaUnderMinIsr": {"enabled": "no"},
    }
    alerts = {alert.name: alert for alert in chosen(table(), choices)}
    low = alerts["KafkaDiskLow"]
    assert ("_size_bytes < 0.25 or on" in low.query, low.period, low.severity) == (True, "1h30m", "warning")
    assert "KafkaUnderMinIsr" not in alerts


def test_an_optional_alert_is_off_until_something_is_chosen_about_it() -> None:
    assert "KafkaAtMinIsr" not in {alert.name for alert in chosen(table(), {})}
    assert "KafkaAtMinIsr" in {alert.name for alert in chosen(table(), {"KafkaAtMinIsr": {}})}


def test_runs_silence_warnings_alone() -> None:
    silenced = [alert for alert in table() if alert.planned]
    assert {alert.severity for alert in silenced} == {"warning"}
    assert [alert.name for alert in silenced] == planned()


def test_each_rule_leads_to_its_part_of_the_page() -> None:
    (one, *_) = rules(chosen(table(), {}), "https://wiki.example/alerts")["groups"][0]["rules"]
    assert one["annotations"]["runbook_url"] == "https://wiki.example/alerts#kafkanodedown"


NODE = 'cluster="c",instance="n1",job="kafka"'
CLUSTER = {
    "KafkaNodeDown": {"up": "1x5 0x30"},
    "KafkaNoActiveController": {"kafka_controller_kafkacontroller_activecontrollercount": "1x5 0x30"},
    "KafkaUnderMinIsr": {"kafka_server_replicamanager_underminisrpartitioncount": "0x5 2x30"},
    "KafkaUnderReplicated": {
        "kafka_server_replicamanager_underreplicatedpartitions": "0x3 5x30",
        "kafka_server_replicamanager_reassigningpartitions": "0x3 2x30",
    },
    "KafkaPartitionsOffline": {
        "kafka_controller_kafkacontroller_offlinepartitionscount": "0x5 3x30",
        "kafka_controller_kafkacontroller_activecontrollercount": "1x35",
    },
}


@pytest.mark.parametrize("name", CLUSTER)
def test_a_cluster_that_is_ill_fires_this_alert_alone(tmp_path: Path, name: str) -> None:
    labels = {"cluster": "c", **({"instance": "n1", "job": "kafka"} if name == "KafkaNodeDown" else {})}
    assert fired(tmp_path, CLUSTER[name], NODE, list(CLUSTER), labels) == [name]


def test_replicas_that_are_moved_are_not_called_under_replicated(tmp_path: Path) -> None:
    series = {
        "kafka_server_replicamanager_underreplicatedpartitions": "5x30",
        "kafka_server_replicamanager_reassigningpartitions": "5x30",
    }
    assert fired(tmp_path, series, NODE, list(CLUSTER), {"cluster": "c"}) == []


@pytest.mark.parametrize(("started", "told"), [("-7200x35", ["KafkaIsrFlapping"]), ("300x35", [])])
def test_followers_that_leave_the_isr_are_told_unless_a_broker_restarted(
    tmp_path: Path, started: str, told: list[str]
) -> None:
    series = {"kafka_server_replicamanager_isrshrinks_total": "0+2x35", "process_start_time_seconds": started}
    expected = {"cluster": "c", "instance": "n1"}
    assert fired(tmp_path, series, NODE, ["KafkaIsrFlapping"], expected) == told


@pytest.mark.parametrize(
    ("free", "size", "told"),
    [
        (14 * 10**9, 100 * 10**9, ["KafkaDiskLow"]),
        (16 * 10**9, 100 * 10**9, []),
        # Of a large disk a small part is enough, as for the finding disk_full of the status.
        (800 * 10**9, 10**13, []),
        (74 * 10**9, 10**13, ["KafkaDiskLow"]),
    ],
)
def test_a_disk_is_low_when_the_status_calls_it_full(tmp_path: Path, free: int, size: int, told: list[str]) -> None:
    series = {"node_filesystem_avail_bytes": f"{free}x35", "node_filesystem_size_bytes": f"{size}x35"}
    labels = {"cluster": "c", "instance": "n1", "mountpoint": "/var/lib/kafka"}
    text = ",".join(f'{name}="{value}"' for name, value in labels.items())
    assert fired(tmp_path, series, text, ["KafkaDiskLow"], labels) == told


def test_alerts_and_the_status_have_the_same_limits() -> None:
    numbers, limits = {alert.name: alert.numbers for alert in table()}, Limits()
    assert numbers["KafkaDiskLow"] == {"share": limits.min_disk_free, "bytes": limits.enough_disk_free_bytes}
    assert numbers["KafkaCertificateExpires"] == {"seconds": limits.min_certificate_days * 86_400}
    (stopped,) = [alert for alert in table() if alert.name == "KafkaGroupStopped"]
    assert f"offset {STOPPED_SECONDS // 60}m" in stopped.expr


PAGE = 'cluster="c",instance="p1",job="page"'
STALE = "kafka_lag_last_poll_timestamp_seconds"


@pytest.mark.parametrize(
    ("polls", "told"),
    [
        ("0+60x60", []),
        ("0x60", ["KafkaLagStale"]),  # The page answers, and no poll succeeds.
        ("0+60x8 stale", ["KafkaLagStale"]),  # The page is down, or its target is gone.
        ("0+60x18 stale", []),
        # The newest sample counts, not the one of the last five-minute mark.
        ("0+60x14 840 900 stale", []),
        ("0+60x14 stale", ["KafkaLagStale"]),
    ],
)
def test_lag_that_nobody_tells_any_more_is_stale(tmp_path: Path, polls: str, told: list[str]) -> None:
    of_nodes = 'cluster="c",instance="n1",job="kafka"'
    assert fired(tmp_path, {STALE: polls, "up": "1x60"}, of_nodes, ["KafkaLagStale"], {"cluster": "c"}) == told
    # Neither its nodes nor a page are watched any more: it is gone.
    assert fired(tmp_path, {STALE: polls}, of_nodes, ["KafkaLagStale"], {"cluster": "c"}) == []


@pytest.mark.parametrize(
    ("series", "labels", "told"),
    [
        ({"up": "1x5 0x30"}, PAGE, ["KafkaWatcherDown"]),
        ({"up": "1x35"}, 'cluster="c",instance="p1",job="kafka"', ["KafkaMetricsEmpty"]),
        (
            {"up": "1x35", "kafka_server_raft_metrics_high_watermark": "5x35"},
            'cluster="c",instance="p1",job="kafka"',
            [],
        ),
        ({"probe_success": "0x35"}, 'cluster="c",instance="p1",job="blackbox"', ["KafkaCertificateUnknown"]),
        # A receiver that refuses everything is counted once in each group_interval, here the default of five minutes.
        (
            {"alertmanager_notifications_failed_total": "0x13 1x4 2x4 3x20", "up": "1x60"},
            'cluster="c",instance="p1",job="alertmanager"',
            ["KafkaAlertsLost"],
        ),
        ({"alertmanager_notifications_failed_total": "0x60"}, 'cluster="c",instance="p1",job="alertmanager"', []),
        (
            {"prometheus_notifications_dropped_total": "0x5 0+1x30"},
            'cluster="c",instance="p1",job="prometheus"',
            ["KafkaAlertsLost"],
        ),
        # While both start, some are lost.
        ({"prometheus_notifications_dropped_total": "0x17 3x30"}, 'cluster="c",instance="p1",job="prometheus"', []),
        (
            {"prometheus_rule_evaluation_failures_total": "0x5 0+1x30"},
            'cluster="c",instance="p1",job="prometheus"',
            ["KafkaRulesFail"],
        ),
    ],
)
def test_what_watches_is_watched(tmp_path: Path, series: dict[str, str], labels: str, told: list[str]) -> None:
    about = [alert.name for alert in table() if alert.group == "watchers" and alert.enabled]
    expected = dict(part.replace('"', "").split("=") for part in labels.split(","))
    assert fired(tmp_path, series, labels, about, expected) == told


def test_each_critical_alert_goes_on_while_its_source_is_silent() -> None:
    for alert in table():
        # What holds on to its value says nothing else.
        assert not alert.heard or (alert.severity, alert.gone) == ("critical", ENDS)
        assert alert.severity != "critical" or alert.heard or alert.gone in (FIRES, STAYS), alert.name
        assert alert.gone != FIRES or "up{" in alert.expr or "time() -" in alert.expr
        assert alert.gone != STAYS or "$held" in alert.expr


CANARY = 'cluster="b",source="a",target="b"'
LOST = f'streamops_canary_gap_records{{{CANARY},kind="purged",topic="orders"}}'
NONE_LOST = f"streamops_canary_gap_records{{{CANARY}}}"
DIRECTORIES = 'kafka_log_logmanager_offlinelogdirectorycount{cluster="c",instance="n1"}'
CONTROLLER = 'kafka_controller_kafkacontroller_activecontrollercount{cluster="c",instance="n1"}'
STATUS = 'streamops_page_cluster_status{cluster="c",status="%s"}'
PARTITION = '{cluster="c",consumergroup="g",topic="t",partition="0"}'
STOPPED = {
    f"kafka_consumergroup_current_offset{PARTITION}": "0+5x10 50x15 %s",
    f"kafka_consumergroup_lag{PARTITION}": "0x10 9x15 %s",
    'kafka_consumergroup_lag_sum{cluster="c",consumergroup="g",topic="t"}': "0x10 9x15 %s",
    'kafka_lag_silent_brokers{cluster="c"}': "0x26 %s",
}


ELECTIONS = "kafka_controller_controllerstats_uncleanleaderelections_total"
BY_CONTROLLER = f'{ELECTIONS}{{cluster="c",instance="%s"}}'
FAILED = 'alertmanager_notifications_failed_total{instance="a1",job="alertmanager",integration="webhook"}'
FINDING = 'streamops_page_findings{cluster="c",severity="degraded",kind="disk_full"}'
TASK = 'kafka_connect_connector_task_status{cluster="c",instance="n1",connector="m",task="0",status="failed"}'
#: Targets that Prometheus reads, also while they do not answer.
UP = {
    'up{cluster="b",instance="n1",job="kafka"}': "0x90",
    'up{cluster="c",instance="n1",job="kafka"}': "0x90",
    'up{cluster="c",instance="n2",job="kafka"}': "0x90",
}


def stopped(offset: str, lag: str, silent: str) -> dict[str, str]:
    """Series of a group that stops at minute 10 and is told as stopped before minute 27, and what comes then."""
    return {
        name: values % then for (name, values), then in zip(STOPPED.items(), (offset, lag, lag, silent), strict=True)
    }


@pytest.mark.parametrize(
    ("name", "series", "fires"),
    [
        # The canary stops while it tells of lost records; it begins anew and has not looked yet.
        ("MirrorRecordsLost", {LOST: "20x5 stale"}, True),
        # Somebody says that it was dealt with; the same after a time without the canary.
        ("MirrorRecordsLost", {LOST: "20x5 stale", NONE_LOST: "_x6 0x60"}, False),
        ("MirrorRecordsLost", {LOST: "20x5 stale", NONE_LOST: "_x20 0x60"}, False),
        # What rested before the canary fell silent is not brought back.
        ("MirrorRecordsLost", {LOST: "20x5 0x5 stale"}, False),
        ("KafkaLogDirOffline", {DIRECTORIES: "1x5 stale"}, True),
        ("KafkaLogDirOffline", {DIRECTORIES: "1x5 stale _x10 0x60"}, False),
        ("KafkaLogDirOffline", {DIRECTORIES: "0x5 stale"}, False),
        ("KafkaNoActiveController", {CONTROLLER: "0x5 stale"}, True),
        ("KafkaNoActiveController", {CONTROLLER: "0x5 stale _x10 1x60"}, False),
        ("KafkaClusterDown", {STATUS % "DOWN": "1x5 stale", STATUS % "UNKNOWN": "0x5 stale"}, True),
        ("KafkaClusterDown", {STATUS % "DOWN": "1x5 0x60", STATUS % "UNKNOWN": "0x5 1x60"}, True),
        ("KafkaClusterDown", {STATUS % "DOWN": "1x5 0x60", STATUS % "UNKNOWN": "0x60"}, False),
        # The page stops; brokers do not answer it; it tells again, of a group that reads.
        ("KafkaGroupStopped", stopped("stale", "stale", "stale"), True),
        ("KafkaGroupStopped", stopped("stale", "stale", "3x60"), True),
        ("KafkaGroupStopped", stopped("50+9x60", "0x60", "0x60"), False),
        # The group is deleted while the page tells of all others.
        ("KafkaGroupStopped", stopped("stale", "stale", "0x60"), False),
        # The group reads again while a broker that it does not need is down.
        ("KafkaGroupStopped", stopped("50+9x60", "0x60", "3x60"), False),
        # It stays without anybody who counts, until its cluster is read no more.
        ("KafkaUncleanElection", {BY_CONTROLLER % "n1": "0x5 1x5 stale"}, True),
        ("KafkaUncleanElection", {BY_CONTROLLER % "n1": "0x5 1x90"}, True),
        ("KafkaUncleanElection", {BY_CONTROLLER % "n1": "0x90"}, False),
        ("KafkaUncleanElection", {BY_CONTROLLER % "n1": "0x5 1x5 stale", **dict.fromkeys(UP, "0x9 stale")}, False),
        ("KafkaAlertsLost", {FAILED: "0x5 1 2 3 stale", 'up{instance="a1",job="alertmanager"}': "1x8 0x90"}, True),
        ("KafkaAlertsLost", {FAILED: "0x5 1 2x90", 'up{instance="a1",job="alertmanager"}': "1x90"}, False),
        # What the page alone tells of a full disk, and the page stops; it tells that all is well.
        ("KafkaDiskLow", {FINDING: "1x20 stale", STATUS % "UNKNOWN": "0x20 stale"}, True),
        ("KafkaDiskLow", {FINDING: "1x20 stale", STATUS % "UNKNOWN": "0x20 1x60"}, True),
        ("KafkaDiskLow", {FINDING: "1x20 stale", STATUS % "UNKNOWN": "0x90"}, False),
        # Its node, and its whole cluster, is no longer one that Prometheus reads.
        (
            "KafkaLogDirOffline",
            {DIRECTORIES: "1x5 stale", 'up{cluster="c",instance="n1",job="kafka"}': "0x9 stale"},
            False,
        ),
        ("KafkaClusterDown", {STATUS % "DOWN": "1x5 stale", **dict.fromkeys(UP, "0x9 stale")}, False),
        # A worker of a mirror ends, and begins anew without a task.
        ("MirrorTaskFailed", {TASK: "1x5 stale"}, True),
        ("MirrorTaskFailed", {TASK: "1x5 stale", 'up{cluster="c",instance="n1",job="mirror"}': "1x6 0x3 1x60"}, False),
    ],
)
def test_what_is_critical_does_not_end_because_its_source_fell_silent(
    tmp_path: Path, name: str, series: dict[str, str], fires: bool
) -> None:
    assert _case(tmp_path, {**UP, **series}, name, [], at="45m") != fires


@pytest.mark.parametrize(
    ("failed", "fires"),
    [
        ("0x60", True),
        # One failure, while a receiver starts anew.
        ("0x15 1x60", True),
        ("0x15 1x3 2x60", False),
    ],
)
def test_the_watchdog_stops_when_alerts_are_lost(tmp_path: Path, failed: str, fires: bool) -> None:
    series = {"alertmanager_notifications_failed_total": failed, "up": "1x60"}
    labels = 'cluster="c",instance="a1",job="alertmanager"'
    on = {"KafkaWatchdog": {}}
    assert _holds(tmp_path, series, labels, "KafkaWatchdog", [], on) != fires
    assert not fires or _holds(tmp_path, series, labels, "KafkaWatchdog", [{"severity": "none"}], on)


def test_an_unclean_election_is_one_alert_whoever_counts_it(tmp_path: Path) -> None:
    series = {BY_CONTROLLER % f"n{number}": "0x5 1x40" for number in (1, 2, 3)}
    assert _case(tmp_path, {**UP, **series}, "KafkaUncleanElection", [{"cluster": "c", "severity": "critical"}])


def fired(tmp_path: Path, series: dict[str, str], labels: str, about: list[str], expected: dict[str, str]) -> list[str]:
    """Return which of these alerts fire after 20 minutes of such series, as `promtool test rules` sees it.

    What fires must have the labels `expected` and the severity of its rule.
    """
    alerts = {alert.name: alert for alert in chosen(table(), {})}
    loud = [name for name in about if not _holds(tmp_path, series, labels, name, [])]
    for name in loud:
        assert _holds(tmp_path, series, labels, name, [{**expected, "severity": alerts[name].severity}]), name
    return loud


def _holds(
    tmp_path: Path,
    series: dict[str, str],
    labels: str,
    name: str,
    alerts: list[dict[str, str]],
    choices: dict[str, Any] | None = None,
) -> bool:
    return _case(tmp_path, {f"{one}{{{labels}}}": text for one, text in series.items()}, name, alerts, choices)


def _case(
    tmp_path: Path,
    series: dict[str, str],
    name: str,
    alerts: list[dict[str, str]],
    choices: dict[str, Any] | None = None,
    at: str = "20m",
) -> bool:
    """Return whether just these alerts of a name fire after a time of such series, as `promtool test rules` sees it."""
    bare = rules(chosen(table(), choices or {}))
    for group in bare["groups"]:
        for rule in group["rules"]:
            rule["annotations"] = {}
    (tmp_path / "bare.yml").write_text(yaml.safe_dump(bare))
    case = {
        "rule_files": ["bare.yml"],
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": one, "values": values} for one, values in series.items()],
                "alert_rule_test": [
                    {"eval_time": at, "alertname": name, "exp_alerts": [{"exp_labels": one} for one in alerts]}
                ],
            }
        ],
    }
    (tmp_path / "case.yml").write_text(yaml.safe_dump(case))
    status, _said = promtool("test", "rules", tmp_path / "case.yml")
    return status == 0


CONTROL = "kafka_controller_kafkacontroller_"
#: A cluster of three brokers and three controllers, as its nodes tell the state of a migration: 4 in ZooKeeper mode,
#: none in KRaft mode; 2 PRE_MIGRATION, 1 MIGRATION.
BROKERS, CONTROLLERS = ("b1", "b2", "b3"), ("c1", "c2", "c3")


def between(state: int, moved: int = 0, registered: int = 0, lag: str = "0x60", down: str = "") -> dict[str, str]:
    """Return the series of such a cluster: how many brokers run in KRaft mode, and are registered as of ZooKeeper."""

    def series(name: str, instance: str) -> str:
        return f'{name}{{cluster="c",instance="{instance}",job="kafka"}}'

    told = {series("up", node): "0x60" if node == down else "1x60" for node in (*BROKERS, *CONTROLLERS)}
    for number, broker in enumerate(BROKERS):
        if broker != down:
            told[series("kafka_server_replicamanager_leadercount", broker)] = "5x60"
            if number >= moved:
                told[series(f"{CONTROL}zkmigrationstate", broker)] = "4x60"
                told[series(f"{CONTROL}activecontrollercount", broker)] = f"{int(state == 2 and broker == 'b3')}x60"
    for controller in CONTROLLERS:
        told[series(f"{CONTROL}zkmigrationstate", controller)] = f"{state}x60"
        told[series(f"{CONTROL}migratingzkbrokercount", controller)] = f"{registered}x60"
        told[series(f"{CONTROL}zkwritebehindlag", controller)] = lag if controller == "c2" else "0x60"
        told[series(f"{CONTROL}activecontrollercount", controller)] = f"{int(controller == 'c2')}x60"
    return told


WAITS, BEHIND, HALFWAY, LASTS = (f"KafkaMigration{what}" for what in ("NotCopied", "WritesBehind", "Halfway", "Lasts"))


@pytest.mark.parametrize(
    ("series", "told"),
    [
        # As the phases of docs/migrate-to-kraft.md, from the first to the last.
        (between(2), []),
        (between(2, registered=2), [HALFWAY]),
        (between(2, registered=3), [WAITS]),
        # The copy waits for it, and another alert tells that it is down.
        (between(2, registered=3, down="b2"), []),
        (between(1, registered=3), [LASTS]),
        (between(1, registered=3, lag="0x10 0+50x50"), [BEHIND, LASTS]),
        # Each restart of a controller is followed by the comparison of all metadata.
        (between(1, registered=3, lag="0x36 5000x3 0x20"), [LASTS]),
        (between(1, registered=2, moved=1), [HALFWAY, LASTS]),
        (between(1, moved=3), [LASTS]),
        (between(3, moved=3), []),
        # Kafka 3.9 without a migration, in either mode.
        (between(0, moved=3), []),
        ({one: text for one, text in between(4).items() if 'instance="b' in one}, []),
    ],
)
def test_a_migration_that_stands_still_is_told(tmp_path: Path, series: dict[str, str], told: list[str]) -> None:
    expected = [{"cluster": "c", "severity": "warning"}]
    # Days are minutes here.
    hours = {HALFWAY: {"for": "10m"}, LASTS: {"for": "10m"}}
    for name in (WAITS, BEHIND, HALFWAY, LASTS):
        assert _case(tmp_path, series, name, expected if name in told else [], hours, at="40m"), name


@pytest.mark.parametrize("phase", [between(2), between(2, registered=2), between(1, registered=3), between(3, moved=3)])
def test_a_quorum_that_waits_for_the_brokers_of_zookeeper_is_no_second_controller(
    tmp_path: Path, phase: dict[str, str]
) -> None:
    assert _case(tmp_path, phase, "KafkaNoActiveController", [], at="40m")
    silent = {one: "0x60" if "activecontrollercount" in one else text for one, text in phase.items()}
    critical = [{"cluster": "c", "severity": "critical"}]
    assert _case(tmp_path, silent, "KafkaNoActiveController", critical, at="40m")


def test_the_first_steps_name_playbooks_that_exist() -> None:
    named = {word for alert in table() for word in re.findall(r"\b([a-z_]+)\.yml\b", alert.then)}
    named |= {word for alert in table() for word in re.findall(r"streamops\.kafka\.([a-z_]+)", alert.first)}
    assert {name for name in named if not (PLAYBOOKS / f"{name}.yml").exists()} == set()
