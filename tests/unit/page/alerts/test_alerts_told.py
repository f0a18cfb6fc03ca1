"""What an answer of Alertmanager tells: whose alerts, which fire, and that nothing of it is believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from page.alerts.told import FIRING, INHIBITED, LONGEST, MOST, SILENCED, Alerts, NoAlertsError, told

ACTIVE = {"state": "active", "silencedBy": [], "inhibitedBy": []}


def alert(name: str = "KafkaNodeDown", cluster: str | None = "orders", **more: Any) -> dict[str, Any]:
    """Return one alert as GET /api/v2/alerts has it; `labels` and `annotations` are added to those of others."""
    labels = {"alertname": name, "severity": "critical", **({"cluster": cluster} if cluster else {})}
    annotations = {"summary": "kafka2 does not answer", "runbook_url": "https://runbooks.example/KafkaNodeDown"}
    return {
        "labels": labels | more.pop("labels", {}),
        "annotations": annotations | more.pop("annotations", {}),
        "startsAt": "2026-11-26T20:00:00.123456789Z",
        "status": ACTIVE,
        **more,
    }


def read(*some: Any) -> dict[str | None, Alerts]:
    """Return what an answer with these alerts tells, by cluster."""
    return dict(told(json.dumps(some).encode(), 1000.0).by)


def test_an_alert_is_that_of_its_cluster_with_its_severity_time_and_runbook() -> None:
    found = read(alert(labels={"node": "kafka2", "instance": "10.0.0.2:7071", "job": "kafka"}), alert(cluster=None))
    (one,) = found["orders"].alerts
    assert (one.name, one.severity, one.how, one.summary) == (
        "KafkaNodeDown", "critical", FIRING, "kafka2 does not answer",
    )  # fmt: skip
    assert (one.about, one.runbook) == (
        "node kafka2, instance 10.0.0.2:7071", "https://runbooks.example/KafkaNodeDown",
    )  # fmt: skip
    assert one.since == pytest.approx(1795723200.123456)
    assert (found["orders"].firing, found["orders"].critical, len(found[None].alerts)) == (1, 1, 1)


def test_what_is_silenced_or_inhibited_does_not_fire() -> None:
    silenced = alert("A", status={"state": "suppressed", "silencedBy": ["1"], "inhibitedBy": ["2"]})
    inhibited = alert("B", status={"state": "suppressed", "silencedBy": [], "inhibitedBy": ["2"]})
    unprocessed = alert("C", labels={"severity": "warning"}, status={"state": "unprocessed"})
    found = read(silenced, inhibited, unprocessed)["orders"]
    assert [(one.name, one.how) for one in found.alerts] == [
        ("C", FIRING), ("A", SILENCED), ("B", INHIBITED),
    ]  # fmt: skip
    assert (found.firing, found.critical) == (1, 0)


def test_an_alert_for_no_person_is_none() -> None:
    assert read(alert("KafkaWatchdog", None, labels={"severity": "none"})) == {}


def test_the_gravest_are_kept_and_all_are_counted() -> None:
    many = [alert(f"W{number:03}", labels={"severity": "warning"}) for number in range(MOST + 50)]
    others = [alert(cluster=f"c{number}") for number in range(3)]
    found = read(*many, alert(), *others)
    assert found["orders"].alerts[0].severity == "critical"
    assert (len(found["orders"].alerts), found["orders"].left_out) == (MOST, 51)
    assert (found["orders"].firing, found["orders"].critical) == (MOST + 51, 1)
    assert found["c2"].critical == 1, "the flood of one cluster hides no other"


def test_no_flood_of_one_kind_hides_another() -> None:
    flood = [alert("KafkaGroupStopped", labels={"consumergroup": f"g{number}"}) for number in range(MOST + 50)]
    others = [alert("KafkaNodeDown", labels={"node": "kafka2"}), alert("KafkaDiskLow", labels={"severity": "warning"})]
    found = read(*flood, *others, alert("KafkaHeapFull", status={"silencedBy": ["1"]}))["orders"]
    assert [(kind.first.name, kind.count, kind.subjects) for kind in found.kinds()] == [
        ("KafkaNodeDown", 1, 1), ("KafkaGroupStopped", MOST + 50, MOST + 50), ("KafkaDiskLow", 1, 0),
        ("KafkaHeapFull", 1, 0),
    ]  # fmt: skip
    assert found.left_out == 53


def test_alerts_of_one_name_are_two_kinds_where_their_severities_differ() -> None:
    some = [alert(labels={"severity": severity}) for severity in ("warning", "critical", "warning")]
    kinds = read(*some)["orders"].kinds()
    assert [(kind.first.severity, kind.count) for kind in kinds] == [("critical", 1), ("warning", 2)]


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "data:text/html,x", "//evil.example/x", "/relative", "https://", "https://a b.example/",
     "https://user:word@evil.example/", "https://evil.example/\n", "ftp://a.example", "https://\u202eevil.example",
     "http://[::1", 7, None, "https://a.example/" + "x" * 3000],
)  # fmt: skip
def test_a_runbook_that_is_no_address_of_http_is_no_link(link: Any) -> None:
    (one,) = read(alert(annotations={"runbook_url": link}))["orders"].alerts
    assert one.runbook == ""


@pytest.mark.parametrize(
    "since",
    ["", "yesterday", 7, None, "2026-11-26T20:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"],
)
def test_a_time_that_is_none_is_unknown(since: Any) -> None:
    (one,) = read(alert(startsAt=since))["orders"].alerts
    assert one.since is None


@pytest.mark.parametrize("odd", [7, None, "x", [], {}, {"labels": []}, {"labels": None}])
def test_what_is_no_alert_is_left_out(odd: Any) -> None:
    assert list(read(odd, alert())) == ["orders"]


def test_labels_and_annotations_of_any_form_are_read() -> None:
    strange = {"alertname": 7, "cluster": ["orders"], "severity": {}, "node": None}
    odd = alert(labels=strange, annotations={"summary": 3}, status="x")
    (one,) = read(odd)[None].alerts
    assert (one.name, one.severity, one.how, one.summary, one.about) == (
        "(no name)", "(no severity)", FIRING, "", "",
    )  # fmt: skip
    (one,) = read(alert(annotations={"summary": "x" * 9999}))["orders"].alerts
    assert len(one.summary) == LONGEST + 3
    assert read({**alert(), "annotations": []})["orders"].alerts[0].summary == ""


@pytest.mark.parametrize("answer", [b"", b"<html>", b'{"status": "success"}', b"[" * 100_000, b"\xff"])
def test_an_answer_that_is_none_of_its_interface_is_refused(answer: bytes) -> None:
    with pytest.raises(NoAlertsError, match="its answer is no "):
        told(answer, 1.0)
