# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a status: findings first, nothing by colour alone, every state designed, and no name can break it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.markup import status_page
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import LISTED
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import cluster_part, status_data
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_tables import cluster_tables
from tests.support.markup import Markup
from tests.support.status_seen import (
    MADE,
    behind,
    everything,
    finding,
    group,
    hurt,
    info,
    nodes,
    partition,
    refused,
    silent,
    topic,
    well,
)


def read(*clusters: dict[str, Any], mirrors: Any = ()) -> Markup:
    """The page of these parts, well-formed and without a script."""
    return check(status_page(status_data(clusters, mirrors, MADE)))


def check(page: str) -> Markup:
    """A page that is well-formed, runs nothing and asks nothing of a network."""
    found = Markup(page)
    assert found.open == []
    assert not found.tags & {"script", "img", "iframe", "link", "object", "form"}
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name == "src"]
    assert all(value.startswith("#") for value in found.values("href"))
    assert not re.search(r"@import|url\(", page)
    return found


def test_the_verdict_and_findings_come_first_with_their_next_steps_the_gravest_first() -> None:
    text = read(hurt()).text
    order = ["DOWN", "Cluster orders", "Findings", "without a leader", "Next step:", "2 of 9 partitions under-repl",
             "known vulnerability", "Brokers up", "Partitions with findings", "Brokers", "Quorum", "Topics",
             "Groups"]  # fmt: skip
    places = [text.index(order[0])]
    for word in order[1:]:
        places.append(text.index(word, places[-1]))
    assert places == sorted(places)


def test_figures_have_their_units() -> None:
    text = read(hurt()).text
    for figure in ("2 of 3", "640.0 GB of 2.0 TB (32 %)", "fullest of 2: 34 %", "489 records", "184.0 s ago", "4.2 GB",
                   "1,204,311 records", "unknown of 1 partitions", "not known", "controller", "fenced"):  # fmt: skip
        assert figure in text, figure


@pytest.mark.parametrize(("age", "said"), [(-1, "never"), (None, "not known"), (2500, "2.5 s ago")])
def test_a_voter_that_never_caught_up_is_told_so(age: int | None, said: str) -> None:
    quorum = info()["quorum"]
    quorum["voters"] = [{**quorum["voters"][1], "last_caught_up_ms_ago": age}]
    assert said in read(hurt(quorum=quorum, nodes=[])).text


def test_a_page_of_many_leads_to_each_the_worst_first() -> None:
    found = check(status_page(everything()))
    assert found.values("href") == ["#cluster-2", "#cluster-3", "#cluster-1", "#mirror-1", "#cluster-4"]
    assert {one[1:] for one in found.values("href")} <= set(found.values("id"))
    assert len(found.values("id")) == len(set(found.values("id")))
    assert "The worst of 4 clusters and 1 mirror." in found.text
    assert not read(hurt()).values("href"), "one cluster needs no index"


def test_a_cluster_that_does_not_answer_is_told_with_its_servers_and_without_figures() -> None:
    text = read(silent()).text
    assert "DOWN: billing" in text
    assert "Connection refused" in text
    assert "kafka1:9092" in text
    assert "of unknown version" in text
    assert "Brokers up" not in text


def test_a_cluster_that_could_not_be_looked_at_says_why() -> None:
    assert "It could not be looked at: the login of admin was refused" in read(refused()).text


def test_an_empty_cluster_and_no_cluster_have_words_too() -> None:
    text = read(well()).text
    assert "OK: quiet" in text
    assert "The cluster has no topic." in text
    assert "The cluster has no group." in text
    assert "Findings" not in text
    assert "No cluster and no mirror was looked at." in read().text


def test_groups_that_were_not_told_are_no_empty_list() -> None:
    health = {"status": "OK", "findings": [], "cluster": info()}
    text = read(cluster_part("a", [], nodes(3), health, groups={"msg": "not authorized"})).text
    assert "Groups are not known: not authorized" in text
    assert "has no group" not in text


def test_logins_by_mechanism_are_a_table_and_reports_from_before_have_none() -> None:
    row = {"host": "kafka1", "listener": "CLIENT", "mechanism": "PLAIN", "count": None, "since": None, "last": None}
    health = {"status": "OK", "findings": [], "cluster": info()}
    told = cluster_part("a", [], nodes(3), health, logins=[row, {**row, "count": 7, "since": 0, "last": 60}])
    text = read(told).text
    assert "Logins by mechanism" in text
    assert "1970-01-01 00:01:00 UTC" in text
    del told["logins"]
    assert "Logins by mechanism" not in read(told).text


def test_a_quorum_that_gave_no_answer_is_told_and_zookeeper_has_none() -> None:
    unknown: dict[str, Any] = {"error": "timed out", "voters": [], "observers": [], "leader_id": None}
    health = {"status": "DEGRADED", "findings": [], "cluster": info(quorum=unknown)}
    assert "It could not be asked: timed out" in read(cluster_part("a", [], nodes(3), health)).text
    servers = [{"id": 1, "address": "zk1:2181", "state": "leader", "version": "3.8.4", "error": ""}]
    ensemble = {"servers": servers, "problems": [], "leader_id": 1}
    old = {"status": "OK", "findings": [], "cluster": info(quorum=None)}
    text = read(cluster_part("a", [], nodes(3), old, ensemble=ensemble)).text
    assert "Quorum" not in text
    assert "zk1:2181" in text
    assert "Ensemble a" in read(cluster_part("a", [], [], {}, ensemble=ensemble)).text
    assert (
        "the login failed"
        in read(cluster_part("a", [], [], {}, ensemble={"failed": True, "msg": "the login failed"})).text
    )


