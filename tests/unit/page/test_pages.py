"""The pages as their readers get them: the real application, hostile names, bad requests, every state."""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.shown.names import path
from page.shown.sheet import CUT_AT
from tests.support.markup import Markup
from tests.support.page import Answer
from tests.support.page_seen import FLOWS, HOSTILE, Served, cluster, drilled, looked, served

ORDERS = "/clusters/orders"
LISTS = ("", "/brokers", "/topics", "/groups", "/moves", "/mirrors", "/access", "/operations")
PAGES = ["/", *(f"{ORDERS}{one}" for one in LISTS), f"{ORDERS}/topics/orders", f"{ORDERS}/groups/search-index",
         f"{ORDERS}/brokers/1", f"{ORDERS}/brokers/3"]  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Iterator[Served]:
    seen = looked()
    with served(lambda: seen) as one:
        yield one


def read(answer: Answer, status: int = 200) -> Markup:
    """A page that is well-formed, runs nothing, and has no style of its own."""
    assert answer.status == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    found = Markup(answer.text.replace("<link ", "<meta ").replace("<input ", "<meta "))
    assert found.open == []
    assert not found.tags & {"script", "img", "iframe", "object", "style"}
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name in ("style", "src")]
    assert all(one.startswith(("/", "#")) and not one.startswith("//") for one in found.values("href"))
    assert len(found.values("id")) == len(set(found.values("id")))
    return found


@pytest.mark.parametrize("at", PAGES)
def test_every_page_says_how_old_it_is_and_is_there_as_json(page: Served, at: str) -> None:
    found = read(page.get(at))
    assert re.search(r"Seen \d+s ago\.", found.text)
    assert found.values("datetime")
    assert "Look again" in found.text
    answer = page.get(f"{at}?format=json")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert json.loads(answer.text)["status"] == "DOWN"


def test_all_clusters_are_on_the_first_page_the_worst_first_with_what_to_do(page: Served) -> None:
    found = read(page.get("/"))
    names = re.findall(r'href="(/clusters/[^/"]*)"', page.get("/").text)
    first = list(dict.fromkeys(names))
    assert first[0] == ORDERS
    assert first[-1] == "/clusters/quiet"
    states = ["Stale: polls fail.", "Connection refused", "LOADING", "The first poll is", "No poll has succeeded yet"]
    grows = {one["cluster"]: one["growth"]["records_per_second"] for one in
             json.loads(page.get("/?format=json").text)["clusters"]}  # fmt: skip
    assert (grows["orders"] > 0, grows["copy"], grows["begins"]) == (True, None, None)
    assert found.text.count("Records/s") == 1, "only where it is known"
    for said in ("DOWN", "The worst of 6 clusters", "without a leader", "Next step:", "Brokers up", *states):
        assert said in found.text, said


@pytest.mark.parametrize(
    ("name", "said"),
    [("payments", ["STALE", "Seen 7m", "may not hold now", "cause:", "Next step:"]),
     ("begins", ["LOADING", "Nothing has been seen", "Look again in some seconds"]),
     ('</h2>"audit', ["UNKNOWN", "No poll has succeeded yet", "Connection refused", "Next step:"]),
     ("quiet", ["OK", "Everything is as it should be"])],
)  # fmt: skip
def test_every_state_of_a_cluster_has_words(page: Served, name: str, said: list[str]) -> None:
    for section in ([], ["brokers"], ["topics"], ["groups"], ["moves"], ["access"], ["operations"]):
        found = read(page.get(path("clusters", name, *section)))
        for one in said:
            assert one in found.text, (section, one)
    assert "has no topic" in read(page.get("/clusters/quiet/topics")).text
    assert "has no group" in read(page.get("/clusters/quiet/groups")).text


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_has_its_pages_and_breaks_none(page: Served, name: str) -> None:
    for section in ("topics", "groups"):
        answer = page.get(path("clusters", "orders", section, name))
        found = read(answer)
        assert not re.search("[\u0000-\u0008\u001b\u2028\u202a-\u202e\u2066-\u2069\u200e\u200f]", answer.text)
        assert not name.isprintable() or name in found.text
        found = read(page.get(path("clusters", "orders", section, f"{name}none")), 404)
        assert "may have been deleted meanwhile" in found.text
        read(page.get(path("clusters", name)), 404)


