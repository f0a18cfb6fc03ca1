"""What readers see of alerts: at the top of the page of their cluster, told apart, and never believed."""

from __future__ import annotations

import contextlib
import html
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import table
from page.alerts.told import MOST, Told, told
from page.known.picture import Polls
from page.known.poller import Seen
from page.shown.alerts import MANY
from page.shown.names import path
from page.shown.sheet import State, state_of
from tests.support.markup import Markup
from tests.support.page import Answer
from tests.support.page_seen import HOSTILE, Served, picture, served
from tests.support.status_seen import hurt, well

FIRING = {"state": "active", "silencedBy": [], "inhibitedBy": []}
SILENCED = {"state": "suppressed", "silencedBy": ["a"], "inhibitedBy": []}


def alert(name: str, cluster: str | None = "quiet", severity: str = "critical", **more: Any) -> dict[str, Any]:
    """Return an alert as Alertmanager has it."""
    labels = {"alertname": name, "severity": severity, **({"cluster": cluster} if cluster is not None else {})}
    annotations = {"summary": f"{name} of {cluster}", "runbook_url": f"https://runbooks.example/{name}"}
    about = {"startsAt": "2026-11-26T20:00:00Z", "status": FIRING}
    return {"labels": labels, "annotations": annotations, **about, **more}


def answer_of(*some: Any, error: str = "") -> Told:
    """Return what Alertmanager told some seconds ago."""
    return replace(told(json.dumps(some).encode(), time.time() - 5), error=error)


@contextlib.contextmanager
def showing(alerts: Told | None, of: Mapping[str, Any] | None = None) -> Iterator[Served]:
    """The page of two clusters with these alerts: one that is well (or as given), and one that is hurt."""
    polls = Polls(time.time() - 900, 9)
    seen = {"quiet": Seen(polls, picture(of or well(), 7)), "orders": Seen(polls, picture(hurt("orders"), 7))}
    with served(lambda: seen, "", (lambda: alerts) if alerts else None) as one:
        yield one


def read(answer: Answer) -> Markup:
    """A page that is well-formed, runs nothing and leads nowhere but to pages and to addresses of http(s)."""
    assert answer.status == 200, answer.text
    found = Markup(answer.text.replace("<link ", "<meta ").replace("<input ", "<meta "))
    assert found.open == []
    assert not found.tags & {"script", "img", "iframe", "object", "style"}
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name in ("style", "src")]
    assert all(one.startswith(("/", "#", "https://runbooks.example/")) for one in found.values("href"))
    assert len(found.values("id")) == len(set(found.values("id")))
    return found


def headline(found: Answer) -> tuple[str, str]:
    """The word of a page, and the sentence under it."""
    word = found.text.partition('<h1 class="word">')[2]
    return word.partition("<")[0], html.unescape(word.partition("<bdi>")[2].partition("</bdi>")[0])


def test_a_critical_alert_about_a_cluster_is_at_its_top_and_in_its_headline() -> None:
    with showing(answer_of(alert("KafkaNodeDown"), alert("KafkaDiskLow", "other"))) as page:
        found = page.get("/clusters/quiet")
        text = read(found).text
        assert headline(found) == ("ALERT", "The poll found nothing wrong. A critical alert fires.")
        assert "Everything is as it should be" not in found.text
        assert found.text.index("Alerts that fire") < found.text.index("Brokers up")
        assert "KafkaNodeDown of quiet" in text
        assert "since 2026-11-26 20:00:00 UTC" in text
        assert '<a href="https://runbooks.example/KafkaNodeDown" rel="noopener noreferrer">Runbook</a>' in found.text
        assert "KafkaDiskLow" not in found.text
        # It is on each page of the cluster, and no word of it on that of another.
        assert "KafkaNodeDown" in page.get("/clusters/quiet/topics").text
        assert "KafkaNodeDown" not in page.get("/clusters/orders").text
        assert headline(page.get("/clusters/orders"))[0] == "DOWN"
        data = page.get("/clusters/quiet?format=json").json()
        assert (data["status"], data["last_status"]) == ("ALERT", "OK")
        assert (data["alerts"]["firing"], data["alerts"]["critical"]) == (1, 1)
        # What the poll judges is told to Prometheus as before, which has its alerts from there.
        assert 'streamops_page_cluster_status{cluster="quiet",status="OK"} 1\n' in page.get("/metrics").text
        # An alert changes nothing there either: quiet is well, and orders is down by its poll.
        told = json.loads(page.get("/health").text)["clusters"]
        assert {name: cluster["status"] for name, cluster in told.items()} == {"quiet": "ok", "orders": "down"}


