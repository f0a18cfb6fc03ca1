# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboards of Grafana, by the rules of Grafana's dashboard-linter; their queries are judged by promtool."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring import dashboards, rules
from tests.support.prometheus import promtool

ALL = {entry["uid"]: dashboards.dashboard(entry) for entry in dashboards.table()}
#: The units of Grafana that the panels use.
UNITS = {"short", "none", "percentunit", "Bps", "bytes", "ms", "s", "cps", "reqps"}
#: Names of counters that do not end in _total: what the agent calls otherwise (docs/metrics.md), and Java's own.
COUNTERS = re.compile(
    r"\w+_total|\w+_seconds_sum|\w+_record_count|\w+_byte_count|kafka_consumergroup_current_offset"
    r"|kafka_topic_partition_current_offset|kafka_server_kafkarequesthandlerpool_\w+|zookeeper_fsyncthresholdexceedcount"
)
#: The end of a log is a number of its own too: from there to its start is what the topic holds.
ALSO_GAUGES = ("kafka_topic_partition_current_offset",)


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """The panels of a dashboard without its rows, those of closed rows too."""
    return [panel for panel in every_panel(dashboard) if panel["type"] != "row"]


def every_panel(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows and panels of a dashboard, in their order."""
    return [one for panel in dashboard["panels"] for one in (panel, *panel.get("panels", ()))]


PANELS = [pytest.param(uid, panel, id=f"{uid}: {panel['title']}") for uid, one in ALL.items() for panel in panels(one)]


def query(panel: dict[str, Any]) -> str:
    return str(panel["targets"][0]["expr"])


def test_promtool_takes_every_query(tmp_path: Path) -> None:
    queries = [query(panel) for one in ALL.values() for panel in panels(one)]
    bare = [
        {"record": f"panel:{number}", "expr": expr.replace("$__rate_interval", "5m")}
        for number, expr in enumerate(queries)
    ]
    path = tmp_path / "rules.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboards", "rules": bare}]}))
    status, said = promtool("check", "rules", path)
    assert (status, f"{len(queries)} rules found" in said) == (0, True), said


def test_dashboards_are_told_apart() -> None:
    assert len(ALL) == len(dashboards.table()) == 5
    assert len({one["title"] for one in ALL.values()}) == len(ALL)
    assert all(re.fullmatch(r"[a-z-]{1,40}", uid) for uid in ALL)  # Grafana refuses a uid of more than 40.


@pytest.mark.parametrize("uid", ALL)
def test_variables_are_the_data_source_the_cluster_and_the_instance(uid: str) -> None:
    source, *others = ALL[uid]["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert [one["name"] for one in others] == ["cluster", "instance"]
    for one in others:
        assert one["datasource"]["uid"] == "${datasource}"
        assert (one["multi"], one["includeAll"], one["refresh"]) == (True, True, 2)
        assert re.fullmatch(r'label_values\(\w+\{job="\w+".*\}, \w+\)', one["query"]["query"])


def test_a_cluster_can_be_chosen_when_its_picture_is_stale() -> None:
    # Then the page tells only how its polls go, and the dashboard is where one looks at that.
    _source, *others = ALL["streamops-kafka-groups"]["templating"]["list"]
    assert [one["query"]["query"].partition("{")[0] for one in others] == ["label_values(kafka_lag_polls_total"] * 2


@pytest.mark.parametrize("uid", ALL)
def test_ids_are_unique_and_panels_lie_side_by_side(uid: str) -> None:
    every = every_panel(ALL[uid])
    assert len({panel["id"] for panel in every}) == len(every)
    taken: dict[tuple[int, int], str] = {}
    for panel in every:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for cell in ((place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])):
            assert taken.setdefault(cell, panel["title"]) == panel["title"]


@pytest.mark.parametrize(("uid", "panel"), PANELS)
def test_a_panel_says_what_it_shows_and_in_which_unit(uid: str, panel: dict[str, Any]) -> None:
    assert panel["title"].strip()
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel["datasource"]["uid"] == panel["targets"][0]["datasource"]["uid"] == "${datasource}"
    assert sum(one["title"] == panel["title"] for one in panels(ALL[uid])) == 1


@pytest.mark.parametrize(("uid", "panel"), PANELS)
def test_a_query_is_about_the_chosen_clusters_and_instances(uid: str, panel: dict[str, Any]) -> None:
    job = next(entry["job"] for entry in dashboards.table() if entry["uid"] == uid)
    selectors = re.findall(r"\{[^}]*\}", query(panel))
    assert selectors
    wanted = (f'job="{job}"', 'cluster=~"$cluster"', 'instance=~"$instance"')
    assert all(matcher in selector for selector in selectors for matcher in wanted)
    # A name without braces would be of all clusters.
    bare = re.sub(r'\{[^}]*\}|"[^"]*"|\b(by|on)\s*\([^)]*\)|\$__rate_interval', "{}", query(panel))
    assert re.findall(r"\b(?:[a-z]+_\w+|up)\b(?!\{)", bare.replace("group_right", "").replace("sort_desc", "")) == []


@pytest.mark.parametrize(("uid", "panel"), PANELS)
def test_a_counter_is_shown_as_a_rate_over_the_interval_of_the_graph(uid: str, panel: dict[str, Any]) -> None:
    expr = query(panel)
    assert set(re.findall(r"\[([^]]*)\]", expr)) <= {"$__rate_interval"}
    for found in re.finditer(r"([a-z]\w*_\w+)\{[^}]*\}(\[)?", expr):
        name, ranged = found[1], bool(found[2])
        if name not in ALSO_GAUGES or ranged:
            assert ranged == bool(COUNTERS.fullmatch(name)), f"{uid}: {name}"
    assert len(re.findall(r"\b(?:rate|increase)\(", expr)) == expr.count("[$__rate_interval]")


@pytest.mark.parametrize(("uid", "panel"), PANELS)
def test_a_legend_or_a_row_tells_the_series_apart(uid: str, panel: dict[str, Any]) -> None:
    if panel["type"] != "table":
        assert "{{" in panel["targets"][0]["legendFormat"], uid
        return
    (grouped,) = re.findall(r"by \(([^)]*)\)", query(panel))
    (organised,) = panel["transformations"]
    assert list(organised["options"]["includeByName"]) == [*grouped.split(", "), "Value"]


def test_the_alerts_that_panels_name_exist() -> None:
    named = {name for one in ALL.values() for panel in panels(one) for name in re.findall(r"alert (\w+)", str(panel))}
    assert named
    assert named <= {alert.name for alert in rules.table()}


def test_a_number_that_is_bad_is_red() -> None:
    def steps(uid: str, title: str) -> list[Any]:
        (panel,) = (panel for panel in panels(ALL[uid]) if panel["title"] == title)
        return [(one["color"], one["value"]) for one in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]]

    assert steps("streamops-kafka-cluster", "Offline partitions") == [("green", None), ("red", 1.0)]
    assert steps("streamops-kafka-cluster", "Active controllers") == [("red", None), ("green", 1.0)]
    assert steps("streamops-kafka-cluster", "Partitions") == [("green", None)]


def test_a_closed_row_has_its_panels_within_it_and_the_others_stand_alone() -> None:
    rows = [panel for panel in ALL["streamops-kafka-cluster"]["panels"] if panel["type"] == "row"]
    closed = {row["title"]: len(row["panels"]) for row in rows if row["collapsed"]}
    assert closed == {"Migration from ZooKeeper to KRaft": 4}
    assert all(not row["panels"] for row in rows if not row["collapsed"])


def test_files_are_json_under_the_name_of_their_dashboard() -> None:
    found = {one["path"]: json.loads(one["content"]) for one in dashboards.files()}
    assert found == {f"dashboards/{uid}.json": one for uid, one in ALL.items()}