def test_every_link_of_every_page_leads_to_a_page(page: Served) -> None:
    seen: set[str] = set()
    left = ["/"]
    while left:
        at = left.pop()
        found = page.get(at)
        assert found.status == 200, (at, found.text[-500:])
        if found.headers["content-type"].startswith("text/html"):
            links = read(found).values("href")
            new = {one.split("#")[0] for one in links if one.startswith("/")} - seen
            # Each topic and each order once is enough: their pages are alike.
            new = {one for one in new if "invoices" not in one and "page=" not in one and "sort=-" not in one}
            seen |= new
            left += new
    assert len(seen) > 80


def test_a_list_is_searched_sorted_and_cut_by_the_server_and_its_links_keep_that(page: Served) -> None:
    found = read(page.get(f"{ORDERS}/topics?search=INVOICES&sort=-name&page=2"))
    assert "120 of 141 have this in their name. Page 2 of 3." in found.text
    assert "invoices.0069" in found.text
    assert "invoices.0070" not in found.text
    assert f"{ORDERS}/topics?search=INVOICES&sort=-name&page=3" in found.values("href")
    assert f"{ORDERS}/topics?search=INVOICES&sort=name" in found.values("href")
    assert "INVOICES" in found.values("value")
    assert "Page 3 of 3." in read(page.get(f"{ORDERS}/topics?search=INVOICES&page=999999")).text
    assert "No topic has this in its name." in read(page.get(f"{ORDERS}/topics?search=%3Cscript%3E1")).text
    first = read(page.get(f"{ORDERS}/groups")).text
    assert first.index("search-index") < first.index("billing"), "the largest lag comes first"


@pytest.mark.parametrize("at", [f"{ORDERS}{one}" for one in LISTS[2:-1]] + PAGES[-2:])
def test_a_list_is_ordered_by_the_titles_of_its_columns(page: Served, at: str) -> None:
    """The title of each column in order says so, and leads to the same list in its order, then the other way round."""
    sorts = re.search("Set sort to ([a-z_, ]+)", page.get(f"{at}?sort=none").text)
    assert sorts, page.get(f"{at}?sort=none").text
    for key in sorts[1].split(", "):
        for sort, turned in ((key, f"-{key}"), (f"-{key}", key)):
            titles = re.findall(
                r"<th [^>]*?( aria-sort=.*?)?>(?:<a href=\"(.*?)\">)?", page.get(f"{at}?sort={sort}").text
            )
            ((said, link),) = [(said, html.unescape(link)) for said, link in titles if said]
            assert re.fullmatch(' aria-sort="(ascending|descending)"', said)
            assert link == f"{at}?sort={turned}"
            heads = {html.unescape(link) for _said, link in titles if link}
            assert heads == {f"{at}?sort={turned if one == key else one}" for one in sorts[1].split(", ")}


def test_the_first_order_is_marked_and_titles_keep_search_and_part(page: Served) -> None:
    text = page.get(f"{ORDERS}/groups").text
    assert re.findall(r'aria-sort="(\w+)"><a href="[^"]*">([^<]*)<', text) == [("descending", "Lag")]
    assert f"{ORDERS}/groups?sort=-lag" in read(page.get(f"{ORDERS}/groups")).values("href")
    links = read(page.get(f"{ORDERS}/groups?search=a&state=stable&refresh=no&page=1")).values("href")
    for query in ("search=a&state=stable&sort=-lag&refresh=no", "search=a&state=stable&sort=name&refresh=no",
                  "search=a&state=behind&refresh=no", "search=a&refresh=no", "search=a&state=stable",
                  "search=a&state=stable&format=csv", "state=stable&refresh=no"):  # fmt: skip
        assert f"{ORDERS}/groups?{query}" in links, query