def test_the_first_page_says_it_too_and_has_the_alerts_about_no_cluster() -> None:
    with showing(answer_of(alert("KafkaNodeDown"), alert("KafkaAlertsLost", None))) as page:
        found = page.get("/")
        assert "KafkaAlertsLost of None" in read(found).text
        assert found.text.count("A critical alert fires.") == 2
        data = page.get("/?format=json").json()
        assert [(one["cluster"], one["status"]) for one in data["clusters"]] == [("orders", "DOWN"), ("quiet", "ALERT")]
        assert [one["name"] for one in data["alerts"]["alerts"]] == ["KafkaAlertsLost"]


def test_a_critical_alert_about_no_cluster_is_in_the_headline_of_all_clusters() -> None:
    polls = Polls(time.time() - 900, 9)
    alerts = answer_of(alert("KafkaAlertsLost", None))
    with served(lambda: {"quiet": Seen(polls, picture(well(), 7))}, "", lambda: alerts) as page:
        word, why = headline(page.get("/"))
        assert (word, why) == ("ALERT", "Everything is as it should be. About no cluster: A critical alert fires.")
        assert headline(page.get("/clusters/quiet"))[0] == "OK"


def test_a_warning_is_shown_and_leaves_the_word() -> None:
    with showing(answer_of(alert("KafkaDiskSoonFull", severity="warning"))) as page:
        found = page.get("/clusters/quiet")
        assert headline(found) == ("OK", "The poll found nothing wrong. 1 alert fires.")
        assert '<span class="pill inconclusive">warning</span>' in found.text


def test_what_is_silenced_is_apart_and_alarms_nobody() -> None:
    with showing(answer_of(alert("KafkaNodeDown", status=SILENCED))) as page:
        found = page.get("/clusters/quiet")
        assert headline(found)[0] == "OK"
        assert "Alerts that fire" not in read(found).text
        assert "Alerts that are silenced or inhibited" in found.text
        assert "severity critical" in found.text


def test_that_alertmanager_cannot_be_asked_is_a_line_of_its_own_and_makes_nothing_better() -> None:
    with showing(Told(error="Connection refused")) as page:
        found = page.get("/clusters/quiet")
        assert "Alerts are not known: Alertmanager cannot be asked (Connection refused)." in read(found).text
        assert headline(found) == ("OK", "The poll found nothing wrong, but not all could be asked: Alertmanager.")
        assert "Everything is as it should be" not in page.get("/").text
        assert headline(page.get("/clusters/orders"))[0] == "DOWN"
        assert "Alerts are not known" in read(page.get("/")).text
    # It is not known that the alert has ended.
    with showing(answer_of(alert("KafkaNodeDown"), error="Connection refused")) as page:
        found = page.get("/clusters/quiet")
        assert headline(found)[0] == "ALERT"
        assert "What it told before is shown, and may not hold now." in read(found).text


def test_without_an_alertmanager_pages_say_nothing_of_alerts() -> None:
    with showing(None) as page:
        for at in ("/", "/clusters/quiet", "/clusters/orders"):
            assert "lertmanager" not in page.get(at).text
            assert "alerts" not in page.get(f"{at}?format=json").json()


def test_a_stale_picture_stays_stale_beside_alerts() -> None:
    polls = Polls(time.time() - 900, 9, 1, "no answer")
    seen = {"quiet": Seen(polls, picture(well(), 7))}
    with served(lambda: seen, "", lambda: answer_of(alert("KafkaNodeDown"))) as page:
        found = page.get("/clusters/quiet")
        assert headline(found)[0] == "STALE"
        assert "KafkaNodeDown of quiet" in read(found).text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_only_shown(name: str) -> None:
    links = {"summary": name, "runbook_url": f"javascript:alert(1)//{name}"}
    one = alert(name, severity=name or "critical", annotations=links)
    one["labels"] |= {"node": name, "topic": name}
    # A cluster of this name is not there; those about it are nowhere.
    with showing(answer_of(one, {**one, "status": SILENCED}, alert(name, name))) as page:
        for at in ("/", "/clusters/quiet", path("clusters", "orders")):
            found = read(page.get(at))
            assert not [link for link in found.values("href") if "alert(1)" in link]


def test_a_flood_is_cut_and_counted() -> None:
    many = [alert(f"A{number}", severity="warning") for number in range(300)]
    with showing(answer_of(*many, alert("KafkaNodeDown"))) as page:
        found = page.get("/clusters/quiet")
        assert "301 alerts fire, 1 of them critical." in read(found).text
        assert "More kinds of alerts that fire (296)" in found.text
        assert lines(found) == ["KafkaNodeDown", "A0", "A1", "A10", "A100"]
        data = page.get("/clusters/quiet?format=json").json()["alerts"]
        assert (len(data["alerts"]), data["left_out"]) == (100, 201)


def lines(answer: Answer) -> list[str]:
    """The names of the alerts that a page shows without a click."""
    part = answer.text.partition('id="alerts"')[2].partition("More kinds")[0]
    return [one.partition("</bdi>")[0].partition("<bdi>")[2] for one in part.split('<li class="finding alert')[1:]]


