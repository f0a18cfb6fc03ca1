"""Who is let in by the brokers, and who may do what, tried from a client's machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.tokens import TokenError, fetched
from tests.support.machines import Machine, login_at

Attempt = Callable[..., str]
User = Callable[[str], dict[str, str]]
SCRAM, TOKENS, TICKETS = "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"


@pytest.fixture
def broker(machines: dict[str, Machine]) -> Machine:
    """One whose first mechanism users log in by."""
    return machines["broker1"]


@pytest.fixture
def user(broker: Machine) -> User:
    """The login of a user of the scenario by name, for an attempt on the client's machine."""
    mechanism = broker.mechanisms[0]

    def login(name: str) -> dict[str, str]:
        common = {"security_protocol": "SASL_SSL", "sasl_mechanism": mechanism}
        if mechanism == TICKETS:
            return {**common, "sasl_kerberos_service_name": "kafka", "keytab": f"/etc/{name}.keytab"}
        password = broker.variables["molecule_users"][name]
        if mechanism == TOKENS:
            return {**common, "token": fetched(login_at(broker, name, password))[0]}
        return {**common, "sasl_plain_username": name, "sasl_plain_password": password}

    return login


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


PASSWORD = {"sasl_plain_username": "reader", "sasl_plain_password": "wrong"}
#: What is wrong with a login by the first mechanism, and how it ends.
WRONG = [
    (SCRAM, {"sasl_plain_password": "wrong"}, "SaslAuthenticationFailed"),
    pytest.param(SCRAM, {"sasl_plain_username": "nobody"}, "Unable to bootstrap", marks=pytest.mark.full),
    pytest.param(SCRAM, {"sasl_mechanism": "SCRAM-SHA-256"}, "Unable to bootstrap", marks=pytest.mark.full),
    (TOKENS, {"token": "of.no.issuer"}, "SaslAuthenticationFailed"),
    (TOKENS, {"sasl_mechanism": SCRAM, **PASSWORD}, "UnsupportedSaslMechanism"),
    # Keys that its principal had before, and none.
    (TICKETS, {"keytab": "/etc/former.keytab"}, ""),
    (TICKETS, {"keytab": "/etc/missing.keytab"}, ""),
    (TICKETS, {"sasl_mechanism": SCRAM, **PASSWORD}, "SaslAuthenticationFailed"),
    ("", {"sasl_mechanism": "PLAIN", **PASSWORD}, "UnsupportedSaslMechanism"),
    pytest.param("", {"security_protocol": "SASL_PLAINTEXT"}, "Unable to bootstrap", marks=pytest.mark.full),
]


@pytest.mark.parametrize(
    ("mechanism", "changed", "reason"),
    WRONG,
    ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
)
def test_a_wrong_login_is_refused(
    attempt: Attempt, user: User, broker: Machine, mechanism: str, changed: dict[str, str], reason: str
) -> None:
    if mechanism not in ("", broker.mechanisms[0]):
        pytest.skip(f"clients log in by {broker.mechanisms[0]}")
    assert attempt("connect", **user("reader")) == "done", "the right one gets in"
    refused = attempt("connect", **{**user("reader"), **changed})
    assert refused != "done"
    assert reason in refused


def test_the_issuer_gives_no_token_for_a_wrong_secret(broker: Machine) -> None:
    if broker.mechanisms[0] != TOKENS:
        pytest.skip(f"clients log in by {broker.mechanisms[0]}")
    with pytest.raises(TokenError, match="401"):
        fetched(login_at(broker, "reader", "wrong"))


@pytest.mark.parametrize("protocol", ["SSL", "PLAINTEXT"])
def test_nobody_gets_in_without_a_login(attempt: Attempt, protocol: str) -> None:
    assert "Unable to bootstrap" in attempt("connect", security_protocol=protocol)