def test_groups_and_topics_are_chosen_by_links_with_their_numbers(page: Served) -> None:
    read(page.get(f"{ORDERS}/groups?state=behind"))
    text = words(page.get(f"{ORDERS}/groups"))
    many = len(HOSTILE) + 3
    assert f"Show groups: All ({many}) Stable ({many}) Behind ({many - 2}) Not fully known (1)" in text
    found = json.loads(page.get(f"{ORDERS}/groups?state=untold&format=json").text)["groups"]
    assert [one["name"] for one in found] == ["audit"]
    assert "Stopped: 0." in words(page.get(f"{ORDERS}/groups?state=stopped"))
    assert "No group is in this part: Stopped." in words(page.get(f"{ORDERS}/groups?state=stopped"))
    assert "Show topics: All (141) Without internal ones (140) Internal ones (1)" in words(page.get(f"{ORDERS}/topics"))
    found = json.loads(page.get(f"{ORDERS}/topics?internal=only&format=json").text)["topics"]
    assert [one["name"] for one in found] == ["__consumer_offsets"]
    assert "__consumer_offsets" not in page.get(f"{ORDERS}/topics?internal=no&format=csv").text
    assert read(page.get(f"{ORDERS}/topics?internal=yes"), 400)
    assert 'name="internal" value="no"' in page.get(f"{ORDERS}/topics?internal=no").text


@pytest.mark.parametrize("at", PAGES)
def test_a_page_looks_again_by_itself_until_that_is_stopped(page: Served, at: str) -> None:
    """The browser asks for the same address, so search, order, part and page stay; no file and no report does so."""
    answer = page.get(at)
    assert answer.headers["refresh"] == "60"
    assert f"{at}?refresh=no" in read(answer).values("href")
    stopped = page.get(f"{at}?refresh=no")
    assert "refresh" not in stopped.headers
    assert at in read(stopped).values("href")
    assert "refresh" not in page.get(f"{at}?format=json").headers


def test_a_page_with_a_problem_does_not_look_again(page: Served) -> None:
    for at in (f"{ORDERS}/topics?page=0", "/clusters/none", f"{ORDERS}/topics?refresh=1"):
        answer = page.get(at)
        assert (answer.status in (400, 404), "refresh" in answer.headers) == (True, False), at


def test_programs_get_what_is_wrong_as_json(page: Served) -> None:
    for at, status in ((f"{ORDERS}/topics?page=0", 400), ("/clusters/none?", 404), (f"{ORDERS}/operations/none?", 404)):
        answer = page.get(f"{at}&format=json")
        assert (answer.status, sorted(answer.json())) == (status, ["error", "next_step"]), at
        assert page.get(f"{at}&format=csv").headers["content-type"].startswith("text/html"), at


def test_the_whole_of_a_long_name_is_in_reach(page: Served) -> None:
    text = page.get(f"{ORDERS}/topics?search=xxxx").text
    assert f'class="cut" title="{"x" * 249}"' in text
    long = re.findall(r'<bdi class="cut" title="[^"]*"( tabindex="0")?>', page.get(f"{ORDERS}/access?search=xxxx").text)
    assert long
    assert all(long), "what has no link has no focus by itself"
    # Two names that differ at their ends alone are told apart.
    left_out = "x" * (249 - 2 * CUT_AT)
    cut = f'{"x" * CUT_AT}<span class="middle"><span>{left_out}</span></span>{"x" * CUT_AT}'
    assert cut in text
    assert cut in page.get(f"{ORDERS}/topics/{'x' * 249}").text.partition("<h2>")[2].partition("</h2>")[0]


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", "page=1e3", "page=%D9%A1", "page=" + "9" * 30,
                                   "sort=none", "sort=%00", "format=xml", "search=" + "s" * 501, "a=1&" * 40,
                                   "q" * 5000])  # fmt: skip
def test_a_query_that_cannot_be_answered_gets_400_with_its_fix(page: Served, query: str) -> None:
    assert "Next step:" in read(page.get(f"{ORDERS}/topics?{query}"), 400).text


def test_what_a_group_has_not_committed_is_none_and_what_it_lost_is_told(page: Served) -> None:
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page.get(f"{ORDERS}/groups/search-index").text))
    assert "no offset none 1,204,911 not known" in text
    assert "before the start of the log 2 records were removed unread" in text
    assert "Coordinator broker 2" in text