def stopped(number: int, topic: str = "orders", **more: Any) -> dict[str, Any]:
    """A group that has stopped, as the alert of the collection tells it."""
    one = alert("KafkaGroupStopped", **more)
    one["labels"] |= {"consumergroup": f"group-{number}", "topic": topic}
    one["annotations"] |= {"summary": f"Group group-{number} has stopped", "first_step": "kafka-consumer-groups.sh X"}
    return one


def test_many_alerts_of_groups_are_one_line_below_those_of_nodes_and_partitions() -> None:
    node = alert("KafkaNodeDown")
    node["annotations"] |= {"first_step": "ansible-playbook streamops.kafka.status -i INVENTORY"}
    some = [*map(stopped, range(55)), stopped(3, "payments"), alert("KafkaPartitionsOffline"), node]
    with showing(answer_of(*some)) as page:
        found = page.get("/clusters/quiet")
        text = " ".join(read(found).text.split())
        assert lines(found) == ["KafkaNodeDown", "KafkaPartitionsOffline", "KafkaGroupStopped"]
        assert "55 groups have stopped" in text, "a group that has stopped in two topics is one"
        assert "Next step: ansible-playbook streamops.kafka.status -i INVENTORY" in text
        assert "Next step: kafka-consumer-groups.sh X" in text
        assert found.text.count("<summary>List</summary>") == 1
        assert "Group group-44 has stopped; since 2026-11-26" in text
        data = page.get("/clusters/quiet?format=json").json()["alerts"]
        assert [(one["name"], one["alerts"], one["subjects"]) for one in data["kinds"]] == [
            ("KafkaNodeDown", 1, 0), ("KafkaPartitionsOffline", 1, 0), ("KafkaGroupStopped", 56, 55),
        ]  # fmt: skip


def test_the_causes_stand_before_the_alerts_about_them() -> None:
    with showing(answer_of(stopped(1, cluster="orders"))) as page:
        text = page.get("/clusters/orders").text
        assert text.index("partitions_offline") < text.index("KafkaGroupStopped") < text.index("Brokers up")


def test_a_page_of_a_topic_begins_with_what_is_about_it_and_has_the_rest_in_a_line() -> None:
    some = [*(stopped(number, "audit", cluster="orders") for number in range(55)), stopped(99, cluster="orders")]
    with showing(answer_of(*some, alert("KafkaNodeDown", "orders"))) as page:
        found = page.get("/clusters/orders/topics/orders")
        text = " ".join(read(found).text.split())
        assert lines(found) == ["KafkaGroupStopped"]
        assert "Group group-99 has stopped" in text
        assert "group-44" not in text
        assert "Alerts that fire: KafkaNodeDown, KafkaGroupStopped (56). Overview" in text
        assert found.text.index("<h2><bdi>orders") < found.text.index("Findings") < found.text.index("Alerts about it")
        assert "partitions_offline" in found.text.partition("The whole cluster")[0]
        other = page.get("/clusters/orders/groups/billing")
        assert "Alerts about it" not in other.text
        assert other.text.count("KafkaNodeDown") == 1


def test_an_alert_about_a_node_is_on_the_page_of_its_broker() -> None:
    node, target = alert("KafkaNodeDown", "orders"), alert("KafkaHeapFull", "orders")
    node["labels"]["node"] = "kafka1.example.com"
    target["labels"]["instance"] = "kafka1.example.com:7071"
    with showing(answer_of(node, target)) as page:
        assert lines(page.get("/clusters/orders/brokers/1")) == ["KafkaHeapFull", "KafkaNodeDown"]
        assert lines(page.get("/clusters/orders/brokers/2")) == []


def state(alerts: Told, age: float = 7) -> State:
    """Return the state of a cluster that is well, seen so many seconds ago, with these alerts."""
    seen = Seen(Polls(time.time() - 900, 9), picture(well(), age))
    return state_of("quiet", seen, time.time(), 300, False, alerts.about("quiet"))


def test_a_cluster_that_is_stale_says_what_fires_too() -> None:
    stale = state(answer_of(alert("KafkaNodeDown")), 800)
    assert stale.word == "STALE"
    assert stale.why.endswith("What was seen then, OK, may not hold now. A critical alert fires.")


def test_all_is_well_only_when_alertmanager_has_answered() -> None:
    assert state(Told()).why == "The poll found nothing wrong, but not all could be asked: Alertmanager."
    assert state(answer_of()).why == "Everything is as it should be."


def test_a_page_of_a_part_says_that_not_all_alerts_are_kept() -> None:
    some = [alert("KafkaGroupLate", severity="warning") for _number in range(MOST + 3)]
    assert "3 more alerts are at Alertmanager, and on no page." in state(answer_of(*some)).in_a_line
    assert "more alerts" not in state(answer_of(*some[:MOST])).in_a_line


def test_words_for_several_are_of_alerts_that_there_are() -> None:
    assert MANY.keys() <= {one.name for one in table()}
