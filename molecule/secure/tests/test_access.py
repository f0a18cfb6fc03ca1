"""Who is let in by the brokers, and who may do what, tried from a client's machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.machines import Machine

LOGIN = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512"}


@pytest.fixture
def user(nodes: list[Machine]) -> Callable[[str], dict[str, str]]:
    """The login of a user of the inventory by name."""
    users = {one["name"]: one["password"] for one in nodes[0].variables["kafka_users"]}

    def login(name: str) -> dict[str, str]:
        return {**LOGIN, "sasl_plain_username": name, "sasl_plain_password": users[name]}

    return login


Attempt = Callable[..., str]
User = Callable[[str], dict[str, str]]


def test_users_do_what_their_role_allows(attempt: Attempt, user: User) -> None:
    assert attempt("produce", **user("writer")) == "done"
    assert attempt("consume", **user("reader")) == "done"
    assert attempt("commit", **user("reader")) == "done"


@pytest.mark.parametrize(
    ("who", "what", "reason"),
    [
        ("outsider", "produce", "TopicAuthorizationFailed"),
        ("outsider", "consume", "TopicAuthorizationFailed"),
        ("outsider", "commit", "GroupAuthorizationFailed"),
        ("outsider", "describe the group", "GroupAuthorizationFailed"),
        ("outsider", "create a topic", "TopicAuthorizationFailed"),
        ("outsider", "alter the topic", "TopicAuthorizationFailed"),
        ("outsider", "delete the topic", "TopicAuthorizationFailed"),
        ("outsider", "describe the ACLs", "ClusterAuthorizationFailed"),
        ("writer", "consume", "TopicAuthorizationFailed"),
        ("writer", "alter the topic", "TopicAuthorizationFailed"),
        ("reader", "produce", "TopicAuthorizationFailed"),
        ("reader", "delete the topic", "TopicAuthorizationFailed"),
        ("smoke", "produce", "TopicAuthorizationFailed"),
    ],
)
def test_what_no_acl_allows_is_denied(attempt: Attempt, user: User, who: str, what: str, reason: str) -> None:
    assert reason in attempt(what, **user(who))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sasl_plain_password": "wrong"}, "SaslAuthenticationFailed"),
        pytest.param({"sasl_plain_username": "nobody"}, "Unable to bootstrap", marks=pytest.mark.full),
        pytest.param({"sasl_mechanism": "SCRAM-SHA-256"}, "Unable to bootstrap", marks=pytest.mark.full),
        ({"sasl_mechanism": "PLAIN"}, "UnsupportedSaslMechanism"),
        pytest.param({"security_protocol": "SASL_PLAINTEXT"}, "Unable to bootstrap", marks=pytest.mark.full),
    ],
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
def test_a_wrong_login_is_refused(attempt: Attempt, user: User, changed: dict[str, str], reason: str) -> None:
    assert attempt("connect", **user("reader")) == "done", "the right one gets in"
    assert reason in attempt("connect", **{**user("reader"), **changed})


@pytest.mark.parametrize("protocol", ["SSL", "PLAINTEXT"])
def test_nobody_gets_in_without_a_login(attempt: Attempt, protocol: str) -> None:
    assert "Unable to bootstrap" in attempt("connect", security_protocol=protocol)