def test_a_mirror_says_how_far_it_is_and_which_topic_is_missing() -> None:
    text = read(mirrors=[behind()]).text
    for word in ("Mirror dc_a->dc_b", "240,000", "5 of 9", "1s ago", "none seen", "dc_a.new", "not there",
                 "12 days ago", "passed: RPO 0, RTO 31 s, 12 records read again"):  # fmt: skip
        assert word in text, word


def test_a_table_is_cut_and_says_where_the_rest_is() -> None:
    many = [partition(f"t{number}", 0, [1]) for number in range(LISTED + 5)]
    page = status_page(status_data([hurt(under_replicated=many)], [], MADE))
    assert f"{LISTED} of {LISTED + 7}; the JSON file has all." in check(page).text


def test_partitions_that_lack_a_broker_that_is_down_alone_are_counted_and_not_listed() -> None:
    rows = [partition("alike", number, [1, 2]) for number in range(399)] + [partition("other", 0, [1])]
    (table,) = [one for one in cluster_tables(hurt(under_replicated=rows)) if one.title == "Partitions with findings"]
    # Of orders one has no leader, and one refuses acks=all.
    assert [row[0].text for row in table.rows] == ["orders", "orders", "other"]
    assert "399 more lack nothing but replicas on brokers that are down; they take acks=all." in table.note
    alone = hurt(under_replicated=rows[:1], under_min_isr=[], offline=[])
    (table,) = [one for one in cluster_tables(alone) if one.title == "Partitions with findings"]
    assert (table.rows, table.empty) == ([], "No other partition has one.")


def test_a_state_is_a_word_and_tables_are_tables_where_they_are_laid_out_as_blocks() -> None:
    found = read(hurt())
    kinds = {value for _, name, value in found.attributes if name == "role"}
    assert {"table", "row", "cell", "columnheader", "rowgroup", "group"} <= kinds
    assert set(found.values("tabindex")) == {"0"}
    assert [tag for tag, name, _ in found.attributes if name == "scope"].count("th") > 10
    pills = re.findall(r'<span class="pill[^"]*">([^<]*)</span>', status_page(everything()))
    assert len(pills) > 10
    assert all(pills)


HOSTILE = [
    "</td></table><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "</title></style><b>",
    "&lt;b&gt;&amp;",
    "\u202egnp.exe",
    "\u05d0\u05d1\u05d2\u0645\u0631\u062d\u0628\u0627",
    "\u2066\u200f\u0000\x1b[31m\u2028",
    "x" * 249,
    "\U0001f4a5" * 60,
    "",
]


def hostile(name: str) -> dict[str, Any]:
    """A report in which everything that anyone can name has this name."""
    row = partition(name, 0, [1])
    brokers = [{**one, "host": name, "rack": name} for one in info()["nodes"]]
    seen = info(cluster_id=name, nodes=brokers, topics=[topic(name)], under_replicated=[row], offline=[row])
    health = {"status": "DOWN", "findings": [finding(name, "down", name, found=name, next_step=name)], "cluster": seen}
    group_of = group(
        name,
        7,
        type=name,
        state=name,
        topics=[{"name": name, "partitions": [{"partition": 0, "state": "known", "lag": 7}]}],
    )
    groups = {"groups": [group_of, group("g", None, error=name)], "silent_brokers": [{"id": 1, "why": name}]}
    ensemble = {
        "servers": [{"id": 1, "address": name, "state": name, "version": name, "error": name}],
        "problems": [], "leader_id": 1,
    }  # fmt: skip
    cluster = cluster_part(name, [name], [{**one, "host": name} for one in nodes(3)], health, {}, groups, ensemble)
    flow = {**behind(), "flow": name}
    flow["topics"] = [{"source": name, "target": name, "target_partitions": None, "lag": 3}]
    failed = cluster_part(name, [name], nodes(1), {"failed": True, "msg": name})
    return status_data([cluster, failed], [flow], MADE)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_is_markup_or_turns_the_text_around_it(name: str) -> None:
    page = status_page(hostile(name))
    found = check(page)
    plain = check(status_page(hostile("orders")))
    assert found.tags == plain.tags
    # What the page is made of is the same, whatever things are called; what has no name has fewer lines.
    assert not name or [one[:2] for one in found.attributes] == [one[:2] for one in plain.attributes]
    assert not re.search("[\u0000-\u0008\u001b\u2028\u202a-\u202e\u2066-\u2069\u200e\u200f]", page)
    if name.isprintable():
        assert found.text.count(name) >= 15


def test_every_name_stands_apart_from_the_direction_of_the_text_around_it() -> None:
    name = "\u05d0\u05d1\u05d2"
    page = status_page(hostile(name))
    body = page[page.index("<main>") :]
    assert body.count(name) > 30
    assert name not in re.sub(r"<bdi>[^<]*</bdi>", "", body)
