"""What the user of the mirrors may do in each cluster, tried from a mirror's machine, in the source by the line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.centres import Mirror
from tests.support.machines import Attempted, Machine

Attempt = Callable[..., str]


@pytest.fixture
def attempt(mirror: Mirror, machines: dict[str, Machine], attempted: Attempted) -> Attempt:
    """attempt(where, what, topic, login...): how it ends for the mirrors' user of that cluster, or with that login."""
    ways = {
        "dc_a": [f"line:{node.ports['clients MIRROR']}" for node in mirror.source.nodes],
        "dc_b": mirror.target.servers,
    }

    def tried(where: str, what: str, topic: str = "private", **login: str) -> str:
        node = next(one for one in machines.values() if one.is_node and one.cluster == where)
        own = {"sasl_plain_username": "mirror", "sasl_plain_password": node.variables["mirror_password"]}
        shown = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512", **own, **login}
        with open(node.variables["kafka_tls_ca_file"]) as file:
            question = {"do": what, "servers": ways[where], "ca": file.read(), "login": shown}
        return attempted(machines["mirror1"], {**question, "topic": topic, "group": "billing"})

    return tried


def test_it_reads_what_a_flow_names_by_the_line(attempt: Attempt) -> None:
    assert attempt("dc_a", "consume", "orders.eu") == "done"
    assert attempt("dc_b", "connect") == "done"


@pytest.mark.parametrize(
    ("where", "what", "topic", "reason"),
    [
        ("dc_a", "consume", "private", "TopicAuthorizationFailed"),
        ("dc_a", "produce", "private", "TopicAuthorizationFailed"),
        ("dc_a", "produce", "orders.eu", "TopicAuthorizationFailed"),
        ("dc_a", "commit", "orders.eu", "GroupAuthorizationFailed"),
        ("dc_a", "alter the topic", "orders.eu", "TopicAuthorizationFailed"),
        ("dc_a", "delete the topic", "orders.eu", "TopicAuthorizationFailed"),
        ("dc_a", "create a topic", "", "TopicAuthorizationFailed"),
        ("dc_a", "describe the ACLs", "", "ClusterAuthorizationFailed"),
        ("dc_b", "consume", "private", "TopicAuthorizationFailed"),
        ("dc_b", "produce", "private", "TopicAuthorizationFailed"),
        ("dc_b", "alter the topic", "private", "TopicAuthorizationFailed"),
        ("dc_b", "delete the topic", "dc_a.orders.eu", "TopicAuthorizationFailed"),
        ("dc_b", "create a topic", "", "TopicAuthorizationFailed"),
        ("dc_b", "describe the ACLs", "", "ClusterAuthorizationFailed"),
    ],
)
def test_it_may_do_nothing_else(attempt: Attempt, where: str, what: str, topic: str, reason: str) -> None:
    assert reason in attempt(where, what, topic)


def test_the_password_of_one_cluster_opens_no_other(attempt: Attempt, machines: dict[str, Machine]) -> None:
    other = machines["east1"].variables["mirror_password"]
    assert "SaslAuthenticationFailed" in attempt("dc_b", "connect", sasl_plain_password=other)