def test_a_group_has_its_members_with_what_each_has_and_its_lag_there(page: Served) -> None:
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page.get(f"{ORDERS}/groups/search-index").text))
    # Of the second partition nothing was committed, so all of it is before this member.
    assert f"search-index /192.0.2.7 2 orders: 0-1 {1_204_311 + 1_204_911:,} records" in text
    assert "idle /192.0.2.7 0 none 0 records" in text


def test_moves_are_shown_with_what_they_mean_and_what_has_been_copied(page: Served) -> None:
    answer = page.get(f"{ORDERS}/moves?search=orders")
    # What is within a line, as links in a list of ids, parts no words.
    inline = re.sub("</?(a|bdi)( [^>]*)?>", "", answer.text)
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", read(answer).text and inline))
    assert "2 of" in text
    for said in ("Clients are served meanwhile", "has 40 partitions", "move_running", "wait until they have ended",
                 "nothing to copy", "follower.replication.throttled.rate",
                 "1, 2, 3 2, 3, 4 4 1 4.2 GB 0 B"):  # fmt: skip
        assert said in text, said
    assert f"Moves ({len(HOSTILE) + 2})" in read(page.get(ORDERS)).text
    head, *rows = csv.reader(io.StringIO(page.get(f"{ORDERS}/moves?format=csv&sort=left").text, newline=""))
    assert dict(zip(head, rows[0], strict=True))["to"] == "2, 3, 4"
    assert rows[-1][6:] == ["", ""], "what is unknown comes last"
    nothing = read(page.get("/clusters/quiet/moves")).text
    assert "Moves (" not in nothing


