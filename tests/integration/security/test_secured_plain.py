"""PLAIN beside SCRAM on a running cluster: who is listed gets in, and no secret of theirs is shown or logged."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.cluster import Cluster
from tests.support.secured import PASSWORD, client

METER = {"name": "meter", "password": 'pla1n "and" \\simple'}


@pytest.mark.full
def test_plain_is_added_and_taken_away_under_way(secured: Cluster) -> None:
    wanted = {"kafka_sasl_mechanisms": ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"], "kafka_plain_users": [METER]}
    run = secured.playbook("site.yml", "-vvv", "--diff", timeout=1200, **wanted).ok()
    assert run.changed > 0
    assert "pla1n" not in run.output
    assert PASSWORD not in run.output
    meter = client(secured, sasl_mechanism="PLAIN", sasl_username="meter", sasl_password=METER["password"])
    assert AdminClient(meter).list_topics(timeout=10).topics == {}, "gets in, and sees what no ACL shows"
    assert AdminClient(client(secured, sasl_mechanism="PLAIN")).list_topics(timeout=10).topics
    assert AdminClient(client(secured)).list_topics(timeout=10).topics
    assert secured.playbook(**wanted).ok().changed == 0
    for log in (path for path in (secured.directory / "log").rglob("*") if path.is_file()):
        assert "pla1n" not in log.read_text(errors="replace"), f"{log} holds a password"
    for path in (path for path in (secured.directory / "config").rglob("*") if path.is_file()):
        held = "pla1n" in path.read_text(errors="replace")
        assert not held or path.name == "server.properties", path
        assert not held or path.stat().st_mode & 0o777 == 0o640
    # The brokers have counted the logins of meter, so PLAIN is taken away by who has looked at them alone.
    refused = secured.playbook()
    assert refused.rc != 0
    assert "mechanism_in_use" in refused.output
    assert "takes PLAIN away from listener CLIENT" in refused.output
    status = secured.playbook("playbooks/status.yml", **wanted).ok().output
    assert "CLIENT by PLAIN: " in status
    secured.playbook(timeout=1200, preflight_accept=["mechanism_in_use"]).ok()
    with pytest.raises(KafkaException):
        AdminClient(meter).list_topics(timeout=4)