def words(answer: Answer) -> str:
    """What a page says, without markup."""
    assert read(answer)
    return html.unescape(re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", answer.text)))


def test_who_may_do_what_is_shown_searched_by_any_part_and_taken_whole(page: Served) -> None:
    text = words(page.get(f"{ORDERS}/access"))
    for said in ("User:billing * all hosts allow read topic invoices. prefixed all names that begin so",
                 "User:* 192.0.2.7 deny write topic * literal all names", "billing SCRAM-SHA-512 8,192 1",
                 "each other user the default consumer_byte_rate 1,048,576 bytes a second from each broker",
                 "user billing each other client-id request_percentage 12.5 %",
                 "Principal, host, operation or resource contains"):  # fmt: skip
        assert said in text, said
    found = json.loads(page.get(f"{ORDERS}/access?format=json&search=192.0.2.7").text)
    assert [one["permission"] for one in found["acls"]] == ["deny"]
    assert len(found["users"]) == len(HOSTILE) + 1
    assert found["quotas"][0]["entity"] == [{"type": "user", "name": None}]
    assert f"1 of {len(HOSTILE) + 2} have this in their principal" in words(page.get(f"{ORDERS}/access?search=DENY"))
    lines = page.get(f"{ORDERS}/access?format=csv&sort=resource").text
    head, *rows = csv.reader(io.StringIO(lines, newline=""))
    assert head == ["principal", "host", "permission", "operation", "resource_type", "resource", "pattern_type"]
    assert len(rows) == len(HOSTILE) + 2
    assert "'=1+1" in [row[5] for row in rows]
    assert not [one for row in rows for one in row if one.lstrip().startswith(("=", "+", "-", "@"))]


def test_what_was_not_told_of_access_says_why_and_the_next_step(page: Served) -> None:
    text = words(page.get("/clusters/quiet/access"))
    for said in ("no authorizer. Next step: set kafka_authorizer", "has no SCRAM user", "limits no client"):
        assert said in text, said
    found = json.loads(page.get("/clusters/quiet/access?format=json").text)
    assert (found["users"], found["acls"], found["quotas"], list(found["not_told"])) == ([], None, [], ["acls"])
    assert [part for part, when in found["as_of"].items() if when] == ["users", "quotas"]
    begins = words(page.get("/clusters/begins/access"))
    assert "Nothing has been seen" in begins
    assert "SCRAM users" not in begins


def test_a_topic_has_what_it_sets_against_what_holds_without_it(page: Served) -> None:
    text = words(page.get(f"{ORDERS}/topics/orders"))
    for said in (
        "retention.ms time after which segments are removed; -1 is never 86400000 1 day 604800000 7 days, "
        "Kafka's default this topic",
        "1048576 1.0 MB log.segment.bytes = 9 Kafka's default this topic",
        "password sensitive, not shown not known this topic",
        "2 1 Kafka's default the file of a broker",
    ):
        assert said in text, said
    closed = text.index("Settings that are Kafka's defaults (1)")
    assert text.index("retention.ms") < closed < text.index("flush.ms")
    assert "details" in read(page.get(f"{ORDERS}/topics/orders")).tags
    found = json.loads(page.get(f"{ORDERS}/topics/orders?format=json").text)["config"]
    values = {one["name"]: (one["value"], one["from"]) for one in found}
    assert values["flush.ms"] == ("9223372036854775807", "default")
    assert values["password"] == (None, "topic")
    plain = json.loads(page.get(f"{path('clusters', 'orders', 'topics', 'a/b/../c')}?format=json").text)["config"]
    assert [one["name"] for one in plain] == ["flush.ms", "min.insync.replicas", "retention.ms"]


def test_a_broker_has_its_place_its_disks_its_findings_its_partitions_and_its_configuration(page: Served) -> None:
    text = words(page.get(f"{ORDERS}/brokers/1"))
    for said in ("State up, controller", "Registered yes", "Host kafka1.example.com", "Rack b",
                 "In the quorum active controller", "/var/lib/kafka/a 30 % 1.0 TB 700.0 GB 60",
                 "log.retention.ms 3600000 1 hour 7200000 2 hours, its server.properties set at run time for this",
                 "ssl.key.password sensitive, not shown", "Settings that are Kafka's defaults (250)",
                 "made.up.249", "Page 1 of 3", "Records/s"):  # fmt: skip
        assert said in text, said
    assert text.index("log.retention.ms") < text.index("message.max.bytes") < text.index("log.dirs")
    found = json.loads(page.get(f"{ORDERS}/brokers/1?format=json").text)
    broker = found["broker"]
    assert (broker["id"], broker["rack"], broker["registered"], broker["quorum_role"]) == (
        1, "b", True, "active controller"
    )  # fmt: skip
    assert broker["growth"]["seconds"] == 30
    assert broker["growth"]["records_per_second"] > 0
    config = {one["name"]: one for one in found["config"]}
    assert (config["ssl.key.password"]["value"], config["ssl.key.password"]["sensitive"]) == (None, True)
    assert config["message.max.bytes"]["from"] == "cluster"
    assert all(one["role"] == "leader" for one in found["partitions"])
    assert "As of" in text


def test_a_broker_that_is_fenced_and_told_nothing_says_so_with_the_next_step(page: Served) -> None:
    text = words(page.get(f"{ORDERS}/brokers/3?search=orders-&sort=-role"))
    for said in ("State fenced", "Registered yes, and fenced", "voter, 489 records behind", "follower",
                 "broker 3 did not answer. Next step: look at its log.", "They were not told",
                 "not in sync here"):  # fmt: skip
        assert said in text, said
    found = json.loads(page.get(f"{ORDERS}/brokers/3?format=json").text)
    assert (found["config"], found["config_as_of"]) == (None, None)
    assert "broker 3" in found["config_not_told"]
    assert [one["kind"] for one in found["findings"]] == ["broker_down"]
    assert "not asked yet" in words(page.get("/clusters/quiet/brokers/1")).replace("has not been asked", "not asked")


def test_the_overview_of_a_cluster_has_small_tables_that_lead_to_all_of_theirs(page: Served) -> None:
    answer = page.get(ORDERS)
    text, links = words(answer), read(answer).values("href")
    for said in ("3 kafka3.example.com fenced not known", "up, controller 640.0 GB of 2.0 TB (32 %)",
                 "Disks used 1.3 TB", "134 more topics", "14 more groups", "no directory of reports is set",
                 "2,409,231 records", "30s apart"):  # fmt: skip
        assert said in text, said
    assert text.index("kafka3.example.com fenced") < text.index("kafka1.example.com up, controller")
    assert {f"{ORDERS}/topics?sort=records", f"{ORDERS}/groups", f"{ORDERS}/groups/search-index"} <= set(links)
    assert path("clusters", "orders", "topics", HOSTILE[-1]) in links
    found = json.loads(page.get(f"{ORDERS}?format=json").text)
    assert found["growth"]["records_per_second"] > 0
    assert [one["name"] for one in found["busiest_topics"]] == [*reversed(HOSTILE[-5:])]
    assert (found["groups_furthest_behind"][0]["name"], len(found["groups_furthest_behind"])) == ("search-index", 5)
    quiet = words(page.get("/clusters/quiet"))
    for said in ("known after the second poll", "No group has records before it.", "quiet OK"):
        assert said in quiet, said
    assert " more topic" not in quiet


def test_ids_of_brokers_lead_to_their_pages_wherever_they_are_listed(page: Served) -> None:
    for at in ("", "/brokers", "/topics/orders", "/groups/search-index", "/moves"):
        links = read(page.get(f"{ORDERS}{at}")).values("href")
        assert f"{ORDERS}/brokers/2" in links, at
        # Of the moves one is to a broker that the cluster does not list.
        assert f"{ORDERS}/brokers/4" not in links, at


def test_topics_say_how_fast_their_logs_grow_and_what_of_it_is_unknown(page: Served) -> None:
    text = words(page.get(f"{ORDERS}/topics?search=invoices.000&sort=records"))
    assert "what logs grew by between the last two polls, 30s apart" in text
    assert text.index("invoices.0009") < text.index("invoices.0001")
    found = json.loads(page.get(f"{ORDERS}/topics?format=json&sort=-records").text)["topics"]
    grows = [one["growth"]["records_per_second"] for one in found if one["growth"]["records_per_second"] is not None]
    assert grows == sorted(grows)
    assert grows[-1] > grows[0] >= 0
    some = {one["name"]: one["growth"] for one in found}
    assert some["invoices.0003"]["bytes_per_second"] is None, "retention removed something"
    assert some["invoices.0003"]["bytes_unknown_partitions"] == 1
    head, *rows = csv.reader(io.StringIO(page.get(f"{ORDERS}/topics?format=csv&sort=records").text, newline=""))
    assert head[-2:] == ["records_per_second", "bytes_per_second"]
    assert float(rows[0][-2]) == grows[-1]
    one = json.loads(page.get(f"{ORDERS}/topics/invoices.0009?format=json").text)["topic"]["growth"]
    assert one == {**some["invoices.0009"], "seconds": 30}
    assert "Records/s" in words(page.get(f"{ORDERS}/topics/invoices.0009"))
    assert "known after the second poll" in words(page.get("/clusters/copy/topics"))


def test_the_flows_of_a_cluster_say_whether_they_live_and_what_to_do(page: Served) -> None:
    text = words(page.get(f"{ORDERS}/mirrors"))
    for said in (
        "no record is read",
        "orders->copy mirror maker 2 alive 2s old none 2h00m",
        "1 missing at the target, 1 nothing mirrored yet orders Seen",
        "not known none not known 1 none invoices the source is not on this page",
        "Look at the log of mirror-maker-HOST",
        "MirrorMaker makes topics and partitions every mirror_maker_refresh_seconds",
        "copy->orders mirror maker 2 unknown this flow sends no heartbeats",
        "invoices->orders mirror maker 2 silent no heartbeat of the source is in the target",
        "Add far to the clusters of the page (kafka_page_clusters), and run page.yml.",
        "orders->payments mirror maker 2 unknown the picture of the target is stale",
        "Follow the next step on the page of cluster payments.",
        "orders->begins mirror maker 2 unknown the target has not been seen yet",
    ):
        assert said in text, said
    flows = json.loads(page.get(f"{ORDERS}/mirrors?format=json").text)["flows"]
    assert [one["flow"] for one in flows] == [flow.pair for flow in FLOWS]
    lives = flows[0]
    assert (lives["state"], lives["missing"], lives["nothing_mirrored"]) == ("alive", 1, 1)
    assert lives["source"]["age_seconds"] < lives["target"]["age_seconds"]
    assert flows[2]["source"] == {"cluster": "invoices", "on_page": False, "taken": None, "age_seconds": None}
    assert [one["flow"] for one in json.loads(page.get("/clusters/begins/mirrors?format=json").text)["flows"]] == [
        "orders->begins"
    ]


def test_the_last_drill_of_each_flow_says_how_it_ended_and_that_it_is_old(page: Served) -> None:
    text = words(page.get(f"{ORDERS}/mirrors"))
    for said in (
        "Drills of a failover How a rehearsed failover ended: ansible-playbook streamops.kafka.mirror_drill",
        "0 records 31s 12 records It ended more than 45 days ago: run it again.",
        "not known not known not known not drained: orders lacks records. </td>",
        "invoices->orders never As of",
        "orders->far unknown not known not known not known not known the target is not on this page",
        "orders->payments unknown not known not known not known not known This was not told: no right.",
        "orders->begins unknown not known not known not known not known the target has not been seen yet",
    ):
        assert said in text, said
    flows = {one["flow"]: one["drill"] for one in json.loads(page.get(f"{ORDERS}/mirrors?format=json").text)["flows"]}
    passed = flows["orders->copy"]
    assert (passed["state"], passed["days"], passed["rpo_records"], passed["rto_seconds"]) == ("passed", 50, 0, 31.4)
    assert (passed["read_again"], passed["why"]) == (12, [])
    failed = flows["copy->orders"]
    assert (failed["state"], failed["days"], failed["rpo_records"], len(failed["why"])) == ("failed", 0, None, 2)
    assert [flows[pair]["state"] for pair in ("invoices->orders", "orders->far")] == ["never", "unknown"]


def test_a_drill_whose_record_cannot_be_read_says_so_and_hides_no_other() -> None:
    seen = looked()
    orders = seen["orders"]
    assert orders.picture
    told = drilled(orders.picture, {"copy->orders": "its record has another form.", "invoices->orders": None})
    with served(lambda: {**seen, "orders": replace(orders, picture=told)}) as page:
        text = words(page.get(f"{ORDERS}/mirrors"))
    assert "copy->orders unknown As of" in text
    assert "not known not known not known not known its record has another form." in text
    assert "invoices->orders never" in text


def test_mirrored_topics_are_listed_by_how_far_they_are_behind(page: Served) -> None:
    at = "/clusters/copy/mirrors?search=orders-%3Ecopy%0Ainvoices."
    text = words(page.get(at))
    order = [text.index(one) for one in ("invoices.0001", "invoices.0002", "2h00m partition 0")]
    assert order == sorted(order)
    for said in ("120 of", "invoices.0001 as orders.invoices.0001 orders->copy missing at the target",
                 "nothing mirrored yet", "behind 2h00m", "Page 1 of 3"):  # fmt: skip
        assert said in text, said
    head, *rows = csv.reader(io.StringIO(page.get(f"{at}&format=csv&sort=-behind").text, newline=""))
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert len(found) == 120
    assert (found[0]["state"], found[0]["target_partitions"]) == ("in_step", "3")
    assert (found[-1]["topic"], found[-1]["state"], found[-1]["target_newest"]) == ("invoices.0001", "missing", "")
    assert not [one for row in rows for one in row if one.lstrip().startswith(("=", "+", "-", "@"))]
    every = json.loads(page.get("/clusters/copy/mirrors?format=json").text)["topics"]
    assert {one["topic"] for one in every} >= {"</td></table><script>alert(1)</script>", "=1+1", "100%25", "own"}
    assert [one["state"] for one in every if one["topic"] == "own"] == ["missing"]


def test_a_cluster_without_a_flow_has_no_section_and_its_address_says_which_variable_adds_one(page: Served) -> None:
    at = path("clusters", '</h2>"audit')
    assert f"{at}/mirrors" not in page.get(at).text
    assert f"{ORDERS}/mirrors" in read(page.get(ORDERS)).values("href")
    found = read(page.get(f"{at}/mirrors"), 404)
    assert "mirror_flows" in found.text
    assert "page.yml" in found.text


def test_the_lag_of_a_group_over_time_is_a_line_and_words(page: Served) -> None:
    at = f"{ORDERS}/groups/search-index"
    found = read(page.get(at))
    assert len([tag for tag, name, _ in found.attributes if (tag, name) == ("polyline", "points")]) == 2
    for said in ("Lag over time", "120 polls: now 2,409,231 records; highest", "Since", "a restart forgets them"):
        assert said in found.text, said
    lags = json.loads(page.get(f"{at}?format=json").text)["lag_of_polls"]
    assert (len(lags), lags[-1]["lag"], lags[75]["lag"]) == (120, 1_204_320 + 1_204_911, None)


def test_a_query_of_a_megabyte_is_refused_and_the_page_serves_on(page: Served) -> None:
    # It may close the connection before all was sent.
    with contextlib.suppress(OSError):
        assert page.get(f"/?{'q' * 1_000_000}").status in (400, 414, 431)
    assert page.get("/").status == 200


@pytest.mark.parametrize(
    "at",
    ["/none", "/none%0A", "/clusters", "/clusters/", f"{ORDERS}/none", f"{ORDERS}/brokers/9", f"{ORDERS}/brokers/01",
     f"{ORDERS}/brokers/", f"{ORDERS}/brokers/%D9%A1", f"{ORDERS}/brokers/1/2", "/clusters/none",
     "/clusters/begins/brokers/1",
     f"{ORDERS}/mirrors/orders", "//evil.example", "/%ff", f"{ORDERS}/topics/a/b", f"{ORDERS}/moves/orders",
     f"{ORDERS}/access/User:billing"],
)  # fmt: skip
def test_what_is_not_there_is_a_page_too(page: Served, at: str) -> None:
    found = read(page.get(at), 404)
    assert "NOT FOUND" in found.text
    assert "/" in found.values("href")


@pytest.mark.parametrize("section", ["topics", "groups", "moves"])
def test_csv_has_all_rows_and_no_formula(page: Served, section: str) -> None:
    answer = page.get(f"{ORDERS}/{section}?format=csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    head, *rows = csv.reader(io.StringIO(answer.text, newline=""))
    names = [row[0] for row in rows]
    found = json.loads(page.get(f"{ORDERS}/{section}?format=json").text)[section]
    assert len(names) == len(found["partitions"] if section == "moves" else found)
    assert {len(row) for row in rows} == {len(head)}
    assert "'=1+1" in names
    assert not [one for one in names if one.lstrip().startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("LOCALHOST:9406", 200), ("127.0.0.1:1", 200), ("[::1]:9406", 200), ("evil.example", 421),
     ("127.0.0.1.evil.example", 421), ("localhost@evil.example", 421), ("[::2]", 421), ("127.0.0.1:x", 421)],
)  # fmt: skip
def test_a_page_on_loopback_answers_for_names_of_this_machine_alone(page: Served, host: str, status: int) -> None:
    for at in ("/", "/metrics", "/style.css"):
        assert page.get(at, host).status == status


def test_the_style_is_served_and_answers_allow_nothing_else(page: Served) -> None:
    answer = page.get("/style.css")
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert ".stacks" in answer.text
    assert ".sections" in answer.text
    policy = page.get("/").headers["content-security-policy"]
    assert "default-src 'none'; style-src 'self'" in policy
    assert "form-action 'self'" in policy


def test_a_topic_has_its_page_where_nothing_is_known_of_the_groups() -> None:
    for groups in ({"groups": None}, {}):
        known = {**{key: value for key, value in cluster(1).items() if key != "groups"}, **groups}
        looked_at = Seen(Polls(0.0, 1), Picture(time.time(), 0.1, 1, 1, 0, {}, [], known))
        with served(lambda one=looked_at: {"orders": one}) as page:  # type: ignore[misc]
            read(page.get(f"{ORDERS}/topics/orders"))
            assert json.loads(page.get(f"{ORDERS}/topics/orders?format=json").text)["groups"] == []


def test_a_picture_without_a_cluster_in_it_is_not_known_and_breaks_no_page() -> None:
    seen = {"orders": Seen(Polls(0.0, 1), Picture(time.time(), 0.1, 1, 1, 0, {}, []))}
    with served(lambda: seen) as one:
        for at in ("/", *(f"{ORDERS}{section}" for section in LISTS)):
            assert "UNKNOWN" in read(one.get(at)).text
        read(one.get(f"{ORDERS}/topics/orders"), 404)
        read(one.get(f"{ORDERS}/groups/g"), 404)
